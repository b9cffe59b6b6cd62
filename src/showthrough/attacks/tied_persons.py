"""Islands of a history: persons tied together by groups, in classes of whom the releases say the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from showthrough.inference.posterior import Posterior
from showthrough.release.release import Release
from showthrough.table.codes import positions

_SMALL = 60
"""Persons of a history that is not worth taking apart."""

_Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Island:
    """Persons whom a statement about any of them may concern; ids are text."""

    ids: frozenset[str]
    classes: tuple[tuple[str, ...], ...]
    """Persons of whom the same is known, class by class."""
    values: tuple[tuple[Any, ...], ...]
    """What the persons of each class can have."""
    releases: tuple[Release, ...]
    """The releases, or what they say of these persons alone."""


def islands(
    post: Posterior, given: Sequence[Release], *, whole: bool = False, apart: Mapping[str, Any] | None = None
) -> list[Island]:
    """The islands of a history, those with the fewest possible values of somebody first.

    With ``whole`` everything is one island and everybody a class, for statements about sub-populations. ``apart`` tells
    persons apart whom the releases do not.
    """
    ids = post.ids.cast(pl.String)
    place, number = _places(post)
    values: dict[str, list[Any]] = defaultdict(list)
    for who, value in post.to_frame().select(pl.col("id").cast(pl.String), "value").iter_rows():
        values[who].append(value)
    parts: dict[int, dict[_Key, list[str]]] = defaultdict(lambda: defaultdict(list))
    for at, who in enumerate(ids.to_list()):
        key = (place[at], tuple(values[who]), None if apart is None else apart.get(who), at if whole else None)
        parts[0 if whole else int(number[at])][key].append(who)
    found = []
    for own in parts.values():
        every = frozenset(who for members in own.values() for who in members)
        classes = tuple(tuple(members) for members in own.values())
        can = tuple(tuple(values[members[0]]) for members in classes)
        alone = tuple(given) if whole or ids.len() <= _SMALL else _about(given, every)
        found.append(Island(every, classes, can, alone))
    return sorted(found, key=lambda part: (min(map(len, part.values)), len(part.ids)))


def _places(post: Posterior) -> tuple[list[_Key], Any]:
    """Everybody's groups in all releases, and the number of the island."""
    people = post.ids.len()
    groups: list[list[tuple[int, Any]]] = [[] for _ in range(people)]
    edges: tuple[list[int], list[int]] = ([], [])
    codes: dict[tuple[int, Any], int] = {}
    for release, name in enumerate(post.names):
        told = post.groups_of(name)
        for person, label in zip(positions(told["id"], post.ids).tolist(), told["group"].to_list(), strict=True):
            groups[person].append((release, label))
            if label is not None:
                edges[0].append(person)
                edges[1].append(people + codes.setdefault((release, label), len(codes)))
    size = people + len(codes)
    graph = coo_array((np.ones(len(edges[0])), edges), shape=(size, size))
    number = connected_components(graph, directed=False)[1]
    return [tuple(own) for own in groups], number


def _about(given: Sequence[Release], ids: frozenset[str]) -> tuple[Release, ...]:
    """What releases that publish ids and groups say of some persons who are tied to nobody else; others as they are."""
    told = []
    for release in given:
        roles = release.roles
        if roles.id is None or roles.group is None or not release.form.values_per_group or roles.sensitive is None:
            return tuple(given)
        mine = release.records[roles.id].cast(pl.String).is_in(pl.Series(sorted(ids)).implode())
        records = release.records.filter(mine)
        if not records.height:
            continue
        inside = records[roles.group].unique().implode()
        values = release.tally.filter(pl.col("group").is_in(inside))
        values = values.rename({"group": roles.group, "value": roles.sensitive, "n": "count"})
        fakes = release.counterfeits.filter(pl.col("group").is_in(inside))
        told.append(
            Release.bucketized(
                records, id=roles.id, sensitive=roles.sensitive, group=roles.group, values=values, name=release.name,
                counterfeits=fakes if fakes.height else None,
            )
        )  # fmt: skip
    return tuple(told)
