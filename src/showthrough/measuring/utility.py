"""Utility of a release against the table that it was made from.

What is published is measured without knowing which row went where: cells against the values of the
table, counting queries from cells and counts. Readings that look at the values really in a group
need that link: by id, or because every row fits one group and the sizes agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import ordered
from showthrough.criteria.counts import hidden_rows
from showthrough.errors import InputError, LimitError
from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import Reading, entropy_loss, gcp
from showthrough.measuring.measure import Utility
from showthrough.measuring.queries import Asked, Coded, CodeRange, QueryError, Workload, ask, inside, matching, spread
from showthrough.measuring.shown import Shown
from showthrough.measuring.sizes import average_size, c_avg, discernibility
from showthrough.register.linking import candidates
from showthrough.release.columns import table_of
from showthrough.release.counterfeits import per_group
from showthrough.release.kind import Shows
from showthrough.release.ranged import refuse_ranges
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals
from showthrough.table.frames import need_columns, to_polars
from showthrough.table.hierarchy import Hierarchy, as_hierarchy
from showthrough.table.texts import as_text

_FITS = 4  # groups that a row may fit on average while it is found out that rows fit several


@dataclass(frozen=True, eq=False)
class _Case:
    """A release beside its table."""

    release: Release
    table: pl.DataFrame
    quasi: tuple[str, ...]
    kept: Ints
    """The groups that are not suppressed, by their place among the labels."""
    persons: Ints
    """Persons of each kept group, without counterfeits."""
    shown: tuple[Shown, ...]
    hierarchies: Mapping[str, Hierarchy]

    @property
    def suppressed(self) -> int:
        return self.table.height - int(self.persons.sum())


def utility(
    release: Release,
    table: Any,
    *,
    id: str | None = None,
    suppressed: str | None = None,
    k: int | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    workload: Workload | int = 0,
) -> Utility:
    """Measure what a release of any kind loses of its table.

    ``id`` names the ids of the table, where the release publishes ids or carries its private link.
    Rows whose cells all read ``suppressed`` count as suppressed. ``k`` adds C_avg, a ``workload`` (or
    a number of queries) the error of counting queries. ``hierarchies`` tell what labels cover.
    """
    case = _case(release, to_polars(table), suppressed, hierarchies or {})
    sizes = case.persons[case.persons > 0]
    found = Utility(
        rows=case.table.height,
        groups=sizes.size,
        suppressed=case.suppressed,
        average_size=average_size(sizes),
        discernibility=discernibility(sizes, suppressed=case.suppressed),
        c_avg=None if k is None else c_avg(sizes, k),
        counterfeits=int(release.size.sum()) - release.members,
    )
    found = _with_loss(found, case, _linked(case, id))
    asked = Workload(workload) if isinstance(workload, int) and workload else workload
    return _with_queries(found, case, asked) if isinstance(asked, Workload) else found


def _case(release: Release, table: pl.DataFrame, mark: str | None, given: Mapping[str, Any]) -> _Case:
    if not isinstance(release, Release):
        raise InputError(f"Utility is measured of a release, not of {type(release).__name__}: make one first.")
    refuse_ranges(release, "its utility")
    if table.height == 0:
        raise InputError("The table has no rows: there is nothing to measure.")
    quasi = release.roles.quasi
    need_columns(table, quasi, "The table")
    trees = {**release.hierarchies, **{c: as_hierarchy(h) for c, h in given.items()}}
    persons = release.size.to_numpy() - per_group(release.counterfeits, release.labels).to_numpy()
    kept = np.arange(persons.size)
    shown: tuple[Shown, ...] = ()
    if release.form.shows is not Shows.EXACT and quasi:
        cells = table_of({c: release.cells()[c] for c in quasi})
        away = hidden_rows(cells, quasi, mark)
        kept = kept if away is None else np.flatnonzero(~away)
        if release.form.shows is Shows.CELLS:
            shown = tuple(Shown.of(table, cells[c].alias("cell").gather(kept), c, trees.get(c)) for c in quasi)
    case = _Case(release, table, quasi, kept, persons[kept], shown, trees)
    if case.suppressed < 0:
        raise InputError(
            f"The release has {int(case.persons.sum())} persons, but the table {table.height} rows: is it the table "
            "that the release was made from?"
        )
    return case


def _linked(case: _Case, id: str | None) -> Grouping | None:
    """Which row went into which group, if that can be known."""
    release = case.release
    if id is not None and (release.roles.id is not None or release.link is not None):
        return Grouping.of_release(case.table, release, id=id, quasi=case.quasi)
    if not case.shown:
        return None
    try:
        fits = candidates([s.attribute() for s in case.shown], at_most=_FITS * case.table.height + 1000)
    except LimitError:
        return None
    if (fits.counts > 1).any():
        return None
    group = np.full(case.table.height, -1, dtype=np.int64)
    group[fits.counts == 1] = fits.group
    same = np.array_equal(np.bincount(group[group >= 0], minlength=case.kept.size), case.persons)
    return Grouping(case.table, group, case.quasi) if same and (case.persons > 0).all() else None


def _with_loss(found: Utility, case: _Case, linked: Grouping | None) -> Utility:
    rows = case.table.height
    if not case.quasi:
        return _noted(found, "No quasi-identifiers: there are no cells to lose anything.")
    if case.release.form.shows is Shows.EXACT:
        gone = case.suppressed / rows
        found = replace(found, gcp_published=gone, entropy_loss=gone)
        return _noted(found, "Quasi-identifiers are published as they are: only suppressed rows lose them.")
    if case.shown:
        penalty = np.mean([s.penalty for s in case.shown], axis=0)
        bits = np.sum([s.bits for s in case.shown], axis=0)
        every = sum(s.all_bits for s in case.shown)
        lost = (float((bits * case.persons).sum()) / every + case.suppressed) / rows if every else 0.0
        cost = float(((penalty * case.persons).sum() + case.suppressed) / rows)
        found = replace(found, gcp_published=cost, entropy_loss=lost)
    else:
        found = _noted(found, "Centroids cover no values: there is no loss of published cells, and no query on them.")
    if linked is None:
        return _noted(
            found,
            "Which row of the table went into which group is not known (no ids, and rows fit several groups or none): "
            "the readings by sets and hierarchies are not computed.",
        )
    return _with_readings(found, case, linked)


def _with_readings(found: Utility, case: _Case, linked: Grouping) -> Utility:
    """What groups would publish if they printed no more than they need."""
    numeric = tuple(s.name for s in case.shown if s.numeric) if case.shown else None
    by_set = Reading("set", numeric=numeric)
    found = replace(found, gcp_set=gcp(linked, by_set))
    if not case.shown:
        found = replace(found, entropy_loss=entropy_loss(linked, by_set))
    if not any(c in case.hierarchies for c in case.quasi):
        return found
    bare = [c for c in case.quasi if c not in case.hierarchies and not by_set.ranges(case.table[c], c)]
    if bare:
        return _noted(found, f"The reading by hierarchies is not computed: it needs one of {bare[0]!r}.")
    return replace(found, gcp_hierarchy=gcp(linked, Reading("hierarchy", case.hierarchies, numeric=numeric)))


def _with_queries(found: Utility, case: _Case, workload: Workload) -> Utility:
    """Random counting queries, answered from what is published."""
    sensitive = case.release.sensitive
    if sensitive is None or not case.quasi or (case.release.form.shows is not Shows.EXACT and not case.shown):
        return _noted(found, "Counting queries need published values, and cells or exact quasi-identifiers.")
    need_columns(case.table, [sensitive], "The table")
    value, labels = ordered(as_text(case.table[sensitive], f"The table: column {sensitive!r}"))
    shares = _shares(case, labels)
    work = replace(workload, dimensions=min(workload.dimensions, len(case.quasi)))
    answered: QueryError
    if case.shown:
        coded = Coded(tuple(s.row for s in case.shown), tuple(s.labels.len() for s in case.shown), value, labels.len())

        def persons(asked: Asked) -> Reals:
            fit = case.persons.astype(np.float64)
            for column, ends in asked.items():
                fit = fit * case.shown[column].part(ends)
            return fit

        answered = ask(coded, spread(persons, shares), work)
    else:
        answered = _ask_rows(case, (value, labels.len()), shares, work)
    return replace(
        found,
        query_error_median=answered.median,
        query_error_mean=answered.mean,
        queries=answered.answers.height,
    )


def _ask_rows(
    case: _Case, value: tuple[Ints, int], shares: Callable[[CodeRange], Reals], workload: Workload
) -> QueryError:
    """The quasi-identifiers of every person are shown beside its group."""
    release = case.release
    place = pl.DataFrame({"group": release.labels, "at": np.arange(release.labels.len())})
    members = pl.DataFrame({"group": release.person_groups()}).join(
        place, on="group", how="left", maintain_order="left"
    )["at"]
    mine, theirs, sizes = [], [], []
    for name in case.quasi:
        own = as_text(case.table[name], f"The table: column {name!r}")
        both = pl.concat([own, as_text(release.records[name], f"The release: column {name!r}")])
        code, labels = ordered(both)
        mine.append(code[: own.len()])
        theirs.append(code[own.len() :])
        sizes.append(labels.len())
    at = members.to_numpy()

    def persons(asked: Asked) -> Reals:
        fits = matching(theirs, asked, at.size)
        return np.bincount(at[fits], minlength=case.kept.size).astype(np.float64)

    return ask(Coded(tuple(mine), tuple(sizes), *value), spread(persons, shares), workload)


def _shares(case: _Case, labels: pl.Series) -> Callable[[CodeRange], Reals]:
    """The share of each kept group's published values in a stretch; counterfeits, of any value, dilute it."""
    release = case.release
    place = np.full(release.labels.len(), -1, dtype=np.int64)
    place[case.kept] = np.arange(case.kept.size)
    groups = pl.DataFrame({"group": release.labels, "at": place})
    codes = pl.DataFrame({"text": labels, "code": np.arange(labels.len())})
    tally = release.tally.with_columns(text=as_text(release.tally["value"], "The values"))
    tally = tally.join(groups, on="group", how="left").join(codes, on="text", how="left").filter(pl.col("at") >= 0)
    at, code, n = (tally[c].fill_null(-1).to_numpy() for c in ("at", "code", "n"))
    absent = np.bincount(at[code < 0], weights=n[code < 0], minlength=case.kept.size)
    if (absent > per_group(release.counterfeits, release.labels).to_numpy()[case.kept]).any():
        raise InputError("The release has a value that does not occur in the table.")
    size = np.bincount(at, weights=n, minlength=case.kept.size)

    def shares(ends: CodeRange) -> Reals:
        found: Reals = np.bincount(at, weights=n * inside(code, ends), minlength=case.kept.size) / size
        return found

    return shares


def _noted(found: Utility, *notes: str) -> Utility:
    return replace(found, notes=(*found.notes, *notes))
