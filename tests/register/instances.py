"""Small random registers beside releases: families of sets of every kind, unknown values, suppressed groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from showthrough.register.linking import Attribute, Candidates
from tests.oracles.linking import Cell


def encoded(values: Sequence[int], cells: Sequence[Cell], name: str = "") -> Attribute:
    """One attribute from values and cells."""
    different = list(dict.fromkeys(cells))
    covered = [sorted(cell or ()) for cell in different]
    return Attribute(
        person=np.array(values, dtype=np.int32),
        group=np.array([different.index(cell) for cell in cells], dtype=np.int32),
        start=np.concatenate([[0], np.cumsum([len(own) for own in covered])]).astype(np.int64),
        low=np.array([v for own in covered for v in own], dtype=np.int32),
        high=np.array([v + 1 for own in covered for v in own], dtype=np.int32),
        everything=np.array([cell is None for cell in different], dtype=bool),
        name=name,
    )


def attributes_of(people: Sequence[Sequence[int]], groups: Sequence[Sequence[Cell]]) -> list[Attribute]:
    """All attributes of lists of persons and groups."""
    width = len(people[0])
    return [encoded([p[a] for p in people], [g[a] for g in groups], f"column {a}") for a in range(width)]


def _cells(values: int) -> st.SearchStrategy[list[Cell]]:
    """A family of cells: any sets, intervals, one partition, or a hierarchy of scattered values."""
    code = st.integers(0, values - 1)
    sets = st.lists(st.frozensets(code, max_size=values), min_size=1, max_size=6)
    interval = st.tuples(code, code).map(lambda ends: frozenset(range(min(ends), max(ends) + 1)))
    intervals = st.lists(interval, min_size=1, max_size=8)
    partition = st.lists(st.integers(0, 3), min_size=values, max_size=values).map(
        lambda part: [frozenset(v for v in range(values) if part[v] == k) for k in sorted(set(part))]
    )
    hierarchy = st.permutations(range(values)).map(
        lambda order: [frozenset(order[k : k + step]) for step in (1, 2, 4) for k in range(0, values, step)]
    )
    return st.one_of(sets, intervals, partition, hierarchy).flatmap(
        lambda cells: st.sampled_from([cells, [*cells, None]])
    )


@st.composite
def instances(draw: st.DrawFn) -> tuple[list[list[int]], list[list[Cell]]]:
    """Persons (values, −1 unknown) and groups (cells)."""
    width = draw(st.integers(1, 4))
    values = [draw(st.integers(1, 9)) for _ in range(width)]
    cells = [draw(_cells(v)) for v in values]
    lowest = draw(st.sampled_from([0, 0, -1]))
    person = st.tuples(*[st.integers(lowest, v - 1) for v in values]).map(list)
    group = st.tuples(*[st.sampled_from(own) for own in cells]).map(list)
    people = draw(st.lists(person, min_size=1, max_size=12))
    return people, draw(st.lists(group, min_size=1, max_size=25))


def lists(found: Candidates) -> list[list[int]]:
    """The candidates of each person."""
    return [found.of(person).tolist() for person in range(found.persons)]
