"""Rows that nobody of a register can fill: they belong to members whom the register does not know.

Located by quasi-identifiers, as many persons of a register are taken to be in a release as fit. Where
another release leaves a value of a group to none of them, that was too many: the row is a stranger's,
and one of the persons whose presence is not known may be outside. It is a contradiction only if the
release itself, or what is known of presence, says who is in the group.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from showthrough.errors import ContradictionError
from showthrough.inference.history import History, encode
from showthrough.inference.problem import Problem, build, orphan_rows, refuse_orphan_rows
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.table.arrays import Ints
from showthrough.table.frozen import Frozen


def placed(history: History) -> tuple[History, Problem, Ints]:
    """The problem of a history in which every row can be filled, by persons or by strangers."""
    while True:
        history, problem, of_person = build(history)
        orphans = orphan_rows(problem)
        if not orphans.size:
            return history, problem, of_person
        reader = _with_strangers(history, problem, orphans)
        if reader is None:
            refuse_orphan_rows(history, problem)
            continue
        try:
            history = encode(history.releases, changed=history.changed, reader=reader)
        except ContradictionError:  # who is known to be present needs the room
            refuse_orphan_rows(history, problem)


def _with_strangers(history: History, problem: Problem, orphans: Ints) -> Reader | None:
    """The reader who takes orphans of located releases for rows of strangers; None if there are none.

    Orphans of other releases may be due to persons who were taken to be in a located one, and vanish.
    """
    reader, strangers = history.reader, dict(history.reader.leeway.strangers)
    if history.statements is not None or history.prior is not None or history.row_upper is not None:
        return None  # such a history was not made from releases and a reader alone
    for r in np.unique(problem.row_release[orphans]).tolist():
        release, name = history.releases[r], history.names[r]
        by_register = isinstance(release, Release) and release.roles.id is None and reader.register is not None
        if not by_register and name not in reader.membership:
            continue
        mine = orphans[problem.row_release[orphans] == r]
        more = np.bincount(
            history.row_group[mine] - history.first_group[r],
            weights=history.row_count[mine],
            minlength=history.labels[r].len(),
        ).astype(np.int64)
        known = np.array(strangers.get(name, np.zeros(more.size)), dtype=np.int64)
        strangers[name] = tuple((known + more).tolist())
    if strangers == reader.leeway.strangers:
        return None
    return replace(reader, leeway=replace(reader.leeway, strangers=Frozen(strangers)))
