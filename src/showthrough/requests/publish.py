"""Publish a table: a release that satisfies criteria, alone or beside its history."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from showthrough.anonymizers.methods import METHODS
from showthrough.anonymizers.noisy_counts import DP_COUNTS
from showthrough.anonymizers.plan import plan_file
from showthrough.criteria.criteria_entries import CriteriaEntries
from showthrough.errors import FieldError, FileError, InputError
from showthrough.ledger.gate import Gate, Hearing
from showthrough.ledger.ledger import Ledger
from showthrough.ledger.parcel import Parcel
from showthrough.ledger.pseudonyms import back, renamed_release
from showthrough.policy.policy import Policy
from showthrough.policy.rules import Rules
from showthrough.policy.rules_file import read_policy
from showthrough.progress import Progress
from showthrough.release import folder as folders
from showthrough.release.reading import read_release
from showthrough.release.release import Release
from showthrough.report.origin import Origin
from showthrough.report.publish import PublishContent, publish_content
from showthrough.republishing.anonymize import anonymize
from showthrough.republishing.naming import Untied
from showthrough.republishing.strategies import STRATEGIES
from showthrough.requests.earlier_files import PastFiles, told_untied
from showthrough.requests.informed import known_from
from showthrough.requests.ledger import LedgerRequest
from showthrough.storage.unit import Unit
from showthrough.table.entries import Entries, between
from showthrough.table.files import read_table
from showthrough.table.frames import scalar
from showthrough.table.hierarchy import Hierarchy

CELLS = ("tight", "recursion")


@dataclass(frozen=True)
class MarginalEntry(Entries):
    """A table of noisy counts: value by these quasi-identifiers, with its share of the budget."""

    quasi: tuple[str, ...] = ()
    share: float = 1.0


@dataclass(frozen=True)
class ColumnLimits(Entries):
    """Limits that are judged by one of several sensitive columns."""

    column: str
    criteria: CriteriaEntries = field(default_factory=CriteriaEntries)


@dataclass(frozen=True)
class PublishRequest(Entries):
    """The table, and the options of `anonymize`; files instead of frames, entries instead of criteria.

    ``folder`` is where the release is written (None: nowhere), with ``format``, ``overwrite`` and ``link`` as
    `Release.save` knows them. ``history`` are release folders, or plain files whose columns are called as those of the
    table; ``group`` is their column of groups. ``also`` are more sensitive columns, ``limits_on`` criteria of single
    ones. A guard keeps ``policy``, or what blocks in the policy file ``gate``. With a ``ledger`` the history is what
    that holds, and the release has to pass its gate, by that file or by ``policy``: what passes is recorded there
    first, and then written.
    """

    table: str
    method: str = "mondrian"
    id: str | None = None
    sensitive: str | None = None
    also: tuple[str, ...] = ()
    limits_on: tuple[ColumnLimits, ...] = ()
    others: Literal["alone", "quasi", "together"] = "alone"
    quasi: tuple[str, ...] | None = None
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    criteria: CriteriaEntries = field(default_factory=CriteriaEntries)
    population: str | None = None
    output: str | None = None
    suppression_limit: float = 0.0
    missing: Literal["refuse", "value", "suppress"] = "refuse"
    limits: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    levels: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    objective: str = "loss"
    cells: str = "tight"
    passes: int | None = None
    plan: str | None = None
    history: tuple[str, ...] = ()
    group: str | None = None
    register: str | None = None
    strategy: str = "independent"
    policy: Policy | None = None
    knowledge: tuple[str, ...] = ()
    prior: str | None = None
    repair: Literal["report", "counterfeits", "dissolve", "hold"] = "report"
    hold_back: bool = False
    best_effort: bool = False
    exposed: Literal["refuse", "accept"] = "refuse"
    changed: Literal["refuse", "split"] = "refuse"
    prefer: Literal["lasting", "useful"] = "lasting"
    readers: str = "groups"
    merge_overlaps: bool = False
    publish_ids: bool = False
    quasi_anyway: tuple[str, ...] = ()
    accept_violations: bool = False
    domain: Mapping[str, int | tuple[Any, ...]] = field(default_factory=dict)
    epsilon: float | None = None
    delta: float = 0.0
    mechanism: str = "geometric"
    neighbours: str = "replace-one"
    marginals: tuple[MarginalEntry, ...] = ()
    seconds: float = 600.0
    seed: int | None = None
    name: str = ""
    encoding: str | None = None
    folder: str | None = None
    format: Literal["csv", "parquet"] = "csv"
    overwrite: bool = False
    link: bool | None = None
    audience: Literal["shareable", "internal"] = "shareable"
    ledger: LedgerRequest | None = None
    gate: str | None = None

    def check(self) -> None:
        """Numbers in their ranges, and names that there are."""
        self._check_ledger()
        for name, known in (("method", (*METHODS, DP_COUNTS)), ("strategy", STRATEGIES)):
            if getattr(self, name) not in known:
                raise InputError(f"The {name} is one of {', '.join(known)}, not {getattr(self, name)!r}.")
        if self.cells not in CELLS:
            raise FieldError("cells", f"is one of {', '.join(CELLS)}, not {self.cells!r}.")
        for name, least in (("suppression_limit", 0), ("passes", 0), ("seconds", 1), ("seed", 0)):
            between(name, getattr(self, name), least)
        self.past.check(remembered=self.ledger is not None)
        if self.link and (self.id is None or self.method == DP_COUNTS):
            raise FieldError(
                "link",
                "writes who is in which group: that takes id= and a method that makes groups.",
                parameters=("id",),
            )
        if self.folder is not None and self.strategy != "guarded" and self.method != DP_COUNTS:
            self._check_unguarded()

    def _check_unguarded(self) -> None:
        for name, given in (("best_effort", self.best_effort), ("exposed", self.exposed == "accept")):
            if given:
                raise FieldError(name, 'is for strategy="guarded", which keeps a policy.', parameters=("strategy",))
        if self.hold_back and self.strategy == "independent":
            raise FieldError("hold_back", 'is for strategy="guarded" or m-invariance.', parameters=("strategy",))

    def _check_ledger(self) -> None:
        if self.ledger is None:
            if self.gate is not None and not self._guarded:
                raise FieldError(
                    "gate",
                    'is the policy file of strategy="guarded", or of a ledger\'s gate: choose the strategy or name the '
                    "ledger.",
                    parameters=("strategy", "ledger"),
                )
            if self.gate is not None and self.policy is not None:
                raise FieldError("gate", "holds the limits of the guard: name no other ones beside it.")
            return
        if self.history:
            raise FieldError("history", "is what the ledger holds: name no other releases beside it.")
        if self.gate is None and self.policy is None:
            raise FieldError("gate", "is missing: the ledger's gate needs limits to judge by.")

    def files(self) -> list[Path]:
        """Everything that is read."""
        named = (
            self.table, self.population, self.plan, self.prior, self.gate,
            *self.knowledge, *self.hierarchies.values(),
        )  # fmt: skip
        return [*(Path(name) for name in named if name is not None), *self.past.files()]

    @property
    def _guarded(self) -> bool:
        """Whether a guard is at work: a dry run shows it beside the other strategies."""
        return self.strategy == "guarded" or self.folder is None

    def rules(self) -> Rules:
        """What the policy file says, or else the limits that were named."""
        return read_policy(self.gate) if self.gate is not None else Rules(block=self.policy)

    def guarding(self) -> Policy | None:
        """The limits that the guard keeps: those that were named, or else what blocks in the policy file."""
        if not self._guarded or self.policy is not None or self.gate is None:
            return self.policy
        block = self.rules().block
        joint = None if block is None else block.joint()
        if joint is None:
            raise FieldError(
                "gate",
                "blocks nothing that all releases tell together, which is what the guard looks at: set a limit under "
                "[block], such as max_posterior = 0.5.",
            )
        return joint

    @property
    def past(self) -> PastFiles:
        """The earlier releases."""
        return PastFiles(self.history, self.id, self.sensitive, self.group, self.quasi, self.register, self.encoding)

    def arguments(self) -> dict[str, Any]:
        """What `anonymize` is called with, beside the table, the history, the strategy and the policy."""
        trees = {c: Hierarchy.read(file) for c, file in self.hierarchies.items()}
        people = None if self.population is None else read_table(self.population, encoding=self.encoding)
        secret = [*([] if self.sensitive is None else [self.sensitive]), *self.also]
        own = [c.on(one.column) for one in self.limits_on for c in one.criteria.criteria(one.column, trees, people)]
        made = [*self.criteria.criteria(self.sensitive, trees, people), *own]
        if self.gate is not None and self._guarded and (block := self.rules().block) is not None:
            made += block.criteria.criteria(self.sensitive, trees, people)
        return {
            **{name: getattr(self, name) for name in _AS_THEY_ARE},
            "sensitive": secret if self.also else self.sensitive,
            "criteria": made,
            "hierarchies": {c: tree for c, tree in trees.items() if c not in secret},
            **{name: dict(getattr(self, name)) for name in ("limits", "levels")},
            "domain": dict(self.domain) or None,
            "marginals": [(list(m.quasi), m.share) for m in self.marginals],
            "name": self.name or ("" if self.folder is None else Path(self.folder).name),
        }


_AS_THEY_ARE = (
    "method", "id", "others", "quasi", "output", "suppression_limit", "missing", "objective", "cells", "passes",
    "plan", "repair", "hold_back", "best_effort", "exposed", "changed", "prefer", "readers", "merge_overlaps",
    "publish_ids", "quasi_anyway", "accept_violations", "epsilon", "delta", "mechanism", "neighbours", "seconds",
    "seed",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PublishResult:
    """The release, and the folder that holds it if it was written."""

    request: PublishRequest
    release: Release
    folder: Path | None
    made: Origin
    gate: Gate | None = None  # what a ledger's gate said; if it did not pass, nothing was written

    @property
    def holds(self) -> bool:
        """Whether every criterion holds, and the policy of a guard."""
        made = self.release.made
        return all(check.holds for check in made.checks) and (made.guard is None or bool(made.guard.review.holds))

    @property
    def conclusive(self) -> bool:
        """False where it is not known whether the policy holds: time ran out, or nothing ties the history."""
        return bool(self.release.made.conclusive)

    def content(self) -> PublishContent:
        """What a report says to the audience of the request."""
        told = publish_content(self.release, folder=self.folder, audience=self.request.audience)
        return replace(told, made=self.made)


def run_publish(
    request: PublishRequest,
    progress: Progress | Callable[[str], None] | None = None,
    *,
    before_writing: Callable[[PublishResult], None] | None = None,
    waiting: Callable[[str], None] = lambda _: None,
) -> PublishResult:
    """Make the release that was asked for, and write it if a folder was named.

    ``before_writing`` is told what will be written; if it fails, nothing is. ``waiting`` hears it if others write to
    the ledger.
    """
    tell = Progress.of(progress)
    if request.policy is not None and request.strategy != "guarded" and request.method != DP_COUNTS:
        raise InputError('Limits on the joint posterior are kept by strategy="guarded".', parameters=("strategy",))
    _refuse_replacing_history(request)
    with Unit() as unit, contextlib.ExitStack() as stack:
        home = None if request.folder is None else folders.reserve(unit, request.folder, overwrite=request.overwrite)
        ledger = None if request.ledger is None else stack.enter_context(request.ledger.open(waiting))
        table, arguments, untied = read_all(request, tell, ledger)
        known_ones = {release.fingerprint() for release in arguments["history"]}
        arguments["history"] += [one for one in _replaced(request) if one.fingerprint() not in known_ones]
        known = known_from(request.knowledge, request.prior)
        guard = {"strategy": request.strategy, "policy": request.guarding(), **known}
        with request.past.doubting_the_register():
            release = anonymize(table, **guard, progress=tell, **arguments)
        release = told_untied(release, untied)
        folder, made = None if request.folder is None else Path(request.folder), Origin.now(_told_of(request))
        result = PublishResult(request, release, folder, made)
        if request.folder is None or home is None:
            if before_writing is not None:
                before_writing(result)
            return result
        if ledger is not None:
            return _published(ledger, result, (unit, home), tell, before_writing)
        if before_writing is not None:
            before_writing(result)
        tell.stage("writing")
        _fill(result, unit, home)
        unit.commit()
        return result


def _fill(result: PublishResult, unit: Unit, home: Path) -> None:
    """Write the folder and its link beside their places."""
    request, release = result.request, result.release
    text = folders.fill(release, home, format=request.format, plan=plan_file(release))
    folders.put_link(unit, release, str(request.folder), text, wanted=request.link)


def _published(
    ledger: Ledger,
    result: PublishResult,
    place: tuple[Unit, Path],
    tell: Progress,
    before_writing: Callable[[PublishResult], None] | None,
) -> PublishResult:
    """The release behind the gate: recorded first and written then, so that nothing is out that nobody remembers."""
    request, (unit, home) = result.request, place
    _fill(result, unit, home)
    parts = folders.read_parts(home)
    candidate = Parcel(replace(result.release, made=None), parts, parts)
    people = request.past.people() if request.method == DP_COUNTS else None  # others know their persons by link or id
    known = known_from(request.knowledge, request.prior)
    asked = Hearing(request.rules(), people, **known, changed=request.changed, seconds=request.seconds)
    with ledger.judging(candidate, asked, tell) as gate:
        result = replace(result, gate=gate, folder=result.folder if gate.recorded else None)
        if before_writing is not None:
            before_writing(result)
    if gate.recorded:
        try:
            unit.commit()
        except FileError as problem:
            raise FileError(
                f"{problem.said} {ledger.where} has it recorded as published: withdraw it there with "
                "never_left_the_house=True.",
                parameters=("never_left_the_house",),
            ) from None
    return result


def _told_of(request: PublishRequest) -> list[Path]:
    """The files whose hashes are told: not that of a table of which nothing but noisy counts may be known."""
    return [f for f in request.files() if request.method != DP_COUNTS or f != Path(request.table)]


def _replaced(request: PublishRequest) -> list[Release]:
    """A noisy release that this one replaces: whoever saw it has both, so it counts as one of the history."""
    if request.method != DP_COUNTS or not request.overwrite or not os.path.isdir(request.folder or ""):
        return []
    found = read_release(str(request.folder))
    return [found] if found.noise is not None else []


def _refuse_replacing_history(request: PublishRequest) -> None:
    """What was published stays out there: its folder and its link are needed for every next release."""
    if request.folder is None:
        return
    target = os.path.realpath(request.folder)
    for path in request.history:
        if os.path.realpath(path) == target:
            raise FileError(
                f"{os.fspath(request.folder)} is a release of the history, which readers keep and next releases need: "
                "choose another folder for the new one."
            )


def read_all(
    request: PublishRequest, tell: Progress, ledger: Ledger | None
) -> tuple[pl.DataFrame, dict[str, Any], dict[str, Untied]]:
    """The table, what `anonymize` is called with, and whom a register leaves out of which earlier release."""
    tell.stage("reading")
    table = read_table(request.table, encoding=request.encoding)
    remembered = None if ledger is None else _remembered(ledger, table, request.id)
    history, untied = request.past.load(remembered, named_persons=request.method != DP_COUNTS)
    return table, {**request.arguments(), "history": history}, untied


def _remembered(ledger: Ledger, table: pl.DataFrame, id: str | None) -> list[Release]:
    """The history of a ledger, with the ids of the table where it keeps their hashes."""
    hidden, history = ledger.pseudonyms(), ledger.history()
    if hidden is None or id is None or id not in table.columns:
        return history
    rename = back(scalar(table[id], f"The column {id}"), hidden)
    return [renamed_release(release, rename) for release in history]
