"""The worst place: the groups in which most persons become certain together, with the links that are forced.

For internal readers alone. A component of up to `MOST` nodes is drawn whole; of a larger one what lies around the two
groups that share most certain persons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from showthrough.auditing.whole_audit import Audit

MOST = 60
_SHOWN = 22  # persons of a part that is too large to draw whole


@dataclass(frozen=True)
class GroupBox:
    """A group with what it publishes."""

    release: int
    label: Any
    values: tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class Pill:
    """A person with the value that is certain, if one is, and its group in each of the two releases."""

    id: Any
    certain: Any | None
    groups: tuple[Any | None, ...]


@dataclass(frozen=True)
class Worst:
    """What is drawn: groups of up to two releases and the persons between them."""

    releases: tuple[int, ...]
    boxes: tuple[GroupBox, ...]
    pills: tuple[Pill, ...]
    certain: int  # of the persons who share the two worst groups
    whole: bool  # whether the component is drawn whole


def worst_place(audit: Audit) -> Worst | None:
    """Where most certain persons stand together; None if nobody is certain, or groups are not known."""
    post = audit.posterior
    if not post.certain().any():
        return None
    seats = [_seated(audit, name) for name in post.names]
    known = [r for r, frame in enumerate(seats) if frame.height]
    if not known:
        return None
    best: tuple[int, tuple[int, ...], tuple[Any, ...]] | None = None
    two: Sequence[tuple[int, ...]] = list(combinations(known, 2))[-10:]
    for chosen in two or [(known[0],)]:
        found = _densest(audit, [seats[r] for r in chosen])
        if found is not None and (best is None or found[0] > best[0]):
            best = (found[0], chosen, found[1])
    if best is None:
        return None
    many, where, groups = best
    return _drawn(audit, [seats[r] for r in where], where, groups, many)


def _seated(audit: Audit, name: str) -> pl.DataFrame:
    """Persons of whom one group of the release is known: person (by place), group."""
    post = audit.posterior
    frame = post.groups_of(name)
    who = [c for c in ("id", "release") if c in frame.columns]
    every = pl.DataFrame({"person": pl.int_range(post.ids.len(), eager=True)}).with_columns(post.best().select(who))
    return (
        frame.join(every, on=who, how="inner", nulls_equal=True)
        .filter(pl.len().over("person") == 1)
        .drop_nulls("group")
        .select("person", "group")
    )


def _densest(audit: Audit, seats: list[pl.DataFrame]) -> tuple[int, tuple[Any, ...]] | None:
    """The groups, one of each release, that share most certain persons."""
    certain = pl.DataFrame({"person": audit.posterior.certain().nonzero()[0]})
    both = certain
    for k, frame in enumerate(seats):
        both = both.join(frame.rename({"group": f"g{k}"}), on="person", how="left")
    columns = [f"g{k}" for k in range(len(seats))]
    both = both.filter(pl.any_horizontal(pl.col(columns).is_not_null()))
    if not both.height:
        return None
    gone = pl.sum_horizontal(pl.col(columns).is_null()).alias("gone")
    tally = (
        both.group_by(columns)
        .len()
        .with_columns(gone)
        .sort("len", "gone", *columns, descending=[True, False, *[False] * len(columns)])
    )
    tally = tally.drop("gone")
    *groups, many = tally.row(0)
    return int(many), tuple(groups)


def _drawn(
    audit: Audit, seats: list[pl.DataFrame], chosen: tuple[int, ...], groups: tuple[Any, ...], many: int
) -> Worst:
    """Ring by ring around the two groups, as long as it can be drawn."""
    sides = [set() if label is None else {label} for label in groups]
    people, whole = _people(seats, sides), False
    while True:
        wider = [
            set(frame.filter(pl.col("person").is_in(people))["group"]) | own
            for frame, own in zip(seats, sides, strict=True)
        ]
        more = _people(seats, wider)
        if wider == sides and more == people:
            whole = True
            break
        if sum(map(len, wider)) + len(more) > MOST:
            break
        sides, people = wider, more
    certain = audit.posterior.certain()
    if len(people) + sum(map(len, sides)) > MOST:  # the two groups alone are large: those in both, then the rest
        shared = [
            set(frame.filter(pl.col("group").is_in(list(own)))["person"])
            for frame, own in zip(seats, sides, strict=True)
        ]
        people = sorted(people, key=lambda p: (not all(p in s for s in shared), not certain[p], p))[:_SHOWN]
    return Worst(chosen, tuple(_boxes(audit, chosen, sides)), tuple(_pills(audit, seats, sides, people)), many, whole)


def _people(seats: list[pl.DataFrame], sides: list[set[Any]]) -> list[int]:
    inside: set[int] = set()
    for frame, own in zip(seats, sides, strict=True):
        inside |= set(frame.filter(pl.col("group").is_in(list(own)))["person"])
    return sorted(inside)


def _boxes(audit: Audit, chosen: tuple[int, ...], sides: list[set[Any]]) -> list[GroupBox]:
    found = []
    for r, own in zip(chosen, sides, strict=True):
        release = audit.posterior.releases[r]
        counts = release.counts().filter(pl.col("group").is_in(list(own)))
        for label in release.labels.filter(release.labels.is_in(list(own))):
            rows = counts.filter(pl.col("group") == label).sort("value")
            found.append(GroupBox(r, label, tuple(zip(rows["value"], rows["n"], strict=True))))
    return found


def _pills(audit: Audit, seats: list[pl.DataFrame], sides: list[set[Any]], people: list[int]) -> list[Pill]:
    post, certain = audit.posterior, audit.posterior.certain()
    value, ids = post.best()["value"], post.ids
    where = []
    for frame, own in zip(seats, sides, strict=True):
        near = frame.filter(pl.col("person").is_in(people) & pl.col("group").is_in(list(own)))
        where.append(dict(zip(near["person"], near["group"], strict=True)))
    found = [Pill(ids[p], value[p] if certain[p] else None, tuple(side.get(p) for side in where)) for p in people]
    return sorted(
        found, key=lambda pill: (str(pill.groups[0]), str(pill.groups[-1]), pill.certain is None, str(pill.certain))
    )
