"""Rates with intervals, and beliefs beside the truth: the one place where attacks are counted and scored.

A *belief* is a column of probabilities in a frame of persons and values. Whoever has to guess names the likeliest
value; of several that are equally likely each is guessed equally often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.policy.phrases import people as people_of
from showthrough.showing import Showable
from showthrough.table.frames import need_columns, scalar, to_polars
from showthrough.table.plain import plain

Z = 1.959963984540054
"""The interval of a rate covers 95 %."""
STEPS = 10
"""Steps of confidence from 0 to 1 in the calibration table."""
LEAST = 10
"""Shareable text tells a rate of the truth if so many persons are guessed right and so many wrong."""
_ROUNDING = 1e-9
_WHO = ["id"]


def wilson(hits: float, of: int) -> tuple[float, float]:
    """The interval of a rate by Wilson's score, 95 %; from 0 to 1 where nobody was looked at.

    >>> [round(end, 4) for end in wilson(8, 10)], wilson(0, 0)
    ([0.4902, 0.9433], (0.0, 1.0))
    """
    if not of:
        return 0.0, 1.0
    share, square = hits / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = Z * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - reach), min(1.0, middle + reach)


Rated = tuple[dict[str, Any], int, int]
"""What a rate is of, those counted, and among whom."""


def rates(counted: Sequence[Rated]) -> pl.DataFrame:
    """What each rate is of, then persons, of, share, low, high: those counted, among whom, and Wilson's interval."""
    rows = []
    for names, persons, of in counted:
        low, high = wilson(persons, of)
        rows.append(
            {**names, "persons": persons, "of": of, "share": persons / of if of else None, "low": low, "high": high}
        )
    kinds = {"persons": pl.Int64, "of": pl.Int64, "share": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=kinds)


