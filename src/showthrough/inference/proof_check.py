"""Replay a proof from the published releases, in whole numbers, with nothing but dictionaries.

The rule of every step: give rows whole weights. A row is a published count (group, value), or a
statement about the values of some persons; what it adds up to is known, or known to lie between a
lower and an upper bound. Whatever the truth is, the weighed rows add up to at least
Σ (lower·weight where the weight is positive, upper·weight where it is negative): the total. Each
person adds the weights of its value in its groups and its part of the statements, at most the best
over the values still open to it. Given the value, the groups of different releases are independent:
the score of a value is the best open group of each release, added up, so that nothing here grows
with combinations of groups.

If the best of all persons add up to exactly the total, a value below a person's best is impossible,
in a value at its best a group below the best of its release is impossible, and every weighed row
lies at the bound that it was weighed with. If they add up to less, the rows contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import polars as pl

from showthrough.release.release import Release

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


@dataclass(eq=False)
class _Crowd:
    """Persons of whom the same is known, and what is open to each: the groups of each release, by value."""

    persons: int
    open: dict[Any, dict[int, frozenset[Any]]]
    said: Said

    def scores(self, weights: _Weights) -> dict[Any, int]:
        """The most that each open value adds to the weighed rows."""
        return {
            value: sum(weights.of_statement[name] * self.said[name].get(value, 0) for name in self._told(weights))
            + sum(max(own.get(g, 0) for g in places[r]) for r, own in weights.of_groups(value) if r in places)
            for value, places in self.open.items()
        }

    def keep(self, best: Collection[Any], weights: _Weights) -> None:
        """Leave only these values open, each with the best groups of every release."""
        left = {}
        for value in best:
            places = dict(self.open[value])
            for release, own in weights.of_groups(value):
                if release in places:
                    top = max(own.get(g, 0) for g in places[release])
                    places[release] = frozenset(g for g in places[release] if own.get(g, 0) == top)
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
        self._of_value: dict[Any, dict[int, dict[Any, int]]] = {}
        for (release, group, value), weight in self.of_row.items():
            if release is None:
                self.of_statement[group] = weight
            else:
                self._of_value.setdefault(value, {}).setdefault(release, {})[group] = weight

    def of_groups(self, value: Any) -> Iterable[tuple[int, Mapping[Any, int]]]:
        """By release: the weight of the value in each weighed group; all other groups, and none, weigh 0."""
        return self._of_value.get(value, {}).items()


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
        self._domain = {*facts.domain, *(v for tally in facts.tallies for v in tally["value"].unique())}
        self._published: dict[tuple[int, Any], set[Any]] = {}
        homes = self._homes(facts, [*([asked[0]] if asked else []), *said])
        pools = [
            ((number, frozenset(fitting)), n)
            for number, members in enumerate(facts.members)
            for fitting, n in members.unnamed
            if any((number, g) in self._places for g in fitting)
        ]
        fits = {(r, g) for home in homes.values() for r, groups in home.items() for g in groups}
        self._read(facts, self._places | fits | {(r, g) for (r, groups), _ in pools for g in groups})
        for i, home in homes.items():
            self._settle(i, home, said.get(i, {}), facts)
        for own, n in pools:
            self._join((own,), {}, n)

    def _homes(self, facts: Evidence, wanted: Iterable[Any]) -> dict[Any, dict[int, set[Any]]]:
        """Where everybody can be who matters: nobody outside the weighed groups can change a total."""
        homes: dict[Any, dict[int, set[Any]]] = {i: {} for i in wanted}
        for number, own in enumerate(facts.members):
            groups = {g for r, g in self._places if r == number}
            homes.update((i, {}) for i in _where(own.frame, "group", groups)["id"])
        for number, own in enumerate(facts.members):
            for i, group in _where(own.frame, "id", homes).iter_rows():
                homes[i].setdefault(number, set()).add(group)
        return homes

    def _read(self, facts: Evidence, places: Collection[tuple[int | None, Any]]) -> None:
        """What the releases publish of the groups that matter."""
        wanted: dict[int | None, set[Any]] = {}
        for release, group in places:
            wanted.setdefault(release, set()).add(group)
        for number, tally in enumerate(facts.tallies):
            for group, value, n in _where(tally, "group", wanted.get(number, set()) - {None}).iter_rows():
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

    def _join(self, home: Home, said: Said, persons: int) -> _Crowd:
        """Add persons to those of whom the same is known."""
        known = (home, frozenset((name, v, c) for name, own in said.items() for v, c in own.items()))
        crowd = self._crowds.get(known)
        if crowd is None:
            crowd = self._crowds[known] = _Crowd(0, self._open(home), said)
            places = [*((r, g) for r, groups in home for g in groups), *((None, name) for name in said)]
            for place in places:
                if place in self._places:
                    self._near.setdefault(place, []).append(crowd)
        crowd.persons += persons
        return crowd

    def _open(self, home: Home) -> dict[Any, dict[int, frozenset[Any]]]:
        """Every value that some group of each release publishes, with those groups."""
        fitting: dict[int, dict[Any, set[Any]]] = {}
        for release, groups in home:
            own = fitting[release] = {}
            for group in groups - {None}:
                for value in self._published.get((release, group), ()):
                    own.setdefault(value, set()).add(group)
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


def holds(
    releases: Sequence[Release],
    members: Sequence[Members],
    *,
    steps: Sequence[Sequence[Row]],
    person: Person,
    value: Any,
    fact: str,
    split: bool,
    parts: SplitIds = NO_SPLIT_IDS,
    domain: Sequence[Any] = (),
    ranges: Ranges = NO_RANGES,
    statements: Sequence[KnownSum] = (),
) -> bool:
    """Whether the steps, taken in order, show the fact."""
    values, domain = _same_values(releases, domain)
    facts = Evidence(values, _same_ids(members), domain, split, parts, ranges, statements)
    if not _citable(facts, steps) or not _among([m.frame for m in facts.members], "id", [person[0]]):
        return False
    if not _among(values, "value", [value]) and not any(type(v) is type(value) and v == value for v in domain):
        return False
    board = Board(facts, steps, person)
    if person not in board.crowd:
        return False
    if any(board.take(step) != 0 for step in steps):
        return False
    left = set(board.crowd[person].open)
    return left == {value} if fact == "certain" else (fact == "impossible" and value not in left)


def contradicts(
    releases: Sequence[Release],
    members: Sequence[Members],
    *,
    steps: Sequence[Sequence[Row]],
    split: bool,
    parts: SplitIds = NO_SPLIT_IDS,
    domain: Sequence[Any] = (),
    ranges: Ranges = NO_RANGES,
    statements: Sequence[KnownSum] = (),
) -> bool:
    """Whether the steps end in rows that nobody can fill."""
    values, domain = _same_values(releases, domain)
    facts = Evidence(values, _same_ids(members), domain, split, parts, ranges, statements)
    if not _citable(facts, steps):
        return False
    board = Board(facts, steps)
    surplus = next((found for found in map(board.take, steps) if found != 0), 0)
    return surplus < 0


def _citable(facts: Evidence, steps: Sequence[Sequence[Row]]) -> bool:
    """Whether every row of the steps is a published count or a given statement, with a whole weight."""
    rows = [row for step in steps for row in step]
    if not all(_whole(weight) for *_, weight in rows):
        return False
    bounds = list(facts.ranges.values())
    if not all(_whole(lower) and _whole(upper) and lower <= upper for lower, upper in bounds):
        return False
    counts = [row[:3] for row in rows if row[0] is not None]
    return _published(facts.tallies, [*counts, *facts.ranges]) and _stated(facts, [r for r in rows if r[0] is None])


def _whole(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _published(tallies: Sequence[pl.DataFrame], keys: Sequence[Key]) -> bool:
    """Whether these are published rows, label by label and type by type."""
    wanted: dict[int, list[Key]] = {}
    for key in keys:
        if not isinstance(key[0], int) or not 0 <= key[0] < len(tallies):
            return False
        wanted.setdefault(key[0], []).append(key)
    for number, own in wanted.items():
        try:
            found = _where(tallies[number], "group", {group for _, group, _ in own})
            known = {(type(g), g, type(v), v) for g, v, _ in found.iter_rows()}
            if not all((type(g), g, type(v), v) in known for _, g, v in own):
                return False
        except TypeError:  # a label that cannot even be looked up
            return False
    return True


def _stated(facts: Evidence, rows: Sequence[Row]) -> bool:
    """Whether these are given statements, in whole numbers, about published ids and values of the published kind."""
    if not all(isinstance(name, str) and value is None for _, name, value, _ in rows):
        return False
    names = {row[1] for row in rows}
    used = [s for s in facts.statements if s.name in names]
    if len(used) != len(names):  # unknown, or two of one name
        return False
    kinds = {type(v) for v in facts.domain} | {type(v) for t in facts.tallies for v in t["value"].unique()}
    for s in used:
        if not all(map(_whole, (s.lower, s.upper, *s.terms.values()))) or s.lower > s.upper:
            return False
        if not all(type(value) in kinds for _, value in s.terms):
            return False
    return _among([m.frame for m in facts.members], "id", [i for s in used for i, _ in s.terms])


def _among(frames: Sequence[pl.DataFrame], column: str, entries: Sequence[Any]) -> bool:
    """Whether all these ids or values are published, in the very type they are given in."""
    try:
        known = {(type(e), e) for f in frames for e in _where(f, column, entries)[column].unique()}
        return all((type(e), e) in known for e in entries)
    except TypeError:
        return False


def _same_values(releases: Sequence[Release], domain: Sequence[Any]) -> tuple[list[pl.DataFrame], list[Any]]:
    """The published counts, and the further values of the domain, with values of one kind."""
    further = [pl.DataFrame({"value": pl.Series(list(domain))})] if domain else []
    frames = _same_text([*(r.counts() for r in releases), *further], "value")
    return frames[: len(releases)], [v for f in frames[len(releases) :] for v in f["value"]]


def _same_ids(members: Sequence[Members]) -> list[Members]:
    frames = _same_text([m.frame for m in members], "id")
    return [replace(m, frame=f) for m, f in zip(members, frames, strict=True)]


def _same_text(frames: list[pl.DataFrame], column: str) -> list[pl.DataFrame]:
    """Where some releases hold text and others numbers, all become text: 11 and "11" are one; so do 1 and 1.0."""
    kinds = {f[column].dtype for f in frames}
    common = pl.String() if pl.String() in kinds else pl.Float64() if kinds == {pl.Int64(), pl.Float64()} else None
    if common is None or len(kinds) == 1:
        return frames
    return [f.with_columns(pl.col(column).cast(common)) for f in frames]


def _where(frame: pl.DataFrame, column: str, entries: Collection[Any]) -> pl.DataFrame:
    """The rows whose entry is among ``entries``."""
    try:
        wanted = pl.Series(list(entries), dtype=frame[column].dtype, strict=False)
        return frame.filter(pl.col(column).is_in(wanted.drop_nulls().implode()))
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return frame.clear()
