"""A policy: what readers may learn of a person from all releases together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference.posterior import Posterior
from showthrough.table.arrays import Flags
from showthrough.table.plain import fingerprint, plain

INTEGRAL = ("no", "checked", "required")
SLACK = 2e-5  # twice the error bar of a certified answer: a figure this close to its limit is at it


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

        Persons whose ids are in ``exposed`` do not count, neither for a limit nor for a number of facts.
        """
        parts = [self._by_posterior(post), self._by_gain(post, before), self._by_proximity(post)]
        undecided = 0
        if self.certain is not None or self.impossible is not None:
            whole = integral and self.integral != "no"
            facts = post.proven(integral=whole, seconds=self.seconds if seconds is None else seconds)
            facts = _others(facts.with_columns(pl.col("id").cast(pl.String)), exposed)
            parts += [self._by_fact(facts, "certain", self.certain)]
            parts += [self._by_fact(facts, "impossible", self.impossible)]
            undecided = facts.filter(pl.col("fact") == "undecided").height
        found = [_others(part, exposed) for part in parts if part is not None]
        open_persons = int(post.unsettled().sum())
        return Review(pl.concat([_nobody(), *found]), undecided, self.integral == "required", open_persons)

    def over_limit(self, post: Posterior, before: Posterior | None = None, *, exposed: Collection[str] = ()) -> Flags:
        """Persons over a limit in the order of ``post.ids``, whole values aside: quick, for a search."""
        ids = post.ids.cast(pl.String)
        if self.max_gain is None and self.proximity is None and self.impossible is None and not self.certain:
            over = np.zeros(ids.len(), dtype=bool)
            if self.max_posterior is not None:
                over |= ~(post.largest() <= self.max_posterior + SLACK)  # who has no figure may be over it
            if self.certain == 0:
                over |= post.certain()
        else:
            breaches = self.review(post, before, integral=False, exposed=exposed).breaches
            over = ids.is_in(breaches["id"].unique().implode()).to_numpy().copy()
        if exposed:
            over &= ~ids.is_in(pl.Series(sorted(exposed), dtype=pl.String).implode()).to_numpy()
        return over

    def as_dict(self) -> dict[str, Any]:
        """The limits as plain data for JSON."""
        return dict(plain(self))

    def fingerprint(self) -> str:
        """The SHA-256 of the limits."""
        return fingerprint(self.as_dict())

    def _by_posterior(self, post: Posterior) -> pl.DataFrame | None:
        if self.max_posterior is None:
            return None
        frame = post.to_frame().filter(pl.col("p") > self.max_posterior + SLACK)
        return _rows(frame, "max_posterior", frame["p"])

    def _by_gain(self, post: Posterior, before: Posterior | None) -> pl.DataFrame | None:
        if self.max_gain is None or before is None:
            return None
        old, new = _parts(before.to_frame(), "p_old"), _parts(post.to_frame(), "p")
        who, keys = ["id", "part"], ["id", "part", "value"]
        known = new.join(old.select(who).unique(), on=who, how="semi")  # newcomers have nothing to gain from
        both = known.join(old.select(*keys, "p_old"), on=keys, how="left", maintain_order="left")
        both = both.with_columns(pl.col("p_old").fill_null(0.0))
        grown = both.filter(pl.col("p") - pl.col("p_old") > self.max_gain + SLACK)
        return _rows(grown, "max_gain", grown["p"] - grown["p_old"])

    def _by_proximity(self, post: Posterior) -> pl.DataFrame | None:
        if self.proximity is None:
            return None
        reach, limit = self.proximity
        frame = post.within(reach, above=limit + SLACK)
        return _rows(frame, "proximity", frame["p"])

    def _by_fact(self, facts: pl.DataFrame, fact: str, most: int | None) -> pl.DataFrame | None:
        mine = facts.filter(pl.col("fact") == fact)
        if most is None or mine.height <= most:
            return None
        return _rows(mine, fact, pl.Series([1.0 if fact == "certain" else 0.0] * mine.height))


@dataclass(frozen=True, eq=False, repr=False)
class Review:
    """A policy applied to a posterior: breaches as id, value, limit, figure."""

    breaches: pl.DataFrame
    undecided: int
    required: bool
    unsettled: int = 0  # persons of whom nothing can be called safe

    def __str__(self) -> str:
        open_pairs = f"; {self.undecided} pairs are undecided over whole values" if self.undecided else ""
        open_pairs += f"; nothing can be said of {self.unsettled} persons" if self.unsettled else ""
        if self.holds:
            return f"The policy holds{open_pairs}."
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
        """False where undecided pairs, or persons without an answer, could still break the policy."""
        return not (self.required and self.undecided) and not self.unsettled

    @property
    def persons(self) -> int:
        """How many persons are over a limit."""
        return self.breaches["id"].n_unique()

    def as_dict(self) -> dict[str, Any]:
        """Counts only, as plain data for JSON; ``over`` are persons by limit."""
        over = self.breaches.group_by("limit", maintain_order=True).agg(pl.col("id").n_unique())
        return {
            "holds": self.holds,
            "conclusive": self.conclusive,
            "persons": self.persons,
            "undecided": self.undecided,
            "unsettled": self.unsettled,
            "over": dict(over.iter_rows()),
        }


def _nobody() -> pl.DataFrame:
    return pl.DataFrame(schema={"id": pl.String, "value": pl.String, "limit": pl.String, "figure": pl.Float64})


def _others(frame: pl.DataFrame, exposed: Collection[str]) -> pl.DataFrame:
    """Without the rows of some persons."""
    if not exposed:
        return frame
    return frame.filter(~pl.col("id").is_in(pl.Series(sorted(exposed), dtype=pl.String).implode()))


def _parts(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A posterior by id, part of a split id (empty for everybody else) and value, all as text."""
    part = pl.col("release").fill_null("") if "release" in frame.columns else pl.lit("")
    return frame.select(
        pl.col("id").cast(pl.String), part.alias("part"), pl.col("value").cast(pl.String), pl.col("p").alias(name)
    )


def _rows(frame: pl.DataFrame, limit: str, figure: pl.Series) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": frame["id"].cast(pl.String),
            "value": frame["value"].cast(pl.String),
            "limit": pl.repeat(limit, frame.height, dtype=pl.String, eager=True),
            "figure": figure.cast(pl.Float64),
        }
    )


def _number(given: Any) -> bool:
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)


def limits_of(policy: Any) -> Policy:
    """A policy, or a sentence."""
    if not isinstance(policy, Policy):
        raise InputError(f"Expected a policy such as Policy(max_posterior=0.5), got {type(policy).__name__}.")
    return policy
