"""Every person and value with probability, fact and proof: a table that is made and written some persons at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from showthrough.auditing.whole_audit import Audit
from showthrough.report.content import PROOFS, Facts, leading_facts

ROWS = 250_000


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """Person by person, the likeliest value first: id, (release,) value, p, fact, by, (conditional,) proof, bounds.

    ``first`` are the facts that carry a proof; ``limits`` the bounds, if they were asked for.
    """

    audit: Audit
    first: Facts
    limits: pl.DataFrame | None = None

    def parts(self, rows: int = ROWS) -> Iterator[pl.DataFrame]:
        """Some persons at a time, about so many rows: together they may be more than fits into memory."""
        proofs = self.first.frame.drop_nulls("proof")
        keys = [c for c in ("id", "release", "value") if c in proofs.columns]
        proofs = proofs.select(*keys, "proof")
        for frame, proven in self.audit.posterior.by_people(rows):
            told = proven.join(proofs, on=keys, how="left", nulls_equal=True, maintain_order="left")
            yield self._bounded(_joined(frame, told))

    def frame(self) -> pl.DataFrame:
        """All of it at once."""
        return pl.concat(list(self.parts()))

    def _bounded(self, frame: pl.DataFrame) -> pl.DataFrame:
        """With columns lower and upper, empty where no bounds were asked for."""
        if self.limits is None:
            return frame
        keys = [c for c in ("id", "release", "value") if c in self.limits.columns]
        return frame.join(self.limits, on=keys, how="left", nulls_equal=True, maintain_order="left")


def people_frame(audit: Audit, *, proofs: int = PROOFS) -> pl.DataFrame:
    """Every person and value with probability, fact and (for the first facts) proof, person by person."""
    return PeopleTable(audit, leading_facts(audit, proofs=proofs)).frame()


def _joined(frame: pl.DataFrame, proven: pl.DataFrame) -> pl.DataFrame:
    who = [c for c in ("id", "release") if c in frame.columns]
    order = pl.concat([frame.select(who), proven.select(who)]).unique(maintain_order=True).with_row_index("_person")
    return (
        frame.join(proven, on=[*who, "value"], how="full", coalesce=True, nulls_equal=True)
        .with_columns(pl.when(pl.col("fact") == "impossible").then(0.0).otherwise(pl.col("p")).alias("p"))
        .join(order, on=who, how="left", nulls_equal=True)
        .sort("_person", -pl.col("p"), "value")
        .drop("_person")
    )
