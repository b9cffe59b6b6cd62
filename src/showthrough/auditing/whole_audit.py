"""An audit on one machine: each release alone beside all of them together, in figures that a report can print."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.auditing.audit_figures import JointFigures, OfReleases, ReleaseFigures, WholeValues
from showthrough.auditing.deciding import decide
from showthrough.auditing.scoring import Scored, beside_truth, score, true_values
from showthrough.errors import InputError
from showthrough.inference.attribution import Alone
from showthrough.inference.earlier import earlier
from showthrough.inference.infer import SECONDS
from showthrough.inference.posterior import Posterior, Told
from showthrough.inference.story import Story, story
from showthrough.numerals import number_of
from showthrough.policy.decision import Decision
from showthrough.policy.rules import Rules
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.showing import Showable, page_maker
from showthrough.storage.unit import written_whole
from showthrough.table.arrays import Flags, Reals
from showthrough.table.codes import positions

if TYPE_CHECKING:
    pass

LEVELS = (0.5, 0.9)
_ROUNDING = 1e-9  # a probability that is a level but for rounding is at that level


@dataclass(frozen=True, eq=False, repr=False)
class Audit(OfReleases, Showable):
    """A history laid on top of itself; made by `audit`."""

    posterior: Posterior
    releases: tuple[ReleaseFigures, ...]
    joint: JointFigures
    best_alone: Reals  # [persons] the largest probability from any one release
    whole_values: WholeValues | None = None
    decision: Decision | None = None  # None without a policy
    alone: Alone | None = None  # the same release by release
    truth: pl.DataFrame | None = None  # id, value, release: the true values, where the publisher gave them
    rules: Rules | None = None  # what the decision was made by

    @property
    def sources(self) -> tuple[Release, ...]:
        """The releases, in the order of their figures."""
        return self.posterior.releases

    @cached_property
    def people(self) -> pl.DataFrame:
        """Internal: every person with the likeliest value: id, value, p, p_alone, certain, newly_certain.

        Beside the truth also true and right.
        """
        found = self.posterior.best().with_columns(pl.Series("p_alone", self.best_alone))
        newly = pl.col("certain") & (pl.col("p_alone") < 1)
        found = found.select(pl.exclude("certain"), "certain", newly.alias("newly_certain"))
        if self.truth is None:
            return found
        return found.with_columns(beside_truth(self.posterior, self.truth).select("true", "right"))

    @cached_property
    def scored(self) -> Scored | None:
        """How often readers guess right, and how well they are calibrated; None without the true values."""
        return None if self.truth is None else score(beside_truth(self.posterior, self.truth))

    def beside(self, tables: Mapping[str, Any]) -> Audit:
        """The same audit beside the publisher's own tables: frames of id and value by the name of their release."""
        return self._with(truth=true_values(tables))

    @property
    def verdict(self) -> str | None:
        """What the policy says: pass, review, block or inconclusive; None without one."""
        return None if self.decision is None else str(self.decision.verdict)

    @cached_property
    def before(self) -> Posterior | None:
        """The posterior without the newest release; None if there is only one."""
        return earlier(self.posterior)

    @property
    def known_before(self) -> Posterior | None:
        """The same where it was worked out already, else None."""
        found: Posterior | None = self.__dict__.get("before")
        return found

    def _with(self, **more: Any) -> Audit:
        """The same audit with more; what was worked out already is not worked out again."""
        found = replace(self, **more)
        if "before" in self.__dict__:
            found.__dict__["before"] = self.before
        return found

    def person(self, id: Any, value: Any = None, *, release: str | None = None, seconds: float | None = None) -> Story:
        """One person from every side: each release alone, the history as it grew, the fewest that tell as much.

        Of ``value``, or the likeliest. The parts of the history take further inferences, of ``seconds`` in all.
        """
        return story(self.posterior.views(seconds=seconds), id, release=release, value=value)

    def save_html(
        self, path: str | os.PathLike[str], *, audience: str = "shareable", seconds: float | None = None
    ) -> None:
        """Write the report: one page that opens offline; "internal" ones hold ids and proofs and are private files.

        What each release added takes further inferences, of ``seconds`` in all (None: about as long as the first).
        """
        text = page_maker().page(self, audience=audience, seconds=seconds)
        with written_whole(path, private=audience == "internal") as stream:
            stream.write(text.encode())

    def charts(self, *, audience: str = "shareable", seconds: float | None = None) -> dict[str, dict[str, Any]]:
        """The charts of the report by name, as Vega-Lite specs with their data: for notebooks and other pages."""
        found: dict[str, dict[str, Any]] = page_maker().specs(self, audience=audience, seconds=seconds)
        return found

    def __repr__(self) -> str:
        j = self.joint
        verdict = "" if self.verdict is None else f"{self.verdict}, "
        return (
            f"<audit of {number_of(len(self.releases), 'release')} and {number_of(j.persons, 'person')}: "
            f"{verdict}{j.certain} certain together, "
            f"{j.certain_alone} from one release alone>"
        )

    def as_dict(self) -> dict[str, Any]:
        """The figures with their certificate, counts only, as plain data for JSON."""
        found = {**self.figures(), "certificate": self.posterior.certificate.as_dict()}
        return found | ({} if self.decision is None else {"decision": self.decision.as_dict()})

    def figures(self) -> dict[str, Any]:
        """Counts only, as plain data: nothing here names a person."""
        found = {"releases": [asdict(r) for r in self.releases], "together": asdict(self.joint)}
        found |= {} if self.whole_values is None else {"whole_values": asdict(self.whole_values)}
        return found | ({} if self.scored is None else {"truth": asdict(self.scored)})


