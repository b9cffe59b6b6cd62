"""Tie the persons of one release to its groups: by its ids, a membership that is given, the register, or the link.

Who gives a register says what the reader has, so the publisher's private link speaks only where there is none: for a
reader who knows everybody's group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InputError
from showthrough.register.leeway import NEAREST
from showthrough.register.noisy_ties import NoisyCells
from showthrough.register.populations import population_of, share_members
from showthrough.register.ties import Pool, Ties, one_each
from showthrough.release.ranged import sizes
from showthrough.said import private
from showthrough.table.codes import NOWHERE, positions
from showthrough.table.frames import one_kind
from showthrough.table.ragged import owners, starts

if TYPE_CHECKING:
    from showthrough.register.attribute import Candidates
    from showthrough.register.membership import Membership
    from showthrough.register.reader import Reader
    from showthrough.register.register import Register
    from showthrough.release.release import Release


PRESENT = 1


def tie(release: Release, name: str, reader: Reader, cells: NoisyCells | None = None) -> Ties:
    """Who can be in which group of the release called ``name``; in none, where its counts carry noise.

    ``cells`` are those of noisy tables that are known already.
    """
    if release.noise is not None:
        return (cells or NoisyCells(reader)).silent(release, name)
    if name in reader.membership:
        return _by_membership(release, name, reader)
    if release.roles.id is not None:
        group = positions(release.person_groups(), release.labels)
        return one_each(release.records[release.roles.id], group, _counterfeits(release))
    if reader.register is not None:
        return _by_register(release, name, reader, reader.register)
    if release.link is not None:
        group = positions(release.link["group"], release.labels)
        return one_each(release.link["id"], group, _counterfeits(release))
    return _one_per_row(release, name)


def tied(releases: Sequence[Release], names: Sequence[str], reader: Reader) -> list[Ties]:
    """Who can be in which group of each release; margins follow the release that they are margins of."""
    found: list[Ties] = []
    cells = NoisyCells(reader)
    home: list[int] = []  # of a margin the place of its table, if that is there
    for k, (name, release) in enumerate(zip(names, releases, strict=True)):
        table = release if release.part_of is None else release.part_of.leaves
        again = enumerate(releases[:k]) if release.part_of is not None else ()  # the same table twice is two releases
        home.append(next((at for at, other in again if other is table), k))
        own = name if release.part_of is None else table.name or name
        found.append(found[home[k]] if home[k] < k else tie(table, own, reader, cells))
    found = share_members(releases, names, found)
    for k, release in enumerate(releases):
        if release.part_of is not None:
            like = None if home[k] == k else home[k]
            found[k] = replace(_lifted(found[home[k]], release.part_of.group), like=like)
    return found


def _lifted(leaves: Ties, group_of: npt.NDArray[np.int64]) -> Ties:
    """Who can be in which group of a margin: where the leaf groups are that they can be in."""
    person, to = owners(leaves.start), group_of[leaves.group]
    outside = leaves.outside.copy()
    outside[person[to < 0]] = True
    groups = int(group_of.max(initial=-1)) + 1
    pair = np.unique(person[to >= 0] * max(groups, 1) + to[to >= 0])
    count = np.bincount(pair // max(groups, 1), minlength=leaves.ids.len())
    there = np.flatnonzero(count)
    pools = []
    for pool in leaves.pools:
        own = np.unique(group_of[pool.groups])
        pools.append(replace(pool, groups=own[own >= 0], outside=bool((own < 0).any())))
    return Ties(leaves.ids.gather(there), starts(count[there]), pair % max(groups, 1), outside[there], tuple(pools))


def _by_membership(release: Release, name: str, reader: Reader) -> Ties:
    """Take a list of candidates; members whom it does not name fill up the groups."""
    from showthrough.register.attribute import Candidates

    where, frame = f"The membership of {name}", reader.membership[name]
    ids, (labels, asked) = frame["id"], one_kind([release.labels, frame["group"]], "groups", [name, where])
    code = positions(asked, labels)
    strange = (code == NOWHERE) & asked.is_not_null().to_numpy()
    if strange.any():
        raise InputError(
            f"{where} names the group {private(repr(asked[int(np.argmax(strange))]))}, which {name} does not have."
        )
    people = ids.unique(maintain_order=True)
    person = positions(ids, people).astype(np.int64)
    outside = np.zeros(people.len(), dtype=bool)
    outside[person[code == NOWHERE]] = True
    inside = code != NOWHERE
    pair = np.unique(person[inside] * labels.len() + code[inside])
    start = np.searchsorted(pair // labels.len(), np.arange(people.len() + 1))
    fits = Candidates(start, (pair % labels.len()).astype(np.int32))
    present = np.where(outside, -1, 1).astype(np.int8)
    found = _settled(release, people, fits, present, _strangers(release, name, reader))
    return replace(found, outside=found.outside | outside[positions(found.ids, people)])


def _by_register(release: Release, name: str, reader: Reader, register: Register) -> Ties:
    """Locate the persons of the register by their quasi-identifiers."""
    from showthrough.register.locating import locate

    found = locate(release, name, register, near=reader.leeway.near.get(name, NEAREST), trees=reader.trees)
    present = np.full(len(register), -1, dtype=np.int8)
    if name in register.presence:
        present = register.presence[name].cast(pl.Int8).fill_null(-1).to_numpy().astype(np.int8)
        if release.form.located_by_guess(release):
            present[present == 1] = -1  # those who are there may be in another group than the ones that they fit
    if name in reader.leeway.absent:
        away = pl.Series(reader.leeway.absent[name], dtype=pl.String)
        present[register.ids.cast(pl.String).is_in(away.implode()).to_numpy()] = 0
    fits = found.candidates
    if name in reader.leeway.anywhere:
        free = pl.Series(reader.leeway.anywhere[name], dtype=pl.String)
        fits = fits.anywhere(register.ids.cast(pl.String).is_in(free.implode()).to_numpy(), release.labels.len())
    strangers = _strangers(release, name, reader)
    settled = _settled(release, register.ids, fits, present, strangers, fewer=name in reader.leeway.fewer)
    return replace(settled, locatability=found.report, unfilled=found.unfilled)


def _settled(
    release: Release,
    ids: pl.Series,
    fits: Candidates,
    present: npt.NDArray[np.int8],
    strangers: npt.NDArray[np.int64],
    *,
    fewer: bool = False,
) -> Ties:
    """Apply the rules of membership; persons who are in no group drop out, and strangers take room.

    With ``fewer`` only as many are taken for members of a table that hides counts as its groups hold at least.
    """
    from showthrough.register.membership import membership

    rows = release.size.to_numpy().astype(np.int64) - _fakes(release) - strangers
    settled = membership(fits, rows=np.maximum(rows, 0), present=present)
    somewhere = np.diff(settled.start) > 0
    start = starts(np.diff(settled.start)[somewhere])
    first, groups = settled.groups_of_component()
    unnamed = settled.anonymous.copy()
    np.add.at(unnamed, settled.component_of_group, strangers)
    loose = np.bincount(settled.component_of_group, weights=_loose(release), minlength=unnamed.size) > 0
    pools = tuple(
        Pool(groups[first[k] : first[k + 1]], int(unnamed[k]), bool(loose[k])) for k in np.flatnonzero(unnamed)
    )
    outside = settled.outside | _crowded_out(release, settled, present)
    if fewer:
        unsure = np.where(present == PRESENT, -1, present).astype(np.int8)
        least = membership(fits, rows=np.maximum(rows - _loose(release), 0), present=unsure)
        outside |= least.outside & (present != PRESENT)
    return Ties(
        ids.gather(np.flatnonzero(somewhere)),
        start,
        settled.group.astype(np.int64),
        outside[somewhere],
        pools + _counterfeits(release),
    )


def _crowded_out(release: Release, settled: Membership, present: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """[persons] who may be outside because totals hold fewer than fit below them."""
    found = np.zeros(present.size, dtype=bool)
    person = owners(settled.start)
    for margin in release.margins:
        total, size = margin.group_of[settled.group], sizes(margin)
        pair = np.unique(person[total >= 0] * size.size + total[total >= 0])
        full = np.bincount(pair % size.size, minlength=size.size) > size
        found[pair[full[pair % size.size]] // size.size] = True
    return np.asarray(found & (present != PRESENT))


def _one_per_row(release: Release, name: str) -> Ties:
    """Without ids and register: a person per record, known only by its group.

    Where counts are ranges nobody knows how many there are: then everybody is unnamed.
    """
    if release.upper is not None or population_of(release) is not None:
        size, loose = release.size.to_numpy(), _loose(release)
        pools = tuple(Pool(np.array([g]), int(size[g]), bool(loose[g])) for g in np.flatnonzero(size))
        nobody = pl.Series("id", [], dtype=pl.String)
        return one_each(nobody, np.empty(0, dtype=np.int64), pools)
    rows = release.size.to_numpy().astype(np.int64) - _fakes(release)
    group = owners(starts(rows))
    ids = pl.select((pl.lit(f"{name} #") + pl.int_range(1, group.size + 1).cast(pl.String)).alias("id")).to_series()
    return one_each(ids, group, _counterfeits(release))


def _strangers(release: Release, name: str, reader: Reader) -> npt.NDArray[np.int64]:
    """[groups] members whom nobody names, as other releases tell."""
    return np.array(reader.leeway.strangers.get(name, [0] * release.labels.len()), dtype=np.int64)


def _loose(release: Release) -> npt.NDArray[np.int64]:
    """[groups] how many persons more or less each group may hold."""
    if release.least is None:
        return np.zeros(release.labels.len(), dtype=np.int64)
    return (release.size - release.least).to_numpy().astype(np.int64)


def _fakes(release: Release) -> npt.NDArray[np.int64]:
    """[groups] how many counterfeits each group holds."""
    found = np.zeros(release.labels.len(), dtype=np.int64)
    if release.counterfeits.height:
        found[positions(release.counterfeits["group"], release.labels)] = release.counterfeits["n"].to_numpy()
    return found


def _counterfeits(release: Release) -> tuple[Pool, ...]:
    if not release.counterfeits.height:
        return ()
    fakes = _fakes(release)
    return tuple(Pool(np.array([g]), int(fakes[g])) for g in np.flatnonzero(fakes))


def located_in(releases: Sequence[Release], reader: Reader) -> list[Ties]:
    """Who can be in which group of each release, one release at a time."""
    return tied(releases, reader.names_for(releases), reader)
