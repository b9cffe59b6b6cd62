"""Check releases: which privacy models each satisfies, how well, and whether limits hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import polars as pl

from showthrough.criteria.criteria_entries import CriteriaEntries
from showthrough.criteria.examine import examine
from showthrough.criteria.levels import trees_of
from showthrough.criteria.quasi_identifiers import QuasiIdentifiers, quasi_identifiers
from showthrough.criteria.risk import risk
from showthrough.errors import FieldError, InputError
from showthrough.measuring.queries import Workload
from showthrough.measuring.utility import utility
from showthrough.policy.decision import decision
from showthrough.policy.reasons import criterion_reason
from showthrough.progress import Progress
from showthrough.register.history_file import ReleaseEntry, files_of
from showthrough.report.check import CheckContent, Findings, Tree, content
from showthrough.report.formats import Judgement
from showthrough.report.origin import Origin, relative
from showthrough.requests.subjects import Columns, Subject, read_subjects
from showthrough.table.entries import Entries, between
from showthrough.table.files import read_table
from showthrough.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class CheckRequest(Entries):
    """Releases or plain tables, what they are looked at beside, and limits.

    The roles hold for every release that does not name its own. ``table`` is what the releases were made
    from: values are compared with it, and utility is measured by ``queries`` random counting queries.
    ``tree`` names columns whose hierarchy is drawn, ``risk`` says how suppressed cells match.
    ``find_quasi`` is how many columns a set that is looked at as a quasi-identifier has at most.
    """

    release: tuple[ReleaseEntry, ...]
    id: str | None = None
    sensitive: tuple[str, ...] = ()
    group: str | None = None
    quasi: tuple[str, ...] | None = None
    count: str | None = None
    kind: str | None = None
    encoding: str | None = None
    suppressed: str | None = None
    others: Literal["alone", "quasi", "together"] = "alone"
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    tree: tuple[str, ...] = ()
    table: str | None = None
    population: str | None = None
    criteria: CriteriaEntries = field(default_factory=CriteriaEntries)
    negations: int = 0
    risk: Literal["category", "wildcard"] | None = None
    threshold: float = 0.2
    sampling_fraction: float | None = None
    find_quasi: int = 0
    queries: int = 200
    seed: int = 0
    audience: Literal["shareable", "internal"] = "shareable"

    def check(self) -> None:
        """Numbers in their ranges, and something to look at."""
        if not self.release:
            raise FieldError("release", "lists no releases: name each with its file.")
        for name in ("negations", "queries", "seed", "find_quasi"):
            between(name, getattr(self, name), 0)
        between("threshold", self.threshold, 0, 1)
        if self.sampling_fraction is not None:
            between("sampling_fraction", self.sampling_fraction, 0, 1)

    def files(self) -> list[Path]:
        """Everything that is read and must not be written over."""
        named = [name for entry in self.release for name in (entry.file, entry.values, entry.counterfeits)]
        named += [self.table, self.population, *self.hierarchies.values()]
        histories = [Path(e.file) for e in self.release if e.file.endswith(".toml") and Path(e.file).is_file()]
        return [*(Path(name) for name in named if name is not None), *(f for h in histories for f in files_of(h))]

    def columns(self, entry: ReleaseEntry) -> Columns:
        """The roles of one release: its own, and those for all."""
        return Columns(
            id=entry.id or self.id,
            sensitive=self.sensitive if entry.sensitive is None else (entry.sensitive,),
            group=entry.group or self.group,
            quasi=self.quasi if entry.quasi is None else entry.quasi,
            count=entry.count or self.count,
            kind=entry.kind or self.kind,
            encoding=entry.encoding or self.encoding,
            others=self.others,
            suppressed=self.suppressed,
        )


@dataclass(frozen=True, eq=False)
class CheckResult:
    """What was found of every release, and the hierarchies that were asked for."""

    request: CheckRequest
    releases: tuple[Findings, ...]
    trees: Mapping[str, Tree]
    made: Origin

    def content(self) -> CheckContent:
        """What a report says to the audience of the request."""
        return content(self.releases, audience=self.request.audience, trees=self.trees)

    def judgement(self) -> Judgement:
        """What formats for other programs tell: every limit on every release, without labels of groups."""
        limits = self.request.criteria.limits()
        reasons, levels = [], []
        for found in self.releases:
            for part in found.parts:
                name = found.name if len(found.parts) == 1 else f"{found.name}, {part.sensitive}"
                reasons += [
                    criterion_reason(r, "block", limits[r], c, name) for r, c in zip(limits, part.checks, strict=True)
                ]
                levels += [f"{name}: {sentence}" for sentence in part.levels["sentence"]]
        decided = decision(reasons) if limits else None
        place = relative(Path(self.request.release[0].file))
        return Judgement("check", decided, levels, self.made, place, lines=False)


@dataclass(frozen=True, eq=False)
class _Beside:
    """Tables and hierarchies that every release is looked at beside."""

    table: pl.DataFrame | None
    population: pl.DataFrame | None
    trees: Mapping[str, Hierarchy]


def run_check(request: CheckRequest, progress: Progress | Callable[[str], None] | None = None) -> CheckResult:
    """Read the releases and look at each."""
    tell = Progress.of(progress)
    tell.stage("reading")
    trees = {column: Hierarchy.read(file, encoding=request.encoding) for column, file in request.hierarchies.items()}
    subjects = _told_apart([s for e in request.release for s in read_subjects(e, request.columns(e))])
    table, population = (
        None if file is None else read_table(file, encoding=request.encoding)
        for file in (request.table, request.population)
    )
    beside = _Beside(table, population, trees)
    found = []
    for number, subject in enumerate(subjects):
        tell.stage(f"checking {subject.name}")
        tell.count(number, len(subjects))
        found.append(replace(_examined(subject, request, beside), telling=_telling(subject, request, tell)))
    drawn = {name: _drawn(name, subjects, request, beside) for name in request.tree}
    return CheckResult(request, tuple(found), drawn, Origin.now(request.files()))


def _told_apart(subjects: list[Subject]) -> list[Subject]:
    names = [subject.name for subject in subjects]
    if len(set(names)) == len(names):
        return subjects
    return [replace(s, name=f"{s.name} ({k})") for k, s in enumerate(subjects, start=1)]


def _examined(subject: Subject, request: CheckRequest, beside: _Beside) -> Findings:
    """Levels, limits, risk and utility of one release."""
    trees, roles = trees_of(subject.found, beside.trees), subject.roles
    parts = examine(
        subject.found,
        lambda sensitive: request.criteria.criteria(sensitive, trees, beside.population),
        roles=roles,
        reference=beside.table,
        negations=request.negations,
        hierarchies=trees,
    )
    risked = useful = None
    if request.risk is not None or request.sampling_fraction is not None:
        risked = risk(
            subject.found,
            quasi=roles.quasi,
            population=beside.population,
            threshold=request.threshold,
            suppressed_cells=request.risk or "category",
            mark="*" if roles.suppressed is None else roles.suppressed,
            sampling_fraction=request.sampling_fraction,
        )
    if beside.table is not None:
        useful = utility(
            subject.release(),
            beside.table,
            id=request.id if request.id in beside.table.columns else None,
            suppressed=roles.suppressed,
            k=request.criteria.k,
            hierarchies=trees,
            workload=Workload(request.queries, seed=request.seed) if request.queries else 0,
        )
    return Findings(subject.name, subject.kind, tuple(parts), risked, useful)


def _telling(subject: Subject, request: CheckRequest, tell: Progress) -> QuasiIdentifiers | None:
    """Which columns of a plain table tell its rows apart, if that was asked for."""
    if not request.find_quasi:
        return None
    if subject.kind is not None:
        raise InputError(
            f"Quasi-identifiers are looked for in plain tables, and this is a {subject.kind} release: leave out "
            "find_quasi=, or name the table.",
            parameters=("find_quasi",),
        )
    return quasi_identifiers(subject.found, columns=subject.roles.quasi, most=request.find_quasi, progress=tell)


def _drawn(name: str, subjects: Sequence[Subject], request: CheckRequest, beside: _Beside) -> Tree:
    """The hierarchy of a column: where it comes from, and its tree; proposed where there is none."""
    known = dict(beside.trees)
    for subject in subjects:
        known = {**trees_of(subject.found, None), **known}
    hierarchy = known.get(name)
    if hierarchy is None:
        column = _values(name, subjects, beside)
        if request.audience != "internal":
            raise InputError(
                f"There is no hierarchy of {name!r}. Give one with hierarchies={{{name!r}: FILE}}; with "
                'audience="internal" one is proposed, which shows the values of the column.',
                parameters=("hierarchies", "audience"),
            )
        hierarchy = Hierarchy.propose(column)
    return Tree(hierarchy.rule, hierarchy.tree() if request.audience == "internal" else _levels(hierarchy))


def _levels(hierarchy: Hierarchy) -> str:
    """A hierarchy without its labels, which are values: how many each level has."""
    counts = [len(set(hierarchy.labels(level))) for level in range(hierarchy.height + 1)]
    return "\n".join(f"level {k}: {n} label{'' if n == 1 else 's'}" for k, n in enumerate(counts))


def _values(name: str, subjects: Sequence[Subject], beside: _Beside) -> pl.Series:
    if beside.table is not None and name in beside.table.columns:
        return beside.table[name]
    for subject in subjects:
        column = subject.column(name)
        if column is not None:
            return column
    raise FieldError("tree", f"names {name!r}, which is no column of what was read.")
