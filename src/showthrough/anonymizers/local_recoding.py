"""Local recoding: gather near records into groups, then improve the groups block by block.

1. Records that occur often enough to satisfy the requirement as they are stay exact.
2. The rest is grown greedily from the densest places (``k_member.py``).
3. Passes of ruin and recreate (Schrimpf et al., J. Comput. Phys. 2000; ``regrouping.py``): neighbouring
   groups, each time neighbours in another sense, are taken apart and grown anew; whichever grouping
   loses less stays.

A step never raises the loss and never breaks the requirement, so every number of passes is valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from showthrough.anonymizers.quasi_columns import QuasiColumn, distinct_rows, row_count
from showthrough.anonymizers.regrouping import Regrouping
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from showthrough.progress import Progress
from showthrough.table.arrays import Codes, Ints
from showthrough.table.ragged import ranks

PASSES = 30
"""Passes with k alone."""
COSTLY = 40
"""Most passes with a criterion on values."""
WINDOW = 5
"""Passes that must have won something together."""


@dataclass(frozen=True)
class LocalRecodingResult:
    """Group of each row, how many records stayed exact, and the loss Σ |G|·Σ NCP before and after the passes."""

    group: Codes
    groups: int
    exact: int
    passes: int
    start_loss: float
    loss: float


def local_recoding(
    columns: Sequence[QuasiColumn],
    requirement: Requirement,
    *,
    passes: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LocalRecodingResult:
    """Groups of near records that satisfy the requirement; nothing is suppressed.

    Without a number of passes there are 30, or, where a criterion on values makes them dear, as many
    as pay: until 5 of them have won less than 1 %, and 40 at most.
    """
    rows = row_count(columns)
    if rows < requirement.k:
        raise InputError(f"k = {requirement.k} is larger than the table ({rows} rows): lower k or add rows.")
    if not requirement.met(np.zeros(rows, dtype=np.int64), 1)[0]:
        raise InputError("The table as one group does not satisfy the requirement, so no grouping can be made of it.")
    group, rest = _exact(columns, requirement)
    exact = rows - len(rest)
    if not len(rest):
        return LocalRecodingResult(group, int(group.max()) + 1, exact, 0, 0.0, 0.0)
    part = [replace(column, codes=column.codes[rest]) for column in columns]
    work = Regrouping(part, requirement.part(rest), np.random.default_rng(seed))
    work.start()
    start_loss = work.total
    most = passes if passes is not None else PASSES if requirement.plain else COSTLY
    lost = [start_loss]
    for number in range(most):
        if progress is not None:
            progress.stage(f"local-recoding: {number} of {most}")
        work.improve(number)
        lost.append(work.total)
        if passes is None and not requirement.plain and number >= WINDOW and lost[-1] > 0.99 * lost[-1 - WINDOW]:
            break
    offset = int(group.max()) + 1
    group[rest] = work.group + offset
    return LocalRecodingResult(group, offset + len(work.size), exact, len(lost) - 1, start_loss, work.total)


def _exact(columns: Sequence[QuasiColumn], requirement: Requirement) -> tuple[Codes, Ints]:
    """Groups of equal records that satisfy the requirement as they are, and the rows that remain for grouping."""
    _, inverse, count = distinct_rows(columns)
    met = requirement.met(inverse, len(count))
    while True:
        number = ranks(met).astype(np.int32)
        rest = np.flatnonzero(~met[inverse])
        if not len(rest) or requirement.part(rest).met(np.zeros(len(rest), dtype=np.int64), 1)[0]:
            return number[inverse], rest
        # what remains could not stand alone: give back the smaller half of the exact groups
        kept = np.flatnonzero(met)
        met[kept[np.argsort(count[kept], kind="stable")][: (len(kept) + 1) // 2]] = False
