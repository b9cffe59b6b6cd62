"""A policy: what readers may learn of a person from all releases together, and what each release must satisfy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.criteria_entries import CriteriaEntries
from showthrough.errors import FieldError, InputError
from showthrough.inference.believed import believed
from showthrough.inference.posterior import Posterior
from showthrough.policy.judging import (
    SLACK,
    ExposedPersons,
    Judged,
    Known,
    as_text,
    breaches,
    by_anonymity,
    by_fact,
    by_figure,
    by_gain,
    by_shift,
    either,
    nobody_open,
    nothing_over,
    others,
)
from showthrough.policy.limits import check_limits
from showthrough.policy.phrases import are, people
from showthrough.table.arrays import Flags
from showthrough.table.plain import fingerprint, plain

JOINT = ("certain", "max_posterior", "max_gain", "max_shift", "min_anonymity", "proximity", "impossible")
"""Limits on what all releases tell together."""
CRITERIA = (
    "k", "distinct_l", "frequency_l", "entropy_l", "recursive", "m_unique", "t", "alpha", "beta", "delta_disclosure",
    "dissimilarity", "ck_safety", "skyline", "average_risk", "uniqueness", "population_uniqueness",
)  # fmt: skip
"""Limits on every release alone; the fields after them in `Policy` say how they are meant."""
BUDGET = ("epsilon", "delta")
"""Limits on what differentially private releases use up together."""
RULES = (*JOINT, *CRITERIA, *BUDGET)
"""Every limit that a policy can set, by the name of its field, in the order of every list."""


@dataclass(frozen=True, repr=False)
class Policy:
    """Limits; one that is None is not set.

    On the joint posterior: ``max_posterior`` is the largest P(value | person) of anybody, but of ``over_posterior``
    persons, a number (5) or a share below 1 (0.01). ``certain`` and ``impossible``: how many persons may be certain,
    and how many pairs (person, value) impossible, by proof. ``max_gain``: how much P(value | person) may grow against
    the releases before. ``max_shift``: how far it may move from the reader's prior, up or down (Bayes-optimal privacy,
    Machanavajjhala et al. 2006). ``proximity`` (ε, limit): the largest probability that a person's value lies within ε
    of one of the values it can be. ``min_anonymity``: everybody's value stays as uncertain as so many equally likely
    values (exp of the entropy). ``integral`` says whether certain and impossible count over whole values too:
    "no", "checked" (within ``seconds``), or "required" (what the time leaves undecided makes the verdict inconclusive).

    On every release alone: ``k``, ``distinct_l`` and so on, as `check` knows them. ``epsilon`` and ``delta`` are the
    budget of differential privacy for all releases that declare to be differentially private.
    """

    max_posterior: float | None = None
    certain: int | None = 0
    impossible: int | None = None
    max_gain: float | None = None
    max_shift: float | None = None
    proximity: tuple[float, float] | None = None
    integral: str = "checked"
    seconds: float = 60.0
    over_posterior: float = 0
    min_anonymity: float | None = None
    k: int | None = None
    distinct_l: int | None = None
    frequency_l: float | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    m_unique: int | None = None
    t: float | None = None
    distance: str = "equal"
    reference: str = "all"
    alpha: float | None = None
    beta: float | None = None
    enhanced: bool = False
    delta_disclosure: float | None = None
    dissimilarity: tuple[float, float, int] | None = None
    metric: str = "numeric"
    floor: bool = False
    ck_safety: tuple[float, int] | None = None
    skyline: tuple[float, ...] | None = None
    average_risk: float | None = None
    uniqueness: float | None = None
    population_uniqueness: tuple[float, float] | None = None
    epsilon: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        for name in ("proximity", "recursive", "dissimilarity", "ck_safety", "skyline", "population_uniqueness"):
            if isinstance(given := getattr(self, name), list):
                object.__setattr__(self, name, tuple(given))
        check_limits(self)
        if not self.limits():
            raise InputError("A policy without any limit allows everything: set one, such as max_posterior=0.5.")
        assert self.criteria is not None  # checks them

    def __repr__(self) -> str:
        told = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]
        return f"Policy({', '.join(told)})"

    def limits(self) -> dict[str, Any]:
        """The limits that are set, by name, in the order of every list."""
        return {name: getattr(self, name) for name in RULES if getattr(self, name) is not None}

    def joint(self) -> Policy | None:
        """The limits on what all releases tell together alone; None where none of these is set."""
        if not any(getattr(self, name) is not None for name in JOINT):
            return None
        unset: dict[str, Any] = dict.fromkeys((*CRITERIA, *BUDGET))
        return replace(self, **unset)

    @cached_property
    def criteria(self) -> CriteriaEntries:
        """What every release alone has to satisfy."""
        names = [f.name for f in fields(CriteriaEntries) if hasattr(self, f.name)]
        return CriteriaEntries.from_dict({name: getattr(self, name) for name in names})

    def most_over(self, persons: int) -> int:
        """How many of so many persons may be over ``max_posterior``."""
        given = self.over_posterior
        return int(given) if isinstance(given, (int, np.integer)) else int(given * persons + 1e-9)

    def review(
        self,
        post: Posterior,
        before: Posterior | None = None,
        *,
        integral: bool = True,
        exposed: Collection[str] = (),
        seconds: float | None = None,
    ) -> Review:
        """Who is over which limit in ``post``; ``before`` is the posterior without the newest release.

        Who has no certified probability is judged by what is known all the same: the error bar of a point that meets
        the counts, and bounds, which programs make sharp within ``seconds`` where it matters. An upper end within
        the limit is fine, a lower end over it is not, everything else is open. Who is undecided, tied to a guess at
        who changed, or in releases that contradict each other may be over a limit but is never fine.
        Persons whose ids are in ``exposed``, and those whose value the reader is said to know, do not count, neither
        for a limit nor for a number of facts; those ``excluded`` of an `ExposedPersons` not for ``impossible``.
        """
        budget = self.seconds if seconds is None else seconds
        facts = None
        if self.certain is not None or self.impossible is not None:
            whole = integral and self.integral != "no"
            facts = others(texted(post.proven(integral=whole, seconds=budget)), exposed)
        undecided = 0 if facts is None else facts.filter(pl.col("fact") == "undecided").height
        over, open_ones = self._merged(post, before, facts, exposed, 0.0)
        if integral and open_ones.height:  # programs may settle it
            over, open_ones = self._merged(post, before, facts, exposed, budget)
        return Review(over.drop("part"), undecided, self.integral == "required", open_ones.height)

    def over_limit(self, post: Posterior, before: Posterior | None = None, *, exposed: Collection[str] = ()) -> Flags:
        """Persons who are or may be over a limit, in the order of ``post.ids``; whole values aside, for a search."""
        ids, nobody = post.ids.cast(pl.String), {*exposed, *post.reader.known_before}
        few = self.max_posterior is None or not self.over_posterior
        plain = few and not any(
            (
                self.max_gain is not None,
                self.max_shift is not None,
                self.proximity,
                self.impossible is not None,
                self.certain,
            )
        )
        if plain and self.min_anonymity is None and Known(post).settled:
            over = np.zeros(ids.len(), dtype=bool)
            if self.max_posterior is not None:
                over |= post.largest() > self.max_posterior + SLACK
            if self.certain == 0:
                over |= post.certain()
        else:
            facts = None
            if self.certain is not None or self.impossible is not None:
                facts = others(texted(post.proven()), exposed)
            breaches, open_ones = self._merged(post, before, facts, exposed, 0.0)
            over = ids.is_in(pl.concat([breaches["id"], open_ones["id"]]).unique().implode()).to_numpy().copy()
        if nobody:
            over &= ~ids.is_in(pl.Series(sorted(nobody), dtype=pl.String).implode()).to_numpy()
        return over

    def judged(
        self, known: Known, before: Known | None, facts: pl.DataFrame | None, exposed: Collection[str] = ()
    ) -> dict[str, Judged]:
        """What each limit on the joint posterior says; ``facts`` are those of `Posterior.proven`, with ids as text.

        Whose value the reader is said to know does not count either: that is no matter of the releases. Where noisy
        counts weigh, limits are held against the answer with them and the one without: noise clears nobody.
        """
        found = self._judged(known, before, facts, exposed)
        if known.without_noise is None:
            return found
        earlier = before if before is None else before.without_noise or before
        quiet = self._judged(known.without_noise, earlier, facts, exposed)
        return {name: either(own, quiet[name]) for name, own in found.items()}

    def _judged(
        self, known: Known, before: Known | None, facts: pl.DataFrame | None, exposed: Collection[str]
    ) -> dict[str, Judged]:
        """The same of one answer."""
        excluded = exposed.excluded if isinstance(exposed, ExposedPersons) else ()
        exposed = {*exposed, *known.posterior.reader.known_before}
        facts = None if facts is None else others(facts, exposed)
        found: dict[str, Judged] = {}
        if self.max_posterior is not None:
            found["max_posterior"] = self._by_posterior(known, exposed)
        if facts is not None:
            if self.certain is not None:
                found["certain"] = by_fact(facts, "certain", self.certain, known, exposed)
            if self.impossible is not None:
                besides = {*exposed, *excluded}
                found["impossible"] = by_fact(others(facts, besides), "impossible", self.impossible, known, besides)
        if self.max_gain is not None:
            none = Judged(nothing_over(), nobody_open())
            gained = none if before is None else by_gain(known.pairs, before.pairs, self.max_gain)
            found["max_gain"] = _without(gained, exposed)
        if self.max_shift is not None:
            prior = believed(known.posterior)
            if prior is None:
                raise FieldError("max_shift", "compares with a prior: say what the reader believes, prior=.")
            found["max_shift"] = _without(by_shift(known.pairs, prior, self.max_shift), exposed)
        if self.min_anonymity is not None:
            found["min_anonymity"] = _without(by_anonymity(known.anonymity(), self.min_anonymity), exposed)
        if self.proximity is not None:
            found["proximity"] = _without(self._by_proximity(known), exposed)
        return {name: found[name] for name in JOINT if name in found}

    def _merged(
        self,
        post: Posterior,
        before: Posterior | None,
        facts: pl.DataFrame | None,
        exposed: Collection[str],
        seconds: float,
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Breaches of all limits, and who else is open: id, part."""
        known, old = Known(post, seconds), None if before is None else Known(before, seconds)
        parts = list(self.judged(known, old, facts, exposed).values())
        over = pl.concat([nothing_over(), *(part.breaches for part in parts)])
        if known.settled and (old is None or old.settled):
            return over, nobody_open()
        loose = nobody_open() if known.settled else known.loose
        open_ones = pl.concat([loose, *(part.left_open for part in parts)])
        open_ones = others(open_ones.unique(maintain_order=True), exposed)
        return over, open_ones.join(over.select("id").unique(), on="id", how="anti")

    def as_dict(self) -> dict[str, Any]:
        """The limits as plain data for JSON."""
        return dict(plain(self))

    def fingerprint(self) -> str:
        """The SHA-256 of the limits."""
        return fingerprint(self.as_dict())

    def _by_posterior(self, known: Known, exposed: Collection[str]) -> Judged:
        assert self.max_posterior is not None
        most = self.most_over(known.posterior.ids.len())
        if known.settled:
            frame = as_text(known.posterior.to_frame().filter(pl.col("p") > self.max_posterior + SLACK))
            over = others(breaches(frame.with_columns(figure="p"), "max_posterior"), exposed)
            return Judged(over, nobody_open(), most)
        return by_figure(others(known.figures, exposed), "max_posterior", self.max_posterior, most)

    def _by_proximity(self, known: Known) -> Judged:
        assert self.proximity is not None
        reach, limit = self.proximity
        if known.settled:
            frame = as_text(known.posterior.within(reach, above=limit + SLACK)).with_columns(figure="p")
            return Judged(breaches(frame, "proximity"), nobody_open())
        return by_figure(known.near(reach), "proximity", limit)


