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

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from showthrough.inference.proof_board import (
    NO_RANGES,
    NO_SPLIT_IDS,
    Board,
    Evidence,
    Key,
    KnownSum,
    Members,
    Person,
    Ranges,
    Row,
    SplitIds,
    Unnamed,
    where,
)
from showthrough.release.release import Release

__all__ = ["NO_RANGES", "Board", "Evidence", "KnownSum", "Members", "Ranges", "Row", "Unnamed", "contradicts", "holds"]


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
    unnamed: Sequence[Unnamed] = (),
) -> bool:
    """Whether the steps, taken in order, show the fact."""
    values, domain = _same_values(releases, domain)
    known = Evidence(values, _same_ids(members), domain, split, parts, ranges, statements, unnamed)
    facts = _as_published(known, releases, steps)
    if not _citable(facts, steps) or not _among([m.frame for m in facts.members], "id", [person[0]]):
        return False
    further = [*domain, *(v for own in facts.covers.values() for v in own)]
    if not _among(values, "value", [value]) and not any(type(v) is type(value) and v == value for v in further):
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
    unnamed: Sequence[Unnamed] = (),
) -> bool:
    """Whether the steps end in rows that nobody can fill."""
    values, domain = _same_values(releases, domain)
    known = Evidence(values, _same_ids(members), domain, split, parts, ranges, statements, unnamed)
    facts = _as_published(known, releases, steps)
    if not _citable(facts, steps):
        return False
    board = Board(facts, steps)
    surplus = next((found for found in map(board.take, steps) if found != 0), 0)
    return surplus < 0


def _as_published(facts: Evidence, releases: Sequence[Release], steps: Sequence[Sequence[Row]]) -> Evidence:
    """With the ranges that releases publish, of the weighed rows, and what their rows count together."""
    own = [getattr(release, "covers", {}) for release in releases]
    covers = {(r, label): tuple(values) for r, told in enumerate(own) for label, values in told.items()}
    ranges = dict(facts.ranges)
    weighed = {row[:3] for step in steps for row in step if isinstance(row[0], int)}
    for r, tally in enumerate(facts.tallies):
        mine = {(g, v) for number, g, v in weighed if number == r}
        if "upper" not in tally.columns or not mine:
            continue
        for group, value, low, high in where(tally, "group", {g for g, _ in mine}).iter_rows():
            if (group, value) in mine:
                ranges.setdefault((r, group, value), (int(low), int(high)))
    return replace(facts, covers=covers, ranges=ranges)


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
            found = where(tallies[number], "group", {group for _, group, _ in own})
            known = {(type(g), g, type(v), v) for g, v, *_ in found.iter_rows()}
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
        known = {(type(e), e) for f in frames for e in where(f, column, entries)[column].unique()}
        return all((type(e), e) in known for e in entries)
    except TypeError:
        return False


def _same_values(releases: Sequence[Release], domain: Sequence[Any]) -> tuple[list[pl.DataFrame], list[Any]]:
    """The published counts, and the further values of the domain, with values of one kind."""
    further = [pl.DataFrame({"value": pl.Series(list(domain))})] if domain else []
    frames = _same_text([*(_least(r.counts()) for r in releases), *further], "value")
    return frames[: len(releases)], [v for f in frames[len(releases) :] for v in f["value"]]


def _least(counts: pl.DataFrame) -> pl.DataFrame:
    """Counts as group, value, n; where they are ranges n is the least, and the greatest stands beside it."""
    if "upper" not in counts.columns:
        return counts
    return counts.select("group", "value", pl.col("lower").alias("n"), "upper")


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
