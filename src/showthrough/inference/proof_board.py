"""What a replay knows of everybody, as steps are taken: the board of `proof_check`.

Who can be where, which rows count which values, and what is still open to each, in dictionaries and whole numbers; the
rule of a step stands there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import polars as pl

Row = tuple[int | None, Any, Any, int]  # release, group, value, weight; of a statement None, name, None, weight
Key = tuple[int | None, Any, Any]  # a row without its weight
Bounds = tuple[int, int]  # the least and the most that a row adds up to
Ranges = Mapping[tuple[int, Any, Any], Bounds]  # published rows whose count is only known to lie between two
Person = tuple[Any, int | None]  # id, and the release that names the person if the id stands for several
Home = tuple[tuple[int, frozenset[Any]], ...]  # the groups of each release where somebody can be
Said = Mapping[str, Mapping[Any, int]]  # what statements say of a person: statement, value, coefficient

SplitIds = Mapping[Any, Sequence[int]]  # ids that stand for several persons: the first release of each

NO_RANGES: Ranges = MappingProxyType({})
NO_SPLIT_IDS: SplitIds = MappingProxyType({})


@dataclass(frozen=True)
class Members:
    """Who can be in which group of one release: id and group, several rows for who fits several groups.

    An empty group says that the person may not be in the release. ``unnamed`` are members of some
    groups whom nobody names: (groups, how many).
    """

    frame: pl.DataFrame
    unnamed: tuple[tuple[tuple[Any, ...], int], ...] = ()


@dataclass(frozen=True)
class Unnamed:
    """Persons whom nobody names and who are in several releases at once: a table and its totals.

    ``groups`` are those that they can be in, by the place of the release; None among them: perhaps in none. Of
    ``spare`` ones there may be fewer than ``persons``: whoever does not exist is in no row.
    """

    groups: Mapping[int, tuple[Any, ...]]
    persons: int
    spare: bool = False


@dataclass(frozen=True)
class KnownSum:
    """Knowledge about values: lower ≤ Σ coefficient of every (id, value) that is true ≤ upper.

    Ids and values are given in the very type that all releases share: text where one of them has text.
    """

    name: str
    lower: int
    upper: int
    terms: Mapping[tuple[Any, Any], int]


@dataclass(frozen=True)
class Evidence:
    """All that the steps may lean on, with ids of one kind and values of one kind."""

    tallies: Sequence[pl.DataFrame]
    members: Sequence[Members]
    domain: Sequence[Any] = ()
    split: bool = False
    parts: SplitIds = field(default_factory=lambda: NO_SPLIT_IDS)
    ranges: Ranges = field(default_factory=lambda: NO_RANGES)
    statements: Sequence[KnownSum] = ()
    unnamed: Sequence[Unnamed] = ()
    covers: Mapping[tuple[int, Any], Sequence[Any]] = field(default_factory=lambda: MappingProxyType({}))
    """By release and published name: the values that a row counts together."""


class _Nobody:
    """The value of whoever does not exist."""


NOBODY = _Nobody()


@dataclass(eq=False)
class _Crowd:
    """Persons of whom the same is known, and what is open to each: the rows (group, published) of each release, by
    value; None: in none.
    """

    persons: int
    open: dict[Any, dict[int, frozenset[Any]]]
    said: Said

    def scores(self, weights: _Weights) -> dict[Any, int]:
        """The most that each open value adds to the weighed rows."""
        return {
            value: sum(weights.of_statement[name] * self.said[name].get(value, 0) for name in self._told(weights))
            + sum(max(own.get(row, 0) for row in places[r]) for r, own in weights.of_release.items() if r in places)
            for value, places in self.open.items()
        }

    def keep(self, best: Collection[Any], weights: _Weights) -> None:
        """Leave only these values open, each with the best rows of every release."""
        left = {}
        for value in best:
            places = dict(self.open[value])
            for release, own in weights.of_release.items():
                if release in places:
                    top = max(own.get(row, 0) for row in places[release])
                    places[release] = frozenset(row for row in places[release] if own.get(row, 0) == top)
            left[value] = places
        self.open = left

    def _told(self, weights: _Weights) -> list[str]:
        return [name for name in self.said if name in weights.of_statement]


class _Weights:
    """The weights of one step, by row, and as persons look them up."""

    def __init__(self, step: Sequence[Row]):
        total: dict[Key, int] = {}
        for *key, weight in step:  # a row that stands twice counts twice
            total[tuple(key)] = total.get(tuple(key), 0) + weight
        self.of_row = {key: weight for key, weight in total.items() if weight}
        self.of_statement: dict[str, int] = {}
        self.of_release: dict[int, dict[Any, int]] = {}  # the weight of each (group, published); all others weigh 0
        for (release, group, value), weight in self.of_row.items():
            if release is None:
                self.of_statement[group] = weight
            else:
                self.of_release.setdefault(release, {})[(group, value)] = weight


class Board:
    """What is known about everybody whom the steps touch; it grows with the sum of their groups."""

    def __init__(self, facts: Evidence, steps: Sequence[Sequence[Row]], asked: Person | None = None):
        self.bounds: dict[Key, Bounds] = {}  # of the weighed rows; a step can draw them together
        self.crowd: dict[Person, _Crowd] = {}
        weighed = {(r, g, v) for step in steps for r, g, v, _ in step}
        statements = [s for s in facts.statements if (None, s.name, None) in weighed]
        said: dict[Any, dict[str, dict[Any, int]]] = {}
        for s in statements:
            self.bounds[(None, s.name, None)] = (s.lower, s.upper)
            for (i, value), coefficient in s.terms.items():
                said.setdefault(i, {}).setdefault(s.name, {})[value] = coefficient
        self._places = {(r, g) for r, g, _ in weighed}
        self._near: dict[tuple[int | None, Any], list[_Crowd]] = {}  # who can change the rows of a group or statement
        self._crowds: dict[Any, _Crowd] = {}
        shown = {(r, v) for r, tally in enumerate(facts.tallies) for v in tally["value"].unique()}
        under = {v for values in facts.covers.values() for v in values}
        self._domain = {*facts.domain, *(v for r, v in shown if (r, v) not in facts.covers), *under}
        self._covers = facts.covers
        self._published: dict[tuple[int, Any], set[Any]] = {}
        homes = self._homes(facts, [*([asked[0]] if asked else []), *said])
        alone = [Unnamed({r: fits}, n) for r, own in enumerate(facts.members) for fits, n in own.unnamed]
        pools = [
            (tuple((r, frozenset(groups)) for r, groups in crowd.groups.items()), crowd)
            for crowd in (*alone, *facts.unnamed)
            if any((r, g) in self._places for r, groups in crowd.groups.items() for g in groups)
        ]
        fits = {(r, g) for home in homes.values() for r, groups in home.items() for g in groups}
        self._read(facts, self._places | fits | {(r, g) for home, _ in pools for r, groups in home for g in groups})
        for i, home in homes.items():
            self._settle(i, home, said.get(i, {}), facts)
        for unknown, crowd in pools:
            self._join(unknown, {}, crowd.persons, spare=crowd.spare)

    def _homes(self, facts: Evidence, wanted: Iterable[Any]) -> dict[Any, dict[int, set[Any]]]:
        """Where everybody can be who matters: nobody outside the weighed groups can change a total."""
        homes: dict[Any, dict[int, set[Any]]] = {i: {} for i in wanted}
        for number, own in enumerate(facts.members):
            groups = {g for r, g in self._places if r == number}
            homes.update((i, {}) for i in where(own.frame, "group", groups)["id"])
        for number, own in enumerate(facts.members):
            for i, group in where(own.frame, "id", homes).iter_rows():
                homes[i].setdefault(number, set()).add(group)
        return homes

    def _read(self, facts: Evidence, places: Collection[tuple[int | None, Any]]) -> None:
        """What the releases publish of the groups that matter."""
        wanted: dict[int | None, set[Any]] = {}
        for release, group in places:
            wanted.setdefault(release, set()).add(group)
        for number, tally in enumerate(facts.tallies):
            for group, value, n, *_ in where(tally, "group", wanted.get(number, set()) - {None}).iter_rows():
                self._published.setdefault((number, group), set()).add(value)
                if (number, group) in self._places:
                    key = (number, group, value)
                    self.bounds[key] = facts.ranges.get(key, (int(n), int(n)))

    def _settle(self, id: Any, home: dict[int, set[Any]], said: Said, facts: Evidence) -> None:
        """Take a person in; as one per release if nothing fits all of them and such ids are split."""
        key = tuple((r, frozenset(groups)) for r, groups in home.items())
        if id in facts.parts:  # each part reaches from its first release to that of the next
            firsts = sorted(facts.parts[id])
            for first, end in zip(firsts, [*firsts[1:], len(facts.members)], strict=True):
                own = tuple((r, groups) for r, groups in key if first <= r < end)
                self.crowd[(id, first)] = self._join(own, said if first == firsts[-1] else {}, 1)
            return
        crowd = self._join(key, said, 0)
        if crowd.open or not facts.split:
            crowd.persons += 1
            self.crowd[(id, None)] = crowd
        else:
            newest = max(r for r, _ in key)  # statements speak of the newest value
            self.crowd.update(
                ((id, r), self._join(((r, groups),), said if r == newest else {}, 1)) for r, groups in key
            )

    def _join(self, home: Home, said: Said, persons: int, *, spare: bool = False) -> _Crowd:
        """Add persons to those of whom the same is known."""
        known = (home, frozenset((name, v, c) for name, own in said.items() for v, c in own.items()), spare)
        crowd = self._crowds.get(known)
        if crowd is None:
            crowd = self._crowds[known] = _Crowd(0, self._open(home) | ({NOBODY: {}} if spare else {}), said)
            places = [*((r, g) for r, groups in home for g in groups), *((None, name) for name in said)]
            for place in places:
                if place in self._places:
                    self._near.setdefault(place, []).append(crowd)
        crowd.persons += persons
        return crowd

    def _open(self, home: Home) -> dict[Any, dict[int, frozenset[Any]]]:
        """Every value that some group of each release publishes, with the rows that count it."""
        fitting: dict[int, dict[Any, set[Any]]] = {}
        for release, groups in home:
            own = fitting[release] = {}
            for group in groups - {None}:
                for shown in self._published.get((release, group), ()):
                    for value in self._covers.get((release, shown), (shown,)):
                        own.setdefault(value, set()).add((group, shown))
        absent = {release: groups & {None} for release, groups in home}
        sure = [set(own) for release, own in fitting.items() if not absent[release]]
        values = set.intersection(*sure) if sure else self._domain
        return {v: {r: absent[r].union(own.get(v, ())) for r, own in fitting.items()} for v in values}

    def take(self, step: Sequence[Row]) -> int:
        """The best of all persons minus the total of a step: 0 if it proves something, which is then excluded.

        Below 0 the rows contradict each other; above 0 the step proves nothing.
        """
        weights = _Weights(step)
        total = sum(w * self.bounds[key][0 if w > 0 else 1] for key, w in weights.of_row.items())
        touched = {crowd: None for r, g, _ in weights.of_row for crowd in self._near.get((r, g), ())}
        scores = {crowd: crowd.scores(weights) for crowd in touched if crowd.open}
        best = {crowd: max(score.values()) for crowd, score in scores.items()}
        surplus = sum(crowd.persons * most for crowd, most in best.items()) - total
        if surplus == 0:
            for crowd, score in scores.items():
                crowd.keep([value for value, s in score.items() if s == best[crowd]], weights)
            for key, w in weights.of_row.items():
                reached = self.bounds[key][0 if w > 0 else 1]
                self.bounds[key] = (reached, reached)
        return surplus


def where(frame: pl.DataFrame, column: str, entries: Collection[Any]) -> pl.DataFrame:
    """The rows whose entry is among ``entries``."""
    try:
        wanted = pl.Series(list(entries), dtype=frame[column].dtype, strict=False)
        return frame.filter(pl.col(column).is_in(wanted.drop_nulls().implode()))
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return frame.clear()
