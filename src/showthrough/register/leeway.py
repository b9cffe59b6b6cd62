"""Leeway: where what a reader assumes of a register gives way to what the releases say together.

A register ties persons to groups under two assumptions. That as many of its persons are in a release as
fit; and that a microaggregated release has everybody in the group with the nearest centroid. Releases
laid on top of each other can refute both, and then the assumption was wrong, not the releases:

- A row whose value no person who fits can have, because of other releases, belongs to a *stranger*, a
  member of the group whom the register does not know (`Leeway.strangers`; found by the inference).
- A person who fits no group of a release with a value that other releases leave to it is not in that
  release (`Leeway.absent`; found by the inference).
- Centroids that are not much further than the nearest are candidates, too (`Leeway.near`; `relaxed`
  in relaxing.py gives it). Whoever has no value even so may be in any group (`Leeway.anywhere`; found by the
  inference).
- Where a table hides how many persons a group holds, all who fit are taken to be in it as long as it may hold so many.
  Where that contradicts, only as many as it holds at least are (`Leeway.fewer`; `loosened` gives it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from showthrough.table.frozen import Frozen

CENTROIDS = 12  # candidates, the first time
MORE = 4  # times as many, each time


@dataclass(frozen=True)
class Near:
    """Which centroids are candidates: so many, the nearest of each person.

    A number, not a distance: the centroids within some multiple of the nearest one's distance are thousands for persons
    who are far from all, and hardly any for those who sit on one.
    """

    least: int = 1

    def wider(self) -> Near:
        """The next step."""
        return Near(CENTROIDS if self.least == 1 else self.least * MORE)


NEAREST = Near()


@dataclass(frozen=True)
class Leeway:
    """What gives way, by the name of a release."""

    near: Mapping[str, Near] = field(default_factory=Frozen, hash=False)
    strangers: Mapping[str, tuple[int, ...]] = field(default_factory=Frozen, hash=False)
    """Of each group, in the order of its labels, the rows that belong to members whom the register does not know."""
    absent: Mapping[str, tuple[str, ...]] = field(default_factory=Frozen, hash=False)
    """Ids, as text, that are not in the release: every value of their groups there is impossible for them."""

    anywhere: Mapping[str, tuple[str, ...]] = field(default_factory=Frozen, hash=False)
    """Ids, as text, that may be in any group of a release with centroids: no near one leaves them a value."""

    fewer: tuple[str, ...] = ()
    """Tables that hide counts, of which fewer persons may be members than fit."""

    def __bool__(self) -> bool:
        return bool(self.near or self.strangers or self.absent or self.anywhere or self.fewer)
