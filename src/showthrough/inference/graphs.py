"""Graph algorithms on edge lists: components, strong components, reachability, maximum flow.

Each has two bodies with the same answer: plain Python for small graphs, which costs no start-up,
and SciPy for large ones, which is imported only then. Edges are arrays ``tail`` and ``head``.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

import numpy as np

from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import owners, ranges, starts

PATIENCE = 30_000  # edges walked in plain Python, all in all, that have cost as much as the import
SMALL = 3000  # edges; up to here plain Python is quicker than importing SciPy
LONERS = 100  # nodes without an edge that are worth leaving out
_NARROW = 2**30  # SciPy's flows are of 32 bits, and what is left on an edge may be that of both directions
TINY = 200  # edges; up to here it is quicker than calling SciPy

_walked = [0]  # it decides how an answer is found, never what it is


def components(nodes: int, tail: Codes | Ints, head: Codes | Ints) -> tuple[int, Ints]:
    """Number of connected components, and the component of each node."""
    if _sparse(nodes, tail):
        used, near, far = _without_loners(nodes, tail, head)
        count, label = components(used.size, near, far)
        return count + nodes - used.size, _with_loners(nodes, used, label, count)
    if _large(tail.size + nodes):
        from scipy.sparse.csgraph import connected_components

        count, label = connected_components(_matrix(nodes, tail, head), directed=False)
        return int(count), label.astype(np.int64)
    parent = list(range(nodes))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in zip(tail.tolist(), head.tolist(), strict=True):
        parent[root(a)] = root(b)
    roots = np.array([root(node) for node in range(nodes)], dtype=np.int64)
    found, label = np.unique(roots, return_inverse=True)
    return found.size, label


def strong_components(nodes: int, tail: Ints, head: Ints) -> Ints:
    """The strongly connected component of each node."""
    if _sparse(nodes, tail):
        used, near, far = _without_loners(nodes, tail, head)
        label = strong_components(used.size, near, far)
        return _with_loners(nodes, used, label, used.size)
    if _large(tail.size):
        from scipy.sparse.csgraph import connected_components

        _, label = connected_components(_matrix(nodes, tail, head), directed=True, connection="strong")
        return np.asarray(label, dtype=np.int64)
    return _tarjan(nodes, _successors(tail, head))


def levels(label: Ints, tail: Ints, head: Ints) -> Ints:
    """[labels] a height for each strong component that rises along every edge between two of them."""
    count = int(label.max(initial=-1)) + 1
    below, above = label[tail], label[head]
    apart = below != above
    edges = np.unique(below[apart] * np.int64(count) + above[apart])
    below, above = np.divmod(edges, max(count, 1))
    height = np.zeros(count, dtype=np.int64)
    order = np.argsort(below, kind="stable")
    below, above = below[order], above[order]
    start = starts(np.bincount(below, minlength=count))
    waiting = np.bincount(above, minlength=count)
    ready = np.flatnonzero(waiting == 0)
    while ready.size:  # all whose predecessors are done, round by round
        size = start[ready + 1] - start[ready]
        at = ranges(start[ready], size)
        np.maximum.at(height, above[at], height[below[at]] + 1)
        np.subtract.at(waiting, above[at], 1)
        touched = np.unique(above[at])
        ready = touched[waiting[touched] == 0]
    return height


def reachable(nodes: int, tail: Ints, head: Ints, start: int) -> Flags:
    """Which nodes a walk from ``start`` can visit."""
    seen = np.zeros(nodes, dtype=bool)
    if _large(tail.size):
        from scipy.sparse.csgraph import breadth_first_order

        seen[breadth_first_order(_matrix(nodes, tail, head), start, return_predecessors=False)] = True
        return seen
    after = _successors(tail, head)
    seen[start] = True
    queue = deque([start])
    while queue:
        for node in after.get(queue.popleft(), ()):
            if not seen[node]:
                seen[node] = True
                queue.append(node)
    return seen


def maximum_flow(nodes: int, tail: Ints, head: Ints, room: Ints, source: int, sink: int) -> tuple[int, Ints]:
    """Value of a maximum flow, and its flow on each edge; no edge may stand twice."""
    if _large(tail.size) and room.max(initial=0) < _NARROW:
        ends = np.concatenate([tail, [source]]), np.concatenate([head, [sink]])
        used, near, far = _without_loners(nodes, *ends)
        return _scipy_flow(used.size, near[:-1], far[:-1], room, int(near[-1]), int(far[-1]))
    flow = np.array(_dinic(tail.tolist(), head.tolist(), room.tolist(), source, sink), dtype=np.int64)
    return int(flow[tail == source].sum() - flow[head == source].sum()), flow


def flow_value(tail: list[int], head: list[int], room: list[int], source: int, sink: int) -> int:
    """Value of a maximum flow whose rooms are whole numbers of any size."""
    return sum(own for own, start in zip(_dinic(tail, head, room, source, sink), tail, strict=True) if start == source)


def _large(edges: int) -> bool:
    """Whether SciPy is worth it: its price is the import, once; a process that keeps asking pays it sooner or later."""
    if "scipy.sparse.csgraph" in sys.modules:
        return edges > TINY
    _walked[0] += edges
    return edges > SMALL or _walked[0] > PATIENCE


def _sparse(nodes: int, tail: Codes | Ints) -> bool:
    """Whether many nodes must be without an edge, so that it pays to leave them out."""
    return nodes > 2 * tail.size + LONERS


def _without_loners(nodes: int, tail: Codes | Ints, head: Codes | Ints) -> tuple[Ints, Ints, Ints]:
    """The nodes that have an edge, and the edges between these, numbered anew."""
    here = np.zeros(nodes, dtype=bool)
    here[tail] = here[head] = True
    used = np.flatnonzero(here)
    number = np.empty(nodes, dtype=np.int64)
    number[used] = np.arange(used.size)
    return used, number[tail], number[head]


def _with_loners(nodes: int, used: Ints, label: Ints, free: int) -> Ints:
    """Labels of all nodes: those without an edge get labels of their own, from ``free`` on."""
    lonely = np.ones(nodes, dtype=bool)
    lonely[used] = False
    full = free - 1 + np.cumsum(lonely)
    full[used] = label
    return full


def _matrix(nodes: int, tail: Codes | Ints, head: Codes | Ints) -> Any:
    from scipy.sparse import csr_array

    if tail.size and (np.diff(tail) < 0).any():
        order = np.argsort(tail, kind="stable")
        tail, head = tail[order], head[order]
    start = starts(np.bincount(tail, minlength=nodes))
    small = np.int32 if max(nodes, tail.size) < 2**31 else np.int64
    ends = (np.ones(tail.size), head.astype(small), start.astype(small))
    return csr_array(ends, shape=(nodes, nodes))


def _scipy_flow(nodes: int, tail: Ints, head: Ints, room: Ints, source: int, sink: int) -> tuple[int, Ints]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    key = tail * nodes + head
    order = np.argsort(key)
    start = starts(np.bincount(tail, minlength=nodes)).astype(np.int32)
    entries = room[order].astype(np.int32), head[order].astype(np.int32), start
    result = maximum_flow(csr_array(entries, shape=(nodes, nodes)), source, sink)
    routed = csr_array(result.flow)
    routed.sort_indices()
    from_node = owners(routed.indptr)
    at = np.searchsorted(from_node * nodes + routed.indices, key)
    # where an edge stands in both directions the net flow is positive on one of them
    return int(result.flow_value), np.maximum(routed.data[at].astype(np.int64), 0)


def _successors(tail: Ints, head: Ints) -> dict[int, list[int]]:
    after: dict[int, list[int]] = {}
    for a, b in zip(tail.tolist(), head.tolist(), strict=True):
        after.setdefault(a, []).append(b)
    return after


def _tarjan(nodes: int, after: dict[int, list[int]]) -> Ints:
    """Tarjan's algorithm without recursion."""
    label = np.full(nodes, -1, dtype=np.int64)
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found = 0
    for root in after:
        if root in index:
            continue
        work = [(root, iter(after.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(after.get(other, ()))))
                    break
                if label[other] < 0:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    while True:
                        member = stack.pop()
                        label[member] = found
                        if member == node:
                            break
                    found += 1
    alone = label < 0
    label[alone] = found + np.arange(int(alone.sum()))
    return label


def _dinic(tail: list[int], head: list[int], room: list[int], source: int, sink: int) -> list[int]:
    """The flow on each edge, by Dinic's algorithm; edge 2k is edge k, edge 2k + 1 its reverse."""
    left = [0] * (2 * len(room))
    left[::2] = room
    target = [0] * len(left)
    target[::2], target[1::2] = head, tail
    leaving: dict[int, list[int]] = {source: [], sink: []}
    for k, (a, b) in enumerate(zip(tail, head, strict=True)):
        leaving.setdefault(a, []).append(2 * k)
        leaving.setdefault(b, []).append(2 * k + 1)
    while True:
        level = {source: 0}
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for e in leaving[node]:
                if left[e] and target[e] not in level:
                    level[target[e]] = level[node] + 1
                    queue.append(target[e])
        if sink not in level:
            return left[1::2]
        tried = dict.fromkeys(level, 0)
        while path := _augmenting_path(leaving, target, left, level, tried, source, sink):
            amount = min(left[e] for e in path)
            for e in path:
                left[e] -= amount
                left[e ^ 1] += amount


def _augmenting_path(
    leaving: dict[int, list[int]],
    target: list[int],
    left: list[int],
    level: dict[int, int],
    tried: dict[int, int],
    source: int,
    sink: int,
) -> list[int]:
    """A path of edges with room, one level deeper each; ``tried`` remembers dead ends."""
    path: list[int] = []
    node = source
    while node != sink:
        edges = leaving[node]
        while tried[node] < len(edges):
            e = edges[tried[node]]
            if left[e] and level.get(target[e], -1) == level[node] + 1:
                path.append(e)
                node = target[e]
                break
            tried[node] += 1
        else:
            if not path:
                return []
            node = target[path.pop() ^ 1]
            tried[node] += 1
    return path
