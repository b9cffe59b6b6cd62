"""Replay a proof from the published releases, in whole numbers, with nothing but dictionaries.

The rule of every step: give published rows (group, value) whole weights. Whatever the truth is,
the weights of all published values add up to Σ count·weight. Each person adds the weights of its
value in its groups, at most the best over the values still possible. If the best of all persons
add up to exactly that sum, a value below a person's best is impossible; if to less, the releases
contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from showthrough.release.release import Release

Row = tuple[int, Any, Any, int]  # release, group, value, weight
Person = tuple[Any, int | None]  # id, and the release if the id was split into one person per release


class _Board:
    """The published facts about everybody who is in a group that the steps touch."""

    def __init__(self, releases: Sequence[Release], steps: Sequence[Sequence[Row]], asked: Person | None, split: bool):
        members = _same_text([r.groups() for r in releases], "id")
        tallies = _same_text([r.counts() for r in releases], "value")
        weighed = [{row[1] for step in steps for row in step if row[0] == r} for r in range(len(releases))]
        # nobody outside the weighed groups can change a total
        homes: dict[Any, dict[int, Any]] = {asked[0]: {}} if asked else {}
        for frame, groups in zip(members, weighed, strict=True):
            homes.update((i, {}) for i in _where(frame, "group", groups)["id"])
        self.counts: dict[tuple[int, Any], dict[Any, int]] = {}
        for number, (frame, tally) in enumerate(zip(members, tallies, strict=True)):
            for i, group in _where(frame, "id", homes).iter_rows():
                homes[i][number] = group
            needed = {h[number] for h in homes.values() if number in h} | weighed[number]
            for group, value, n in _where(tally, "group", needed).iter_rows():
                self.counts.setdefault((number, group), {})[value] = int(n)
        self.homes: dict[Person, dict[int, Any]] = {}
        self.open: dict[Person, set[Any]] = {}
        for i, home in homes.items():
            common = self._common(home)
            parts: list[tuple[Person, dict[int, Any]]] = [((i, None), home)]
            if split and not common:
                parts = [((i, r), {r: g}) for r, g in home.items()]
            for person, own in parts:
                self.homes[person] = own
                self.open[person] = self._common(own)

    def _common(self, home: dict[int, Any]) -> set[Any]:
        sets = [set(self.counts[(r, g)]) for r, g in home.items()]
        return set.intersection(*sets) if sets else set()

    def weigh(self, step: Sequence[Row]) -> tuple[int, dict[Person, dict[Any, int]]]:
        """Best scores of all persons minus the published sum, and the score of each open value."""
        weight: dict[tuple[int, Any, Any], int] = {}
        for release, group, value, w in step:
            weight[(release, group, value)] = weight.get((release, group, value), 0) + w
        published = sum(w * self.counts[(r, g)][v] for (r, g, v), w in weight.items())
        scores = {
            person: {v: sum(weight.get((r, g, v), 0) for r, g in home.items()) for v in self.open[person]}
            for person, home in self.homes.items()
        }
        best = sum(max(s.values()) for s in scores.values() if s)
        return best - published, scores

    def replay(self, step: Sequence[Row]) -> bool:
        """Take one step: exclude what it proves impossible; False if it proves nothing."""
        surplus, scores = self.weigh(step)
        if surplus != 0:
            return False
        for person, score in scores.items():
            if score:
                top = max(score.values())
                self.open[person] = {v for v, s in score.items() if s == top}
        return True


def holds(
    releases: Sequence[Release],
    *,
    steps: Sequence[Sequence[Row]],
    person: Person,
    value: Any,
    fact: str,
    split: bool,
) -> bool:
    """Whether the steps, taken in order, show the fact."""
    ids = _same_text([r.groups() for r in releases], "id")
    values = _same_text([r.counts() for r in releases], "value")
    if not _published(releases, steps) or not _among(ids, "id", person[0]) or not _among(values, "value", value):
        return False
    board = _Board(releases, steps, person, split)
    if person not in board.open or not board.homes[person]:
        return False
    if not all(board.replay(step) for step in steps):
        return False
    left = board.open[person]
    return left == {value} if fact == "certain" else (fact == "impossible" and value not in left)


def contradicts(releases: Sequence[Release], *, steps: Sequence[Sequence[Row]], split: bool) -> bool:
    """Whether the steps end in counts that nobody can fill."""
    if not _published(releases, steps):
        return False
    board = _Board(releases, steps, None, split)
    for step in steps:
        if board.weigh(step)[0] < 0:
            return True
        if not board.replay(step):
            return False
    return False


def _published(releases: Sequence[Release], steps: Sequence[Sequence[Row]]) -> bool:
    """Whether every row of the steps is a published one, label by label and type by type, with a whole weight."""
    tallies = _same_text([r.counts() for r in releases], "value")
    wanted: dict[int, list[Row]] = {}
    for row in (row for step in steps for row in step):
        whole = isinstance(row[3], int) and not isinstance(row[3], bool)
        if not whole or not isinstance(row[0], int) or not 0 <= row[0] < len(releases):
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


def _same_text(frames: list[pl.DataFrame], column: str) -> list[pl.DataFrame]:
    """Where some releases hold text and others numbers, all become text: 11 and "11" are one."""
    kinds = [f[column].dtype for f in frames]
    if pl.String() in kinds and len(set(kinds)) > 1:
        return [f.with_columns(pl.col(column).cast(pl.String)) for f in frames]
    return frames


def _where(frame: pl.DataFrame, column: str, entries: Collection[Any]) -> pl.DataFrame:
    """The rows whose entry is among ``entries``."""
    try:
        wanted = pl.Series(list(entries), dtype=frame[column].dtype, strict=False)
        return frame.filter(pl.col(column).is_in(wanted.drop_nulls().implode()))
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return frame.clear()
