"""Explain one person of a history: alone, together, since which release, by which releases, and the proof."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, Self

from showthrough.errors import FieldError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior
from showthrough.inference.story import Story, story
from showthrough.progress import Progress
from showthrough.report.person import PersonContent, person_content
from showthrough.requests.audit import AuditRequest, by_links
from showthrough.requests.changes import tables_of, told_changes
from showthrough.requests.informed import InformedEntries
from showthrough.table.entries import between


@dataclass(frozen=True)
class ExplainRequest(InformedEntries):
    """Whom to explain: ``person`` is the id, ``value`` the value whose proof is wanted (the likeliest if none).

    ``part`` names the release of a person whose id was split. The rest is as in an audit; ``seconds`` hold for all
    releases together and again for parts of the history.
    """

    person: str = ""
    value: str | None = None
    part: str | None = None
    changed: Literal["refuse", "split", "tolerate"] = "tolerate"
    tables: tuple[str, ...] = ()
    seconds: float = SECONDS

    @classmethod
    def of_history(cls, told: AuditRequest, whom: Mapping[str, Any]) -> Self:
        """Somebody of the history that an audit would read."""
        shared = {f.name: getattr(told, f.name) for f in fields(InformedEntries)}
        found = cls(**shared, changed=told.changed, tables=told.tables, **whom)
        found.check()
        return found

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        return replace(super().under(folder), tables=tuple(os.fspath(folder / table) for table in self.tables))

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), *map(Path, self.tables)]

    def check(self) -> None:
        """There is somebody to explain."""
        super().check()
        between("seconds", self.seconds, 0)
        if not self.person:
            raise FieldError("person", "is empty: name the id of somebody.")


@dataclass(frozen=True, eq=False)
class ExplainResult:
    """A posterior, and the story of the one person."""

    request: ExplainRequest
    posterior: Posterior
    story: Story

    def content(self) -> PersonContent:
        """What is told of the person."""
        return person_content(self.posterior, self.story, self.request.value)


def run_explain(request: ExplainRequest, progress: Progress | Callable[[str], None] | None = None) -> ExplainResult:
    """Read the history, infer, and look at one person from every side."""
    tell = Progress.of(progress)
    tell.stage("reading")
    known = request.known()
    releases, register = request.load()
    own = tables_of(request, releases, request.tables)
    post = infer(
        releases,
        register=register,
        membership=by_links(releases) if request.link and register is not None else None,
        **known,
        changed=told_changes(own, otherwise=request.changed),
        seconds=request.seconds,
        progress=tell,
    )
    tell.stage("parts of the history")
    views = post.views(seconds=request.seconds, progress=tell)
    found = story(views, request.person, release=request.part, value=request.value)
    tell.stage("proof")
    return ExplainResult(request, post, found)
