"""Limits applied to what is known of everybody: over a limit, safe, or open.

Noise proves nothing, so whoever is over a limit with noisy counts or without them is over it.

A figure over its limit blocks, whatever it rests on. What passes must be known: the probability with its error bar, or
all that the bounds allow, lies within the limit, and nothing of it hangs on an if. Everything else is open.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from showthrough.inference.certificate import Status
from showthrough.inference.posterior import Posterior
from showthrough.inference.unweighed import without_noise

SLACK = 2e-5  # twice the error bar of an exact answer: a figure this close to its limit is at it
_BAR = SLACK / 2
ROOM = 1e-3  # the same for effective anonymity, relative: what an exact answer may miss of an entropy, and more
WHO = ["id", "part"]
PAIR = [*WHO, "value"]


@dataclass(frozen=True, eq=False)
class Judged:
    """What one limit says: who is over it as id, part, value, limit, figure, and whom it leaves open as id, part.

    ``most`` persons may be over it, or pairs where those are ``counted``; ``perhaps`` are as many more as may be.
    """

    over: pl.DataFrame
    open: pl.DataFrame
    most: int = 0
    counted: str = "persons"
    perhaps: int | None = None

    @property
    def count(self) -> int:
        """How many are over the limit."""
        return self.among(self.over)

    def among(self, over: pl.DataFrame) -> int:
        """How many these rows are, as the limit counts."""
        return over.height if self.counted == "pairs" else _persons(over).height

    @property
    def broken(self) -> bool:
        """Whether more are over the limit than may be."""
        return self.count > self.most

    @property
    def doubtful(self) -> bool:
        """Whether those who are not known to be within it may make too many."""
        more = self.open.height if self.perhaps is None else self.perhaps
        return more > 0 and self.count + more > self.most

    @property
    def breaches(self) -> pl.DataFrame:
        """Those over the limit if they are too many: id, part, value, limit, figure."""
        return self.over if self.broken else nothing_over()

    @property
    def left_open(self) -> pl.DataFrame:
        """Who else has to be known to be within the limit: id, part."""
        return self.open if self.doubtful else nobody_open()


@dataclass(frozen=True, eq=False)
class Known:
    """All that is known of everybody in a posterior, with the ranges that ``seconds`` of programs give."""

    posterior: Posterior
    seconds: float = 0.0

    @cached_property
    def without_noise(self) -> Known | None:
        """The same without noisy counts; None where there are none that weigh anything."""
        found = without_noise(self.posterior)
        return None if found is None else Known(found, self.seconds)

    @property
    def settled(self) -> bool:
        """Whether everything is exact and nothing hangs on an if, so that figures speak for themselves."""
        exact = self.posterior.certificate.status is Status.EXACT
        return exact and not self.posterior.unsettled().any()

    @cached_property
    def figures(self) -> pl.DataFrame:
        """Id, part, value, p (null if it is not a result), low, high, loose, exact; ids and values as text."""
        ranges = self.posterior.ranges(seconds=self.seconds)
        frame = self.posterior.to_frame(uncertified=True).with_columns(ranges.select("low", "high", "conditional"))
        answered = pl.col("state").is_in([str(s) for s in Status if s.certain])
        return as_text(frame).select(
            *PAIR,
            pl.when(answered).then("p").alias("p"),
            "low",
            "high",
            pl.col("conditional").alias("loose"),
            (pl.col("state") == str(Status.EXACT)).alias("exact"),
        )

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """The figures as they are compared with those of another posterior."""
        if not self.settled:
            return self.figures
        p, never = pl.col("p"), pl.lit(value=False).alias("loose")
        return as_text(self.posterior.to_frame()).select(*PAIR, p, p.alias("low"), p.alias("high"), never)

    def near(self, reach: float) -> pl.DataFrame:
        """The same for the probability that a value lies within ``reach`` of the one in the row."""
        ranges = as_text(self.posterior.ranges(seconds=self.seconds, within=reach))
        mass = as_text(self.posterior.within(reach)).select(*PAIR, "p")
        found = ranges.select(*PAIR, "low", "high", pl.col("conditional").alias("loose"))
        return found.join(mass, on=PAIR, how="left", maintain_order="left")

    @cached_property
    def loose(self) -> pl.DataFrame:
        """Of whom nothing holds without an if: id, part."""
        return self.figures.filter("loose").select(WHO).unique(maintain_order=True)

    def anonymity(self) -> pl.DataFrame:
        """Everybody's effective anonymity, exp of the entropy: id, part, figure (null if unknown), low, high, loose.

        −p·ln p is concave: over a range it is least at one of the ends, and greatest at 1/e or at the end next to it.
        """
        if self.settled:
            figure, never = pl.Series("figure", np.exp(self.posterior.entropies())), pl.lit(value=False).alias("loose")
            who = as_text(self.posterior.best()).select(WHO).with_columns(figure)
            return who.with_columns(pl.col("figure").alias("low"), pl.col("figure").alias("high"), never)
        p, low, high = (_surprise(pl.col(name)) for name in ("p", "low", "high"))
        peak = pl.when((pl.col("low") < 1 / np.e) & (pl.col("high") > 1 / np.e)).then(1 / np.e)
        most = pl.coalesce(peak, pl.max_horizontal(low, high))
        found = self.figures.group_by(WHO, maintain_order=True).agg(
            pl.when(pl.col("p").is_not_null().all()).then(p.sum().exp()).alias("figure"),
            pl.min_horizontal(low, high).sum().exp().alias("low"),
            most.sum().exp().alias("high"),
            pl.col("loose").any(),
        )
        return found.with_columns(pl.coalesce("figure", "high").alias("high"))


def _surprise(p: pl.Expr) -> pl.Expr:
    """−p·ln p, which is 0 at 0."""
    return pl.when(p > 0).then(-p * p.log()).otherwise(0.0)


def by_anonymity(frame: pl.DataFrame, limit: float) -> Judged:
    """Persons of whom readers must stay as uncertain as of so many equally likely values."""
    frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias("value"))
    over = pl.col("high") < limit * (1 - ROOM)
    safe = (pl.col("low") >= limit * (1 - 2 * ROOM)) & ~pl.col("loose")
    exceeding = breaches(frame.filter(over).with_columns(pl.col("high").alias("figure")), "min_anonymity")
    return Judged(exceeding, _persons(frame.filter(~over & ~safe)))


def by_figure(frame: pl.DataFrame, name: str, limit: float, most: int = 0) -> Judged:
    """Pairs whose figure must not exceed a limit, but of ``most`` persons."""
    frame = frame.with_columns(pl.coalesce("p", "low").alias("figure"))
    over = pl.col("figure") > limit + SLACK
    safe = (pl.col("high") <= limit + SLACK + _BAR) & ~pl.col("loose")
    exceeding = breaches(frame.filter(over), name)
    doubtful = _persons(frame.filter(~over & ~safe)).join(_persons(exceeding), on=WHO, how="anti")
    return Judged(exceeding, doubtful, most)


def by_gain(new: pl.DataFrame, old: pl.DataFrame, limit: float) -> Judged:
    """Pairs whose probability must not have grown by more than a limit; newcomers have nothing to gain from."""
    before = old.select(*PAIR, *(pl.col(c).alias(f"old_{c}") for c in ("p", "low", "high")))
    people = old.group_by(WHO).agg(pl.col("loose").any().alias("old_loose"))
    both = new.join(people, on=WHO, how="inner").join(before, on=PAIR, how="left", maintain_order="left")
    gone = pl.col("old_high").is_null()  # it was impossible, or may have been anything
    both = both.with_columns(
        pl.when(gone & ~pl.col("old_loose")).then(0.0).otherwise("old_p").alias("old_p"),
        pl.col("old_low").fill_null(0.0),
        pl.when(gone).then(pl.col("old_loose").cast(pl.Float64)).otherwise("old_high").alias("old_high"),
    ).with_columns((pl.coalesce("p", "low") - pl.coalesce("old_p", "old_high")).alias("figure"))
    over = pl.col("figure") > limit + SLACK
    most = pl.col("high") - pl.col("old_low")
    safe = (most <= limit + SLACK + 2 * _BAR + 1e-12) & ~pl.col("loose") & ~pl.col("old_loose")
    return Judged(breaches(both.filter(over), "max_gain"), _persons(both.filter(~over & ~safe)))


def by_shift(new: pl.DataFrame, prior: pl.DataFrame, limit: float) -> Judged:
    """Pairs whose probability must not lie further than a limit from the prior; who has no prior has nothing to lose.

    What the releases exclude has the probability 0.
    """
    old = as_text(prior).select(*PAIR, pl.col("p").alias("old"))
    people = new.select(*WHO, pl.col("loose").alias("shaky")).group_by(WHO).agg(pl.col("shaky").any())
    both = old.join(people, on=WHO, how="inner").join(new, on=PAIR, how="left", maintain_order="left")
    none = pl.col("high").is_null()
    both = both.with_columns(
        pl.when(none).then(0.0).otherwise("p").alias("p"),
        pl.when(none).then(0.0).otherwise("low").alias("low"),
        pl.when(none).then(0.0).otherwise("high").alias("high"),
    )
    least = pl.max_horizontal(pl.col("low") - pl.col("old"), pl.col("old") - pl.col("high"), pl.lit(0.0))
    most = pl.max_horizontal(pl.col("high") - pl.col("old"), pl.col("old") - pl.col("low"))
    both = both.with_columns(pl.coalesce((pl.col("p") - pl.col("old")).abs(), least).alias("figure"))
    over = pl.col("figure") > limit + SLACK
    safe = (most <= limit + SLACK + _BAR + 1e-12) & ~pl.col("shaky")
    return Judged(breaches(both.filter(over), "max_shift"), _persons(both.filter(~over & ~safe)))


def by_fact(facts: pl.DataFrame, fact: str, most: int, known: Known, exposed: Collection[str]) -> Judged:
    """How many persons may be certain, or pairs impossible; whoever may be without proof counts as open.

    ``facts`` are those of `Posterior.proven` with ids as text.
    """
    figure = pl.lit(1.0 if fact == "certain" else 0.0).alias("figure")
    mine = as_text(facts.filter(pl.col("fact") == fact).with_columns(figure))
    over, counted = breaches(mine, fact), "persons" if fact == "certain" else "pairs"
    if mine.height > most or known.settled:
        return Judged(over, nobody_open(), most, counted)
    end = pl.col("high") >= 1 - SLACK if fact == "certain" else pl.col("low") <= SLACK
    perhaps = others(known.figures.filter(end & ~pl.col("exact")), exposed)
    if fact == "certain":
        perhaps = perhaps.select(WHO).unique(maintain_order=True)
        perhaps = perhaps.join(mine.select(WHO), on=WHO, how="anti")
    return Judged(over, _persons(perhaps), most, counted, perhaps.height)


def either(one: Judged, other: Judged) -> Judged:
    """What a limit says where whoever breaks it in one of two answers breaks it; each pair has its worse figure."""
    figure = pl.when(pl.col("limit") == "min_anonymity").then(pl.col("figure").min()).otherwise(pl.col("figure").max())
    both = pl.concat([one.over, other.over]).group_by([*PAIR, "limit"], maintain_order=True)
    over = both.agg(figure.first().alias("figure"))
    doubtful = _persons(pl.concat([one.open, other.open])).join(_persons(over), on=WHO, how="anti")
    more = [told.open.height if told.perhaps is None else told.perhaps for told in (one, other)]
    perhaps = None if one.perhaps is None and other.perhaps is None else max(more)
    return Judged(over, doubtful, one.most, one.counted, perhaps)


def nobody_open() -> pl.DataFrame:
    """No person: id, part."""
    return pl.DataFrame(schema=dict.fromkeys(WHO, pl.String))


def nothing_over() -> pl.DataFrame:
    """No breach."""
    return pl.DataFrame(schema={**dict.fromkeys([*PAIR, "limit"], pl.String), "figure": pl.Float64})


def breaches(frame: pl.DataFrame, limit: str) -> pl.DataFrame:
    """Rows with a figure as breaches of a limit."""
    return frame.select(
        *PAIR,
        pl.lit(limit, dtype=pl.String).alias("limit"),
        pl.col("figure").cast(pl.Float64),
    )


def _persons(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(WHO).unique(maintain_order=True)


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """With ids and values as text, and the part of a split id (empty for everybody else)."""
    part = pl.col("release").fill_null("") if "release" in frame.columns else pl.lit("")
    return frame.with_columns(pl.col("id").cast(pl.String), part.alias("part"), pl.col("value").cast(pl.String))


class ExposedPersons(frozenset[str]):
    """Ids of persons whom no limit counts any more; ``excluded`` are others whose ruled out values alone do not count.

    Who has a value ruled out can still be kept from a likelier one.
    """

    excluded: frozenset[str]

    def __new__(cls, ids: Collection[str] = (), excluded: Collection[str] = ()) -> ExposedPersons:
        """Both sets; who is in both is exposed to everything."""
        made = super().__new__(cls, ids)
        made.excluded = frozenset(excluded) - made
        return made

    @property
    def everybody(self) -> frozenset[str]:
        """Who is exposed to any limit."""
        return frozenset(self) | self.excluded


def others(frame: pl.DataFrame, exposed: Collection[str]) -> pl.DataFrame:
    """Without the rows of some persons."""
    if not exposed:
        return frame
    return frame.filter(~pl.col("id").is_in(pl.Series(sorted(exposed), dtype=pl.String).implode()))