@dataclass(frozen=True, eq=False, repr=False)
class Review:
    """A policy applied to a posterior: breaches as id, value, limit, figure."""

    breaches: pl.DataFrame
    undecided: int
    required: bool
    unsettled: int = 0  # further persons who are not known to be within all limits

    def __str__(self) -> str:
        pairs = "1 pair is" if self.undecided == 1 else f"{self.undecided} pairs are"
        open_pairs = f"; {pairs} undecided over whole values" if self.undecided else ""
        late = self.unsettled
        open_pairs += f"; {people(late)} {are(late)} not known to be within the limits" if late else ""
        if self.holds:
            return f"{'The policy holds' if self.conclusive else 'Nobody is known to be over a limit'}{open_pairs}."
        return f"{people(self.persons)} {are(self.persons)} over a limit{open_pairs}."

    def __repr__(self) -> str:
        return f"<review: {self}>"

    def __bool__(self) -> bool:
        return self.holds

    @property
    def holds(self) -> bool:
        """Whether nobody is over a limit."""
        return self.breaches.height == 0

    @property
    def conclusive(self) -> bool:
        """False where undecided pairs, or persons who are not known to be fine, could still break the policy."""
        return not (self.required and self.undecided) and not self.unsettled

    @property
    def verdict(self) -> str:
        """Block if somebody is over a limit, else inconclusive if somebody may be, else pass."""
        return "block" if not self.holds else "pass" if self.conclusive else "inconclusive"

    @property
    def persons(self) -> int:
        """How many persons are over a limit."""
        return self.breaches["id"].n_unique()

    def as_dict(self) -> dict[str, Any]:
        """Counts only, as plain data for JSON; ``over`` are persons by limit."""
        over = self.breaches.group_by("limit", maintain_order=True).agg(pl.col("id").n_unique())
        return {
            "verdict": self.verdict,
            "holds": self.holds,
            "conclusive": self.conclusive,
            "persons": self.persons,
            "undecided": self.undecided,
            "unsettled": self.unsettled,
            "over": dict(over.iter_rows()),
        }


def texted(frame: pl.DataFrame) -> pl.DataFrame:
    """With ids as text."""
    return frame.with_columns(pl.col("id").cast(pl.String))


def _without(judged: Judged, exposed: Collection[str]) -> Judged:
    """The same but for some persons."""
    return replace(judged, over=others(judged.over, exposed), open=others(judged.open, exposed))


def limits_of(policy: Any) -> Policy:
    """A policy, or a sentence."""
    if not isinstance(policy, Policy):
        raise InputError(f"Expected a policy such as Policy(max_posterior=0.5), got {type(policy).__name__}.")
    for name in (*CRITERIA, *BUDGET):
        if getattr(policy, name) is not None:
            raise InputError(
                f"The guard keeps limits on the joint posterior, and {name} is none: name what a release alone must "
                "satisfy in criteria=.",
                parameters=("criteria",),
            )
    return policy
