"""An audit beside the truth, where the publisher has it: how often readers guess right, and how calibrated they are.

Only persons whose true value is known and whose probabilities are a result take part. A reader who is calibrated is
right as often as the probabilities say; one who leaves out that values changed is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.inference.posterior import Posterior
from showthrough.table.frames import need_columns, scalar, to_polars

STEPS = 10  # of calibration, from 0 to 1
LEVELS = (0.5, 0.9)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CalibrationStep:
    """Persons whose likeliest value has a probability in [low, high): how many are expected right, how many are."""

    low: float
    high: float
    persons: int
    expected: float
    right: int


@dataclass(frozen=True)
class Scored:
    """How often the likeliest value is the true one; ``certain`` and ``at_least`` are (persons, of them right)."""

    persons: int
    unknown: int  # without a true value or without an answer
    right: int
    expected: float
    certain: tuple[int, int]
    at_least: dict[str, tuple[int, int]]
    calibration: tuple[CalibrationStep, ...]


def true_values(tables: Mapping[str, Any]) -> pl.DataFrame:
    """The publisher's tables, by the release that each was made for, as id, value, release, text all of it.

    A table is a frame with the columns id and value.
    """
    parts = []
    for name, given in tables.items():
        frame = to_polars(given)
        need_columns(frame, ["id", "value"], f"The table of {name}")
        own = [scalar(frame[c], f"The column {c} of a table").cast(pl.String).alias(c) for c in ("id", "value")]
        parts.append(pl.DataFrame(own).with_columns(pl.lit(name).alias("release")))
    if not parts:
        raise InputError("There are no tables to compare with.")
    return pl.concat(parts).drop_nulls("value")


def beside_truth(post: Posterior, truth: pl.DataFrame) -> pl.DataFrame:
    """Everybody's likeliest value beside the true one: id, (release,) value, p, certain, true, right.

    The true value of somebody who is one person is that of the last table; of a split id, that of its release.
    """
    best = post.best()
    text = best.with_columns(pl.col("id").cast(pl.String).alias("_id"), pl.col("value").cast(pl.String).alias("_value"))
    last = truth.unique("id", keep="last", maintain_order=True)
    last = last.select(pl.col("id").alias("_id"), pl.col("value").alias("_last"))
    text = text.join(last, on="_id", how="left", maintain_order="left")
    if "release" in best.columns:
        own = truth.select(pl.col("id").alias("_id"), "release", pl.col("value").alias("_own"))
        text = text.join(own.unique(["_id", "release"]), on=["_id", "release"], how="left", maintain_order="left")
        text = text.with_columns(pl.when(pl.col("release").is_null()).then("_last").otherwise("_own").alias("_last"))
    true = text["_last"].alias("true")
    return best.with_columns(true, (text["_value"] == true).alias("right"))


def score(found: pl.DataFrame) -> Scored:
    """The figures of `beside_truth`."""
    known = found.filter(pl.col("true").is_not_null() & pl.col("p").is_not_null())
    p, right = known["p"], known["right"]

    def both(chosen: pl.Series) -> tuple[int, int]:
        return int(chosen.sum()), int((chosen & right).sum())

    steps = []
    for k in range(STEPS):
        low, high = k / STEPS, (k + 1) / STEPS
        inside = (p >= low - _ROUNDING) & (p < (high - _ROUNDING if k + 1 < STEPS else 2.0))
        steps.append(
            CalibrationStep(low, high, int(inside.sum()), float(p.filter(inside).sum()), int((inside & right).sum()))
        )
    return Scored(
        persons=known.height,
        unknown=found.height - known.height,
        right=int(right.sum()),
        expected=float(p.sum()),
        certain=both(known["certain"]),
        at_least={str(level): both(p >= level - _ROUNDING) for level in LEVELS},
        calibration=tuple(steps),
    )