def audit_of(
    post: Posterior,
    rules: Rules | None = None,
    *,
    before: Posterior | None = None,
    seconds: float = SECONDS,
    whole_values: float | None = None,
    progress: Told = None,
) -> Audit:
    """The audit of a posterior; ``before`` is the one without the newest release, where that is known."""
    told = Progress.of(progress)
    if not post.ids.len() and post.reader.register is None:
        raise InputError(
            "The tables hide counts and name nobody: without a register there are bounds of counts, which "
            "Posterior.cells tells, and no probabilities. Give register= to audit what they tell of persons.",
            parameters=("register",),
        )
    if not post.ids.len():
        lead = (
            "Nobody in the register fits a group of any release, so there is nobody to audit: Posterior.locatability "
            "tells why."
        )
        raise InputError(" ".join([lead, *(rows.said for rows in post.unfilled())]), parameters=("hierarchies",))
    alone = post.alone(seconds=seconds, progress=told)
    shared = _shared(post, alone)
    figures = tuple(_release_figures(post, alone, r, tied=bool(shared[r])) for r in range(len(post.releases)))
    best_alone = np.nan_to_num(alone.largest).max(axis=0, initial=0.0)
    whole = None
    if whole_values is not None:
        told.stage("whole values")
        budget = 0.0 if told.satisfied else whole_values
        facts = post.proven(integral=True, seconds=budget, tick=told.check).filter(pl.col("by") == "worlds")["fact"]
        whole = WholeValues(
            seconds=whole_values, **{k: int((facts == k).sum()) for k in ("certain", "impossible", "undecided")}
        )
    found = Audit(post, figures, _joint(post, best_alone), best_alone, whole, alone=alone)
    if before is not None:
        found.__dict__["before"] = before
    return found if rules is None else _decided(found, rules, told)


def _decided(found: Audit, rules: Rules, told: Progress) -> Audit:
    """The same with what the policy says of it."""
    told.stage("policy")
    made = decide(
        rules,
        found.posterior,
        untied=found.untied,
        interrupted=told.satisfied,
        earlier=lambda: found.before,
        tick=told.check,
    )
    return found._with(decision=made, rules=rules)


def reaches(p: Reals, level: float) -> Flags:
    """Who is at a level or above it: the one comparison behind every "at least 50 %"; what is unknown is not."""
    return np.asarray(np.nan_to_num(p) >= level - _ROUNDING)


def _shared(post: Posterior, alone: Alone) -> Flags:
    """[releases] whether one of the persons is in another release too, or a register says who is who.

    An id that was split is several persons, but its releases are tied by it.
    """
    releases = len(post.releases)
    if post.reader.register is not None:
        return np.ones(releases, dtype=bool)
    here = ~np.isnan(alone.largest)
    code = positions(post.ids, post.ids.unique(maintain_order=True))
    often = np.zeros((releases, int(code.max(initial=-1)) + 1), dtype=bool)
    for r in range(releases):
        often[r, code[here[r]]] = True
    several = often.sum(axis=0) > 1
    shared: Flags = (often & several).any(axis=1)
    return shared


def _release_figures(post: Posterior, alone: Alone, r: int, *, tied: bool) -> ReleaseFigures:
    release, here = post.releases[r], ~np.isnan(alone.largest[r])
    return ReleaseFigures(
        name=post.names[r],
        kind=release.kind,
        persons=int(here.sum()),
        groups=release.labels.len(),
        values=release.counts()["value"].n_unique(),
        certain_alone=int((alone.largest[r] == 1).sum()),
        entropy_alone_nats=float(np.nansum(alone.entropy[r])) + 0.0,
        entropy_joined_nats=float(np.nansum(post.entropies()[here])),
        tied_by=post.reader.tied_by(release, post.names[r]),
        tied=tied,
    )


def _joint(post: Posterior, alone: Reals) -> JointFigures:
    certain, facts = post.certain(), post.fact_counts()
    best = np.nan_to_num(np.where(certain, 1.0, post.largest()))
    return JointFigures(
        persons=post.ids.len(),
        values=post.values.len(),
        entropy_nats=post.entropy,
        answered=int((~np.isnan(post.largest())).sum()),
        certain=facts.certain,
        certain_if_consistent=facts.certain_if_consistent,
        certain_alone=int((alone == 1).sum()),
        newly_certain=int((certain & (alone < 1)).sum()),
        impossible_by_sets=facts.impossible_by_sets,
        impossible_by_counts=facts.impossible_by_counts,
        certain_by_knowledge=facts.certain_by_knowledge,
        impossible_by_knowledge=facts.impossible_by_knowledge,
        expected_guesses=float(best.sum()),
        expected_guesses_alone=float(alone.sum()),
        best_guess_at_least={str(level): int(reaches(best, level).sum()) for level in LEVELS},
        best_guess_at_least_alone={str(level): int(reaches(alone, level).sum()) for level in LEVELS},
    )
