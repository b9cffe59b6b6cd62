"""Audit a history in pieces on an engine: all cores of this machine, or a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from showthrough import said
from showthrough.auditing.audit import audit
from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.engines.cluster_release import published
from showthrough.engines.engine import Engine
from showthrough.errors import FieldError, InputError
from showthrough.inference.cluster.pieces import TABLES
from showthrough.progress import Progress
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
    with Unit() as unit, _engine(request) as engine:
        kept = None if keep is None else unit.folder(keep)
        there = [_on_cluster(request, entry) for entry in request.release]
        releases, register, own = there, None, {}
        if not all(there):
            releases, register = request.load()
            own = tables_of(request, releases, request.tables)
        made = Origin.now(request.files())
        found = audit(
            releases,
            register=register,
            membership=by_links(releases) if request.link and register is not None else None,
            **known,
            changed=told_changes(own, otherwise=request.changed),
            contradictions=request.contradictions,
            seconds=request.seconds,
            policy=rules,
            progress=tell,
            engine=engine,
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


@contextmanager
def _engine(request: AuditRequest) -> Iterator[Engine]:
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
    return published(path.absolute(), **roles, values=values, count=count, name=entry.name or path.name)
