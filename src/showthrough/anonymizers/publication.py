"""From groups of rows to a release that the criteria themselves have checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.demands import bare
from showthrough.anonymizers.made import Made
from showthrough.anonymizers.methods import Groups
from showthrough.anonymizers.quasi_columns import shortest
from showthrough.anonymizers.suppression import publication_order
from showthrough.anonymizers.table import Table
from showthrough.criteria.criterion import Check, OnColumn
from showthrough.criteria.population import DeltaPresence, KMap
from showthrough.criteria.published import of_release
from showthrough.criteria.several import count_each
from showthrough.errors import InputError, InternalError
from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import Reading
from showthrough.measuring.measure import Utility, measure
from showthrough.measuring.shown import Shown
from showthrough.policy.phrases import are, people
from showthrough.release.columns import count_values, table_of
from showthrough.release.kind import Shows
from showthrough.release.kinds import KINDS
from showthrough.release.parts import Source
from showthrough.release.release import Release, from_source
from showthrough.release.roles import make_roles
from showthrough.table.arrays import Codes, Ints
from showthrough.table.frames import scalar, to_polars


def publish(
    table: Table, grouped: Groups, *, kind: str, name: str, seed: int, parameters: Mapping[str, Any]
) -> Release:
    """The release of some kind that shows these groups; rows in an order that tells nothing.

    Ids stay in the private link, unless the table is to publish them and the kind can.
    """
    if not (grouped.group >= 0).any():
        raise InputError("Every row would have to be suppressed: nothing is left to publish.")
    form, order = KINDS[kind], publication_order(grouped.group, table.value, seed=seed)
    if table.joint is not None and not form.several_values:
        raise InputError(f"A {kind} release has one sensitive column: name one, or publish a generalized release.")
    if form.values_per_group and table.sensitive is None:
        raise InputError(f"A {kind} release publishes values per group: name the sensitive column.")
    source = replace(_SHOWN[form.shows](table, grouped, order), where=name or Source.where)
    trees = table.shape.hierarchies if form.shows is Shows.CELLS else None
    release = from_source(kind, source).called(name, None, parameters, trees)
    if table.id is None or release.roles.id is not None:
        return release
    if form.shows is Shows.EXACT:
        group = pl.Series("group", grouped.group[order].astype(np.int64) + 1)
        link = pl.DataFrame({"id": table.frame[table.id].gather(order), "group": group})
    else:
        link = _link(table, order, source.rows, release)
    return release.with_link(link, id=table.id)


def _exact(table: Table, grouped: Groups, order: Any) -> Source:
    """Every record as it is, with the number of its group; the values of the groups in a table of their own."""
    return exact_pair(table, order, grouped.group[order].astype(np.int64) + 1)


def exact_pair(table: Table, order: Any, number: Ints, extra: tuple[Ints, pl.Series] | None = None) -> Source:
    """Anatomy's two tables: a row beside a value would be read as a fact. ``extra`` are values of nobody."""
    assert table.sensitive is not None
    label, count, shown = table.group_label, table.count_label, table.published_id
    columns = [*([shown] if shown else []), *table.quasi]
    records = table.frame.select(columns)[order].with_columns(pl.Series(label, number))
    group, value = pl.Series(number, dtype=pl.Int64), table.frame[table.sensitive].gather(order)
    if extra is not None:
        group = pl.concat([group, pl.Series(extra[0], dtype=pl.Int64)])
        value = pl.concat([value, extra[1].cast(value.dtype).alias(value.name)])
    tally = count_values(group, scalar(value, f"The table: column {table.sensitive!r}"))
    values = table_of({label: tally["group"], table.sensitive: tally["value"], count: tally["n"]})
    roles = make_roles(
        records.columns, id=shown, sensitive=table.sensitive, group=label, quasi=table.quasi, count=count
    )
    return Source(records, roles, values=values)


def _cells(table: Table, grouped: Groups, order: Any) -> Source:
    """Every record with the cells of its group."""
    source = _centroids(table, grouped, order)
    coded = {c: _coded(table, c, source.rows[c]) for c in table.quasi}
    return Source(table_of({**{c: source.rows[c] for c in source.rows.columns}, **coded}), source.roles)


def _centroids(table: Table, grouped: Groups, order: Any) -> Source:
    """Every record with what the method found for its group."""
    assert grouped.cells is not None
    group = grouped.group[order]
    columns = {c: pl.Series(c, grouped.cells[c]).gather(group) for c in table.quasi}
    columns |= {c: table.frame[c].gather(order) for c in table.sensitives}
    rows = to_polars(columns)
    roles = make_roles(rows.columns, sensitive=list(table.sensitives), quasi=table.quasi)
    return Source(rows, roles, options={"nominal": [c for c in table.quasi if rows[c].dtype == pl.String]})


_SHOWN: Mapping[Shows, Callable[[Table, Groups, Any], Source]] = {
    Shows.EXACT: _exact,
    Shows.CELLS: _cells,
    Shows.CENTROIDS: _centroids,
}


def _coded(table: Table, column: str, cells: pl.Series) -> pl.Series:
    """Cells of a top or bottom coded column say what they stand for: everything beyond the limit."""
    low, high = table.shape.limits.get(column, (None, None))
    if low is None and high is None:
        return cells
    found = {}
    for cell in cells.unique().to_list():
        ends = [float(part) for part in cell.strip("[]").split(",")] if cell != "*" else []
        below = bool(ends) and low is not None and ends[0] <= low
        above = bool(ends) and high is not None and ends[-1] >= high
        if below and above:
            found[cell] = "*"
        elif below:
            found[cell] = f"<={shortest(ends[-1])}"
        elif above:
            found[cell] = f">={shortest(ends[0])}"
        else:
            found[cell] = cell
    return cells.replace_strict(found, return_dtype=pl.String)