@dataclass(frozen=True, eq=False, repr=False)
class Score(Showable):
    """Beliefs beside the truth."""

    table: pl.DataFrame
    """One row per belief: persons, accuracy with low and high, brier, calibration_error, and the accuracy of the most
    confident tenth (decile) with its interval."""
    calibration: pl.DataFrame
    """For each belief and step of confidence: persons, how sure they are on average, and the share that is right."""
    unknown: int
    """Persons without a true value, who do not count."""

    def as_dict(self) -> dict[str, Any]:
        """Figures as plain data for JSON, as far as they give nobody's value away."""
        return {"beliefs": plain(self.told()), "unknown": self.unknown}

    def told(self) -> pl.DataFrame:
        """The table for everybody: figures of fewer than `LEAST` right or wrong guesses are left out."""
        right = pl.col("accuracy") * pl.col("persons")
        few = pl.min_horizontal(right, pl.col("persons") - right) < LEAST - _ROUNDING
        top = pl.col("decile") * pl.col("decile_persons")
        few_top = few | (pl.min_horizontal(top, pl.col("decile_persons") - top) < LEAST - _ROUNDING)
        figures = ["accuracy", "low", "high", "brier", "calibration_error"]
        tenth = ["decile", "decile_low", "decile_high"]
        hidden = [pl.when(~few).then(pl.col(c)).alias(c) for c in figures]
        return self.table.with_columns(*hidden, *(pl.when(~few_top).then(pl.col(c)).alias(c) for c in tenth))

    def __str__(self) -> str:
        lines = []
        for row in self.told().iter_rows(named=True):
            who = ", ".join(str(row[c]) for c in self.table.columns[: self.table.columns.index("persons")])
            if row["accuracy"] is None:
                lines.append(f"{who}: of {people_of(row['persons'])} too few are guessed right, or wrong, to tell.")
                continue
            lines.append(
                f"{who}: {100 * row['accuracy']:.1f} % of {people_of(row['persons'])} are guessed right "
                f"({100 * row['low']:.1f} to {100 * row['high']:.1f} %); Brier score {row['brier']:.4f}, calibration "
                f"error {row['calibration_error']:.4f}"
                + ("." if row["decile"] is None else f"; {100 * row['decile']:.1f} % in the most confident tenth.")
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Score of {self.table.height} beliefs>"


def score(people: pl.DataFrame, beliefs: Sequence[str], truth: Any, *, by: Sequence[str] = ()) -> Score:
    """Score the ``beliefs`` (columns of ``people`` beside id and value), separately for each of ``by``.

    ``truth`` is a frame of id and value. Persons whose belief is not defined (null) or whose true value is not known do
    not count for it.
    """
    true = true_values(truth).rename({"value": "_true"})
    text = people.with_columns(pl.col("id").cast(pl.String), pl.col("value").cast(pl.String).alias("_value"))
    joined = text.join(true, on="id", how="inner")
    if people.height and not joined.height:
        raise InputError("The truth names nobody whom the attack tells of: compare how the ids are written.")
    unknown = people["id"].n_unique() - joined["id"].n_unique()
    rows, steps = [], []
    for belief in beliefs:
        known = joined.filter(pl.col(belief).is_not_null())
        for names, part in known.group_by(*by, maintain_order=True) if by else [((), known)]:
            if not part.height:
                continue
            label = {**dict(zip(by, names, strict=True)), "belief": belief}
            guess = _guesses(part, belief)
            rows.append({**label, **_figures(guess)})
            steps += [{**label, **step} for step in _calibration(guess)]
    if not rows:
        raise InputError("Nobody has a belief to be scored.")
    return Score(pl.DataFrame(rows), pl.DataFrame(steps), unknown)


def true_values(given: Any) -> pl.DataFrame:
    """The truth as text: id and value, one row per person of whom it is known."""
    frame = to_polars(given)
    need_columns(frame, ["id", "value"], "The truth")
    parts = {c: scalar(frame[c], f"The truth: column {c!r}").cast(pl.String) for c in ("id", "value")}
    found = pl.DataFrame(parts).drop_nulls()
    if found["id"].n_unique() < found.height:
        raise InputError("The truth names somebody twice: it has one row per person.")
    return found


def _guesses(part: pl.DataFrame, belief: str) -> pl.DataFrame:
    """Per person: how sure the guess is, how likely it is right, and the Brier score."""
    right = pl.col("_value") == pl.col("_true")
    best = pl.col(belief) >= pl.col(belief).max() - _ROUNDING
    missed = 1 - right.any().cast(pl.Float64)  # a value that the belief does not list has probability 0
    return part.group_by(_WHO, maintain_order=True).agg(
        pl.col(belief).max().alias("sure"),
        (right & best).sum().truediv(best.sum()).alias("right"),
        ((pl.col(belief) - right.cast(pl.Float64)).pow(2).sum() + missed).alias("brier"),
    )


def _figures(guess: pl.DataFrame) -> dict[str, Any]:
    many, hits = guess.height, float(guess["right"].sum())
    low, high = wilson(hits, many)
    tenth = ceil(many / STEPS)
    top = _most_confident(guess, tenth)
    top_low, top_high = wilson(top, tenth)
    error = sum(s["persons"] / many * abs(s["right"] - s["sure"]) for s in _calibration(guess))
    return {
        "persons": many,
        "accuracy": hits / many,
        "low": low,
        "high": high,
        "brier": float(guess["brier"].sum()) / many,
        "calibration_error": error,
        "decile_persons": tenth,
        "decile": top / tenth,
        "decile_low": top_low,
        "decile_high": top_high,
    }


def _most_confident(guess: pl.DataFrame, many: int) -> float:
    """How many of the most confident are right; of those who are equally confident at the end, their share."""
    ordered = guess.sort("sure", descending=True)
    limit = ordered["sure"][many - 1]
    above = ordered.filter(pl.col("sure") > limit + _ROUNDING)
    alike = ordered.filter((pl.col("sure") - limit).abs() <= _ROUNDING)
    return float(above["right"].sum()) + (many - above.height) * float(alike["right"].sum()) / alike.height


def _calibration(guess: pl.DataFrame) -> list[dict[str, Any]]:
    """Steps of confidence that somebody is in: from, to, persons, how sure on average, and the share that is right."""
    step = ((pl.col("sure") + _ROUNDING) * STEPS).floor().clip(0, STEPS - 1).cast(pl.Int64)
    found = guess.group_by(step.alias("step")).agg(pl.len(), pl.col("sure").mean(), pl.col("right").mean()).sort("step")
    return [
        {"from": k / STEPS, "to": (k + 1) / STEPS, "persons": persons, "sure": sure, "right": right}
        for k, persons, sure, right in found.iter_rows()
    ]
