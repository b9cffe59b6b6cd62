"""The worked example of the re-publishing paper, end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from showthrough.auditing import audit as auditing
from showthrough.auditing.whole_audit import Audit
from showthrough.errors import InputError
from showthrough.examples import figure1
from showthrough.inference.infer import infer
from showthrough.progress import Progress
from showthrough.report import html
from showthrough.report.content import AuditContent, View, content, known_facts, views
from showthrough.report.origin import Origin
from showthrough.table.entries import Entries

REPORT = "report.html"


@dataclass(frozen=True)
class DemoRequest(Entries):
    """Where the example's files are written, and the command that the report says."""

    folder: str = "demo"
    command: str = ""


@dataclass(frozen=True, eq=False)
class DemoResult:
    """The audit of the example, what each release tells alone, and the files that were written."""

    audit: Audit
    views: tuple[View, ...]
    files: tuple[Path, ...]
    report: Path | None  # None where the libraries for it are missing

    def content(self) -> AuditContent:
        """Everything, with a proof for every fact: its persons are a paper's."""
        every = known_facts(self.audit, proofs=self.audit.posterior.proven().height)
        return content(self.audit, audience="internal", known=every)


def run_demo(request: DemoRequest, progress: Progress | Callable[[str], None] | None = None) -> DemoResult:
    """Write the example's files and audit them."""
    tell = Progress.of(progress)
    releases = figure1.releases()
    found = auditing.audit(releases, progress=tell)
    page = _page(found, request)
    files = figure1.write(Path(request.folder), {} if page is None else {REPORT: page})
    report = None if page is None else files.pop()
    alone = [(f"{release.name} alone", infer([release])) for release in releases]
    return DemoResult(found, views([*alone, ("both together", found.posterior)]), tuple(files), report)


def _page(found: Audit, request: DemoRequest) -> bytes | None:
    """The report with ids and proofs."""
    try:
        html.environment()
    except InputError:
        return None
    made = replace(Origin.now(), command=request.command or None)
    return html.page(found, audience="internal", origin=made).encode()
