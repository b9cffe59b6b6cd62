"""A history as it is audited in pieces: read by this process, or by workers alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.engines.cluster_release import ClusterRelease, check_release, published
from showthrough.engines.engine import Engine
from showthrough.errors import FieldError, FileError, InputError
from showthrough.inference.cluster.pieces import gone_if_refused
from showthrough.inference.cluster.wide import CutHistory, cut_by
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.register.history_file import ReleaseEntry
from showthrough.report.origin import Origin, sha256_of
from showthrough.requests.audit import AuditRequest, by_links
from showthrough.requests.changes import tables_of, told_changes
from showthrough.requests.read_there import PutRelease, cut_history, folder_of, hash_file, lay_release, needed
from showthrough.storage.system import remove
from showthrough.storage.taking_up import ANEW, taken_up

MANIFEST = "release.toml"


@dataclass(frozen=True, eq=False)
class ReadHistory:
    """A history as it is audited, and what is known of it without its persons."""

    given: list[Any] | CutHistory
    made: Origin
    changed: Changed
    beside: Mapping[str, Any]
    laid: tuple[PutRelease | None, ...] = ()  # by workers, for this audit; None: what is given was there

    @property
    def folders(self) -> list[Path]:
        """What was laid down for this audit."""
        cut = [Path(self.given.folder)] if isinstance(self.given, CutHistory) else []
        return cut + [Path(str(one.tables.path)).parent for one in self.laid if one is not None]

    def described(self, found: SpreadAudit) -> SpreadAudit:
        """The audit with what workers told of the releases that they laid down."""
        if None in self.laid or not self.laid:
            return found
        every = [one for one in self.laid if one is not None]
        levels = [next(iter(one.levels.values()), {}) for one in every]
        named = dict(zip(found.posterior.names, levels, strict=True))
        return replace(found, sources=tuple(one.told for one in every), levels=named)


_NOTHING: Mapping[str, Any] = {"domain": ()}


def here(request: AuditRequest) -> Callable[[Engine, Progress], ReadHistory]:
    """Everything is read by this process, before the work begins."""
    known = request.known()
    releases, register = request.load()
    made = Origin.now(request.files())
    own = tables_of(request, releases, request.tables)
    by_link = by_links(releases) if request.link and register is not None else None
    beside = {"register": register, "membership": by_link, "domain": (), **known}
    changed = told_changes(own, otherwise=request.changed)
    return lambda _engine, _tell: ReadHistory(releases, made, changed, beside)


def by_workers(request: AuditRequest) -> Callable[[Engine, Progress], ReadHistory]:
    """Files are looked for before a cluster is asked for anything, and read by workers alone."""
    for path in needed(request):
        if not os.path.lexists(path):
            raise FileError(f"There is no file {path}.")
    request = request.under(Path.cwd())
    there = [_on_cluster(request, entry) for entry in request.release]
    if any(there) and not _joined_by_ids(request):
        raise InputError(
            "Persons of folders of Parquet files are joined by their ids: leave out register, tables, knowledge, "
            "prior, hierarchies and value maps, or give releases that are read as a whole."
        )
    return lambda engine, tell: _read(request, there, engine, tell)


def _read(request: AuditRequest, there: Sequence[ClusterRelease | None], engine: Engine, tell: Progress) -> ReadHistory:
    """By workers, who tell what is known without persons; releases with ids are joined by all of them."""
    policy = None if request.policy is None else Path(request.policy)  # this process has read it anyhow
    made = Origin.now(request.files(), lambda files: _hashes(engine, [f for f in files if f != policy], policy))
    if _joined_by_ids(request) and getattr(engine, "session", None) is not None:
        laid = _laid_down(request, there, engine, tell)
        if laid is not None:
            given = [one if mine is None else mine.tables for one, mine in zip(there, laid, strict=True)]
            return ReadHistory(given, made, Changed.of(request.changed), _NOTHING, laid)
    cut = cut_by(engine, cut_history, request)
    return ReadHistory(cut, made, cut.changed, _NOTHING)


def _laid_down(
    request: AuditRequest, there: Sequence[ClusterRelease | None], engine: Engine, tell: Progress
) -> tuple[PutRelease | None, ...] | None:
    """The releases that workers laid down, beside those that are there; None if not all of them publish ids."""
    own = [replace(request, release=(e,)) for e, one in zip(request.release, there, strict=True) if one is None]
    home = str(engine.folder)  # type: ignore[attr-defined]
    folders = [folder_of(one, home) for one in own]
    if sum(taken_up(folder) for folder in folders):  # of all of them
        tell.stage(ANEW)
    with gone_if_refused(*folders):
        laid = engine.map(lay_release, own, home)
        if None in laid and any(there):
            raise InputError("Beside folders of Parquet files stand bucketized releases with ids, and no others.")
    if None in laid:
        for folder in folders:
            remove(folder)
        return None
    found = iter(laid)
    return tuple(next(found) if one is None else None for one in there)


def _hashes(engine: Engine, files: Sequence[Path], policy: Path | None) -> list[str]:
    """The SHA-256 of files by workers, and behind them that of the policy."""
    found = engine.map(hash_file, [str(file) for file in files])
    return found if policy is None else [*found, sha256_of(policy)]


def _joined_by_ids(request: AuditRequest) -> bool:
    """Whether nothing is asked that only somebody who has the whole history can tell."""
    more = (request.register, request.tables, request.knowledge, request.prior, request.hierarchies, request.value_maps)
    return not any(more)


def _on_cluster(request: AuditRequest, entry: ReleaseEntry) -> ClusterRelease | None:
    """A folder of Parquet files that Spark reads; None: somebody reads it who knows more kinds."""
    path = Path(entry.file)
    if not path.is_dir() or (path / MANIFEST).exists():
        return None
    roles = {role: getattr(entry, role) or getattr(request, role) for role in ("id", "sensitive", "group")}
    for role, column in roles.items():
        if column is None:
            raise FieldError(role, "names a column of Parquet files that workers read: say which.")
    count = entry.count or request.count or "count"
    found = published(path, **roles, values=entry.values, count=count, name=entry.name or path.name)
    check_release(found)
    return found
