"""The groups that local recoding starts from: the best of a few sweeps and growths.

Sweeps over the lattice (``lattice_sweep.py``) lose least where groups are published by labels, and always where a
criterion on values must hold; k-member growth (``k_member.py``) where ranges and sets cut groups to measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from showthrough.anonymizers.group_loss import group_losses
from showthrough.anonymizers.grouping_cost import grouping_cost
from showthrough.anonymizers.k_member import k_member
from showthrough.anonymizers.lattice import Lattice
from showthrough.anonymizers.lattice_sweep import Sweep, lattice_sweep
from showthrough.anonymizers.left_over_records import settle
from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.objectives import BY_CLASSES
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.regrow import Records
from showthrough.progress import Progress
from showthrough.table.arrays import Ints, Reals

WHOLE = (Sweep(0.003), Sweep(0.01), *(Sweep(share, by_values=True) for share in (0.01, 0.03, 0.1)))
"""Sweeps for k alone."""
PARTS = (Sweep(0.01, 0.1, relative=True), Sweep(0.01, 0.1))
"""Sweeps with a criterion on values."""
EARLY = Sweep(0.01, 0.1, until=0.3)
"""Instead of the second, where both make the same of classes that fail: a rare value is then worth more to others."""


def first_groups(
    columns: Sequence[QuasiColumn],
    records: Records,
    density: Reals,
    *,
    limit: int,
    seed: int,
    objective: str = "loss",
    progress: Progress,
) -> Ints | None:
    """The grouping with the least loss, or other objective; None if there is none with at most ``limit`` records in no
    group (-1).
    """
    found: list[tuple[float, int, Ints]] = []
    growth = objective != "loss" or any(column.shown != "label" for column in columns)
    for grouping in _groupings(columns, records, density, seed, progress, growth=growth):
        # a group of whoever is left may cost less than suppressing them
        for most in {0, limit}:
            settled = settle(columns, records, grouping, limit=most, progress=progress)
            if settled is not None:
                found.append((_lost(columns, settled, objective), len(found), settled))
    if found:
        return min(found)[2]
    whole = np.zeros(len(density), dtype=np.int64)
    if not records.requirement.met(whole, 1)[0]:
        return None
    return mondrian(columns, records.requirement).group.astype(np.int64)


def _lost(columns: Sequence[QuasiColumn], group: Ints, objective: str) -> float:
    """What the groups lose as published and, for labels, by the values really under them; suppressed rows lose all.

    Labels alone hardly tell groupings apart that differ much in how many values their groups mix.
    """
    gone = int(np.count_nonzero(group < 0))
    if objective in BY_CLASSES:
        return grouping_cost(columns, group.astype(np.int32), objective, len(group))
    readings = [columns]
    if objective == "loss" and any(column.shown == "label" for column in columns):
        readings.append([replace(column, shown="set") if column.shown == "label" else column for column in columns])
    total = 0.0
    for reading in readings:
        weight = np.array([column.weight for column in reading])
        size, losses = group_losses(reading, group)
        total += float(size @ (losses @ weight)) + gone * float(weight.sum())
    return total


def _groupings(
    columns: Sequence[QuasiColumn],
    records: Records,
    density: Reals,
    seed: int,
    progress: Progress,
    *,
    growth: bool,
) -> Iterator[Ints]:
    """Groupings of some of the records, one after the other."""
    plain = records.requirement.plain
    labels = [column.shown == "label" for column in columns]
    if any(labels) or not plain:
        # the order of nodes by loss often serves other objectives better than their own
        by_loss = [replace(column, measure="loss", often=None) for column in columns]
        for reading in [columns] if all(column.measure == "loss" for column in columns) else [columns, by_loss]:
            lattice = Lattice(reading, seed, plain=plain)
            found: list[Ints] = []
            for sweep in WHOLE if plain else PARTS:
                found.append(lattice_sweep(lattice, records.requirement, sweep, progress))
                if not plain and len(found) > 1 and np.array_equal(found[0], found[1]):
                    found[1] = lattice_sweep(lattice, records.requirement, EARLY, progress)
                yield found[-1]
    if growth:
        progress.check()
        by_size = sorted(columns, key=lambda column: column.size)
        # small domains first: records that share those values save most by staying together
        order = np.lexsort([column.rank[column.codes] for column in reversed(by_size)])
        yield k_member(columns, records.requirement, order, density)[0]
