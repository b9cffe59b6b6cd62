"""A policy: what readers may learn of a person from all releases together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference.arrays import Flags, Reals
from showthrough.inference.posterior import Posterior

INTEGRAL = ("no", "checked", "required")
SLACK = 2e-5  # twice the error bar of a certified answer: a figure this close to its limit is at it


@dataclass(frozen=True)
class Policy:
    """Limits on the joint posterior; a limit that is None is not set.

    ``max_posterior``: the largest P(value | person) of anybody. ``certain`` and ``impossible``: how many
    persons may be certain, and how many pairs (person, value) impossible, by proof. ``max_gain``: how much
    P(value | person) may grow against the releases before. ``proximity`` (ε, limit): the largest
    probability that a person's value lies within ε of any one number. ``integral`` says whether
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
            if limit is not None and not 0 <= limit <= 1:
                raise InputError(f"The limit {name} lies between 0 and 1, not at {limit}.")
        for name in ("certain", "impossible"):
            count = getattr(self, name)
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
                raise InputError(f"The limit {name} is a whole number of 0 or more, not {count!r}.")
        if self.proximity is not None:
            reach, limit = self.proximity
            if reach < 0 or not 0 <= limit <= 1:
                raise InputError(f"proximity is a pair (ε of 0 or more, limit between 0 and 1), not {self.proximity}.")
        if self.integral not in INTEGRAL:
            raise InputError(f"integral is one of {', '.join(INTEGRAL)}, not {self.integral!r}.")

    def review(self, post: Posterior, before: Posterior | None = None, *, integral: bool = True) -> Review:
        """Who is over which limit in ``post``; ``before`` is the posterior without the newest release."""
        parts = [self._by_posterior(post), self._by_gain(post, before), self._by_proximity(post)]
        facts = post.proven(integral=integral and self.integral != "no", seconds=self.seconds)
        parts += [self._by_fact(facts, "certain", self.certain), self._by_fact(facts, "impossible", self.impossible)]
        undecided = facts.filter(pl.col("fact") == "undecided")
        return Review(pl.concat(p for p in parts if p is not None), undecided.height, self.integral == "required")

    def over_limit(self, post: Posterior, before: Posterior | None = None) -> Flags:
        """[named] persons over a limit of probabilities, or certain where nobody may be: quick, for a search."""
        mine = post.of_person[: post.history.named]
        over = np.zeros(post.history.named, dtype=bool)
        if self.max_posterior is not None:
            over |= (post.pairs.p[post.pairs.best] > self.max_posterior + SLACK)[mine]
        if self.certain == 0:
            over |= (post.pairs.left() == 1)[mine]
        for part in (self._by_gain(post, before), self._by_proximity(post)):
            if part is not None and part.height:
                over |= post.history.ids.is_in(part["id"].cast(post.history.ids.dtype).unique().implode()).to_numpy()
        return over

    def _by_posterior(self, post: Posterior) -> pl.DataFrame | None:
        if self.max_posterior is None:
            return None
        frame = post.to_frame().filter(pl.col("p") > self.max_posterior + SLACK)
        return _rows(frame, "max_posterior", frame["p"])

    def _by_gain(self, post: Posterior, before: Posterior | None) -> pl.DataFrame | None:
        if self.max_gain is None or before is None:
            return None
        old = before.to_frame().rename({"p": "old"})
        keys = ["id", "value"]
        new = post.to_frame()
        known = new.filter(pl.col("id").is_in(old["id"].unique().implode()))
        both = known.join(old.select(*keys, "old"), on=keys, how="left").with_columns(pl.col("old").fill_null(0.0))
        grown = both.filter(pl.col("p") - pl.col("old") > self.max_gain + SLACK)
        return _rows(grown, "max_gain", grown["p"] - grown["old"])

    def _by_proximity(self, post: Posterior) -> pl.DataFrame | None:
        if self.proximity is None:
            return None
        reach, limit = self.proximity
        numbers = post.history.values.cast(pl.Float64, strict=False)
        if numbers.null_count():
            raise InputError("A limit on proximity needs numbers as values.")
        mass = _near_mass(post, numbers.to_numpy(), reach)
        over = np.flatnonzero((mass > limit + SLACK) & post.pairs.alive)
        frame = post._per_person(over, pl.Series("p", mass[over]))
        return _rows(frame, "proximity", frame["p"])

    def _by_fact(self, facts: pl.DataFrame, fact: str, most: int | None) -> pl.DataFrame | None:
        mine = facts.filter(pl.col("fact") == fact)
        if most is None or mine.height <= most:
            return None
        return _rows(mine, fact, pl.Series([1.0 if fact == "certain" else 0.0] * mine.height))


@dataclass(frozen=True, eq=False)
class Review:
    """A policy applied to a posterior: breaches as id, value, limit, figure."""

    breaches: pl.DataFrame
    undecided: int
    required: bool

    @property
    def holds(self) -> bool:
        """Whether nobody is over a limit."""
        return self.breaches.height == 0

    @property
    def conclusive(self) -> bool:
        """False where undecided pairs could still break the policy."""
        return not (self.required and self.undecided)

    @property
    def persons(self) -> int:
        """How many persons are over a limit."""
        return self.breaches["id"].n_unique()


def _rows(frame: pl.DataFrame, limit: str, figure: pl.Series) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": frame["id"].cast(pl.String),
            "value": frame["value"].cast(pl.String),
            "limit": pl.repeat(limit, frame.height, dtype=pl.String, eager=True),
            "figure": figure.cast(pl.Float64),
        }
    )


def _near_mass(post: Posterior, number: Reals, reach: float) -> Reals:
    """[pairs] the probability that the person's value lies within ε of the pair's."""
    pairs = post.pairs
    at = number[pairs.value]
    order = np.lexsort((at, pairs.signature))
    signature, at, p = pairs.signature[order], at[order], pairs.p[order]
    span = (float(at.max(initial=0.0)) - float(at.min(initial=0.0)) + 2 * reach + 1.0) * 2
    key = signature * span + (at - float(at.min(initial=0.0)))
    room = reach + 1e-9 * max(1.0, reach)
    total = np.concatenate([[0.0], np.cumsum(p)])
    mass = total[np.searchsorted(key, key + room, side="right")] - total[np.searchsorted(key, key - room)]
    found: Reals = np.empty(mass.size)
    found[order] = mass
    return found


def limits_of(policy: Any) -> Policy:
    """A policy, or a sentence."""
    if not isinstance(policy, Policy):
        raise InputError(f"Expected a policy such as Policy(max_posterior=0.5), got {type(policy).__name__}.")
    return policy
