"""Classes that are tied together by persons who fit several of them, with the values that they publish together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from showthrough.attacks.class_worlds import ClassBlock
from showthrough.errors import InputError
from showthrough.inference.posterior import Posterior
from showthrough.release.release import Release
from showthrough.table import ragged
from showthrough.table.arrays import Ints
from showthrough.table.codes import distinct, positions


def ids_as_text(column: Any) -> Any:
    """Ids as text."""
    return column.cast(pl.String)


def tied_classes(release: Release, post: Posterior, table: pl.DataFrame, values: pl.Series) -> list[ClassBlock]:
    """Classes and persons of a table in blocks; who fits no class is a block without values."""
    told = post.groups_of(post.names[0]).drop_nulls("group")
    person = positions(ids_as_text(told["id"]), ids_as_text(table["id"])).astype(np.int64)
    group = positions(told["group"], release.labels).astype(np.int64)
    inside = (person >= 0) & (group >= 0)
    person, group = person[inside], group[inside]
    persons, groups = table.height, release.labels.len()
    graph = coo_array((np.ones(person.size), (person, persons + group)), shape=(persons + groups,) * 2)
    blocks, part = connected_components(graph, directed=False)
    n = release.tally["n"].to_numpy()
    place = np.repeat(positions(release.tally["group"], release.labels).astype(np.int64), n)
    value = np.repeat(positions(release.tally["value"], values).astype(np.int64), n)
    owns = np.zeros((groups, values.len()), dtype=bool)
    owns[place, value] = True
    can = np.zeros((persons, values.len()), dtype=bool)
    np.logical_or.at(can, person, owns[group])
    alike = _types(release, table, person, group)
    members, classes = _lists(part[:persons], blocks), _lists(part[persons:], blocks)
    seats = _lists(part[persons:][place], blocks)
    found = []
    for who, own, seat in zip(members, classes, seats, strict=True):
        if seat.size > who.size:
            raise InputError(
                "A class has more records than persons of the register fit it: the register must list everybody in the "
                "table, and cells or ids must tell who can be in which class.",
                parameters=("register",),
            )
        first, kind = np.unique(alike[who], return_index=True, return_inverse=True)[1:]
        allowed = can[who[first]] if seat.size == who.size else np.ones((first.size, values.len()), dtype=bool)
        block = ClassBlock(tuple(own.tolist()), who, kind.astype(np.int64), value[seat], allowed, values.len())
        found.append(block)
    return found


def _lists(part: Any, parts: int) -> list[Ints]:
    """The places of each part."""
    order = np.argsort(part, kind="stable")
    start = ragged.starts(np.bincount(part, minlength=parts))
    return [order[start[at] : start[at + 1]] for at in range(parts)]


def _types(release: Release, table: pl.DataFrame, person: Ints, group: Ints) -> Ints:
    """[persons] alike in quasi-identifiers and classes; everybody different where ids are published."""
    if release.roles.id is not None:
        return np.arange(table.height)
    pairs = pl.DataFrame({"person": person, "group": group}).sort("person", "group")
    fits = pairs.group_by("person").agg(pl.col("group").cast(pl.String).str.join(",").alias("fits"))
    every = pl.DataFrame({"person": np.arange(table.height)}).join(fits, on="person", how="left", maintain_order="left")
    columns = [every["fits"], *(table[c].cast(pl.String) for c in release.roles.quasi)]
    return distinct([c.rank("dense").fill_null(0).to_numpy().astype(np.int64) for c in columns])[1]
