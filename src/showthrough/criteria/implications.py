"""(c,k)-safety: whoever knows k implications besides the release is nowhere c or more sure.

Martin, Kifer, Machanavajjhala, Gehrke, Halpern, *WorstLevels-Case Background Knowledge for
Privacy-Preserving Data Publishing*, ICDE 2007. An implication says: if these persons have these
values, then one of those persons has one of those values. The worst k of them are of the form "if
that person has that value, then the target has the value A", all with the same A, so that

    P(A | knowledge) = 1/(1 + r)      r = P(neither A nor any of the k pairs) / P(A)

Groups are independent, so r is a product over the groups that the k + 1 pairs are spread over
(MINIMIZE2): a group takes j of them by the smallest P(none holds) (`atoms.py`), A is a pair of the
target's group, of the most frequent value. "If the target has another value, it has A" says that
the target does not have that value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from showthrough.criteria.atoms import Split, exactly, least
from showthrough.criteria.coding import combine, dense
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Criterion, text
from showthrough.criteria.knowing import NEAR, Hint, beside_limit, sure
from showthrough.criteria.parameters import number, whole
from showthrough.table.arrays import Flags, Ints, Reals

Spread = tuple[tuple[int, int], ...]
"""Pairs (place in the list of groups, how many implications go there)."""
_Best = tuple[Fraction, Spread]


@dataclass(frozen=True)
class CKSafety(Criterion):
    """Whoever knows any ``k`` implications is less than ``c`` sure of anybody's value."""

    c: float
    k: int
    name: ClassVar[str] = "(c,k)-safety"
    citation: ClassVar[str] = "Martin, Kifer, Machanavajjhala, Gehrke, Halpern, ICDE 2007"
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.name, "c", self.c, least=0, most=1)
        whole(self.name, "k", self.k, least=0)

    def __str__(self) -> str:
        return f"({text(float(self.c))},{int(self.k)})-safety"

    def level(self, counts: GroupCounts) -> Reals:
        """The largest P(value | person) of anybody in the group that k implications, about anybody, can lead to."""
        worst = Implications(counts, int(self.k))
        return beside_limit(worst.level, worst.exactly, self.c)

    def met(self, level: Reals) -> Flags:
        """Below c; levels are on the right side of it."""
        found: Flags = level < float(self.c)
        return found

    def says(self, level: float) -> str:
        """How sure the worst knowledge makes a reader."""
        known = "1 implication" if self.k == 1 else f"{int(self.k)} implications"
        return f"Whoever knows the worst {known} can be {text(100 * level)} % sure of somebody's value (random worlds)."


