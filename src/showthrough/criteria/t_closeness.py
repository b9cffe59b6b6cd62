"""t-closeness: the values of every group are distributed like those of the table.

Li, Li, Venkatasubramanian, *t-Closeness: Privacy Beyond k-Anonymity and l-Diversity*, ICDE 2007.
The distance is the earth mover's distance with one of three ground distances between values. A
group mentions few of the values, so every distance is summed over the entries of the group alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Criterion, at_most, text
from showthrough.criteria.ground import metric_of, tree
from showthrough.criteria.parameters import number, word
from showthrough.errors import InputError, ParameterError
from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.ragged import ranks, running


@dataclass(frozen=True)
class TCloseness(Criterion):
    """The distribution of values in every group is at most ``t`` from that of the table.

    ``distance``: ``equal`` (all values equally far), ``ordered`` (by rank among the table's
    values) or a hierarchy (a `Hierarchy`, the path of an ARX file, or a nested dict). ``reference``: ``all`` rows of
    the table, as ARX compares, or those ``kept`` in groups, as pyCANON does.
    """

    t: float
    distance: Any = "equal"
    reference: str = "all"
    name: ClassVar[str] = "t-closeness"
    citation: ClassVar[str] = "Li, Li, Venkatasubramanian, ICDE 2007"
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.name, "t", self.t, least=0, most=1)
        word("reference", self.reference, ("all", "kept"))
        if isinstance(self.distance, str) and self.distance not in ("equal", "ordered"):
            raise ParameterError(
                f"The distance is 'equal', 'ordered' or a hierarchy, not {self.distance!r}.", parameters=("distance",)
            )
        object.__setattr__(self, "distance", metric_of(self.distance))

    def __str__(self) -> str:
        how = self.distance if isinstance(self.distance, str) else "hierarchical"
        return f"{text(self.t)}-closeness ({how} distance, {self.reference} rows)"

    def level(self, counts: GroupCounts) -> Reals:
        """The earth mover's distance of each group from the table."""
        if counts.groups == 0:
            return np.zeros(0)
        q = counts.reference(self.reference)
        if not isinstance(self.distance, str):
            return hierarchical_distance(counts, q, tree(self.distance, counts.labels))
        return equal_distance(counts, q) if self.distance == "equal" else ordered_distance(counts, q)

    def met(self, level: Reals) -> Flags:
        """At most t."""
        return at_most(level, self.t)

    def says(self, level: float) -> str:
        """The largest distance."""
        rows = "all rows" if self.reference == "all" else "the kept rows"
        return f"The values of a group are at most {text(level)} away from those of {rows}."


def equal_distance(counts: GroupCounts, q: Reals) -> Reals:
    """½ Σ |p − q| = Σ (p − q)⁺: the values that a group lacks need no term."""
    gain = counts.share - q[counts.value]
    np.maximum(gain, 0.0, out=gain)
    found: Reals = counts.sums(gain)
    return found


def ordered_distance(counts: GroupCounts, q: Reals) -> Reals:
    """1/(m − 1) · Σ_i |Σ_{j≤i} (p_j − q_j)| over the m values that the reference holds, in order.

    Between two entries of a group the sum of p stands still while that of q grows, so the terms
    change their sign at most once there: each stretch is two differences of running sums.
    """
    rank, m = ranks(q > 0), int(np.count_nonzero(q > 0))
    if (q[counts.value] == 0).any():
        raise InputError("Some group holds a value that the reference table lacks: there is no order to compare by.")
    if m < 2:
        return np.zeros(counts.groups)
    Q = np.cumsum(q[q > 0])
    sums = running(Q)
    entry = rank[counts.value]
    done = np.cumsum(counts.count)
    before = np.repeat(done[counts.start[1:] - 1] - counts.size, counts.distinct)
    P = (done - before) / np.repeat(counts.size, counts.distinct)
    stop = np.append(entry[1:], m)
    stop[counts.start[1:] - 1] = m
    turn = np.clip(np.searchsorted(Q, P), entry, stop)
    below = P * (turn - entry) - (sums[turn] - sums[entry])
    above = (sums[stop] - sums[turn]) - P * (stop - turn)
    first = sums[entry[counts.start[:-1]]]
    found: Reals = (counts.sums(below + above) + first) / (m - 1)
    return found


def hierarchical_distance(counts: GroupCounts, q: Reals, levels: list[Ints]) -> Reals:
    """Σ over inner nodes of height/H · min(surplus, lack) among their children, height counted from the leaves.

    A node that a group does not reach has no surplus, and what its children lack is settled
    higher up, so only nodes with entries of the group matter.
    """
    H = len(levels)
    group, node = counts.group, counts.value.astype(np.int64)
    p, mass = counts.share, q
    cost = np.zeros(counts.groups)
    child = np.arange(counts.values)
    for h, ancestor in enumerate(levels, start=1):
        nodes = int(ancestor.max()) + 1
        up = np.zeros(int(child.max()) + 1, dtype=np.int64)
        up[child] = ancestor
        surplus = np.maximum(p - mass[node], 0.0)
        key, inverse = np.unique(group * nodes + up[node], return_inverse=True)
        mass = sum_by(up, mass, nodes)
        p, surplus = sum_by(inverse, p, key.size), sum_by(inverse, surplus, key.size)
        group, node = np.divmod(key, nodes)
        lack = surplus - (p - mass[node])
        cost += sum_by(group, h / H * np.maximum(np.minimum(surplus, lack), 0.0), counts.groups)
        child = ancestor
    return cost
