"""The audit of a history that an engine works on in pieces: figures of the pieces, added up."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import polars as pl

from showthrough.auditing.audit_figures import JointFigures, OfReleases, ReleaseFigures
from showthrough.auditing.deciding import doubts
from showthrough.auditing.further import Further, Some, ToldSets, budget
from showthrough.auditing.since import Since
from showthrough.engines.cluster_release import ClusterRelease
from showthrough.engines.engine import Engine
from showthrough.errors import InputError
from showthrough.inference.attribution import PartTold
from showthrough.inference.clock import Clock
from showthrough.inference.cluster.giant_people import GiantCounts
from showthrough.inference.cluster.spread import SpreadPosterior, summed
from showthrough.inference.cluster.wide import CutHistory
from showthrough.inference.earlier import earlier
from showthrough.inference.infer import infer_on
from showthrough.inference.posterior import Posterior
from showthrough.inference.run import Wanted, listed
from showthrough.policy.decision import Decision, Reason, Severity
from showthrough.policy.judging import SLACK
from showthrough.policy.policy import CRITERIA, Policy
from showthrough.policy.reasons import Basis, added_up, joint_reasons
from showthrough.policy.rules import Rules
from showthrough.register.locating import names_of
from showthrough.register.reader import telling
from showthrough.release.release import Release
from showthrough.showing import page_maker
from showthrough.storage.unit import written_whole
from showthrough.table.arrays import Flags

_OF_GIANTS = {"max_posterior", "certain", "impossible", "min_anonymity"}
_SAME = ("name", "kind", "tied_by")  # of a release in every piece


@dataclass(frozen=True, eq=False)
class PieceAudit:
    """What is counted in one piece."""

    joint: JointFigures
    releases: tuple[ReleaseFigures, ...]
    reasons: tuple[tuple[Reason, ...], ...] = ()  # for each part of the rules
    since: Since | None = None  # what each release added; None: nobody looked


@dataclass(frozen=True, eq=False)
class PieceCounts:
    """Counts what an audit counts in one piece, also what each of the releases ``names`` added if ``further``.

    ``audit`` is that of a posterior.
    """

    audit: Callable[..., Any]
    rules: Rules | None
    names: tuple[str, ...] = ()
    further: bool = True

    def __call__(self, post: Posterior, seconds: float, share: float) -> tuple[PieceAudit | None, pl.DataFrame]:
        """The figures of a piece, and what its people have beside their likeliest value."""
        if not post.ids.len():
            return None, pl.DataFrame()
        found, reasons = self.audit(post, seconds=seconds), []
        for severity, policy in () if self.rules is None else self.rules.tables():
            limits = replace(policy, seconds=min(policy.seconds, seconds))
            reasons.append(tuple(joint_reasons(limits, severity, self._basis(post))))
        more: pl.DataFrame = found.people.select("p_alone", "newly_certain")
        since = None
        if self.further:
            since = Since.of(Further(found, budget(found, seconds, share), names=self.names))
        return PieceAudit(found.joint, found.releases, tuple(reasons), since), more

    @property
    def asked(self) -> str:
        """What is counted, as a text that tells two questions apart."""
        return f"{self.rules!r} {self.further}"

    @property
    def _policies(self) -> list[Policy]:
        return [] if self.rules is None else [policy for _, policy in self.rules.tables()]

    def check_giant(self) -> None:
        """Refuse limits that are not counted in a giant component."""
        tables = self._policies
        if len(tables) > 1 or any(set(policy.limits()) - _OF_GIANTS for policy in tables):
            raise InputError(
                "Of a component that is too large for one worker, a policy judges max_posterior, certain, impossible "
                "and min_anonymity, under [block] alone: leave out the rest.",
                parameters=("policy",),
            )

    @property
    def limits(self) -> dict[str, float]:
        """What a giant component is asked to count persons over, with the slack of every comparison."""
        found = {"asked": 1.0}
        for policy in self._policies:
            if policy.max_posterior is not None:
                found["max_posterior"] = policy.max_posterior + SLACK
            if policy.min_anonymity is not None:
                found["min_anonymity"] = policy.min_anonymity * (1 - SLACK)
        return found

    def of_giant(self, told: Sequence[GiantCounts], groups: Sequence[int], *, certain: bool) -> PieceAudit:
        """The figures of a giant component from the sums of its parts."""
        sums = {name: sum(one.sums[name] for one in told) for name in told[0].sums}
        whole: dict[str, Any] = {f.name: sums.get(f.name, 0) for f in fields(JointFigures)}
        whole |= {k: v if "nats" in k or "guesses" in k else round(v) for k, v in whole.items()}
        levels: dict[str, Any] = {name: summed(one.levels[name] for one in told) for name in told[0].levels}
        releases = []
        for r, number in enumerate(groups):
            own = {name: sum(one.releases[r][name] for one in told) for name in told[0].releases[r]}
            counted: dict[str, Any] = {name: round(own[name]) for name in ("persons", "certain_alone")}
            left: dict[str, Any] = {name: own[name] for name in ("entropy_alone_nats", "entropy_joined_nats")}
            releases.append(
                ReleaseFigures(
                    name="", kind="bucketized", groups=number, values=0, **counted, **left, tied_by="ids",
                    tied=own["shared"] > 0,
                )
            )  # fmt: skip
        reasons = [
            tuple(self._reason(severity, policy, rule, told, sums, certain=certain) for rule in policy.limits())
            for severity, policy in (() if self.rules is None else self.rules.tables())
        ]
        since = [one.since for one in told]
        added = None if None in since else Since.added_up(since)
        return PieceAudit(JointFigures(**{**whole, **levels}), tuple(releases), tuple(reasons), added)

    @property
    def by_sets(self) -> bool:
        """Whether it is asked what each release added."""
        return self.further

    def of_part(self, told: Mapping[Some, PartTold], inside: Flags) -> Since:
        """What each release added for some persons of a giant component."""
        return Since.of(ToldSets(told, inside))

    def _reason(
        self, severity: Severity, policy: Policy, rule: str, told: Sequence[GiantCounts], sums: Mapping[str, float],
        *, certain: bool,
    ) -> Reason:  # fmt: skip
        """What became of a limit in a giant component."""
        impossible = sums["impossible_by_sets"] + sums["impossible_by_counts"]
        found: dict[str, tuple[Any, float]] = {
            "certain": (round(sums["certain"]), sums["certain"]),
            "impossible": (round(impossible), impossible),
            "max_posterior": (round(max(one.sums["worst_p"] for one in told), 6), sums["over_posterior"]),
            "min_anonymity": (round(min(one.sums["least_anonymity"] for one in told), 6), sums["under_anonymity"]),
        }
        figure, persons = found[rule]
        waiting = 0 if certain else round(sums["persons"] - persons)
        return Reason(rule, severity, "open", getattr(policy, rule), figure, round(persons), max(0, waiting), "")

    def _basis(self, post: Posterior) -> Basis:
        """What was known before the newest release; where that is not, nothing is new."""
        return Basis(post, lambda: earlier(post) if post.names[-1] == self.names[-1] else post)


@dataclass(frozen=True, eq=False, repr=False)
class SpreadAudit(OfReleases):
    """A history laid on top of itself in pieces; made by `audit` with an engine."""

    posterior: SpreadPosterior
    releases: tuple[ReleaseFigures, ...]
    joint: JointFigures
    decision: Decision | None = None
    rules: Rules | None = None
    sources: tuple[Release | ClusterRelease, ...] = ()  # the releases, in the order of their figures
    levels: Mapping[str, Mapping[str, float]] | None = None  # of each by itself; None: to be seen from the sources
    since: Since | None = None  # what each release added; None: a component was too large for one worker to tell
    whole_values: None = None  # not looked at in pieces
    scored: None = None

    @property
    def verdict(self) -> str | None:
        """What the policy says: pass, review, block or inconclusive; None without one."""
        return None if self.decision is None else str(self.decision.verdict)

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the shareable report, from the tables of the posterior: one page that opens offline."""
        text = page_maker().page(self)
        with written_whole(path) as stream:
            stream.write(text.encode())

    def as_dict(self) -> dict[str, Any]:
        """The figures with their certificate, counts only, as plain data for JSON."""
        found = {"releases": [asdict(r) for r in self.releases], "together": asdict(self.joint)}
        found |= {"certificate": self.posterior.certificate.as_dict()}
        return found | ({} if self.decision is None else {"decision": self.decision.as_dict()})


