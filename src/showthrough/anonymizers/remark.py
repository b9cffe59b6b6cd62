"""What a publisher is told of a release, as figures with the sentence that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from showthrough.table.frozen import Frozen


@dataclass(frozen=True)
class Remark:
    """Figures by name, and words that name each figure where it is said, with what is counted as ``one|several``.

    >>> spent = Remark.of("spent", "{fake:counterfeit|counterfeits}, {held:record|records} held.", fake=2, held=1)
    >>> str(spent), spent.figures["held"]
    ('2 counterfeits, 1 record held.', 1)
    """

    kind: str
    words: str
    figures: Mapping[str, Any] = field(default_factory=Frozen, hash=False)

    @classmethod
    def of(cls, kind: str, words: str, **figures: Any) -> Remark:
        """A remark with its figures by name; a figure that the words do not name is known without being said."""
        plain = {name: f.item() if isinstance(f, np.generic) else f for name, f in figures.items()}
        return cls(kind, words, Frozen(plain))

    def __str__(self) -> str:
        return self.words.format_map({name: _said(figure) for name, figure in self.figures.items()})

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"kind": self.kind, "figures": dict(self.figures), "sentence": str(self)}


class _Number(int):
    """A whole number that agrees with what it counts."""

    def __format__(self, counted: str) -> str:
        one, bar, several = counted.partition("|")
        return f"{int(self)} {one if self == 1 else several}" if bar else format(int(self), counted)


def _said(figure: Any) -> Any:
    if isinstance(figure, int) and not isinstance(figure, bool):
        return _Number(figure)
    return ", ".join(f"{name} {entry}" for name, entry in figure.items()) if isinstance(figure, Mapping) else figure
