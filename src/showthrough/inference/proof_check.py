"""Replay a proof from the published releases, in whole numbers, with nothing but dictionaries.

The rule of every step: give published rows (group, value) whole weights. Whatever the truth is,
the weights of all published values add up to Σ count·weight. Each person adds the weights of its
value in its groups, at most the best over the values (and seats, where it fits several groups) still
possible. If the best of all persons
add up to exactly that sum, a value below a person's best is impossible; if to less, the releases
contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import polars as pl

from showthrough.release.release import Release

Row = tuple[int, Any, Any, int]  # release, group, value, weight
Person = tuple[Any, int | None]  # id, and the release if the id was split into one person per release


Seat = tuple[tuple[int, Any], ...]  # (release, group) of a person in every release it is in
Choice = tuple[Any, Seat]  # a value and a seat


@dataclass(frozen=True)
class Members:
    """Who can be in which group of one release: id and group, several rows for who fits several groups.

    An empty group says that the person may not be in the release. ``unnamed`` are members of some
    groups whom nobody names: (groups, how many).
    """

    frame: pl.DataFrame
    unnamed: tuple[tuple[tuple[Any, ...], int], ...] = ()


class _Board:
    """The published facts about everybody who is in a group that the steps touch."""

    def __init__(
        self,
        tallies: Sequence[pl.DataFrame],
        members: Sequence[Members],
        steps: Sequence[Sequence[Row]],
        asked: Person | None,
        split: bool,
        domain: Sequence[Any] = (),
    ):
        weighed = [{row[1] for step in steps for row in step if row[0] == r} for r in range(len(tallies))]
        # nobody outside the weighed groups can change a total
        homes: dict[Any, dict[int, list[Any]]] = {asked[0]: {}} if asked else {}
        for own, groups in zip(members, weighed, strict=True):
            homes.update((i, {}) for i in _where(own.frame, "group", groups)["id"])
        self.counts: dict[tuple[int, Any], dict[Any, int]] = {}
        for number, (own, tally) in enumerate(zip(members, tallies, strict=True)):
            for i, group in _where(own.frame, "id", homes).iter_rows():
                homes[i].setdefault(number, []).append(group)
            needed = {g for h in homes.values() for g in h.get(number, ())} | weighed[number]
            needed |= {g for groups, _ in own.unnamed if weighed[number] & set(groups) for g in groups}
            for group, value, n in _where(tally, "group", needed - {None}).iter_rows():
                self.counts.setdefault((number, group), {})[value] = int(n)
        self.domain = {*domain, *(v for tally in tallies for v in tally["value"].unique())}
        self.people: dict[Person, int] = {}  # how many of them there are
        self.open: dict[Person, set[Choice]] = {}
        for i, home in homes.items():
            choices = self._choices(home)
            parts: list[tuple[Person, set[Choice]]] = [((i, None), choices)]
            if split and not choices:
                parts = [((i, r), self._choices({r: groups})) for r, groups in home.items()]
            for person, own_choices in parts:
                if home:
                    self.people[person], self.open[person] = 1, own_choices
        for number, own in enumerate(members):
            for k, (fitting, n) in enumerate(own.unnamed):
                if weighed[number] & set(fitting):
                    person = (("unnamed", number, k), None)
                    self.people[person], self.open[person] = n, self._choices({number: list(fitting)})

    def _choices(self, home: dict[int, list[Any]]) -> set[Choice]:
        """Every seat with every value that all its groups publish."""
        found: set[Choice] = set()
        for groups in product(*home.values()):
            seat = tuple((r, g) for r, g in zip(home, groups, strict=True) if g is not None)
            sets = [set(self.counts[place]) for place in seat]
            found.update((value, seat) for value in (set.intersection(*sets) if sets else self.domain))
        return found

    def weigh(self, step: Sequence[Row]) -> tuple[int, dict[Person, dict[Choice, int]]]:
        """Best scores of all persons minus the published sum, and the score of each open choice."""
        weight: dict[tuple[int, Any, Any], int] = {}
        for release, group, value, w in step:
            weight[(release, group, value)] = weight.get((release, group, value), 0) + w
        published = sum(w * self.counts[(r, g)][v] for (r, g, v), w in weight.items())
        scores = {
            person: {(v, seat): sum(weight.get((r, g, v), 0) for r, g in seat) for v, seat in choices}
            for person, choices in self.open.items()
        }
        best = sum(self.people[person] * max(s.values()) for person, s in scores.items() if s)
        return best - published, scores

    def replay(self, step: Sequence[Row]) -> bool:
        """Take one step: exclude what it proves impossible; False if it proves nothing."""
        surplus, scores = self.weigh(step)
        if surplus != 0:
            return False
        for person, score in scores.items():
            if score:
                top = max(score.values())
                self.open[person] = {choice for choice, s in score.items() if s == top}
        return True


def holds(
    releases: Sequence[Release],
    members: Sequence[Members],
    *,
    steps: Sequence[Sequence[Row]],
    person: Person,
    value: Any,
    fact: str,
    split: bool,
    domain: Sequence[Any] = (),
) -> bool:
    """Whether the steps, taken in order, show the fact."""
    members = _same_ids(members)
    values, domain = _same_values(releases, domain)
    ids = [m.frame for m in members]
    if not _published(values, steps) or not _among(ids, "id", person[0]):
        return False
    if not _among(values, "value", value) and not any(type(v) is type(value) and v == value for v in domain):
        return False
    board = _Board(values, members, steps, person, split, domain)
    if person not in board.open:
        return False
    if not all(board.replay(step) for step in steps):
        return False
    left = {v for v, _ in board.open[person]}
    return left == {value} if fact == "certain" else (fact == "impossible" and value not in left)


def contradicts(
    releases: Sequence[Release],
    members: Sequence[Members],
    *,
    steps: Sequence[Sequence[Row]],
    split: bool,
    domain: Sequence[Any] = (),
) -> bool:
    """Whether the steps end in counts that nobody can fill."""
    values, domain = _same_values(releases, domain)
    if not _published(values, steps):
        return False
    board = _Board(values, _same_ids(members), steps, None, split, domain)
    for step in steps:
        if board.weigh(step)[0] < 0:
            return True
        if not board.replay(step):
            return False
    return False


def _published(tallies: Sequence[pl.DataFrame], steps: Sequence[Sequence[Row]]) -> bool:
    """Whether every row of the steps is a published one, label by label and type by type, with a whole weight."""
    wanted: dict[int, list[Row]] = {}
    for row in (row for step in steps for row in step):
        whole = isinstance(row[3], int) and not isinstance(row[3], bool)
        if not whole or not isinstance(row[0], int) or not 0 <= row[0] < len(tallies):
            return False
        wanted.setdefault(row[0], []).append(row)
    for number, rows in wanted.items():
        try:
            found = _where(tallies[number], "group", {row[1] for row in rows})
        except TypeError:  # a label that cannot even be looked up
            return False
        known = {(type(g), g, type(v), v) for g, v, _ in found.iter_rows()}
        try:
            if not all((type(g), g, type(v), v) in known for _, g, v, _ in rows):
                return False
        except TypeError:
            return False
    return True


def _among(frames: list[pl.DataFrame], column: str, entry: Any) -> bool:
    """Whether an id or value is published, in the very type it is given in."""
    try:
        found = [e for f in frames for e in _where(f, column, [entry])[column].unique()]
        return any(type(e) is type(entry) and e == entry for e in found)
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
