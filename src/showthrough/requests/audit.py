"""Audit a history: releases laid on top of each other, and what every person's reader can believe.

The request is a history file with more entries: a history file *is* an audit request.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl

from showthrough import said
from showthrough.auditing import audit as auditing
from showthrough.auditing.further import Further, budget
from showthrough.auditing.whole_audit import Audit
from showthrough.errors import FieldError
from showthrough.inference.infer import SECONDS
from showthrough.policy.policy import Policy
from showthrough.policy.rules import Rules
from showthrough.policy.rules_file import read_policy
from showthrough.progress import Progress
from showthrough.register.locating import names_of
from showthrough.register.reader import telling
from showthrough.release.release import Release
from showthrough.report import html
from showthrough.report.content import PROOFS, AuditContent, Facts, content, known_facts, leading_facts, summary
from showthrough.report.formats import Judgement
from showthrough.report.glance import Glance, glance
from showthrough.report.origin import Origin, relative
from showthrough.report.people_table import PeopleTable
from showthrough.requests.changes import tables_of, told_changes
from showthrough.requests.informed import InformedEntries
from showthrough.said import private
from showthrough.table.entries import between


@dataclass(frozen=True)
class AuditRequest(InformedEntries):
    """What to read, and what to tell.

    ``changed``, ``contradictions``, ``seconds`` and ``whole_values`` are those of `audit`; ``tables`` are the
    publisher's own, one for each release that publishes values, in order: they tell whose value changed, and
    ``changed`` is for the rest. ``policy`` is a policy file, and ``limits`` are fields of `Policy` that stand instead
    of those under its [block]; either gives a verdict. ``people`` asks for a frame of every person's probabilities and
    facts, ``bounds`` for bounds in it, of persons whose likeliest value has at least this probability or no certified
    one, as sharp as further ``seconds`` allow. ``report`` says that a page will be wanted. With an ``engine`` the
    history is audited in pieces (`run_audit_in_pieces`): on all cores, or on the Spark cluster of ``master``, whose
    workers share ``work_folder``.
    """

    changed: Literal["refuse", "split", "tolerate"] = "tolerate"
    tables: tuple[str, ...] = ()
    contradictions: Literal["explain", "refuse"] = "explain"
    seconds: float = SECONDS
    whole_values: float | None = None
    policy: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    people: bool = False
    bounds: float | None = None
    report: bool = False
    engine: Literal["processes", "spark"] | None = None
    master: str | None = None
    work_folder: str | None = None
    audience: Literal["shareable", "internal"] = "shareable"

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        policy = None if self.policy is None else os.fspath(folder / self.policy)
        tables = tuple(os.fspath(folder / table) for table in self.tables)
        return replace(super().under(folder), tables=tables, policy=policy)

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), *map(Path, self.tables), *([] if self.policy is None else [Path(self.policy)])]

    def rules(self) -> Rules | None:
        """The rules of the policy file with the limits beside it; None without either."""
        rules = None if self.policy is None else read_policy(self.policy)
        if not self.limits:
            return rules
        strange = [name for name in self.limits if name not in {f.name for f in fields(Policy)}]
        if strange:
            raise FieldError("limits", f"are fields of a policy, and {private(strange[0])} is none.")
        limits: dict[str, Any] = {name: None if limit is False else limit for name, limit in self.limits.items()}
        if rules is None:
            return Rules(block=Policy(**limits))
        kept = tuple((name, line) for name, line in rules.lines if name.removeprefix("block.") not in limits)
        block = Policy(**limits) if rules.block is None else replace(rules.block, **limits)
        return replace(rules, block=block, lines=kept)

    def check(self) -> None:
        """Numbers in their ranges, and bounds where they can stand."""
        super().check()
        between("seconds", self.seconds, 0)
        between("whole_values", self.whole_values, 0)
        between("bounds", self.bounds, 0, 1)
        for name in ("master", "work_folder"):
            if getattr(self, name) is not None and self.engine != "spark":
                raise FieldError(name, "is that of a Spark cluster: ask for engine spark.")
        if self.bounds is not None and not self.people:
            raise FieldError(
                "bounds", "adds columns to the people file: ask for one with people=FILE.", parameters=("people",)
            )


@dataclass(frozen=True, eq=False)
class AuditResult:
    """An audit with the facts and the frame of people, as far as they were asked for."""

    request: AuditRequest
    audit: Audit
    facts: Facts | None
    people: PeopleTable | None
    made: Origin
    page: str | None = None
    glance: Glance | None = None
    further: Further | None = None  # what was worked out for the one serves the other

    def with_glance(self, progress: Progress | Callable[[str], None] | None = None) -> AuditResult:
        """The same with what a terminal shows first."""
        further = self.further or Further(self.audit, budget(self.audit, self.request.seconds), progress)
        return replace(self, further=further, glance=glance(self.audit, further))

    def with_page(self, progress: Progress | Callable[[str], None] | None = None) -> AuditResult:
        """The same with the page of the report; what each release added takes about as long again as the audit."""
        tell, audience = Progress.of(progress), self.request.audience
        tell.stage("report")
        further = self.further or budget(self.audit, self.request.seconds)
        page = html.page(self.audit, audience=audience, seconds=further, origin=self.made, progress=tell)
        return replace(self, page=page)

    def content(self) -> AuditContent:
        """What a report says to the audience of the request."""
        told = content(self.audit, audience=self.request.audience, known=self.facts)
        return replace(told, made=self.made, glance=self.glance)

    def judgement(self) -> Judgement:
        """What formats for other programs tell: counts only, whatever the audience."""
        told = [said.shareable(line) for line in summary(self.audit)]
        named = self.request.policy or self.request.release[0].file
        lines = self.request.policy is not None
        return Judgement("audit", self.audit.decision, told, self.made, relative(Path(named)), lines)


def by_links(releases: Sequence[Release]) -> dict[str, pl.DataFrame]:
    """Who is in which group, where a private link tells it, for a reader who has a register and knows the groups."""
    told = telling(releases, noisy=True)
    return {name: r.link for name, r in zip(names_of(told), told, strict=True) if r.link is not None}


def run_audit(request: AuditRequest, progress: Progress | Callable[[str], None] | None = None) -> AuditResult:
    """Read the history and audit it; `AuditResult.with_page` makes the page of the report."""
    if request.report:
        html.environment()  # a missing library is told before hours of work
    tell = Progress.of(progress)
    tell.stage("reading")
    rules = request.rules()
    known = request.known()
    releases, register = request.load()
    made = Origin.now(request.files())  # after all of them were found to be what they should be
    own = tables_of(request, releases, request.tables)
    found = auditing.audit(
        releases,
        register=register,
        membership=by_links(releases) if request.link and register is not None else None,
        **known,
        changed=told_changes(own, otherwise=request.changed),
        contradictions=request.contradictions,
        seconds=request.seconds,
        whole_values=request.whole_values,
        policy=rules,
        progress=tell,
    )
    return finished(request, found.beside(own) if own else found, made, tell)


def finished(request: AuditRequest, found: Audit, made: Origin, tell: Progress) -> AuditResult:
    """An audit with the facts and people that were asked for."""
    facts, people = None, None
    if request.people or request.audience == "internal":
        tell.stage("proofs")
    proofs = 0 if tell.satisfied else PROOFS
    if request.audience == "internal":
        facts = known_facts(found, proofs=proofs)
    if request.people:
        people = PeopleTable(found, leading_facts(found, proofs=proofs) if facts is None else facts)
    if people is not None and request.bounds is not None:
        tell.stage("bounds")
        limits = found.posterior.bounds(
            above=request.bounds, seconds=request.seconds, workers=os.cpu_count() or 1, progress=tell
        )
        people = replace(people, limits=limits)
    return AuditResult(request, found, facts, people, made)