def audit_on(
    engine: Engine,
    releases: Sequence[Any] | CutHistory,
    beside: Mapping[str, Any],
    wanted: Wanted,
    count: PieceCounts,
    clock: Clock,
) -> SpreadAudit:
    """`audit` in pieces on an engine; ``beside`` is what the reader has."""
    rules = count.rules
    if rules is not None:
        _refuse_single([policy for _, policy in rules.tables()])
    if isinstance(releases, CutHistory):
        names = tuple(releases.published)
    else:
        names = tuple(names_of([r for r in releases if getattr(r, "sensitive", None) is not None]))
    count = replace(count, names=names)
    post = infer_on(engine, releases, beside, wanted, clock, count)
    counted: list[PieceAudit] = [one.figures for one in post.pieces if one.figures is not None]
    if not counted:
        raise InputError(
            "Nobody is named in any release, so there is nobody to audit: give register=.", parameters=("register",)
        )
    joint = _joint([one.joint for one in counted], len(post.values))
    alone = tuple(_release(name, counted, post) for name in post.names)
    since = [one.since for one in counted if one.since is not None]
    found = SpreadAudit(
        post, alone, joint, rules=rules, sources=_sources(releases, beside),
        since=Since.added_up(since) if len(since) == len(counted) else None,
        levels=releases.levels if isinstance(releases, CutHistory) else None,
    )  # fmt: skip
    return found if rules is None else replace(found, decision=_decided(found, rules, counted))


