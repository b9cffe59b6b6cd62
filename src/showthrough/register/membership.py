"""From candidates to who is in the release: as many persons of the register as fit.

The rules:

- A person known to be absent has no candidates.
- Groups are tied together by persons who fit several of them; such a *component* is looked at by
  itself. A group that ties to no other is a component of its own.
- As many persons are assumed to be in the release as fit: of all ways to put persons into groups they
  fit, no group holding more of them than it has rows, those with the most persons count. That number
  f is a maximum flow. Persons known to be present are all among them; if they cannot be, the
  register contradicts the release. (That some placement has them all *and* f persons is no extra
  condition: persons who can be placed together always extend to a largest such set.)
- If f is everybody in the component, nobody there may be outside the release. Otherwise everybody of
  unknown presence there may be, and so may everybody of unknown presence who fits no group.
- Rows left over, Σ rows − f, belong to people whom the register does not name: *anonymous* members of
  the component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.errors import ContradictionError, InputError
from showthrough.register.attribute import Candidates
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import alike, items_of, owners, starts

ABSENT, PRESENT = 0, 1  # -1: unknown


@dataclass(frozen=True)
class Membership:
    """The groups each person can be in, who can be outside, and how many members nobody names."""

    start: Ints  # [n + 1]
    group: Codes
    outside: Flags  # [n] being in no group is possible (or, for the absent, known)
    component_of_group: Ints  # [m]
    anonymous: Ints  # [components]

    def groups_of_component(self) -> tuple[Ints, Ints]:
        """Starts and groups of each component."""
        order = np.argsort(self.component_of_group, kind="stable")
        return starts(np.bincount(self.component_of_group, minlength=self.anonymous.size)), order


def membership(candidates: Candidates, *, rows: Ints, present: np.ndarray[tuple[int], np.dtype[np.int8]]) -> Membership:
    """Apply the rules to one release; ``rows`` are the sizes of its groups, ``present`` is 1, 0 or −1 (unknown)."""
    _check(candidates, rows, present)
    start, group = _without_absent(candidates, present)
    counts = np.diff(start)
    must = present == PRESENT
    single = counts == 1
    only = group[start[:-1][single]].astype(np.int64)  # the group of each person who fits just one
    alone = np.bincount(only, minlength=rows.size)
    graph = _Graph.of(start, group, counts > 1, must)
    component = graph.components(rows.size)
    components = int(component.max(initial=-1)) + 1

    placed = np.minimum(alone, rows)
    inside = np.bincount(component, weights=placed, minlength=components).astype(np.int64)
    inside += graph.most_seated(rows - placed, component, graph.weight)
    in_component = np.bincount(component, weights=alone, minlength=components).astype(np.int64)
    home = component[graph.group[graph.start[:-1]]]
    in_component += np.bincount(home, weights=graph.weight, minlength=components).astype(np.int64)
    crowded = inside < in_component

    needed = np.bincount(only[must[single]], minlength=rows.size) * crowded[component]
    certain = np.minimum(needed, rows)
    failed = int((needed - certain).sum()) + int((must & (counts == 0)).sum())
    heavy = graph.must * crowded[home]
    if heavy.any():
        failed += int(heavy.sum()) - int(graph.most_seated(rows - certain, component, heavy).sum())
    if failed:
        _contradict(failed, int(must.sum()))

    outside = ~must & (counts == 0)
    some = np.flatnonzero(counts > 0)
    outside[some] = crowded[component[group[start[some]]]] & ~must[some]
    total = np.bincount(component, weights=rows, minlength=components).astype(np.int64)
    return Membership(start, group, outside, component, total - inside)


@dataclass(frozen=True)
class _Graph:
    """Persons with the same two or more candidates, as one node each."""

    start: Ints
    group: Ints
    weight: Ints  # persons
    must: Ints  # persons known to be present

    @classmethod
    def of(cls, start: Ints, group: Codes, several: Flags, must: Flags) -> _Graph:
        """Merge persons with equal candidates."""
        persons = np.flatnonzero(several)
        at, sizes = items_of(start, persons)
        own, items = starts(sizes), group[at].astype(np.int64)
        first, which = alike(own, items)
        at, sizes = items_of(own, first)
        weight = np.bincount(which, minlength=first.size)
        present = np.bincount(which[must[persons]], minlength=first.size)
        return cls(starts(sizes), items[at], weight, present)

    def components(self, groups: int) -> Ints:
        """The component of each group, numbered by their first groups."""
        if not self.weight.size:
            return np.arange(groups)
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        # the groups of a list are as connected by a chain as by everybody on the list
        inner = np.ones(self.group.size, dtype=bool)
        inner[self.start[:-1]] = False
        tail, head = self.group[np.flatnonzero(inner) - 1], self.group[inner]
        edges = coo_array((np.ones(tail.size, dtype=np.int8), (tail, head)), shape=(groups, groups))
        _, label = connected_components(edges, directed=False)
        _, first, component = np.unique(label, return_index=True, return_inverse=True)
        rank = np.empty(first.size, dtype=np.int64)
        rank[np.argsort(first)] = np.arange(first.size)
        return rank[component]

    def most_seated(self, room: Ints, component: Ints, weight: Ints) -> Ints:
        """The most persons that fit at once, by component."""
        components = int(component.max(initial=-1)) + 1
        some = np.flatnonzero(weight > 0)
        if not some.size:
            return np.zeros(components, dtype=np.int64)
        at, sizes = items_of(self.start, some)
        owner, group = owners(starts(sizes)), self.group[at]
        home = component[self.group[self.start[some]]]
        sent = _flow(owner, group, weight[some], room)
        return np.bincount(home, weights=sent, minlength=components).astype(np.int64)


def _flow(owner: Ints, group: Ints, weight: Ints, room: Ints) -> Ints:
    """How many of each node's persons a maximum flow places; groups that the same nodes fit count as one."""
    order = np.lexsort([owner, group])
    used, sizes = np.unique(group, return_counts=True)
    of_group = starts(sizes)
    first, which = alike(of_group, owner[order])
    joint = np.bincount(which, weights=room[used]).astype(np.int64)  # room of groups that are alike, together
    at, sizes = items_of(of_group, first)
    tail, head = owner[order][at], owners(starts(sizes))
    joint = np.minimum(joint, np.bincount(head, weights=weight[tail], minlength=first.size).astype(np.int64))

    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    nodes, groups = weight.size, first.size
    source, sink = nodes + groups, nodes + groups + 1
    tails = np.concatenate([np.full(nodes, source), tail, nodes + np.arange(groups)])
    heads = np.concatenate([np.arange(nodes), nodes + head, np.full(groups, sink)])
    capacity = np.concatenate([weight, weight[tail], joint]).astype(np.int32)
    graph = csr_array((capacity, (tails, heads)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink).flow
    row = csr_array(flow)[[source], :].toarray().ravel()
    sent: Ints = row[:nodes].astype(np.int64)
    return sent


def _check(candidates: Candidates, rows: Ints, present: np.ndarray[tuple[int], np.dtype[np.int8]]) -> None:
    if present.size != candidates.persons:
        raise InputError(f"Expected the presence of {candidates.persons} persons, found {present.size} entries.")
    if not np.isin(present, (-1, ABSENT, PRESENT)).all():
        raise InputError(
            "The presence of a person is 1 (present), 0 (absent) or -1 (unknown); something else was found."
        )
    if int(candidates.group.max(initial=-1)) >= rows.size or (rows < 0).any():
        raise InputError(
            f"Expected a size of 0 or more for every group that persons fit; {rows.size} sizes were given."
        )


def _without_absent(candidates: Candidates, present: np.ndarray[tuple[int], np.dtype[np.int8]]) -> tuple[Ints, Codes]:
    absent = present == ABSENT
    if not absent.any():
        return candidates.start, candidates.group
    counts = np.where(absent, 0, candidates.counts)
    return starts(counts), candidates.group[np.repeat(~absent, candidates.counts)]


def _contradict(failed: int, present: int) -> None:
    raise ContradictionError(
        f"The register contradicts the release: of {present} persons known to be in it, {failed} find no place, because"
        " no group fits them or the groups that do have too few rows. Check the quasi-identifiers of the register and "
        "who is marked as present."
    )
