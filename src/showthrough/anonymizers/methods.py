"""The methods by name: what each publishes, which criteria it can enforce, and how it groups rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from showthrough.anonymizers.aimed_cuts import aimed_cuts
from showthrough.anonymizers.anatomy import anatomy
from showthrough.anonymizers.describe import level_cells, recursion_cells, tight_cells
from showthrough.anonymizers.full_domain import full_domain
from showthrough.anonymizers.grouping_cost import cheapest, grouping_cost
from showthrough.anonymizers.level_range import Recoder, grounded, in_parts
from showthrough.anonymizers.local_recoding import local_recoding
from showthrough.anonymizers.mdav import Feature, centroids, mdav
from showthrough.anonymizers.mondrian import MondrianResult, mondrian
from showthrough.anonymizers.near_rows import NumericProximity, Proximity, ValueProximity
from showthrough.anonymizers.objectives import BY_CLASSES, OBJECTIVES, aimed, refuse_levels_missing
from showthrough.anonymizers.outliers import mondrian_without_outliers
from showthrough.anonymizers.outsiders import Population
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.table import Table
from showthrough.anonymizers.xcolor import xcolor
from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.average_risk import AverageRisk, Uniqueness
from showthrough.criteria.beta_likeness import BetaLikeness
from showthrough.criteria.criterion import Criterion
from showthrough.criteria.delta_disclosure import DeltaDisclosure
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.ground import close_by, numbers_of
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveLDiversity,
)
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.criteria.population import DeltaPresence, KMap
from showthrough.criteria.t_closeness import TCloseness
from showthrough.errors import InputError
from showthrough.progress import Progress
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.frozen import Frozen


@dataclass(frozen=True)
class Options:
    """What the caller chose beyond the criteria."""

    seed: int = 0
    suppression_limit: int = 0  # rows
    cells: str = "tight"  # or "recursion": cells that cover the whole space
    passes: int | None = None  # of local recoding; None: as many as pay
    objective: str = "loss"
    strict: bool = True
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of each row (−1: suppressed), the cells of each group, and what the method says of itself."""

    group: Codes
    cells: Mapping[str, Sequence[Any]] | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    persons: Ints | None = None  # of the population in each group, where a criterion asks for them
    outside: int = 0  # persons of the population in no published group


@dataclass(frozen=True)
class Method:
    """A way to anonymize."""

    name: str
    kind: str
    enforces: tuple[type[Criterion], ...]
    run: Callable[[Table, Sequence[Any], Options], Groups]
    levels: bool = False  # whether it generalizes, so that least and greatest levels can be kept
    objectives: tuple[str, ...] = ("loss",)


_SIZES_AND_SHARES = (
    KAnonymity,
    DistinctLDiversity,
    FrequencyLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    AlphaKAnonymity,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    KMap,
    AverageRisk,
    Uniqueness,
)


def _mondrian(table: Table, criteria: Sequence[Any], options: Options, *, relaxed: bool = False) -> Groups:
    people = Population.of(table, criteria)
    refuse_levels_missing(people.columns, options.objective)
    if options.cells == "recursion" and (relaxed or people.added):
        raise InputError(
            "Cells of the recursion are published by the method mondrian, without criteria on a population: relaxed "
            "cuts overlap, and cells must not be wider than the groups that the population was counted in."
        )
    if options.cells == "recursion" and options.objective != "loss":
        raise InputError(
            "Objectives but loss are measured by tight cells: leave out cells of the recursion, or the objective.",
            parameters=("objective", "cells"),
        )
    limit = _limit(table, people, options)
    wanted = people.requirement(suppress=limit)
    if options.cells == "recursion":
        found = _cut(people.columns, wanted, limit, options=options)
        whole = recursion_cells(table.columns, found.cell_low, found.cell_high)
        return Groups(
            found.group,
            _named(table.columns, whole),
            persons=people.persons(found.group),
            outside=people.outside(found.group),
        )
    first = in_parts(people.columns, wanted, limit, _cutter(replace(options, objective="loss"), relaxed))
    tight = any(c.shown == "range" for c in people.columns)
    remarks = (Remark("tight ranges", "Ranges are tight: their ends are values of real persons."),) if tight else ()
    if options.objective == "loss":
        return _tight(people, first, remarks)
    climbs = [_aimed(people, wanted, (first, limit), options, relaxed)]
    if limit:
        with suppress(InputError):  # a limit may be needed; where it is not, it has to win something
            whole_table = in_parts(people.columns, wanted, 0, _cutter(replace(options, objective="loss"), relaxed))
            climbs.append(_aimed(people, wanted, (whole_table, 0), options, relaxed))
    best, value = min(climbs, key=lambda one: one[1])
    return _tight(people, best, (*remarks, _reached(options.objective, value)))


