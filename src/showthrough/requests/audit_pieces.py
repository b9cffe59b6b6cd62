"""Audit a history in pieces on an engine: all cores of this machine, or a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from showthrough import said
from showthrough.auditing.pieces_audit import PieceCounts, SpreadAudit, audit_on
from showthrough.auditing.whole_audit import audit_of
from showthrough.engines import spark_needs
from showthrough.engines.engine import Engine
from showthrough.errors import InputError
from showthrough.inference.clock import Clock
from showthrough.inference.cluster.pieces import TABLES, gone_if_refused
from showthrough.inference.run import Wanted
from showthrough.progress import Progress
from showthrough.report import html
from showthrough.report.content import AuditContent, content_of_pieces, summary
from showthrough.report.formats import Judgement
from showthrough.report.origin import Origin, relative
from showthrough.report.page.gathered import Gathered, gather
from showthrough.requests.audit import AuditRequest
from showthrough.requests.read_history import by_workers, here
from showthrough.storage.system import move_folder, remove
from showthrough.storage.unit import Unit


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
    rules = request.rules()
    begun = _engine(request)
    read = by_workers(request) if request.engine == "spark" else here(request)
    with Unit() as unit, begun as engine:
        kept = None if keep is None else unit.folder(keep)
        history = read(engine, tell)
        counts = PieceCounts(audit_of, rules, further=request.report)
        wanted = Wanted(history.changed, request.contradictions)
        with gone_if_refused(*history.folders):
            found = audit_on(engine, history.given, history.beside, wanted, counts, Clock(request.seconds, tell))
        found = history.described(found)
        with _then_gone(found.posterior.folder, *history.folders) as folder:
            if request.report:
                tell.stage("report")
            told = gather(found, audience=request.audience, origin=history.made) if request.report else None
            if kept is not None:
                for table in TABLES:
                    move_folder(folder / table, kept / table)
                unit.commit()
    return PiecesResult(request, found, history.made, told)


@contextmanager
def _then_gone(folder: Path, *others: Path) -> Iterator[Path]:
    """A folder that holds persons, as others do, until they were kept or nobody wants them."""
    try:
        yield folder
    finally:
        for one in (folder, *others):
            with suppress(OSError):
                remove(one)


def _refuse_what_takes_one_machine(request: AuditRequest) -> None:
    asked = {
        "the internal audience": request.audience == "internal",
        "bounds": request.bounds is not None,
        "whole values": request.whole_values is not None,
    }
    for what, wanted in asked.items():
        if wanted:
            raise InputError(f"In pieces {what} is not worked out: leave it out, or engine.", parameters=("engine",))


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
