"""Proximity: how likely somebody's value lies near some value, whatever the exact one is.

Wang, Liu, *XColor: Protecting General Proximity Privacy*, ICDE 2010, section I: a group with five salaries of which
four lie within ε of one of them tells of each member with 80 % that the salary is about that much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.near import Nearness
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.shares import ROUNDING, check_share
from showthrough.attacks.statistics import Score, rates, score, true_values
from showthrough.errors import InputError
from showthrough.inference.posterior import Posterior
from showthrough.policy.phrases import are, people
from showthrough.table.arrays import Ints
from showthrough.table.codes import positions

NEAR, FAR = "near", "far"


@dataclass(frozen=True, eq=False, repr=False)
class ProximityOutcome(Outcome):
    """The outcome of a posterior seen from nearby."""

    paired: ClassVar[bool] = True
    meanings: ClassVar[Mapping[str, str]] = {
        "p": "how likely the value lies near the one that most lies near to",
        "value_alone": "the baseline: how likely the likeliest value itself is",
    }
    _near: Nearness | None = field(default=None, repr=False)
    _values: pl.Series = field(default_factory=pl.Series, repr=False)
    _centre: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)

    def believed(self) -> pl.DataFrame:
        """id, value ("near" or "far"), and how likely the person's value is near the one in ``people``, or equal."""
        near = self.people.select("id", pl.lit(NEAR).alias("value"), "p", "value_alone")
        far = near.with_columns(-pl.col("p", "value_alone") + 1, value=pl.lit(FAR))
        return pl.concat([near, far])

    def score(self, truth: Any, *, beliefs: Any = None) -> Score:
        """How often the true value is near, and how calibrated that is; ``truth`` is a frame of id and value."""
        assert self._near is not None
        true = true_values(truth)
        known = self.people.select(pl.col("id").cast(pl.String)).with_row_index("at").join(true, on="id", how="inner")
        code = positions(known["value"], self._values.cast(pl.String)).astype(np.int64)
        centre = self._centre[known["at"].to_numpy()]
        near = (code >= 0) & self._near.near(centre, np.maximum(code, 0))
        told = pl.Series("value", np.where(near, NEAR, FAR), dtype=pl.String)
        return score(self.believed(), list(beliefs or self.beliefs), pl.DataFrame([known["id"], told]))


def proximity(post: Posterior, epsilon: float, *, metric: Any = "numeric", limit: float = 0.5) -> ProximityOutcome:
    """The largest probability that everybody's value lies within ``epsilon`` of some value of the history.

    ``metric`` is the distance, as `st.Dissimilarity` takes it: of numbers (which are compared as decimals, not as
    binary fractions), "equal", a function of two values, distances by pair, a matrix in the order of ``post.values``,
    or a hierarchy. ``people`` has id, value (the one in the middle: any value of the history), p, and value_alone, the
    probability of the likeliest value itself. Who is over the ``limit`` counts as exposed; the baseline is a reader
    whom only exact values concern.
    """
    limit = check_share("limit", limit)
    if not isinstance(post, Posterior):
        raise InputError("Proximity looks at a posterior: give what infer returns.")
    near = Nearness.of(post.values, epsilon, metric)
    told = post.to_frame()
    if "release" in told.columns:
        raise InputError("Somebody stands for one person per release here: infer without changed values.")
    ids = post.ids
    lost = np.isnan(post.largest())
    person = positions(told["id"], ids).astype(np.int64)
    order = np.argsort(person, kind="stable")
    p = told["p"].fill_null(0.0).to_numpy()[order]
    value = positions(told["value"], post.values).astype(np.int64)[order]
    centre, mass = near.heaviest(person[order], value, p, ids.len())
    kept = np.flatnonzero(~lost)
    frame = pl.DataFrame(
        [
            ids.gather(kept).alias("id"),
            post.values.gather(centre[kept]).alias("value"),
            pl.Series("p", mass[kept]),
            pl.Series("value_alone", post.largest()[kept]),
        ]
    )
    counted = [
        ({"measure": f"within {epsilon:g} of one value"}, int((frame[c] >= limit - ROUNDING).sum()), frame.height)
        for c in ("p", "value_alone")
    ]
    threat = Threat(
        "all releases, and reads them by maximum entropy",
        f"to be {100 * limit:g} % sure or more that somebody's value lies within {epsilon:g} of some value",
        "that values so close tell the same",
    )
    many = int(lost.sum())
    notes = (f"{people(many)} without a certified probability {are(many)} left out.",) if many else ()
    return ProximityOutcome(
        "proximity", threat, frame, rates(counted[:1]), rates(counted[1:]), ("p", "value_alone"), (), notes,
        near, post.values, centre[kept],
    )  # fmt: skip
