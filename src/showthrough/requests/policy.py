"""Policy files: a text to begin with, and what a file means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from showthrough.errors import FileError
from showthrough.policy.in_words import explained
from showthrough.policy.rules_file import preset, read_policy
from showthrough.storage.unit import Unit, check_writable
from showthrough.table.entries import Entries


@dataclass(frozen=True)
class PolicyInitRequest(Entries):
    """Which policy to begin with, and the file for it (None: nowhere)."""

    preset: Literal["strict", "research", "internal"] = "research"
    file: str | None = None
    overwrite: bool = False


@dataclass(frozen=True)
class PolicyExplainRequest(Entries):
    """The policy file to explain."""

    file: str


def run_policy_init(request: PolicyInitRequest) -> str:
    """The text of the policy file; written if a file is named."""
    text = preset(request.preset)
    if request.file is not None:
        if Path(request.file).exists() and not request.overwrite:
            raise FileError(
                f"{request.file} is there already: choose another name, or overwrite=True replaces it.",
                parameters=("overwrite",),
            )
        check_writable(Path(request.file))
        with Unit() as unit:
            unit.file(request.file, private=False).write(text.encode())
            unit.commit()
    return text


def run_policy_explain(request: PolicyExplainRequest) -> list[str]:
    """What the file means, line by line."""
    return explained(read_policy(request.file))