def _aimed(
    people: Population, wanted: Requirement, start: tuple[Codes, int], options: Options, relaxed: bool
) -> tuple[Codes, float]:
    """The groups that the climb finds from a start, with at most so many rows suppressed; and what they cost."""
    first, limit = start
    return aimed_cuts(
        first,
        lambda factors: in_parts(people.columns, wanted, limit, _cutter(options, relaxed, factors)),
        lambda group: grouping_cost(people.columns, group, options.objective, people.table.rows),
        len(people.columns),
    )


def _cutter(options: Options, relaxed: bool, factors: Reals | None = None) -> Recoder:
    return lambda *part: _cut(*part, options=options, relaxed=relaxed, factors=factors).group


def _cut(
    columns: Sequence[QuasiColumn],
    wanted: Requirement,
    most: int,
    *,
    options: Options,
    relaxed: bool = False,
    factors: Reals | None = None,
) -> MondrianResult:
    options.progress.check()
    if not most:
        return mondrian(columns, wanted, relaxed=relaxed, seed=options.seed, factors=factors)
    return mondrian_without_outliers(
        columns, wanted, limit=most, relaxed=relaxed, seed=options.seed, factors=factors, objective=options.objective
    )


def _reached(objective: str, value: float) -> Remark:
    return Remark.of("objective", "{objective} is {value:.6g}.", objective=objective, value=value)


def _tight(people: Population, group: Codes, remarks: tuple[Remark, ...] = ()) -> Groups:
    """The published groups with tight cells."""
    cells = people.cells(group, lambda columns, own: tight_cells([grounded(c) for c in columns], own))
    return Groups(
        people.published(group),
        _named(people.columns, cells),
        remarks=remarks,
        persons=people.persons(group),
        outside=people.outside(group),
    )


def _relaxed(table: Table, criteria: Sequence[Any], options: Options) -> Groups:
    return _mondrian(table, criteria, options, relaxed=True)


def _local(table: Table, criteria: Sequence[Any], options: Options) -> Groups:
    people = Population.of(table, criteria)
    refuse_levels_missing(people.columns, options.objective)
    limit = _limit(table, people, options)

    def recoded(objective: str) -> Recoder:
        return lambda columns, wanted, most: (
            local_recoding(
                columns,
                wanted,
                passes=options.passes,
                suppression_limit=most,
                seed=options.seed,
                objective=objective,
                progress=options.progress,
            ).group
        )

    wanted, aim = people.requirement(suppress=limit), options.objective
    first = in_parts(people.columns, wanted, limit, recoded("loss"))
    if aim == "loss":
        return _tight(people, first)
    ways = [(aim, recoded(aim))]
    if aim in BY_CLASSES:  # few bits open often mean small classes; relaxed cuts leave at most 2k − 1 records
        ways += [("entropy", recoded("entropy")), *((aim, _cutter(options, relaxed)) for relaxed in (True, False))]
    found = [first]
    for measure, way in ways:
        with suppress(InputError):  # the usual way has an answer
            found.append(in_parts(aimed(people.columns, measure), wanted, limit, way))
    best, value = cheapest(people.columns, found, aim, table.rows)
    return _tight(people, best, (_reached(aim, value),))


def _limit(table: Table, people: Population, options: Options) -> int:
    """Rows that may be suppressed: none where persons of a population take part, of whom nobody is published."""
    return 0 if people.added else min(options.suppression_limit, table.rows - 1)


def _full_domain(table: Table, criteria: Sequence[Any], options: Options) -> Groups:
    people = Population.of(table, criteria)
    limit = min(options.suppression_limit, table.rows - 1)  # a release publishes somebody
    try:
        found = full_domain(
            people.columns,
            people.requirement(suppress=limit),
            suppression_limit=limit,
            objective=options.objective,
        )
    except InputError:
        people.requirement()  # says more where the table itself is the reason
        raise
    group = people.published(found.group)
    cells = people.cells(found.group, lambda columns, own: level_cells(columns, found.levels, own))
    levels = {c.name: int(level) for c, level in zip(table.columns, found.levels, strict=True)}
    words = "Levels: {levels}; {checked} of {nodes} nodes looked at."
    if not found.optimal:
        words = "Levels: {levels}; the lattice is too large to prove that no other node loses less."
    figures: dict[str, Any] = {"checked": found.checked, "nodes": found.nodes, "optimal": found.optimal}
    if options.objective != "loss":
        words += " {objective} is {value:.6g}."
        figures |= {"objective": options.objective, "value": found.loss}
    remark = Remark.of("levels", words, levels=Frozen(levels), **figures)
    return Groups(
        group,
        _named(table.columns, cells),
        {"levels": levels},
        (remark,),
        people.persons(found.group),
        people.outside(found.group),
    )


