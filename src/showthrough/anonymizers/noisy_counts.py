"""The method dp-counts: tables of counts over declared cells, with noise that promises differential privacy.

The promise covers the release: raw noisy counts over cells that were declared beforehand, and what was made from them.
What the publisher is told beside it says nothing of the records either, but for errors, which publish nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers import tidied
from showthrough.anonymizers.declared_domain import CountedColumn, counted, declared_axes, refuse_huge
from showthrough.anonymizers.made import Made
from showthrough.anonymizers.noise_remarks import noise_remarks
from showthrough.anonymizers.noise_source import scale_for, with_noise
from showthrough.anonymizers.table import Shape, Table, prepare
from showthrough.dp.items import MOST_EPSILON
from showthrough.errors import InputError, ParameterError
from showthrough.release.columns import table_of
from showthrough.release.noise import (
    Law,
    Marginal,
    known_mechanism,
    known_neighbours,
    positive,
    probability,
)
from showthrough.release.release import Release
from showthrough.table.arrays import Reals
from showthrough.table.hierarchy import Hierarchy

DP_COUNTS = "dp-counts"
MOST_TABLES = 1000


@dataclass(frozen=True)
class PrivacyBudget:
    """What may be spent, and how: on all tables together, shared among them."""

    epsilon: float
    delta: float
    mechanism: str
    neighbours: str

    @classmethod
    def of(cls, epsilon: Any, delta: Any, mechanism: Any, neighbours: Any) -> PrivacyBudget:
        """Checked: a mechanism with a δ that fits it."""
        if epsilon is None:
            raise ParameterError("dp-counts spends a budget: say how much with epsilon=.", parameters=("epsilon",))
        found = cls(
            positive("epsilon", epsilon, high=MOST_EPSILON), probability("delta", delta), known_mechanism(mechanism),
            known_neighbours(neighbours),
        )  # fmt: skip
        pure = Law(found.mechanism, 1.0).exponential
        if pure and found.delta:
            raise ParameterError(
                f"{found.mechanism} noise keeps its promise with delta = 0: leave delta out, or take gaussian or "
                "discrete-gaussian.",
                parameters=("delta", "mechanism"),
            )
        if not pure and not found.delta:
            raise ParameterError(
                f"{found.mechanism} noise promises nothing with delta = 0: give a small delta, such as 1e-9, or take "
                "geometric or laplace.",
                parameters=("delta", "mechanism"),
            )
        return found

    def shared(self, wanted: Sequence[tuple[tuple[str, ...], float]]) -> tuple[Marginal, ...]:
        """One table for each set of columns, with its share of the budget and the noise that keeps it."""
        total = sum(share for _, share in wanted)
        made, known = [], {}
        for quasi, share in wanted:
            part = share / total
            if part not in known:
                own = (self.mechanism, self.epsilon * part, self.delta * part, self.neighbours)
                known[part] = scale_for(*own)
            made.append(Marginal(quasi, self.epsilon * part, self.delta * part, known[part]))
        return tuple(made)


@dataclass(frozen=True, eq=False)
class Counting:
    """What is to be counted: a table, the declared cells of its columns, and the columns of each table of counts."""

    table: Table
    axes: Mapping[str, CountedColumn]
    wanted: Sequence[tuple[tuple[str, ...], float]]
    trees: Mapping[str, Hierarchy]
    missing: str

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        roles: tuple[str | None, str | None, Sequence[str] | None],
        domain: Mapping[str, Any] | None,
        marginals: Sequence[Any] = (),
        shape: Shape,
    ) -> Counting:
        """Checked: every record in one cell, and no more cells than can be published. Nothing is counted yet."""
        id, sensitive, quasi = roles
        if sensitive is None:
            raise InputError("A table of noisy counts needs a sensitive column.", parameters=("sensitive",))
        ready = prepare(table, id=id, sensitive=sensitive, quasi=quasi, shape=replace(shape, hierarchies={}))
        axes = declared_axes(ready.frame, [*ready.quasi, sensitive], domain, shape.hierarchies)
        wanted = _wanted(marginals, ready.quasi)
        refuse_huge([[*(axes[c] for c in own), axes[sensitive]] for own, _ in wanted])
        return cls(ready, axes, wanted, shape.hierarchies, shape.missing)

    @property
    def sensitive(self) -> str:
        """The column of values."""
        assert self.table.sensitive is not None
        return self.table.sensitive


def noisy_counts(asked: Counting, budget: PrivacyBudget, *, name: str = "") -> Release:
    """A noisy release of the table: value by quasi-identifiers, or by some of them in each of several tables."""
    ready, sensitive = asked.table, asked.sensitive
    tables = budget.shared(asked.wanted)
    counts = {(*m.quasi, sensitive): _noisy(m, budget, asked.axes, sensitive) for m in tables}
    frame, steps = _rows(ready, asked.axes, counts, tables, budget)
    several = [{**vars(m), "quasi": list(m.quasi)} for m in tables]
    release = Release.noisy(
        frame,
        sensitive=sensitive,
        quasi=list(ready.quasi),
        mechanism=budget.mechanism,
        scale=None if len(tables) > 1 else tables[0].scale,
        neighbours=budget.neighbours,
        epsilon=budget.epsilon,
        delta=budget.delta,
        marginals=several if len(tables) > 1 or tables[0].quasi != ready.quasi else (),
        count=ready.count_label,
        processed=steps,
        name=name,
        parameters={"method": DP_COUNTS},
        hierarchies={c: tree for c, tree in asked.trees.items() if c in ready.quasi},
    )
    release = replace(release, domain=tuple(asked.axes[sensitive].cells.to_list()))
    remarks = noise_remarks(release, left_out=asked.missing == "suppress")
    return replace(release, made=Made(DP_COUNTS, None, 0, 0, (), None, remarks))


def _wanted(marginals: Any, quasi: tuple[str, ...]) -> list[tuple[tuple[str, ...], float]]:
    """The columns of each table and its share; without any, one table of all columns."""
    if isinstance(marginals, (str, bytes, Mapping)) or not isinstance(marginals, Sequence):
        raise ParameterError("marginals is a list of lists of columns.", parameters=("marginals",))
    if len(marginals) > MOST_TABLES:
        raise ParameterError(f"Up to {MOST_TABLES} marginals are published.", parameters=("marginals",))
    found = [_one_wanted(entry, quasi) for entry in marginals] or [(quasi, 1.0)]
    if len({frozenset(own) for own, _ in found}) < len(found):
        raise ParameterError("marginals names the same columns twice.", parameters=("marginals",))
    return found


def _one_wanted(entry: Any, quasi: tuple[str, ...]) -> tuple[tuple[str, ...], float]:
    columns, share = entry, 1.0
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], (list, tuple)):
        columns, share = entry[0], positive("The share of a marginal", entry[1])
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise ParameterError(
            "Each of marginals lists columns, or is a pair of a list of columns and its share.",
            parameters=("marginals",),
        )
    own = tuple(map(str, columns))
    strange = [c for c in own if c not in quasi]
    if strange or len(set(own)) < len(own):
        raise ParameterError(
            f"marginals lists {strange[0]!r}, which is none of the quasi-identifiers."
            if strange
            else "A marginal lists a column twice.",
            parameters=("marginals",),
        )
    return tuple(c for c in quasi if c in own), share


def _noisy(table: Marginal, budget: PrivacyBudget, axes: Mapping[str, CountedColumn], sensitive: str) -> Any:
    own = [*(axes[c] for c in table.quasi), axes[sensitive]]
    found = with_noise(counted(own), Law(budget.mechanism, table.scale))
    return np.asarray(found).reshape([axis.size for axis in own])


def _rows(
    ready: Table,
    axes: Mapping[str, CountedColumn],
    counts: Mapping[tuple[str, ...], Reals],
    tables: Sequence[Marginal],
    budget: PrivacyBudget,
) -> tuple[pl.DataFrame, list[str]]:
    """The published rows: the noisy counts, and those made from them step by step, each in a column with its name."""
    label = ready.count_label
    raw = {own: found.astype(np.float64) for own, found in counts.items()}
    steps: dict[str, Mapping[tuple[str, ...], Any]] = {}
    if len(raw) > 1:
        spread = {own: Law(budget.mechanism, m.scale).variance or 1.0 for own, m in zip(raw, tables, strict=True)}
        raw = tidied.consistent(raw, spread)
        steps[f"{label}_consistent"] = raw
    raw = {own: tidied.nonnegative(found) for own, found in raw.items()}
    steps[f"{label}_nonnegative"] = raw
    steps[f"{label}_integer"] = {own: tidied.whole(found) for own, found in raw.items()}
    parts = []
    for own, found in counts.items():
        place = np.unravel_index(np.arange(found.size), found.shape)
        at = dict(zip(own, place, strict=True))
        shown = {c: _cells(axes[c], at.get(c), found.size) for c in ready.quasi}
        values = axes[own[-1]].cells.gather(at[own[-1]])
        made = {step: pl.Series(np.asarray(tidy[own], dtype=np.float64).ravel()) for step, tidy in steps.items()}
        parts.append(table_of({**shown, own[-1]: values, label: pl.Series(found.ravel()), **made}))
    return pl.concat(parts), list(steps)


def _cells(axis: CountedColumn, place: Any, rows: int) -> pl.Series:
    if place is None:
        return pl.Series([None] * rows, dtype=pl.String)
    return axis.cells.cast(pl.String).gather(place)
