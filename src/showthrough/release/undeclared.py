"""Totals that nobody declared: labels that are called so, and whose counts are the sums of the others."""

from __future__ import annotations

from collections.abc import Container, Sequence

import polars as pl

WORDS = {
    "all", "all ages", "all persons", "alle", "both", "both sexes", "ensemble", "everybody", "gesamt", "grand total",
    "insgesamt", "overall", "sum", "summe", "todos", "totaal", "total", "totale", "totals", "tous",
}  # fmt: skip
"""What offices call a total over everything, in small letters."""


def undeclared(frame: pl.DataFrame, columns: Sequence[str], declared: Container[str]) -> str | None:
    """The first column with a label of totals that is not declared, if there is one.

    ``frame`` has the columns and the least and the greatest count of each row, ``low`` and ``high``. A word alone is
    no proof: every count of the label has to be what the other labels can add up to, of several in some place.
    """
    for column in columns:
        texts = frame[column].cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()
        called = [text for text in texts if text.strip().casefold() in WORDS and text.strip() not in declared]
        if called and _sums(frame, column, called, [text for text in texts if text.strip() in declared]):
            return column
    return None


def _sums(frame: pl.DataFrame, column: str, called: list[str], declared: list[str]) -> bool:
    """Whether the counts of the labels are sums of the others' wherever both are listed."""
    text = pl.col(column).cast(pl.String)
    others = [c for c in frame.columns if c not in (column, "low", "high", "row")]
    total = frame.filter(text.is_in(called)).select(*others, "low", "high")
    parts = frame.filter(~text.is_in([*called, *declared]))
    if not others:
        total, parts = (part.with_columns(pl.lit(0).alias("\0all")) for part in (total, parts))
        others = ["\0all"]
    added = parts.group_by(others).agg(
        pl.col("low").sum().alias("least"), pl.col("high").cast(pl.Float64).sum().alias("most"), pl.len().alias("many")
    )
    both = total.join(added, on=others, how="inner", nulls_equal=True)
    fits = (pl.col("least") <= pl.col("high")) & (pl.col("low") <= pl.col("most"))
    return both.height > 0 and bool(both.select(fits.all() & (pl.col("many").max() > 1)).item())
