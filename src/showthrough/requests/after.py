"""How far a noisy release can move everybody's probabilities on top of a history."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, Self

from showthrough.dp.meaning import check_delta, check_epsilon, check_failure
from showthrough.dp.movement import After, after
from showthrough.errors import FieldError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior
from showthrough.progress import Progress
from showthrough.report.after import AfterContent, after_content
from showthrough.report.origin import Origin
from showthrough.requests.audit import AuditRequest, by_links
from showthrough.requests.changes import tables_of, told_changes
from showthrough.requests.informed import InformedEntries
from showthrough.table.entries import between


@dataclass(frozen=True)
class AfterRequest(InformedEntries):
    """A history, and the ``epsilon`` and ``delta`` (one record replaced) of a noisy release on top of it.

    Or ``promised_by`` names one of the history. ``p`` and ``failure`` are those of `dp.after`; the rest is as in an
    audit. ``seconds`` hold for the inference, and again for counting records.
    """

    epsilon: float | None = None
    delta: float = 0.0
    promised_by: str | None = None
    p: Literal["worlds", "bounds"] = "worlds"
    failure: float | None = None
    changed: Literal["refuse", "split", "tolerate"] = "tolerate"
    tables: tuple[str, ...] = ()
    seconds: float = SECONDS
    audience: Literal["shareable", "internal"] = "shareable"

    @classmethod
    def of_history(cls, told: AuditRequest, asked: Mapping[str, Any]) -> Self:
        """On top of the history that an audit would read."""
        shared = {f.name: getattr(told, f.name) for f in fields(InformedEntries)}
        found = cls(**shared, changed=told.changed, tables=told.tables, **asked)
        found.check()
        return found

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        return replace(super().under(folder), tables=tuple(os.fspath(folder / table) for table in self.tables))

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), *map(Path, self.tables)]

    def check(self) -> None:
        """Something is promised, by one of the two."""
        super().check()
        between("seconds", self.seconds, 0)
        if (self.epsilon is None) == (self.promised_by is None):
            raise FieldError(
                "epsilon",
                "says what the noisy release promises, unless promised_by= names one of the history: give one of the "
                "two.",
                parameters=("promised_by",),
            )
        if self.epsilon is not None:
            check_epsilon(self.epsilon)
        check_delta(self.delta)
        check_failure(self.failure)


@dataclass(frozen=True, eq=False)
class AfterResult:
    """Everybody's intervals, and the posterior that they lie around."""

    request: AfterRequest
    posterior: Posterior
    after: After
    made: Origin

    def content(self) -> AfterContent:
        """What is told to the audience of the request."""
        noisy = sum(r.noise is not None for r in self.posterior.releases) - (self.request.promised_by is not None)
        told = after_content(self.after, internal=self.request.audience == "internal")
        return replace(told, others=noisy, made=self.made)


def run_after(request: AfterRequest, progress: Progress | Callable[[str], None] | None = None) -> AfterResult:
    """Read the history, infer, and count the records that can differ."""
    tell = Progress.of(progress)
    tell.stage("reading")
    known = request.known()
    releases, register = request.load()
    made = Origin.now(request.files())
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
    tell.stage("counting records")
    found = after(
        post,
        epsilon=request.epsilon,
        delta=request.delta,
        release=request.promised_by,
        p=request.p,
        failure=request.failure,
        seconds=request.seconds,
    )
    return AfterResult(request, post, found, made)