def _anatomy(table: Table, criteria: Sequence[Any], options: Options) -> Groups:
    most = table.rows + 1  # more values than that, or infinitely many, are out of reach alike
    l = max(int(min(np.ceil(_l_of(c)), most)) for c in criteria)
    found = anatomy(
        table.value, l, seed=options.seed, suppression_limit=options.suppression_limit, names=table.values.to_list()
    )
    return Groups(found.group)


def _l_of(criterion: Any) -> float:
    return float(criterion.m if isinstance(criterion, MUniqueness) else criterion.l)


def _mdav(table: Table, criteria: Sequence[Any], options: Options) -> Groups:  # noqa: ARG001
    features = [_feature(c, table) for c in table.columns]
    found = mdav(features, max(c.k for c in criteria))
    cells: dict[str, Sequence[Any]] = {}
    for feature, column in zip(features, table.columns, strict=True):
        middle = centroids(feature, found.group)
        cells[column.name] = middle.tolist() if feature.kind == "numeric" else [column.labels[int(c)] for c in middle]
    remark = Remark.of("information loss", "Information loss {loss:.4f} % (SSE/SST).", loss=float(found.loss))
    return Groups(found.group, cells, remarks=(remark,))


def _feature(column: QuasiColumn, table: Table) -> Feature:
    if column.values is not None and column.shown != "set":
        return Feature(column.name, column.values[column.codes], "numeric", column.weight)
    kind = "ordinal" if table.shape.shown.get(column.name) == "ordinal" else "nominal"  # type: ignore[comparison-overlap]
    return Feature(column.name, column.codes, kind, column.weight)  # type: ignore[arg-type]


def _xcolor(table: Table, criteria: Sequence[Any], options: Options) -> Groups:
    near = [c for c in criteria if isinstance(c, Dissimilarity)]
    if len(near) != 1:
        raise InputError("XColor enforces one (ε,δ)^k-dissimilarity: give exactly one.")
    wanted = near[0]
    k = max([wanted.k, *(c.k for c in criteria if isinstance(c, KAnonymity))])
    order = np.lexsort([c.rank[c.codes] for c in table.columns[::-1]])
    found = xcolor(_proximity(table, wanted), k, wanted.delta, order=order, strict=wanted.strict, seed=options.seed)
    promise = "is guaranteed" if found.guaranteed else "was not guaranteed"
    remark = Remark.of(
        "colouring",
        "Relaxed equitable colouring: {near_pairs} near pairs, at most {most_of_one_row} of one row, {allowed} allowed "
        f"in a group; success {promise} beforehand; {{exchanges}} exchanges; "
        "{remaining:row remains|rows remain} with too many near values.",
        near_pairs=found.edges,
        most_of_one_row=found.max_degree,
        allowed=found.allowed,
        guaranteed=found.guaranteed,
        exchanges=found.swaps,
        remaining=found.violations.size,
    )
    return Groups(found.group, remarks=(remark,))


def _proximity(table: Table, criterion: Dissimilarity) -> Proximity:
    """Near values as the criterion understands them."""
    if criterion.metric == "numeric":
        return NumericProximity(numbers_of(table.values)[table.value], criterion.epsilon)
    size = table.values.len()
    if size > 4000:
        raise InputError(f"A metric other than numbers is looked up by pairs of values; {size} values are too many.")
    a, b = np.meshgrid(np.arange(size, dtype=np.int32), np.arange(size, dtype=np.int32), indexing="ij")
    near = close_by(criterion.metric, table.values, criterion.epsilon, size)(a.ravel(), b.ravel()).reshape(size, size)
    near |= np.eye(size, dtype=bool)
    return ValueProximity(table.value, near | near.T)


def _named(columns: Sequence[QuasiColumn], cells: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
    return {column.name: texts for column, texts in zip(columns, cells, strict=True)}


METHODS = {
    m.name: m
    for m in (
        Method("mondrian", "generalized", _SIZES_AND_SHARES, _mondrian, levels=True, objectives=OBJECTIVES),
        Method("mondrian-relaxed", "generalized", _SIZES_AND_SHARES, _relaxed, levels=True, objectives=OBJECTIVES),
        Method("local-recoding", "generalized", _SIZES_AND_SHARES, _local, levels=True, objectives=OBJECTIVES),
        Method("full-domain", "generalized", _SIZES_AND_SHARES, _full_domain, levels=True, objectives=OBJECTIVES),
        Method(
            "anatomy", "bucketized", (DistinctLDiversity, FrequencyLDiversity, EntropyLDiversity, MUniqueness), _anatomy
        ),
        Method("mdav", "microaggregated", (KAnonymity,), _mdav),
        Method("xcolor", "bucketized", (KAnonymity, Dissimilarity), _xcolor),
    )
}
