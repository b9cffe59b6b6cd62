"""Both bodies of each graph algorithm against each other and against plain definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.inference import graphs


@st.composite
def edge_lists(draw):
    nodes = draw(st.integers(2, 9))
    pairs = draw(st.sets(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=25))
    ends = np.array(sorted(p for p in pairs if p[0] < p[1]), dtype=np.int64).reshape(-1, 2)
    flip = np.array(draw(st.lists(st.booleans(), min_size=len(ends), max_size=len(ends))), dtype=bool)
    tail, head = np.where(flip, ends[:, 1], ends[:, 0]), np.where(flip, ends[:, 0], ends[:, 1])
    room = np.array(draw(st.lists(st.integers(0, 5), min_size=len(ends), max_size=len(ends))), dtype=np.int64)
    return nodes, tail, head, room


def closure(nodes, tail, head):
    reach = np.eye(nodes, dtype=bool)
    for a, b in zip(tail, head, strict=True):
        reach[a, b] = True
    for k in range(nodes):
        reach |= reach[:, [k]] & reach[[k], :]
    return reach


def same_partition(a, b):
    return np.array_equal(a[:, None] == a[None, :], b)


@pytest.fixture(params=["plain", "scipy", "scipy without loners"], autouse=True)
def body(request, monkeypatch):
    for limit in ("SMALL", "TINY", "PATIENCE"):
        monkeypatch.setattr(graphs, limit, 10**9 if request.param == "plain" else -1)
    if request.param == "scipy without loners":
        monkeypatch.setattr(graphs, "LONERS", 0)


many = settings(max_examples=150, deadline=None, derandomize=True)


@many
@given(edge_lists())
def test_components(graph):
    nodes, tail, head, _ = graph
    reach = closure(nodes, np.append(tail, head), np.append(head, tail))
    count, label = graphs.components(nodes, tail, head)
    assert same_partition(label, reach)
    assert sorted(set(label.tolist())) == list(range(count))


@many
@given(edge_lists())
def test_strong_components(graph):
    nodes, tail, head, _ = graph
    reach = closure(nodes, tail, head)
    assert same_partition(graphs.strong_components(nodes, tail, head), reach & reach.T)


@many
@given(edge_lists())
def test_reachable(graph):
    nodes, tail, head, _ = graph
    assert np.array_equal(graphs.reachable(nodes, tail, head, 0), closure(nodes, tail, head)[0])


@many
@given(edge_lists())
def test_maximum_flow_equals_the_smallest_cut(graph):
    nodes, tail, head, room = graph
    value, flow = graphs.maximum_flow(nodes, tail, head, room, 0, nodes - 1)
    assert ((flow >= 0) & (flow <= room)).all()
    balance = np.bincount(tail, flow, nodes) - np.bincount(head, flow, nodes)
    assert balance[0] == value == -balance[-1]
    assert not balance[1:-1].any()
    cuts = []
    for code in range(2 ** (nodes - 2)):
        side = np.array([True] + [bool(code >> k & 1) for k in range(nodes - 2)] + [False])
        cuts.append(int(room[side[tail] & ~side[head]].sum()))
    assert value == min(cuts)


def test_a_flow_of_more_than_32_bits():
    import scipy.sparse.csgraph  # noqa: F401 - from now on it is used for all but tiny graphs

    middle, room = np.arange(1, 301), 3 * 10**9
    tail, head = np.append(np.zeros_like(middle), middle), np.append(middle, np.full_like(middle, 301))
    value, flow = graphs.maximum_flow(302, tail, head, np.full(tail.size, room), 0, 301)
    assert value == 300 * room
    assert (flow == room).all()
