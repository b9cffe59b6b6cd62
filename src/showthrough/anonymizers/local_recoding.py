"""Local recoding: gather near records into groups, then improve the groups block by block.

1. Records that occur often enough to satisfy the requirement as they are stay exact.
2. The rest starts from the best of a few groupings (``first_groups.py``): sweeps over the generalization lattice,
   and growth from the densest places.
3. Passes of ruin and recreate (Schrimpf et al., J. Comput. Phys. 2000; ``regrouping.py``): neighbouring
   groups, each time neighbours in another sense, are taken apart and grown anew; whichever grouping
   loses less stays.

A step never raises the loss and never breaks the requirement, so every number of passes is valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from showthrough.anonymizers.first_groups import first_groups
from showthrough.anonymizers.k_member import density
from showthrough.anonymizers.quasi_columns import QuasiColumn, distinct_rows, row_count
from showthrough.anonymizers.regrouping import Regrouping
from showthrough.anonymizers.regrow import Records
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from showthrough.progress import Progress
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import ranks

PASSES = 30
"""Most passes."""
WINDOW = 3
"""Passes that must have won something together."""
PAYS = (0.001, 0.01)
"""The part of the loss that they must have won: with k alone, and with a criterion on values, where passes are dear."""


@dataclass(frozen=True)
class LocalRecodingResult:
    """Group of each row (-1: suppressed), how many records stayed exact, and the loss Σ |G|·Σ NCP before and after
    the passes.
    """

    group: Codes
    groups: int
    exact: int
    passes: int
    start_loss: float
    loss: float
    suppressed: int = 0


def local_recoding(
    columns: Sequence[QuasiColumn],
    requirement: Requirement,
    *,
    passes: int | None = None,
    suppression_limit: int = 0,
    seed: int = 0,
    objective: str = "loss",
    progress: Progress | None = None,
) -> LocalRecodingResult:
    """Groups of near records that satisfy the requirement; at most ``suppression_limit`` records are in none.

    Without a number of passes there are none where loss counts and all columns are published by labels (they win next
    to nothing beyond a sweep), otherwise as many as pay: until 3 of them have won less than 0.1 % (1 % with a criterion
    on values), and 30 at most. The objective chooses among the starts; what cells cost is said by the columns.
    """
    rows, tell, limit = row_count(columns), progress or Progress(), suppression_limit
    if rows < requirement.k:
        raise InputError(f"k = {requirement.k} is larger than the table ({rows} rows): lower k or add rows.")
    if not limit and not requirement.met(np.zeros(rows, dtype=np.int64), 1)[0]:
        raise InputError("The table as one group does not satisfy the requirement, so no grouping can be made of it.")
    group, rest = _exact(columns, requirement)
    offset, exact = int(group.max()) + 1, rows - len(rest)
    if not len(rest):
        return LocalRecodingResult(group, offset, exact, 0, 0.0, 0.0)
    generator = np.random.default_rng(seed)
    part = [replace(column, codes=column.codes[rest]) for column in columns]
    records = Records.of(part, requirement.part(rest))
    near = density(part, generator)
    first = first_groups(part, records, near, limit=limit, seed=seed, objective=objective, progress=tell)
    if first is None:
        raise InputError(
            f"Not even without {limit} rows a grouping satisfies the requirement: weaken it or allow more "
            "suppressed rows."
        )
    kept = np.flatnonzero(first >= 0)
    if len(kept) < len(rest):
        rest, part = rest[kept], [replace(column, codes=column.codes[kept]) for column in part]
    if not len(rest):
        return LocalRecodingResult(group, offset, exact, 0, 0.0, 0.0, rows - exact)
    work = Regrouping(part, requirement.part(rest), first[kept], generator)
    lost = _improved(work, passes, tell)
    group[rest] = work.group + offset
    return LocalRecodingResult(
        group, offset + len(work.size), exact, len(lost) - 1, lost[0], work.total, rows - exact - len(rest)
    )


def _improved(work: Regrouping, passes: int | None, progress: Progress) -> list[float]:
    """Make the passes; the loss before and after each."""
    labels = all(column.shown == "label" and column.measure == "loss" for column in work.columns)
    most = passes if passes is not None else 0 if labels else PASSES
    pays = PAYS[0] if work.requirement.plain else PAYS[1]
    lost = [work.total]
    for number in range(most):
        progress.stage(f"local-recoding: {number} of {most}")
        work.improve(number)
        lost.append(work.total)
        if passes is None and number + 1 >= WINDOW and lost[-1] > (1 - pays) * lost[-1 - WINDOW]:
            break
    return lost


def _exact(columns: Sequence[QuasiColumn], requirement: Requirement) -> tuple[Codes, Ints]:
    """Groups of equal records that satisfy the requirement as they are (-1: none), and the rows that remain."""
    _, inverse, count = distinct_rows(columns)
    met = requirement.met(inverse, len(count))
    while True:
        number = ranks(met).astype(np.int32)
        rest = np.flatnonzero(~met[inverse])
        kept = np.flatnonzero(met)
        alone = not len(rest) or requirement.part(rest).met(np.zeros(len(rest), dtype=np.int64), 1)[0]
        if alone or not len(kept):
            return np.where(met, number, -1).astype(np.int32)[inverse], rest
        # what remains could not stand alone: give back the smaller half of the exact groups
        met[kept[np.argsort(count[kept], kind="stable")][: (len(kept) + 1) // 2]] = False
