"""A policy: what readers may learn of a person from all releases together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference.posterior import Posterior
from showthrough.policy.judging import (
    SLACK,
    Judged,
    Known,
    breaches,
    by_fact,
    by_figure,
    by_gain,
    nobody_open,
    nothing_over,
    others,
)
from showthrough.table.arrays import Flags
from showthrough.table.plain import fingerprint, plain

INTEGRAL = ("no", "checked", "required")


@dataclass(frozen=True)
class Policy:
    """Limits on the joint posterior; a limit that is None is not set.

    ``max_posterior``: the largest P(value | person) of anybody. ``certain`` and ``impossible``: how many
    persons may be certain, and how many pairs (person, value) impossible, by proof. ``max_gain``: how much
    P(value | person) may grow against the releases before. ``proximity`` (ε, limit): the largest
    probability that a person's value lies within ε of one of the values it can be. ``integral`` says whether
    certain and impossible count over assignments of whole values too: "no", "checked" (within
    ``seconds``), or "required" (what the time leaves undecided makes the verdict inconclusive).
    """

    max_posterior: float | None = None
    certain: int | None = 0
    impossible: int | None = None
    max_gain: float | None = None
    proximity: tuple[float, float] | None = None
    integral: str = "checked"
    seconds: float = 60.0

    def __post_init__(self) -> None:
        for name in ("max_posterior", "max_gain"):
            limit = getattr(self, name)
            if limit is not None and not (_number(limit) and 0 <= limit <= 1):
                raise InputError(f"The limit {name} lies between 0 and 1, not at {limit!r}.")
        for name in ("certain", "impossible"):
            count = getattr(self, name)
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
                raise InputError(f"The limit {name} is a whole number of 0 or more, not {count!r}.")
        if self.proximity is not None:
            pair = self.proximity
            if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(_number(x) for x in pair)) or not (
                0 <= pair[0] < np.inf and 0 <= pair[1] <= 1
            ):
                raise InputError(f"proximity is a pair (ε of 0 or more, limit between 0 and 1), not {pair!r}.")
        if self.integral not in INTEGRAL:
            raise InputError(f"integral is one of {', '.join(INTEGRAL)}, not {self.integral!r}.")
        if not (_number(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds is the time for whole values, a number above 0, not {self.seconds!r}.")
        limits = (self.max_posterior, self.certain, self.impossible, self.max_gain, self.proximity)
        if all(limit is None for limit in limits):
            raise InputError("A policy without any limit allows everything: set one, such as max_posterior=0.5.")

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
        Persons whose ids are in ``exposed`` do not count, neither for a limit nor for a number of facts.
        """
        budget = self.seconds if seconds is None else seconds
        facts = None
        if self.certain is not None or self.impossible is not None:
            whole = integral and self.integral != "no"
            facts = post.proven(integral=whole, seconds=budget)
            facts = others(facts.with_columns(pl.col("id").cast(pl.String)), exposed)
        undecided = 0 if facts is None else facts.filter(pl.col("fact") == "undecided").height
        over, open_ones = self._judged(post, before, facts, exposed, 0.0)
        if integral and open_ones.height:  # programs may settle it
            over, open_ones = self._judged(post, before, facts, exposed, budget)
        return Review(over, undecided, self.integral == "required", open_ones.height)

    def over_limit(self, post: Posterior, before: Posterior | None = None, *, exposed: Collection[str] = ()) -> Flags:
        """Persons who are or may be over a limit, in the order of ``post.ids``; whole values aside, for a search."""
        ids = post.ids.cast(pl.String)
        plain = self.max_gain is None and self.proximity is None and self.impossible is None and not self.certain
        if plain and Known(post).settled:
            over = np.zeros(ids.len(), dtype=bool)
            if self.max_posterior is not None:
                over |= post.largest() > self.max_posterior + SLACK
            if self.certain == 0:
                over |= post.certain()
        else:
            facts = None
            if self.certain is not None or self.impossible is not None:
                facts = others(post.proven().with_columns(pl.col("id").cast(pl.String)), exposed)
            breaches, open_ones = self._judged(post, before, facts, exposed, 0.0)
            over = ids.is_in(pl.concat([breaches["id"], open_ones["id"]]).unique().implode()).to_numpy().copy()
        if exposed:
            over &= ~ids.is_in(pl.Series(sorted(exposed), dtype=pl.String).implode()).to_numpy()
        return over

    def _judged(
        self,
        post: Posterior,
        before: Posterior | None,
        facts: pl.DataFrame | None,
        exposed: Collection[str],
        seconds: float,
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Breaches of all limits, and who else is open: id, part."""
        known = Known(post, seconds)
        found = [self._by_posterior(known), self._by_gain(known, before), self._by_proximity(known)]
        if facts is not None:
            for fact, most in (("certain", self.certain), ("impossible", self.impossible)):
                found += [None if most is None else by_fact(facts, fact, most, known, exposed)]
        parts = [part for part in found if part is not None]
        over = pl.concat([nothing_over(), *(others(part.over, exposed) for part in parts)])
        if known.settled and (before is None or Known(before).settled):
            return over, nobody_open()
        open_ones = pl.concat([nobody_open() if known.settled else known.loose, *(part.open for part in parts)])
        open_ones = others(open_ones.unique(maintain_order=True), exposed)
        return over, open_ones.join(over.select("id").unique(), on="id", how="anti")

    def as_dict(self) -> dict[str, Any]:
        """The limits as plain data for JSON."""
        return dict(plain(self))

    def fingerprint(self) -> str:
        """The SHA-256 of the limits."""
        return fingerprint(self.as_dict())

    def _by_posterior(self, known: Known) -> Judged | None:
        if self.max_posterior is None:
            return None
        if known.settled:
            frame = known.posterior.to_frame().filter(pl.col("p") > self.max_posterior + SLACK)
            return Judged(breaches(frame.with_columns(figure="p"), "max_posterior"), nobody_open())
        return by_figure(known.figures, "max_posterior", self.max_posterior)

    def _by_gain(self, known: Known, before: Posterior | None) -> Judged | None:
        if self.max_gain is None or before is None:
            return None
        return by_gain(known.pairs, Known(before, known.seconds).pairs, self.max_gain)

    def _by_proximity(self, known: Known) -> Judged | None:
        if self.proximity is None:
            return None
        reach, limit = self.proximity
        if known.settled:
            frame = known.posterior.within(reach, above=limit + SLACK).with_columns(figure="p")
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
        open_pairs = f"; {self.undecided} pairs are undecided over whole values" if self.undecided else ""
        open_pairs += f"; {self.unsettled} persons are not known to be within the limits" if self.unsettled else ""
        if self.holds:
            return f"{'The policy holds' if self.conclusive else 'Nobody is known to be over a limit'}{open_pairs}."
        return f"{self.persons} persons are over a limit{open_pairs}."

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


def _number(given: Any) -> bool:
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)


def limits_of(policy: Any) -> Policy:
    """A policy, or a sentence."""
    if not isinstance(policy, Policy):
        raise InputError(f"Expected a policy such as Policy(max_posterior=0.5), got {type(policy).__name__}.")
    return policy