class Implications:
    """The worst ``k`` implications for a target in each group."""

    def __init__(self, counts: GroupCounts, k: int) -> None:
        self._counts, self.k = counts, k

    @cached_property
    def _certain(self) -> int | None:
        """A group with so few values that k pairs are all that one of its members can have: one of them holds."""
        fewest = int(self._counts.distinct.argmin())
        return fewest if self._counts.distinct[fewest] <= self.k else None

    @cached_property
    def _profile(self) -> tuple[Ints, Ints]:
        """One group for each size with most frequent counts, and which of them each group is like."""
        counts, columns = self._counts, [self._counts.size]
        columns += [self._count(place) for place in range(self.k + 1)]
        key = combine([dense(column) for column in columns], counts.groups)
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        return first.astype(np.int64), which.reshape(-1).astype(np.int64)

    def _count(self, place: int) -> Ints:
        """The count of each group at a place of the descending order; 0 past its end."""
        at = self._counts.start[:-1] + place
        inside = at < self._counts.start[1:]
        return np.where(inside, self._counts.descending[np.minimum(at, self._counts.descending.size - 1)], 0)

    @cached_property
    def _none(self) -> Reals:
        """The smallest P(none holds) of 0 to k + 1 pairs in each profile."""
        first = self._profile[0]
        top = np.zeros((first.size, self.k + 2), dtype=np.int64)
        for place in range(self.k + 1):
            top[:, place + 1] = top[:, place] + self._count(place)[first]
        return least(self._counts.size[first], top, self.k + 1)

    @cached_property
    def _others(self) -> _Others:
        """The groups that implications about other groups are spread over at worst."""
        first, which = self._profile
        room = np.bincount(which, minlength=first.size)
        chosen = sorted({at for j in range(1, self.k + 1) for at in _smallest(self._none[:, j], room, self.k + 1)})
        listed: list[int] = []
        for profile in chosen:
            listed += np.flatnonzero(which == profile)[: self.k + 1].tolist()
        return _Others(listed, [[p for p, _ in self._fractions(g)] for g in listed], self.k)

    @cached_property
    def level(self) -> Reals:
        """The largest P(value | person) of each group."""
        if self._certain is not None:
            return np.ones(self._counts.groups)
        first, which = self._profile
        for_it = self._counts.largest[first] / self._counts.size[first]
        elsewhere = [float(p) for p, _ in self._others.spread(None)]
        ratio = np.min([self._none[:, j + 1] * elsewhere[self.k - j] for j in range(self.k + 1)], axis=0) / for_it
        level = sure(ratio)[which]
        for group in self._others.listed:
            level[group] = float(self.exactly(group))
        found: Reals = level
        return found

    def exactly(self, group: int) -> Fraction:
        """The same as a fraction, of one group."""
        if self._certain is not None:
            return Fraction(1)
        profile = int(self._profile[1][group])
        if profile not in self._known:  # the groups of a profile have one answer: all or enough of them are listed
            self._known[profile] = sure(self._worst(group)[0])
        return self._known[profile]

    def knowledge(self, group: int) -> list[Hint]:
        """The value in question, and the pairs that imply it."""
        own = self._values(group)
        if self._certain is not None:
            target = Hint("target", group, 0, own[0])
            if len(own) <= self.k + 1:
                return [target, *(Hint("excluded", group, 0, value) for value in own[1:])]
            there = self._certain
            return [target, *(Hint("implies", there, 1, value) for value in self._values(there))]
        _, here, elsewhere = self._worst(group)
        told = []
        for at, split in [(group, self._fractions(group)[here][1]), *elsewhere]:
            values = self._values(at)
            for person, taken in enumerate(split):
                number = person if at == group else person + 1
                kind = "implies" if number else "excluded"
                told += [Hint(kind, at, number, value) for value in values[:taken]]
        return [Hint("target", group, 0, own[0]), *told[1:]]

    def _worst(self, group: int) -> tuple[Fraction, int, list[tuple[int, Split]]]:
        """The ratio r, how many pairs stand in the own group, and the split of those in others."""
        spread = self._others.spread(group if group in self._others.at else None)
        own, size = self._fractions(group), int(self._counts.size[group])
        for_it = Fraction(int(self._counts.largest[group]), size)
        ratio, j = min((own[j + 1][0] * spread[self.k - j][0] / for_it, j) for j in range(self.k + 1))
        listed = self._others.listed
        there = [(listed[at], self._fractions(listed[at])[n][1]) for at, n in spread[self.k - j][1]]
        return ratio, j + 1, there

    @cached_property
    def _known(self) -> dict[int, Fraction]:
        return {}

    @cached_property
    def _by_profile(self) -> dict[int, list[tuple[Fraction, Split]]]:
        return {}

    def _fractions(self, group: int) -> list[tuple[Fraction, Split]]:
        """The smallest P(none holds) of 0 to k + 1 pairs in a group, each with its split."""
        profile = int(self._profile[1][group])
        if profile not in self._by_profile:
            begin, end = self._counts.start[group : group + 2]
            self._by_profile[profile] = exactly(self._counts.descending[begin:end].tolist(), self.k + 1)
        return self._by_profile[profile]

    def _values(self, group: int) -> list[int]:
        """The values of a group, the most frequent first."""
        begin, end = self._counts.start[group : group + 2]
        order = np.argsort(-self._counts.count[begin:end], kind="stable")
        found: list[int] = self._counts.value[begin:end][order].tolist()
        return found


def _smallest(value: Reals, room: npt.NDArray[np.integer], many: int) -> list[int]:
    """Places of the smallest values that stand for at least ``many`` groups, and of all that are as small."""
    order = np.argsort(value, kind="stable")
    enough = int(np.searchsorted(np.cumsum(room[order]), many))
    limit = value[order[min(enough, order.size - 1)]]
    found: list[int] = np.flatnonzero(value <= limit * (1 + NEAR)).tolist()
    return found


class _Others:
    """Groups that a reader may know implications about, and how few worlds 0 to k of them leave."""

    def __init__(self, listed: list[int], none: Sequence[Sequence[Fraction]], k: int) -> None:
        self.listed, self._none, self._k = listed, none, k
        self.at = {group: place for place, group in enumerate(listed)}

    def spread(self, without: int | None) -> list[_Best]:
        """The smallest product with 0 to k implications, over all groups but one."""
        return self._before[-1] if without is None else self._joined(self.at[without])

    def _joined(self, at: int) -> list[_Best]:
        before, after = self._before[at], self._after[at + 1]
        return [min(_times(before[i], after[n - i]) for i in range(n + 1)) for n in range(self._k + 1)]

    @cached_property
    def _before(self) -> list[list[_Best]]:
        """Over the groups before each place of the list, and over all."""
        found = [self._nothing()]
        for place in range(len(self.listed)):
            found.append(self._with(found[-1], place))
        return found

    @cached_property
    def _after(self) -> list[list[_Best]]:
        """Over the groups from each place of the list on."""
        found = [self._nothing()]
        for place in reversed(range(len(self.listed))):
            found.append(self._with(found[-1], place))
        return found[::-1]

    def _nothing(self) -> list[_Best]:
        return [(Fraction(1), ()) for _ in range(self._k + 1)]

    def _with(self, known: list[_Best], place: int) -> list[_Best]:
        """One more group, of any number of implications."""
        own = self._none[place]
        return [
            min([known[n], *(_times(known[n - j], (own[j], ((place, j),))) for j in range(1, n + 1))])
            for n in range(self._k + 1)
        ]


def _times(one: _Best, other: _Best) -> _Best:
    return one[0] * other[0], one[1] + other[1]
