"""Count tables with hidden, rounded or top-coded counts and with totals, as parts of a release.

The leaves of the table are the release itself: of each count the least and the greatest number. Totals
become its margins (`totals.py`), which `layers` hands out as releases of their own over the same persons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.release import grouped
from showthrough.release.columns import filled
from showthrough.release.noisy import refuse_noise
from showthrough.release.parts import Parts, Source
from showthrough.release.printed_counts import OPEN, Printing, read_counts
from showthrough.release.totals import VALUE, Leveled, Margin, as_totals
from showthrough.release.undeclared import undeclared
from showthrough.table.arrays import Ints
from showthrough.table.frozen import Frozen

if TYPE_CHECKING:
    from showthrough.release.release import Release

GROUP = "label"


@dataclass(frozen=True, eq=False)
class PartOf:
    """What a margin is a margin of: the release of the leaves, and the margin's group of each leaf group (−1: none)."""

    leaves: Release
    group: Ints


def options(
    suppressed: Any = None, rounding: Any = None, totals: Any = None, population: str | None = None
) -> dict[str, Any]:
    """How counts are printed, as options of the kind; what was not given is left out."""
    printing = Printing.of(suppressed, rounding)
    given = {
        "suppressed": printing.suppressed,
        "rounding": printing.rounding,
        "totals": as_totals(totals),
        "population": None if population is None else str(population),
    }
    return {name: told for name, told in given.items() if told}


def parts_of_table(source: Source, cells: Mapping[str, pl.Series], sensitive: str) -> Parts:
    """The parts of a release from a table of counts as printed."""
    roles, told = source.roles, source.options
    printing = Printing(told.get("suppressed", Frozen()), told.get("rounding"))
    low, high = read_counts(source.rows, roles.count, source.where, printing)
    value = filled(source.rows, sensitive, lambda row: f"{source.where}: row {row} is empty in column {sensitive!r}.")
    names = {f"cell {k}": c for k, c in enumerate(roles.quasi)}
    columns = {name: cells[c].str.strip_chars() if "totals" in told else cells[c] for name, c in names.items()}
    if roles.group is not None:
        names[GROUP] = roles.group
        columns[GROUP] = source.rows[roles.group]
    frame = pl.DataFrame({**columns, VALUE: value, "low": low, "high": high})
    total = undeclared(frame, [*names, VALUE], told.get("totals", Frozen()))
    if total is not None:
        raise InputError(
            f"{source.where}: a label of column {names.get(total, sensitive)!r} is called a total, and its counts are "
            "the sums of the others: name it with totals=LABEL, so that nobody counts twice.",
            parameters=("totals",),
        )
    frame = frame.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    leveled = Leveled(frame, [*names, VALUE], told.get("totals", Frozen()), source.where)
    leaves = leveled.bounded(leveled.complete())
    exact = not leveled.keys and bool((leaves["low"] == leaves["high"]).all())  # as most tables are
    bare = [c for c in names if leveled.only_totals(c)]
    shown = leaves.with_columns(pl.lit(None, dtype=pl.String).alias(c) for c in bare)
    own = {names.get(c, c): shown[c] for c in names} | {sensitive: shown[VALUE]}
    listed = replace(source, rows=pl.DataFrame(own))
    if "population" in told or not exact or leaves["high"].min() == 0:  # cells whose counts may all be 0
        told = {**told, "listed": Frozen({c: tuple(own[c].drop_nulls().unique()) for c in roles.quasi})}
    ends = leaves["low"], leaves["high"], leaves["room"]
    parts = grouped.parts_of_counts(listed, {c: own[c] for c in roles.quasi}, sensitive, ends)
    if parts.first_row is not None:
        parts = replace(parts, first_row=leaves["row"].gather(parts.first_row))
    if exact:
        return replace(parts, upper=None, options=Frozen(told))
    own = {name: parts.records[c] for name, c in names.items() if name != GROUP}
    groups = pl.DataFrame(own if roles.group is None else {**own, GROUP: parts.labels})
    groups = groups.with_columns(leveled.total_label(c).alias(c) for c in bare)
    margins = tuple(
        replace(m, over=tuple(names.get(c, sensitive) for c in m.over))
        for m in leveled.margins(leaves.filter(pl.col("room") > 0), groups)
    )
    return _sized(replace(parts, margins=margins, options=Frozen({**told, "rows": source.rows})), sensitive)


def _sized(parts: Parts, sensitive: str) -> Parts:
    """The least and the greatest size of every group: by its counts, and by a total over its values."""
    assert parts.upper is not None
    tally = parts.tally
    least = tally.group_by("group").agg(pl.col("n").sum()).sort("group")["n"]
    size = parts.size
    for margin in parts.margins:
        if margin.over != (sensitive,):
            continue
        told = margin.tally.with_columns(margin.upper.alias("upper"))
        known = (
            told.filter(pl.col(VALUE).is_in(list(margin.covers)))
            .group_by("group")
            .agg(pl.col("n").sum(), pl.col("upper").sum(), pl.len())
        )
        single = told.group_by("group").agg(pl.len().alias("all"))
        known = known.join(single, on="group").filter(pl.col("len") == pl.col("all"))
        at = pl.DataFrame({"group": margin.group_of}).join(known, on="group", how="left", maintain_order="left")
        size = pl.select(pl.min_horizontal(size, at["upper"].fill_null(OPEN))).to_series()
        least = pl.select(pl.max_horizontal(least, at["n"].fill_null(0))).to_series()
    return replace(parts, size=size, least=least)


def layers(release: Release) -> tuple[Release, ...]:
    """The release of the leaves, and one for each margin, over the same persons."""
    return (release, *(_as_release(release, margin) for margin in release.margins))


def sizes(margin: Margin) -> Ints:
    """[groups] how many persons each group of a margin holds at most."""
    size = np.zeros(margin.records.height, dtype=np.int64)
    np.add.at(size, margin.tally["group"].to_numpy(), margin.upper.to_numpy())
    return size


def _as_release(release: Release, margin: Margin) -> Release:
    roles = release.roles
    quasi = {c: margin.records[f"cell {k}"] for k, c in enumerate(roles.quasi)}
    labels = pl.Series(range(1, margin.records.height + 1), dtype=pl.Int64)
    if GROUP in margin.records.columns:
        labels = margin.records[GROUP] if not quasi else labels
    tally = margin.tally.with_columns(labels.gather(margin.tally["group"]).alias("group"))
    over = ", ".join(margin.over)
    return replace(
        release,
        margins=(),
        name=f"{release.name or 'the table'}: totals over {over}",
        roles=replace(roles, group=roles.group if not quasi else None),
        records=pl.DataFrame(quasi) if quasi else pl.DataFrame({"group": labels}).clear().select([]),
        tally=tally,
        upper=margin.upper,
        least=None,
        labels=labels,
        size=pl.Series(sizes(margin)),
        counterfeits=pl.DataFrame(),
        link=None,
        options=Frozen(),
        covers=margin.covers,
        part_of=PartOf(release, margin.group_of),
        first_row=None,
    )


def refuse_ranges(release: Release, what: str) -> None:
    """Refuse what needs exact counts and one row per group and value."""
    refuse_noise(release, what)
    if release.ranged:
        raise InputError(
            f"{release.name or 'The release'} hides or rounds counts, or has totals: {what} needs a table with exact "
            "counts."
        )
