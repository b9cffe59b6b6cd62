"""Audit a history in pieces on an engine: all cores of this machine, or a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from showthrough import said
from showthrough.auditing.pieces_audit import PieceCounts, SpreadAudit, audit_on
from showthrough.auditing.whole_audit import audit_of
from showthrough.engines import spark_needs
from showthrough.engines.cluster_release import check_release, published
from showthrough.engines.engine import Engine
from showthrough.errors import FieldError, InputError
from showthrough.inference.clock import Clock
from showthrough.inference.cluster.pieces import TABLES
from showthrough.inference.run import Wanted
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.register.history_file import ReleaseEntry
from showthrough.report import html
from showthrough.report.content import AuditContent, content_of_pieces, summary
from showthrough.report.formats import Judgement
from showthrough.report.origin import Origin, relative
from showthrough.report.page.gathered import Gathered, gather
from showthrough.requests.audit import AuditRequest, by_links
from showthrough.requests.changes import tables_of, told_changes
from showthrough.storage.system import move_folder, remove
from showthrough.storage.unit import Unit

MANIFEST = "release.toml"


@dataclass(frozen=True, eq=False)
class PiecesResult:
    """An audit in pieces, for whoever prints it; persons are in files of their own, if they were asked for."""

    request: AuditRequest
    audit: SpreadAudit
    made: Origin
    gathered: Gathered | None = None  # figures of the page, if one is wanted: they outlive the tables of persons
    people: None = None
    page: str | None = None

    def with_page(self) -> PiecesResult:
        """The same with the page of the report, if one is wanted."""
        if self.gathered is None:
            return self
        return replace(self, page=html.rendered(html.content_of(replace(self.gathered, origin=self.made))))

    def content(self) -> AuditContent:
        """What a report says: counts."""
        return replace(content_of_pieces(self.audit), made=self.made)

    def judgement(self) -> Judgement:
        """What formats for other programs tell."""
        told = [said.shareable(line) for line in summary(self.audit)]
        named = self.request.policy or self.request.release[0].file
        return Judgement(
            "audit", self.audit.decision, told, self.made, relative(Path(named)), self.request.policy is not None
        )


def run_audit_in_pieces(
    request: AuditRequest, progress: Progress | None = None, keep: Path | None = None
) -> PiecesResult:
    """Read the history, or let the workers, and audit it; ``keep`` is a folder for what is known of persons."""
    _refuse_what_takes_one_machine(request)
    if request.report:
        html.environment()  # a missing library is told before hours of work
    tell = Progress.of(progress)
    tell.stage("reading")
    rules, known = request.rules(), request.known()
    begun = _engine(request)
    releases, register, own = _read(request)
    made = Origin.now(request.files())
    with Unit() as unit, begun as engine:
        kept = None if keep is None else unit.folder(keep)
        found = audit_on(
            engine,
            releases,
            {
                "register": register,
                "membership": by_links(releases) if request.link and register is not None else None,
                "domain": (),
                **known,
            },
            Wanted(Changed.of(told_changes(own, otherwise=request.changed)), request.contradictions),
            PieceCounts(audit_of, rules, further=request.report),
            Clock(request.seconds, tell),
        )
        with _then_gone(found.posterior.folder) as folder:
            if request.report:
                tell.stage("report")
            told = gather(found, audience=request.audience, origin=made) if request.report else None
            if kept is not None:
                for table in TABLES:
                    move_folder(folder / table, kept / table)
                unit.commit()
    return PiecesResult(request, found, made, told)


@contextmanager
def _then_gone(folder: Path) -> Iterator[Path]:
    """A folder that holds persons, until they were kept or nobody wants them."""
    try:
        yield folder
    finally:
        with suppress(OSError):
            remove(folder)


def _refuse_what_takes_one_machine(request: AuditRequest) -> None:
    asked = {
        "the internal audience": request.audience == "internal",
        "bounds": request.bounds is not None,
        "whole values": request.whole_values is not None,
    }
    for what, wanted in asked.items():
        if wanted:
            raise InputError(f"In pieces {what} is not worked out: leave it out, or engine.", parameters=("engine",))


def _read(request: AuditRequest) -> tuple[list[Any], Any, dict[str, Any]]:
    """Releases, register and the publisher's tables: what is wrong in a file is told before a cluster is asked."""
    there = [_on_cluster(request, entry) for entry in request.release]
    rest = tuple(entry for entry, one in zip(request.release, there, strict=True) if one is None)
    if not rest:
        return there, None, {}
    held, register = replace(request, release=rest).load()
    if len(rest) == len(there):
        return held, register, tables_of(request, held, request.tables)
    if len(held) != len(rest):
        raise InputError("Beside folders of Parquet files stand release folders and files that publish values.")
    own = iter(held)
    return [next(own) if one is None else one for one in there], register, {}


def _engine(request: AuditRequest) -> AbstractContextManager[Engine]:
    """Where the work runs, begun on entering; what it needs of this machine is looked at before."""
    if request.engine == "spark":
        spark_needs.pyspark()
        spark_needs.java()
    return _working(request)


@contextmanager
def _working(request: AuditRequest) -> Iterator[Engine]:
    if request.engine == "spark":
        from showthrough.engines.spark import spark

        with spark(master=request.master, folder=request.work_folder) as engine:
            yield engine
    else:
        from showthrough.engines.processes import processes

        with processes() as engine:
            yield engine


def _on_cluster(request: AuditRequest, entry: ReleaseEntry) -> Any:
    """A folder of Parquet files that the workers read; None: this process reads it."""
    path = Path(entry.file)
    if request.engine != "spark" or not path.is_dir() or (path / MANIFEST).exists():
        return None
    roles = {role: getattr(entry, role) or getattr(request, role) for role in ("id", "sensitive", "group")}
    for role, column in roles.items():
        if column is None:
            raise FieldError(role, "names a column of Parquet files that workers read: say which.")
    values = None if entry.values is None else Path(entry.values).absolute()
    count = entry.count or request.count or "count"
    found = published(path.absolute(), **roles, values=values, count=count, name=entry.name or path.name)
    check_release(found)
    return found
