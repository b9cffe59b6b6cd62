"""Records trade places where that tells nobody anything, so that the cells of groups are narrower.

Two records with the same value, of whose persons readers believe the same, may stand in each other's group: every
group publishes what it did, and the beliefs about its members add up to the same. Newcomers are alike where their
value is, since nothing is known of them; so are those of whom readers are certain, wherever they were. For each kind
of records the places that it holds are given out anew, so that the groups widen least around everybody else in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import linear_sum_assignment

from showthrough.anonymizers.table import Table
from showthrough.republishing.extents import CellShapes
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.standing import Standing
from showthrough.table.arrays import Ints

ROUNDS = 4
MOST = 400  # records of a kind among which all places are weighed; of more, stretches of so many
_LEAST = 1e-6
_DIGITS = 7  # to which probabilities are alike


def traded(
    table: Table, past: Past, standing: Standing, proposal: Proposal, late: Callable[[], bool] = lambda: False
) -> Proposal:
    """The proposal after rounds of trades, as long as readers lose less by them."""
    trading = _Trading(CellShapes.of(table.columns), proposal.group.astype(np.int64))
    kinds = _kinds(table, past, standing, proposal)
    for _ in range(ROUNDS):
        gained = [trading.given_out(rows) for rows in kinds if not late()]
        if not any(gained):
            break
    return replace(proposal, group=trading.group.astype(np.int32))


def _kinds(table: Table, past: Past, standing: Standing, proposal: Proposal) -> list[Ints]:
    """Published records that may trade places, near ones one after the other."""
    place = np.lexsort([c.rank[c.codes] for c in table.columns[::-1]]) if table.columns else np.arange(table.rows)
    found: dict[tuple[int, bytes], list[int]] = {}
    for row in place[proposal.group[place] >= 0].tolist():
        found.setdefault((int(past.value[row]), _belief(standing, int(standing.person[row]))), []).append(row)
    parts = (np.array_split(np.array(rows), -(-len(rows) // MOST)) for rows in found.values() if len(rows) > 1)
    return [one for part in parts for one in part]


def _belief(standing: Standing, person: int) -> bytes:
    """What readers believe of somebody; nothing of newcomers."""
    if person < 0:
        return b""
    own = slice(int(standing.start[person]), int(standing.start[person + 1]))
    return standing.value[own].tobytes() + standing.p[own].round(_DIGITS).tobytes()


@dataclass(eq=False)
class _Trading:
    """The groups while records trade places."""

    cells: CellShapes
    group: Ints

    @cached_property
    def _members(self) -> list[Ints]:
        inside = np.flatnonzero(self.group >= 0)
        order = inside[np.argsort(self.group[inside], kind="stable")]
        return np.split(order, np.cumsum(np.bincount(self.group[inside]))[:-1])

    def given_out(self, rows: Ints) -> bool:
        """Give the places of some records out among themselves, if less is lost by it."""
        concerned = np.unique(self.group[rows])
        if concerned.size < 2:
            return False
        inside = np.concatenate([self._members[g] for g in concerned.tolist()])
        others = inside[~np.isin(inside, rows)]
        beside = self.cells.extents(others, self.group[others])
        at = beside.place(self.group[rows])
        movable, at = rows[at >= 0], at[at >= 0]  # groups of nobody else stay
        if np.unique(at).size < 2:
            return False
        wider = beside.taking(movable, np.arange(beside.number.size))
        then = self.group.copy()
        then[movable] = beside.number[at[linear_sum_assignment(wider[:, at])[1]]]
        gained = self.cells.extents(inside, self.group[inside]).loss - self.cells.extents(inside, then[inside]).loss
        if gained <= _LEAST:
            return False
        self.group = then
        order = inside[np.argsort(then[inside], kind="stable")]
        ends = np.cumsum(np.bincount(np.searchsorted(concerned, then[order]), minlength=concerned.size))[:-1]
        for g, members in zip(concerned.tolist(), np.split(order, ends), strict=True):
            self._members[g] = members
        return True