def _link(table: Table, order: Any, cells: pl.DataFrame, release: Release) -> pl.DataFrame:
    """Who went into which published group: groups with equal cells are one."""
    label = release.cells().columns[0]
    keys = [f"q{k}" for k in range(len(table.quasi))]
    shown = release.cells()
    groups = pl.DataFrame({label: shown[label], **{k: shown[c] for k, c in zip(keys, table.quasi, strict=True)}})
    mine = pl.DataFrame({k: cells[c].cast(shown[c].dtype) for k, c in zip(keys, table.quasi, strict=True)})
    joined = mine.join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left")
    if joined[label].null_count():
        raise InternalError("A published row is in no group of its release.")
    return pl.DataFrame({"id": table.frame[table.id or ""].gather(order), "group": joined[label]})


def verified(table: Table, grouped: Groups, release: Release, criteria: Sequence[Any]) -> tuple[Check, ...]:
    """The criteria applied to the release itself, whoever made it."""
    reference = None if table.sensitive is None else table.frame
    counted = of_release(release, reference=reference)
    each = {} if table.joint is None else dict(count_each(release, table.joint.roles, reference))
    found = []
    for criterion in criteria:
        if isinstance(criterion, OnColumn):
            found.append(criterion.told(criterion.criterion.check(each[criterion.column])))
            continue
        if not isinstance(criterion, (DeltaPresence, KMap)):
            found.append(criterion.check(counted))
            continue
        persons = _population(table, grouped, release)
        check = replace(criterion, population=persons).check(counted)
        everywhere = isinstance(criterion, DeltaPresence) and criterion.everywhere and criterion.minimum > 0
        if everywhere and grouped.outside:
            who = f"{people(grouped.outside)} of the population {are(grouped.outside)}"
            told = f"{criterion} does not hold: {who} in no published group."
            check = replace(check, holds=False, level=0.0, sentence=told)
        found.append(check)
    return tuple(found)


def _population(table: Table, grouped: Groups, release: Release) -> Ints:
    """Persons of the population in each group of the release; groups that print the same are one."""
    if release.form.shows is Shows.EXACT or grouped.cells is None or grouped.persons is None:
        raise InputError("k-map and δ-presence are about generalized quasi-identifiers: publish a generalized release.")
    keys = [f"q{k}" for k in range(len(table.quasi))]
    cells = {c: _coded(table, c, pl.Series(c, grouped.cells[c])) for c in table.quasi}
    mine = pl.DataFrame({k: cells[c] for k, c in zip(keys, table.quasi, strict=True)})
    sums = mine.with_columns(pl.Series("n", grouped.persons)).group_by(keys).agg(pl.col("n").sum())
    shown = release.cells()
    groups = pl.DataFrame({k: shown[c] for k, c in zip(keys, table.quasi, strict=True)})
    joined = groups.join(sums, on=keys, how="left", maintain_order="left")["n"]
    return joined.to_numpy().astype(np.int64)


def seen_groups(table: Table, grouped: Groups) -> Codes:
    """The group of each row as readers see it: groups that print the same cells are one."""
    if grouped.cells is None or not (grouped.group >= 0).any():
        return grouped.group
    cells = pl.DataFrame({f"q{k}": pl.Series(grouped.cells[c]) for k, c in enumerate(table.quasi)})
    number = np.unique(cells.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy(), return_inverse=True)[1]
    merged: Codes = np.append(number.reshape(-1), -1)[grouped.group].astype(np.int32)
    return merged


def utility_of(table: Table, group: Codes, criteria: Sequence[Any], release: Release | None = None) -> Utility:
    """What the groups cost a reader of quasi-identifiers; with a generalized release, what its cells do."""
    k = max([c.k for c in map(bare, criteria) if hasattr(c, "k")], default=None)
    trees = {c.name: table.shape.hierarchies[c.name] for c in table.columns if c.shown == "label"}
    numeric = tuple(c.name for c in table.columns if c.shown == "range")
    reading = (
        Reading("hierarchy", hierarchies=trees, numeric=numeric)
        if len(trees) + len(numeric) == len(table.columns)
        else None
    )
    found = measure(
        Grouping(table.frame, group.astype(np.int64), table.quasi), k=k, hierarchies=reading, numeric=numeric
    )
    if release is None or release.form.shows is not Shows.CELLS:
        return found
    cells, size = release.cells(), release.size.to_numpy()
    shown = [Shown.of(table.frame, cells[c].alias("cell"), c, table.shape.hierarchies.get(c)) for c in table.quasi]
    lost = float(np.mean([s.penalty for s in shown], axis=0) @ size)
    return replace(found, gcp_published=(lost + table.rows - int(size.sum())) / table.rows)


def made(
    table: Table, grouped: Groups, checks: Sequence[Check], *, method: str, began: float, utility: Utility | None
) -> Made:
    """Put together what the publisher should know."""
    return Made(
        method=method,
        seconds=time.perf_counter() - began,
        suppressed=int((grouped.group < 0).sum()),
        incomplete=table.incomplete,
        checks=tuple(checks),
        utility=utility,
        remarks=grouped.remarks,
        plan=grouped.plan,
    )
