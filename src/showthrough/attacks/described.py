"""Who is described how: the persons of releases with the quasi-identifiers that the attacker knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from showthrough.attacks.group_members import GroupMembers
from showthrough.inference.posterior import Posterior
from showthrough.register.locating import names_of
from showthrough.register.register import Register
from showthrough.release.kind import Shows
from showthrough.release.release import Release
from showthrough.table.arrays import Ints
from showthrough.table.codes import positions
from showthrough.table.texts import as_text

ROW = "row"


def rows_as_persons(release: Release) -> Release:
    """A release of exact quasi-identifiers without ids, with the numbers of its rows as ids; others as they are."""
    if release.form.shows is not Shows.EXACT or release.roles.id is not None or release.sensitive is None:
        return release
    name = ROW
    while name in release.records.columns:
        name += "_"
    numbers = pl.Series(name, np.arange(1, release.records.height + 1)).cast(pl.String)
    records = release.records.with_columns(numbers)
    return replace(release, records=records, roles=replace(release.roles, id=name), link=None)


def descriptions(post: Posterior, releases: Sequence[Release], register: Register | None) -> dict[str, pl.Series]:
    """The quasi-identifiers of the releases as far as they are known exactly, in the order of the posterior's ids."""
    sources = [] if register is None else [(as_text(register.ids, "ids"), register.quasi)]
    for release in releases:
        if release.roles.id is not None and release.form.shows is Shows.EXACT:
            sources.append((as_text(release.records[release.roles.id], "ids"), release.records))
    wanted = list(dict.fromkeys(c for release in releases for c in release.roles.quasi))
    who, found = pl.DataFrame({"id": as_text(post.ids, "ids")}), {}
    for name in wanted:
        parts = [pl.DataFrame({"id": ids, name: as_text(f[name], name)}) for ids, f in sources if name in f.columns]
        if not parts:
            continue
        known = pl.concat(parts).drop_nulls().unique("id", keep="first")
        found[name] = who.join(known, on="id", how="left", maintain_order="left")[name]
    return found


def seated(post: Posterior, release: Release, name: str | None = None) -> tuple[GroupMembers, int]:
    """Members of the groups of one release, as rows of the posterior; and how many persons are in none for sure."""
    told = post.groups_of(post.names[0] if name is None else name)
    person = positions(told["id"], post.ids).astype(np.int64)
    group = positions(told["group"], release.labels).astype(np.int64)
    one: Ints = np.full(post.ids.len(), -1, dtype=np.int64)
    sure = (np.bincount(person, minlength=post.ids.len())[person] == 1) & (group >= 0)
    one[person[sure]] = group[sure]
    tally = release.tally
    at = positions(tally["group"], release.labels).astype(np.int64)
    value = positions(tally["value"], post.values).astype(np.int64)
    n = tally["n"].to_numpy().astype(np.int64)
    order = np.flatnonzero(n > 0)
    order = order[np.argsort(at[order], kind="stable")]
    at, value, n = at[order], value[order], n[order]
    groups = release.labels.len()
    room = np.bincount(at, weights=n, minlength=groups)
    full = np.bincount(one[one >= 0], minlength=groups) > room
    one[(one >= 0) & full[one]] = -1  # more persons than records: who of them is inside is not known
    return GroupMembers.of(one, (at, value, n), groups), int((one < 0).sum())


def all_seated(post: Posterior, releases: Sequence[Release]) -> list[GroupMembers] | None:
    """The members of every release that publishes values; None where somebody's group or a count is not known."""
    found = []
    for release, name in zip(releases, names_of(releases), strict=True):
        if release.sensitive is None:
            continue
        if release.ranged or release.value_cells or name not in post.names:
            return None
        seats, _ = seated(post, release, name)
        if int((seats.person >= 0).sum()) < post.groups_of(name)["id"].n_unique():
            return None
        found.append(seats)
    return found


def by_candidates(post: Posterior, told: pl.DataFrame) -> GroupMembers:
    """Everybody with the values that are listed for them, whatever the groups: for beliefs that `infer` ties together.

    ``told`` is a frame of id and value with those of a person side by side.
    """
    member = positions(told["id"], post.ids).astype(np.int64)
    value = positions(told["value"], post.values).astype(np.int64)
    many = np.bincount(member, minlength=post.ids.len())
    kept = np.flatnonzero(many)
    start = np.concatenate([[0], np.cumsum(many[kept])])
    own = np.repeat(np.arange(kept.size), many[kept])
    return GroupMembers(kept, kept, start, own, value, np.arange(value.size), np.ones(value.size, dtype=np.int64))


def by_register(people: pl.DataFrame, columns: dict[str, pl.Series], ids: pl.Series, register: Any) -> pl.DataFrame:
    """Beliefs of rows as beliefs of the persons of a register: the mean of the rows that look like the person."""
    known = Register.of(register)
    shared = [name for name in columns if name in known.quasi.columns]
    rows = pl.DataFrame({"id": as_text(ids, "ids"), **{name: columns[name] for name in shared}})
    alike = rows.rename({"id": "_row"}).with_columns(
        pl.len().over(shared).alias("_many") if shared else pl.lit(1).alias("_many")
    )
    persons = known.quasi.select(shared).with_columns(known.ids.alias("id"))
    pairs = (
        persons.join(alike, on=shared, how="inner", maintain_order="left")
        if shared
        else persons.join(alike, how="cross")
    )
    beliefs = [c for c in people.columns if c not in ("id", "value")]
    joined = pairs.join(people.rename({"id": "_row"}), on="_row", how="inner", maintain_order="left")
    if not shared:
        joined = joined.with_columns(pl.lit(alike.height).alias("_many"))
    mean = [(pl.col(c).sum() / pl.col("_many").first()).alias(c) for c in beliefs]
    empty = [pl.when(pl.col(c).null_count() == 0).then(m).alias(c) for c, m in zip(beliefs, mean, strict=True)]
    return joined.group_by("id", "value", maintain_order=True).agg(empty)
