"""Tie the persons of one release to its groups: by its ids, by a membership that is given, or by the register."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InputError
from showthrough.register.ties import Pool, Ties, one_each
from showthrough.table.codes import NOWHERE, positions
from showthrough.table.frames import need_columns, one_kind, scalar, to_polars
from showthrough.table.ragged import owners, starts

if TYPE_CHECKING:
    from showthrough.register.attribute import Candidates
    from showthrough.register.register import Register
    from showthrough.release.release import Release


@dataclass(frozen=True)
class Given:
    """What is known beyond the releases themselves.

    ``membership`` maps the name of a release to a frame of id and group: everybody it lists is in one of
    the groups listed for the id; an empty group says that the person may not be in the release.
    ``domain`` are values that somebody outside a release may have, besides those of the history.
    """

    register: Register | None = None
    membership: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    domain: tuple[Any, ...] = ()
    names: tuple[str, ...] | None = None  # what the releases are called, if not by their own names


def tie(release: Release, name: str, given: Given) -> Ties:
    """Who can be in which group of the release called ``name``."""
    if name in given.membership:
        return _by_membership(release, name, to_polars(given.membership[name]))
    if release.roles.id is not None:
        group = positions(release.person_groups(), release.labels)
        return one_each(release.records[release.roles.id], group, _counterfeits(release))
    if given.register is not None:
        return _by_register(release, name, given.register)
    return _one_per_row(release, name)


def _by_membership(release: Release, name: str, frame: pl.DataFrame) -> Ties:
    """Take a list of candidates; members whom it does not name fill up the groups."""
    from showthrough.register.attribute import Candidates

    where = f"The membership of {name}"
    need_columns(frame, ["id", "group"], where)
    ids, groups = scalar(frame["id"], f"{where}: ids"), scalar(frame["group"], f"{where}: groups")
    if ids.null_count():
        raise InputError(f"{where} has rows without an id.")
    labels, asked = one_kind([release.labels, groups], "groups", [name, where])
    code = positions(asked, labels)
    strange = (code == NOWHERE) & asked.is_not_null().to_numpy()
    if strange.any():
        raise InputError(f"{where} names the group {asked[int(np.argmax(strange))]!r}, which {name} does not have.")
    people = ids.unique(maintain_order=True)
    person = positions(ids, people).astype(np.int64)
    outside = np.zeros(people.len(), dtype=bool)
    outside[person[code == NOWHERE]] = True
    inside = code != NOWHERE
    pair = np.unique(person[inside] * labels.len() + code[inside])
    start = np.searchsorted(pair // labels.len(), np.arange(people.len() + 1))
    fits = Candidates(start, (pair % labels.len()).astype(np.int32))
    present = np.where(outside, -1, 1).astype(np.int8)
    return _settled(release, people, fits, present, outside=outside)


def _by_register(release: Release, name: str, register: Register) -> Ties:
    """Locate the persons of the register by their quasi-identifiers."""
    from showthrough.register.locating import locate

    found = locate(release, name, register)
    present = np.full(len(register), -1, dtype=np.int8)
    if name in register.presence:
        present = register.presence[name].cast(pl.Int8).fill_null(-1).to_numpy().astype(np.int8)
        if release.kind == "microaggregated" and release.locate == "nearest":
            present[present == 1] = -1  # the nearest group is a guess: those who are there may be in another
    return replace(_settled(release, register.ids, found.candidates, present), locatability=found.report)


def _settled(
    release: Release,
    ids: pl.Series,
    fits: Candidates,
    present: npt.NDArray[np.int8],
    *,
    outside: npt.NDArray[np.bool_] | None = None,
) -> Ties:
    """Apply the rules of membership; persons who are in no group drop out."""
    from showthrough.register.membership import membership

    rows = release.size.to_numpy().astype(np.int64) - _fakes(release)
    settled = membership(fits, rows=rows, present=present)
    somewhere = np.diff(settled.start) > 0
    start = starts(np.diff(settled.start)[somewhere])
    away = settled.outside if outside is None else settled.outside | outside
    first, groups = settled.groups_of_component()
    pools = tuple(
        Pool(groups[first[k] : first[k + 1]], int(settled.anonymous[k])) for k in np.flatnonzero(settled.anonymous)
    )
    return Ties(
        ids.gather(np.flatnonzero(somewhere)),
        start,
        settled.group.astype(np.int64),
        away[somewhere],
        pools + _counterfeits(release),
    )


def _one_per_row(release: Release, name: str) -> Ties:
    """Without ids and register: a person per record, known only by its group."""
    rows = release.size.to_numpy().astype(np.int64) - _fakes(release)
    group = owners(starts(rows))
    ids = pl.select((pl.lit(f"{name} #") + pl.int_range(1, group.size + 1).cast(pl.String)).alias("id")).to_series()
    return one_each(ids, group, _counterfeits(release))


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


def locatability_of(releases: Sequence[Release], given: Given) -> pl.DataFrame | None:
    """How well persons can be located in each release that publishes no ids."""
    from showthrough.register.locating import names_of

    found = [tie(r, name, given).locatability for name, r in zip(names_of(releases), releases, strict=True)]
    frames = [frame for frame in found if frame is not None]
    return pl.concat(frames) if frames else None


def declared(releases: Sequence[Release], domain: Sequence[Any]) -> tuple[Any, ...]:
    """The values that somebody outside a release may have: those given and those that releases declare."""
    if isinstance(domain, str):
        raise InputError(f"The domain is a list of values, not the text {domain!r}.")
    return tuple(dict.fromkeys([*domain, *(value for release in releases for value in release.domain)]))


def register_of(releases: Sequence[Release], given: Any) -> Register | None:
    """The register that is given, or what releases without a sensitive column tell about who is who."""
    from showthrough.register.register import Register

    found = None if given is None else Register.of(given)
    for release in releases:
        if release.roles.id is None:
            raise InputError(
                f"{release.name or 'A release'} has neither a sensitive column nor ids: it tells nothing about "
                "anybody. Name its sensitive column, or its id column to use it as a register."
            )
        own = Register.of(
            release.records, id=release.roles.id, quasi=release.roles.quasi, where=release.name or "The release"
        )
        found = own if found is None else found.joined(own)
    return found
