"""What a fuzzed run is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

BUCKETS = ["--id", "pid", "--group", "group", "--sensitive", "disease"]


@dataclass
class Case:
    """What is run where; ``outputs`` may appear or change."""

    home: Path
    argv: list[str]
    outputs: list[str] = field(default_factory=list)

    @property
    def internal(self) -> bool:
        """Whether the command may show data."""
        return "internal" in self.argv or self.argv[:1] in (["demo"], ["explain"])