def _sources(releases: Sequence[Any] | CutHistory, beside: Mapping[str, Any]) -> tuple[Release | ClusterRelease, ...]:
    """The releases that publish values; their margins come with them."""
    if isinstance(releases, CutHistory):
        return releases.sources
    if any(isinstance(one, ClusterRelease) for one in releases):
        return tuple(releases)
    return tuple(r for r in telling(listed(releases), beside["domain"], noisy=True) if r.part_of is None)


def _refuse_single(limits: Sequence[Policy]) -> None:
    single = [name for policy in limits for name in CRITERIA if getattr(policy, name) is not None]
    whole = [policy for policy in limits if policy.integral == "required"]
    if single or whole:
        what = single[0] if single else "integral = required"
        raise InputError(
            f"In pieces a policy judges what all releases tell together, and {what} is not judged there: ask "
            "showthrough check of each release, and leave it out of this policy.",
            parameters=("policy",),
        )


def _joint(found: Sequence[JointFigures], values: int) -> JointFigures:
    tables = ("best_guess_at_least", "best_guess_at_least_alone")
    sums: dict[str, Any] = {name: summed(getattr(one, name) for one in found) for name in tables}
    for f in fields(JointFigures):
        if f.name not in sums:
            sums[f.name] = sum(getattr(one, f.name) for one in found)
    return JointFigures(**{**sums, "values": values})


def _release(name: str, counted: Sequence[PieceAudit], post: SpreadPosterior) -> ReleaseFigures:
    at = post.names.index(name)
    mine = [release for one in counted for release in one.releases if release.name == name]
    mine += [one.releases[at] for one in counted if one.releases and not one.releases[0].name]  # giants hold all
    same = {field: getattr(mine[0], field) for field in _SAME} | {"name": name}
    sums = {f.name: sum(getattr(one, f.name) for one in mine) for f in fields(ReleaseFigures) if f.name not in _SAME}
    return ReleaseFigures(
        **{**sums, **same, "tied": any(one.tied for one in mine), "values": len(post.published[name])}
    )


def _decided(found: SpreadAudit, rules: Rules, counted: Sequence[PieceAudit]) -> Decision:
    reasons = []
    for k, (severity, policy) in enumerate(rules.tables()):
        reasons += added_up(policy, severity, [one.reasons[k] for one in counted], found.joint.persons)
    return rules.decide(reasons, doubts=doubts(found.posterior.certificate, found.untied))
