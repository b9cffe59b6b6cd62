"""Files of a history that workers read, so that no id passes through the process that asked them.

A release that publishes ids is laid down as two Parquet tables, which all workers then join; a history of other kinds,
with its register, is cut into pieces by the worker that reads it. Either way the files are read, checked and
understood by the code that reads them on one machine.
"""

from __future__ import annotations

import os
import pickle
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from showthrough import __version__
from showthrough.engines.cluster_release import ClusterRelease
from showthrough.errors import EngineError, ShowthroughError
from showthrough.inference.cluster.wide import CutHistory, cut_down
from showthrough.register.locating import names_of
from showthrough.register.reader import Reader, telling
from showthrough.release.release import Release
from showthrough.release.sums import without_persons
from showthrough.report.origin import sha256_of
from showthrough.report.page.single import single_levels
from showthrough.requests.audit import AuditRequest, by_links
from showthrough.requests.changes import tables_of, told_changes
from showthrough.storage.taking_up import named, states_of
from showthrough.storage.unit import written_whole
from showthrough.table.codes import positions

_VALUES = (pl.String, pl.Boolean, pl.Date)  # and whole numbers: types that Spark reads as they are


@dataclass(frozen=True, eq=False)
class PutRelease:
    """A release whose tables lie where all workers can read them; ``told`` holds no person."""

    tables: ClusterRelease
    told: Release
    levels: dict[str, dict[str, float]]


def lay_release(request: AuditRequest, folder: str) -> PutRelease | None:
    """Lay down the only release of a request, unless it was done before; None if persons are not tied by its ids."""
    home = folder_of(request, folder)
    kept = home / "told.pickle"
    if kept.exists():
        with kept.open("rb") as stream:
            known: PutRelease = pickle.load(stream)
        return known
    _there(needed(request))
    try:
        (release,), _ = request.load()
    except ShowthroughError as error:
        raise error.without_cells() from None
    if not _by_ids(release):
        return None
    for name in ("records", "values"):
        (home / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    ids, groups = release.records[str(release.roles.id)], positions(release.person_groups(), release.labels)
    members = pl.DataFrame({"id": ids, "group": groups})
    members = members if ids.dtype == pl.String else members.with_columns(pl.col("id").cast(pl.Int64))
    counts = release.tally.with_columns(pl.Series("group", positions(release.tally["group"], release.labels)))
    for name, frame in (("records", members), ("values", counts)):
        with written_whole(home / name / "part.parquet", private=True) as written:
            frame.write_parquet(written)
    there = str(home / "records"), "id", "value", "group", str(home / "values"), "n", release.name
    found = PutRelease(ClusterRelease(*there), without_persons(release), single_levels({release.name: release}))
    with written_whole(kept, private=True) as written:
        pickle.dump(found, written)
    return found


def cut_history(request: AuditRequest, folder: str) -> CutHistory:
    """Read a history and cut it into pieces."""
    _there(needed(request))
    try:
        releases, register = request.load()
        changed = told_changes(tables_of(request, releases, request.tables), otherwise=request.changed)
        by_link = by_links(releases) if request.link and register is not None else None
        reader = Reader.of(releases, register=register, membership=by_link, **request.known())
        found = cut_down(releases, reader.checked(telling(releases, noisy=True)), changed, folder)
        heads = [r for r in telling(releases, reader.domain, noisy=True) if r.part_of is None]
        return replace(found, levels=single_levels(dict(zip(names_of(heads), heads, strict=True))))
    except ShowthroughError as error:
        raise error.without_cells() from None


def hash_file(file: str, _: Any) -> str:
    """The SHA-256 of a file."""
    _there([Path(file)])
    return sha256_of(Path(file))


def _by_ids(release: Release) -> bool:
    """Whether its persons are joined by id, and their values are what a cluster counts as one machine does."""
    if release.roles.id is None or not release.form.publishes_ids or release.sensitive is None:
        return False
    if release.counterfeits.height or release.domain or release.value_cells or release.covers or release.noise:
        return False
    ids, value = release.records[release.roles.id].dtype, release.tally["value"].dtype
    return (ids == pl.String or _whole(ids)) and (value in _VALUES or _whole(value))


def _whole(kind: pl.DataType) -> bool:
    return kind.is_signed_integer() or kind in (pl.UInt8, pl.UInt16, pl.UInt32)


def folder_of(request: AuditRequest, folder: str) -> Path:
    """Where a release is laid down: in the same folder for the same files, so that a broken run is taken up again."""
    states = [states_of(path) for path in request.files()]
    return Path(folder) / f"showthrough-read-{named(repr(replace(request, seconds=0.0)), [__version__, states])}"


def needed(request: AuditRequest) -> list[Path]:
    """The files and folders that workers read."""
    more = [] if request.register is None else [request.register.file]
    second = [entry.values for entry in request.release if entry.values is not None]
    return [Path(name) for name in (*(entry.file for entry in request.release), *second, *more, *request.tables)]


def _there(paths: Sequence[Path]) -> None:
    for path in paths:
        if not os.path.lexists(path):
            where = platform.node()
            raise EngineError(
                f"The worker on {where} does not see {path}, which workers read: put it on storage that driver and "
                "workers share, under the same path."
            )
