"""The methods by name: what each publishes, which criteria it can enforce, and how it groups rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from showthrough.anonymizers.anatomy import anatomy, too_frequent
from showthrough.anonymizers.columns import QuasiColumn
from showthrough.anonymizers.describe import level_cells, recursion_cells, tight_cells
from showthrough.anonymizers.full_domain import full_domain
from showthrough.anonymizers.local_recoding import local_recoding
from showthrough.anonymizers.mdav import Feature, centroids, mdav
from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.population import Population
from showthrough.anonymizers.proximity import NumericProximity, Proximity, ValueProximity
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.table import Table
from showthrough.anonymizers.xcolor import xcolor
from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.beta_likeness import BetaLikeness
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Checked
from showthrough.criteria.delta_disclosure import DeltaDisclosure
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.ground import numbers_of, within
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
from showthrough.inference.arrays import Codes, Flags, Ints

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """What the caller chose beyond the criteria."""

    seed: int = 0
    suppression_limit: int = 0  # rows
    cells: str = "tight"  # or "recursion": cells that cover the whole space
    passes: int = 40
    strict: bool = True
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Grouped:
    """Group of each row (−1: suppressed), the cells of each group, and what the method says of itself."""

    group: Codes
    cells: Mapping[str, Sequence[Any]] | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    persons: Ints | None = None  # of the population in each group, where a criterion asks for them


@dataclass(frozen=True)
class Method:
    """A way to anonymize."""

    name: str
    kind: str
    enforces: tuple[type[Checked], ...]
    run: Callable[[Table, Sequence[Any], Options], Grouped]


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
)


def requirement(table: Table, criteria: Sequence[Any]) -> Requirement:
    """Criteria on sizes and shares as one requirement."""
    k = max([1, *(c.k for c in criteria if isinstance(c, (KAnonymity, AlphaKAnonymity)))])
    others = [c for c in criteria if not isinstance(c, KAnonymity)]
    if not others:
        return Requirement(k)

    def allowed(counts: GroupCounts) -> Flags:
        named = replace(counts, labels=table.values)
        met = np.ones(counts.groups, dtype=bool)
        for criterion in others:
            met &= criterion.met(criterion.level(named))
        return met

    found = Requirement(k, table.value, allowed)
    whole = found.judge(np.zeros(table.rows, dtype=np.int64), table.value, 1)
    if table.rows >= k and not whole[0]:
        raise out_of_reach(table, others)
    return found


def out_of_reach(table: Table, criteria: Sequence[Any]) -> InputError:
    """Say which criterion the table itself fails, which value is too frequent and what would do."""
    counts = GroupCounts.from_rows(np.zeros(table.rows, dtype=np.int64), table.value, values=table.values.len())
    counts = replace(counts, labels=table.values)
    failing = next(c for c in criteria if not c.met(c.level(counts))[0])
    level = float(failing.level(counts)[0])
    top = int(table.counts.argmax())
    share = table.counts[top] / table.rows
    return InputError(
        f"No grouping of this table satisfies {failing}: the table as one group reaches {level:.4g}. Its most frequent "
        f"value, {table.values[top]!r}, makes up {100 * share:.1f} % of the {table.rows} rows. Weaken the criterion to "
        f"{level:.4g}, or leave out rows with that value."
    )


def _mondrian(table: Table, criteria: Sequence[Any], options: Options, *, relaxed: bool = False) -> Grouped:
    people = Population.of(table, criteria)
    found = mondrian(people.columns, people.requirement(), relaxed=relaxed, seed=options.seed)
    if options.cells == "recursion" and not relaxed and not people.added:
        whole = recursion_cells(table.columns, found.cell_low, found.cell_high)
        return Grouped(found.group, _named(table.columns, whole))
    group = people.published(found.group)
    notes = () if relaxed else ("Ranges are tight: their ends are values of real persons.",)
    cells = _named(table.columns, people.cells(found.group, tight_cells))
    return Grouped(group, cells, notes=notes, persons=people.persons(found.group))


def _relaxed(table: Table, criteria: Sequence[Any], options: Options) -> Grouped:
    return _mondrian(table, criteria, options, relaxed=True)


def _local(table: Table, criteria: Sequence[Any], options: Options) -> Grouped:
    people = Population.of(table, criteria)
    found = local_recoding(
        people.columns, people.requirement(), passes=options.passes, seed=options.seed, progress=options.progress
    )
    group = people.published(found.group)
    cells = _named(table.columns, people.cells(found.group, tight_cells))
    return Grouped(group, cells, persons=people.persons(found.group))


def _full_domain(table: Table, criteria: Sequence[Any], options: Options) -> Grouped:
    people = Population.of(table, criteria)
    found = full_domain(people.columns, people.requirement(), suppression_limit=options.suppression_limit)
    group = people.published(found.group)
    cells = people.cells(found.group, lambda columns, own: level_cells(columns, found.levels, own))
    levels = {c.name: int(level) for c, level in zip(table.columns, found.levels, strict=True)}
    told = ", ".join(f"{c} {level}" for c, level in levels.items())
    notes = (f"Levels: {told}; {found.checked} of {found.nodes} nodes looked at.",)
    return Grouped(group, _named(table.columns, cells), {"levels": levels}, notes, people.persons(found.group))


def _anatomy(table: Table, criteria: Sequence[Any], options: Options) -> Grouped:
    l = max(int(np.ceil(_l_of(c))) for c in criteria)
    frequent = too_frequent(table.value, l)
    if frequent.size and not options.suppression_limit:
        top = int(frequent[0])
        most = table.rows // int(table.counts[top])
        raise InputError(
            f"Anatomy with l = {l} needs every value in at most 1/{l} of the rows, but {table.values[top]!r} makes up "
            f"{table.counts[top]} of {table.rows}: l = {most} is possible, or let some of these rows be suppressed."
        )
    found = anatomy(table.value, l, seed=options.seed, suppression_limit=options.suppression_limit)
    return Grouped(found.group)


def _l_of(criterion: Any) -> float:
    return float(criterion.m if isinstance(criterion, MUniqueness) else criterion.l)


def _mdav(table: Table, criteria: Sequence[Any], options: Options) -> Grouped:  # noqa: ARG001
    features = [_feature(c, table) for c in table.columns]
    found = mdav(features, max(c.k for c in criteria))
    cells: dict[str, Sequence[Any]] = {}
    for feature, column in zip(features, table.columns, strict=True):
        middle = centroids(feature, found.group)
        cells[column.name] = middle.tolist() if feature.kind == "numeric" else [column.labels[int(c)] for c in middle]
    return Grouped(found.group, cells, notes=(f"Information loss {found.loss:.4f} % (SSE/SST).",))


def _feature(column: QuasiColumn, table: Table) -> Feature:
    if column.values is not None and column.shown != "set":
        return Feature(column.name, column.values[column.codes], "numeric", column.weight)
    kind = "ordinal" if table.shape.shown.get(column.name) == "ordinal" else "nominal"  # type: ignore[comparison-overlap]
    return Feature(column.name, column.codes, kind, column.weight)  # type: ignore[arg-type]


def _xcolor(table: Table, criteria: Sequence[Any], options: Options) -> Grouped:
    near = [c for c in criteria if isinstance(c, Dissimilarity)]
    if len(near) != 1:
        raise InputError("XColor enforces one (ε,δ)^k-dissimilarity: give exactly one.")
    wanted = near[0]
    k = max([wanted.k, *(c.k for c in criteria if isinstance(c, KAnonymity))])
    order = np.lexsort([c.rank[c.codes] for c in table.columns[::-1]])
    found = xcolor(_proximity(table, wanted), k, wanted.delta, order=order, strict=wanted.strict, seed=options.seed)
    promise = "is guaranteed" if found.guaranteed else "was not guaranteed"
    notes = (
        f"Relaxed equitable colouring: {found.edges} near pairs, at most {found.max_degree} of one row, "
        f"{found.allowed} allowed in a group; success {promise} beforehand; {found.swaps} exchanges; "
        f"{found.violations.size} rows remain with too many near values.",
    )
    return Grouped(found.group, notes=notes)


def _proximity(table: Table, criterion: Dissimilarity) -> Proximity:
    """Near values as the criterion understands them."""
    if criterion.metric == "numeric":
        return NumericProximity(numbers_of(table.values)[table.value], criterion.epsilon)
    size = table.values.len()
    if size > 4000:
        raise InputError(f"A metric other than numbers is looked up by pairs of values; {size} values are too many.")
    a, b = np.meshgrid(np.arange(size, dtype=np.int32), np.arange(size, dtype=np.int32), indexing="ij")
    near = within(criterion.metric, table.values, criterion.epsilon, size)(a.ravel(), b.ravel()).reshape(size, size)
    near |= np.eye(size, dtype=bool)
    return ValueProximity(table.value, near | near.T)


def _named(columns: Sequence[QuasiColumn], cells: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
    return {column.name: texts for column, texts in zip(columns, cells, strict=True)}


METHODS = {
    m.name: m
    for m in (
        Method("mondrian", "generalized", _SIZES_AND_SHARES, _mondrian),
        Method("mondrian-relaxed", "generalized", _SIZES_AND_SHARES, _relaxed),
        Method("local-recoding", "generalized", _SIZES_AND_SHARES, _local),
        Method("full-domain", "generalized", _SIZES_AND_SHARES, _full_domain),
        Method(
            "anatomy", "bucketized", (DistinctLDiversity, FrequencyLDiversity, EntropyLDiversity, MUniqueness), _anatomy
        ),
        Method("mdav", "microaggregated", (KAnonymity,), _mdav),
        Method("xcolor", "bucketized", (KAnonymity, Dissimilarity), _xcolor),
    )
}
