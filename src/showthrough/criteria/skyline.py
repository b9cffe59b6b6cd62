"""Privacy skyline: how much a reader may know about the target, about others and about its family.

Chen, LeFevre, Ramakrishnan, *Privacy Skyline: Privacy with Multidimensional Adversarial Knowledge*,
VLDB 2007. A reader at the point (l, k, m) knows up to l values that the target does not have, the
values of up to k other persons, and a family of up to m further persons of whom none has the value
in question unless the target has it. (The k persons are none of the family: a relative known to
have the value would give the target away.) In the target's group of n persons, c of them with the
value and d with the l next frequent ones, with k₁ persons known,

    P = 1/(1 + r)      r = (n − k₁ − c − d)/c · Π_{i=1..m} (n − k₁ − i − c)/(n − k₁ − i)

if the family is in the same group; if it is in another one, of n′ persons with c′ of the value and
k − k₁ of them known, the product is Π_{i<m} (n′ − k + k₁ − i − c′)/(n′ − k + k₁ − i). The known persons
have values that are neither in question nor excluded. The factors of a product fall, so a family is
worst in one group: where its product is the smallest, not where the value is the most frequent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Criterion, text
from showthrough.criteria.knowing import NEAR, Hint, beside_limit, sure
from showthrough.criteria.parameters import number, whole
from showthrough.errors import ParameterError
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.ragged import running

SkylinePoint = tuple[int, int, int]


@dataclass(frozen=True)
class SkylinePrivacy(Criterion):
    """Whoever knows as much as one of the ``points`` says is less than ``c`` sure of anybody's value.

    A point is (excluded, known, family): values that the target does not have, persons whose value is known, and
    persons of whom none has the value unless the target has it. One point can stand alone.
    """

    c: float
    points: Any
    name: ClassVar[str] = "skyline privacy"
    citation: ClassVar[str] = "Chen, LeFevre, Ramakrishnan, VLDB 2007"
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number("Skyline privacy", "c", self.c, least=0, most=1)
        object.__setattr__(self, "points", _points(self.points))

    def __str__(self) -> str:
        return f"skyline privacy below {text(float(self.c))} at {_listed(self.points)}"

    def level(self, counts: GroupCounts) -> Reals:
        """The largest P(value | person) of anybody in the group that knowledge at one of the points can lead to."""
        levels = []
        for point in self.points:
            worst = Skyline(counts, point)
            levels.append(beside_limit(worst.level, worst.exactly, self.c))
        found: Reals = np.max(levels, axis=0)
        return found

    def met(self, level: Reals) -> Flags:
        """Below c; levels are on the right side of it."""
        found: Flags = level < float(self.c)
        return found

    def says(self, level: float) -> str:
        """How sure the worst knowledge makes a reader."""
        return (
            f"Whoever knows the worst at {_listed(self.points)} (excluded values, known persons, family) can be "
            f"{text(100 * level)} % sure of somebody's value (random worlds)."
        )


def _points(given: Any) -> tuple[SkylinePoint, ...]:
    """One point or several, as triples of whole numbers of 0 or more."""
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else [given]
    if not any(isinstance(one, Iterable) and not isinstance(one, (str, bytes)) for one in listed):
        listed = [listed]
    found = []
    for point in listed:
        triple = tuple(point) if isinstance(point, Iterable) else (point,)
        if len(triple) != 3:
            raise ParameterError(
                "Skyline privacy needs points of three whole numbers (excluded, known, family).", parameters=("points",)
            )
        for one in triple:
            whole("Skyline privacy", "points", one, least=0)
        found.append((int(triple[0]), int(triple[1]), int(triple[2])))
    if not found:
        raise ParameterError("Skyline privacy needs at least one point.", parameters=("points",))
    return tuple(found)


def _listed(points: Sequence[SkylinePoint]) -> str:
    return " and ".join(f"({l},{k},{m})" for l, k, m in points)


class Skyline:
    """The worst knowledge at one point for a target in each group."""

    def __init__(self, counts: GroupCounts, point: SkylinePoint) -> None:
        self._counts = counts
        most = int(counts.size.max())
        self.excluded, self.known, self.family = (min(one, most) for one in point)
        self._chains: dict[tuple[int, int, int], Fraction] = {}
        self._families: dict[int, Reals] = {}
        self._nearest: dict[tuple[int, int], list[tuple[Fraction, int]]] = {}

    @cached_property
    def _size(self) -> Ints:
        return self._counts.size[self._counts.group]

    @cached_property
    def _left(self) -> Ints:
        """Members of the group of each entry who have neither its value nor one of the most frequent others."""
        counts, l = self._counts, self.excluded
        if not l:
            return self._size - counts.count
        total = running(counts.descending)
        begin, end = counts.start[:-1], counts.start[1:]
        top, more = (total[np.minimum(begin + n, end)] - total[begin] for n in (l, l + 1))
        last = counts.descending[np.minimum(begin + l, end) - 1]
        inside = counts.count >= last[counts.group]  # among the most frequent itself: one more takes its place
        gone = np.where(inside, more[counts.group] - counts.count, top[counts.group])
        left: Ints = self._size - counts.count - gone
        return left

    def _against(self, known: int) -> Reals:
        """What speaks against each entry, over what speaks for it, with so many of its group known."""
        found: Reals = np.maximum(self._left - known, 0) / self._counts.count
        return found

    def _chain(self, known: int, first: int) -> Reals:
        """The probability that a family in the group of each entry lacks its value; the target is in it with 1."""
        product = np.ones(self._size.size)
        for i in range(first, first + self.family):
            room = self._size - known - i
            product *= np.maximum(room - self._counts.count, 0) / np.maximum(room, 1)
        return product

    def _elsewhere(self, known: int) -> Reals:
        """The smallest chain of a family outside the group of each entry; 1 where no other group has the value."""
        value, chain = self._counts.value, self._chain(known, 0)
        smallest, second = np.ones(self._counts.values), np.ones(self._counts.values)
        np.minimum.at(smallest, value, chain)
        reached = np.flatnonzero(chain == smallest[value])
        first = np.full(self._counts.values, chain.size)
        np.minimum.at(first, value[reached], reached)  # one entry for each value
        first = first[first < chain.size]
        found: Reals = smallest[value]
        chain[first] = 1.0
        np.minimum.at(second, value, chain)
        found[first] = second[value[first]]
        return found

    @cached_property
    def _ratio(self) -> Reals:
        """The smallest r of each entry."""
        ratio = self._against(self.known) * self._chain(self.known, 1)
        for there in range(self.known + 1) if self.family else ():
            ratio = np.minimum(ratio, self._against(self.known - there) * self._elsewhere(there))
        return ratio

    @cached_property
    def level(self) -> Reals:
        """The largest P(value | person) of each group."""
        found: Reals = self._counts.highest(sure(self._ratio))
        return found

    @cached_property
    def _given_away(self) -> Flags:
        """Groups where excluded values and known persons leave nothing but the value in question."""
        found: Flags = self._counts.lowest(self._left) <= self.known
        return found

    def exactly(self, group: int) -> Fraction:
        """The same as a fraction, of one group."""
        if self._given_away[group]:
            return Fraction(1)
        return Fraction(1) / (1 + self._worst(group)[0])

    def knowledge(self, group: int) -> list[Hint]:
        """The value in question, the values excluded, the persons known, and the family."""
        _, entry, there, place = self._worst(group)
        counts, value = self._counts, int(self._counts.value[entry])
        others = [e for e in range(*counts.start[group : group + 2]) if e != entry]
        gone = sorted(others, key=lambda e: -int(counts.count[e]))[: self.excluded]
        here = self.known if place == group else self.known - there
        told = [Hint("target", group, 0, value)]
        told += [Hint("excluded", group, 0, int(counts.value[e])) for e in gone]
        told += self._members(group, {value, *(int(counts.value[e]) for e in gone)}, here)
        if self._left[entry] <= here:  # nothing else is possible: no family needed
            return told
        if place != group:
            told += self._members(place, {value}, there)
        first = 1 + sum(one.kind == "known" and one.group == place for one in told)
        room = int(counts.size[place]) - first + (place != group)
        return told + [Hint("family", place, first + i, value) for i in range(min(self.family, room))]

    def _members(self, group: int, without: set[int], many: int) -> list[Hint]:
        """So many persons of a group whose values are known, none of them one of ``without``."""
        counts, found = self._counts, list[int]()
        for entry in range(*counts.start[group : group + 2]):
            if int(counts.value[entry]) not in without:
                found += [int(counts.value[entry])] * min(int(counts.count[entry]), many - len(found))
        return [Hint("known", group, 1 + i, value) for i, value in enumerate(found)]

    def _worst(self, group: int) -> tuple[Fraction, int, int, int]:
        """The ratio r, the entry in question, how many are known where the family is, and that group."""
        begin, end = self._counts.start[group : group + 2]
        ratio = self._ratio[begin:end]
        close = np.flatnonzero(ratio <= ratio.min() * (1 + NEAR)) + begin
        return min(self._exact(int(entry), group) for entry in close)

    def _exact(self, entry: int, group: int) -> tuple[Fraction, int, int, int]:
        size, count = int(self._size[entry]), int(self._counts.count[entry])
        left, value = int(self._left[entry]), int(self._counts.value[entry])

        def against(known: int) -> Fraction:
            return Fraction(max(left - known, 0), count)

        found = [(against(self.known) * self._exact_chain(size - 1, count, self.known), entry, self.known, group)]
        for there in range(self.known + 1) if self.family else ():
            for chain, place in self._closest(value, there):
                if place != group:
                    found.append((against(self.known - there) * chain, entry, there, place))
                    break
        return min(found)

    def _exact_chain(self, size: int, count: int, known: int) -> Fraction:
        key = (size, count, known)
        if key not in self._chains:
            product = Fraction(1)
            for i in range(self.family):
                if size - known - i <= count or not product:
                    product = Fraction(0)
                    break
                product *= Fraction(size - known - i - count, size - known - i)
            self._chains[key] = product
        return self._chains[key]

    def _closest(self, value: int, known: int) -> list[tuple[Fraction, int]]:
        """The two groups with the smallest chain of a value, with it."""
        if (value, known) not in self._nearest:
            entries = np.flatnonzero(self._counts.value == value)
            if known not in self._families:
                self._families[known] = self._chain(known, 0)
            chain = self._families[known][entries]
            second = np.partition(chain, min(1, chain.size - 1))[min(1, chain.size - 1)]
            close = self._two_of_each(entries[chain <= second * (1 + NEAR)])
            found = [(self._exact_chain(size, count, known), group) for size, count, group in close]
            self._nearest[value, known] = sorted(found)[:2]
        return self._nearest[value, known]

    def _two_of_each(self, entries: Ints) -> list[tuple[int, int, int]]:
        """Size, count and group of two entries for each size and count: enough, as one of them may be the target's."""
        found: list[tuple[int, int, int]] = []
        for _ in range(2):
            size, count = self._size[entries], self._counts.count[entries]
            first = np.unique(size * (int(count.max(initial=0)) + 1) + count, return_index=True)[1]
            group = self._counts.group[entries[first]]
            found += zip(size[first].tolist(), count[first].tolist(), group.tolist(), strict=True)
            entries = np.delete(entries, first)
        return found
