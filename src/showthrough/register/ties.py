"""Who can be in which group of one release, whatever the source of the knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.register.unfilled import Unfilled
from showthrough.table.arrays import Flags, Ints

if TYPE_CHECKING:
    from showthrough.release.release import Release


@dataclass(frozen=True)
class Pool:
    """Members of some groups whom nobody names: each of them is in one of the groups.

    Of a ``spare`` pool there may be fewer: each member is perhaps nobody. With ``outside``, which only margins have,
    a member may be in no group.
    """

    groups: Ints  # positions among the groups of the release
    members: int
    spare: bool = False
    outside: bool = False


@dataclass(frozen=True)
class Ties:
    """The groups that each named person fits, and the unnamed members.

    Groups are positions among the labels of the release. ``outside`` marks persons who may not be in
    the release at all, although they fit a group of it.
    """

    ids: pl.Series
    start: Ints  # [persons + 1] where the candidates of each person begin
    group: Ints  # ascending for each person
    outside: Flags  # [persons]
    pools: tuple[Pool, ...] = ()
    locatability: pl.DataFrame | None = None  # how well persons were located by quasi-identifiers
    unfilled: Unfilled | None = None  # rows that nobody of the register fits
    like: int | None = None  # of a margin: the place of the release whose pools these are, one by one
    noisy: tuple[tuple[Release, Ties], ...] = ()  # the tables of a noisy release, and who is counted in their cells

    @property
    def plain(self) -> bool:
        """Whether everybody is in one known group."""
        return self.group.size == self.ids.len() and not self.outside.any()


def one_each(ids: pl.Series, group: npt.NDArray[np.integer], pools: tuple[Pool, ...] = ()) -> Ties:
    """Everybody in one known group."""
    return Ties(ids, np.arange(ids.len() + 1), group.astype(np.int64), np.zeros(ids.len(), dtype=bool), pools)
