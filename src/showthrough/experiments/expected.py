"""Where figures are expected to lie: the bands of ``bands.toml``, which experiments print and tests hold.

A band is a low and a high end. ``paper`` bands are what the paper says; the others come from small scripts that share
no code with this package, or from exact arithmetic, and do not depend on what the paper says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from showthrough.numerals import THIN


@dataclass(frozen=True)
class Band:
    """Two ends, both included."""

    low: float
    high: float

    def __contains__(self, figure: float) -> bool:
        return self.low <= figure <= self.high

    def missed_by(self, figure: float) -> float:
        """How far outside it a figure is; 0 inside."""
        return max(self.low - figure, figure - self.high, 0.0)

    def percent(self) -> str:
        """As percentages.

        >>> Band(0.2, 0.25).percent().replace(THIN, "_")
        '20–25_%'
        """
        return f"{100 * self.low:g}–{100 * self.high:g}{THIN}%"

    def __str__(self) -> str:
        return f"{self.low:g}–{self.high:g}"


def bands(experiment: str, figure: str = "") -> Mapping[str, Band]:
    """The bands of a figure by their names; `KeyError` for what the file does not have.

    >>> bands("inference-analysis", "2")["paper"]
    Band(low=0.2, high=0.25)
    """
    table: Any = _file()[experiment]
    return {name: Band(*ends) for name, ends in (table[figure] if figure else table).items() if isinstance(ends, list)}


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads((files("showthrough.experiments") / "bands.toml").read_text("utf-8"))
