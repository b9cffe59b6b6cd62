"""Linking by quasi-identifiers against comparing everybody with everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.errors import InputError, InternalError
from showthrough.progress import Progress
from showthrough.register import cut_tree, descent, families, grid, linking
from showthrough.register.axis import axis
from showthrough.register.linking import Attribute, candidates
from tests.oracles.linking import groups_of
from tests.register.instances import attributes_of, encoded, instances, lists


def expected(people, groups):
    return [groups_of(person, groups) for person in people]


@settings(max_examples=250, deadline=None)
@given(instances(), st.sampled_from(["best", "tree"]))
def test_everybody_and_everything(instance, way):
    people, groups = instance
    found = candidates(attributes_of(people, groups), way=way)
    assert lists(found) == expected(people, groups)
    assert found.start.dtype == np.int64
    assert found.group.dtype == np.int32


@settings(max_examples=150, deadline=None)
@given(instances(), st.integers(0, 3), st.integers(0, 2), st.integers(1, 3), st.sampled_from([0.5, 1, 2, 9]))
def test_all_limits_small(instance, joins, leaf, block, entries):
    """With limits of next to nothing every branch is taken: trees for the rest, searches, chunks."""
    people, groups = instance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "JOINS", joins)
        patch.setattr(linking, "POINTS", block)
        patch.setattr(linking, "FIRST", block)
        patch.setattr(linking, "PAIRS", 2 * block)
        patch.setattr(families, "FAMILIES", joins)
        patch.setattr(families, "DENSE", 4)
        patch.setattr(cut_tree, "LEAF", leaf)
        patch.setattr(descent, "PAIRS", block)
        patch.setattr(descent, "DENSE", 2 * leaf + 1)
        patch.setattr(descent, "TABLE", 2 * block)
        patch.setattr(grid, "ENTRIES", entries)
        patch.setattr(grid, "HELD", 0.1)
        patch.setattr(grid, "FEWER", entries)
        found = candidates(attributes_of(people, groups))
    assert lists(found) == expected(people, groups)


def larger(seed, persons, count, overlap):
    """Random cuts of a box of 40 × 40 × 6 values; a share of the boxes made wider, some suppressed."""
    rng = np.random.default_rng(seed)
    sizes = (40, 40, 6)
    cut = [[(0, size) for size in sizes]]
    while len(cut) < count:
        box = cut.pop(int(rng.integers(len(cut))))
        a = int(rng.integers(3))
        low, high = box[a]
        if high - low < 2:
            cut.append(box)
            continue
        at = int(rng.integers(low + 1, high))
        cut += [[*box[:a], (low, at), *box[a + 1 :]], [*box[:a], (at, high), *box[a + 1 :]]]
    groups = []
    for box in cut:
        more = 3 if rng.random() < overlap else 0
        ends = [(max(low - more, 0), min(high + more, s)) for (low, high), s in zip(box, sizes, strict=True)]
        cells = [frozenset(range(*own)) for own in ends]
        groups.append([None] * 3 if rng.random() < overlap / 10 else cells)
    people = np.stack([rng.integers(0, size, persons) for size in sizes], axis=1)
    people[rng.random(people.shape) < overlap / 20] = -1
    return people.tolist(), groups


@pytest.mark.parametrize("overlap", [0.0, 0.3])
def test_boxes_of_many_shapes_go_down_a_tree_that_cuts(overlap, monkeypatch):
    people, groups = larger(3, 400, 300, overlap)
    depths = []
    monkeypatch.setattr(cut_tree, "LEAF", 10)
    monkeypatch.setattr(grid, "HELD", 2)  # a tree alone
    monkeypatch.setattr(linking, "grow_tree", lambda *given: depths.append(cut_tree.grow_tree(*given)) or depths[-1])
    found = candidates(attributes_of(people, groups))
    assert lists(found) == expected(people, groups)
    assert max(tree.attribute.size for tree in depths) > 50
    assert np.diff(depths[0].open_start).max() < 60
    if not overlap:
        assert (found.counts == 1).all()


@pytest.mark.parametrize("overlap", [0.0, 0.3])
def test_narrow_cells_become_a_grid_above_the_trees(overlap, monkeypatch):
    people, groups = larger(4, 3000, 400, overlap)
    roots = []
    monkeypatch.setattr(linking, "grow_tree", lambda *given: roots.append(given[2]) or cut_tree.grow_tree(*given))
    found = candidates(attributes_of(people, groups), way="tree")
    assert lists(found) == expected(people, groups)
    assert roots[0] > 1
    if overlap:
        assert 1 in roots  # for persons of unknown values, and for boxes that are wide


def test_leaves_of_many_points_are_compared_as_tables(monkeypatch):
    """Cells that are no intervals are looked up in the end."""
    people, groups = larger(6, 2000, 60, 0.0)
    rng = np.random.default_rng(0)
    groups = [[cell - {int(rng.integers(40))} for cell in cells] for cells in groups]
    tables = []
    asked = descent.Descent._tables
    monkeypatch.setattr(descent.Descent, "_tables", lambda *given: tables.append(1) or asked(*given))
    assert lists(candidates(attributes_of(people, groups), way="tree")) == expected(people, groups)
    assert tables


def test_one_level_of_a_hierarchy_needs_no_tree(monkeypatch):
    monkeypatch.setattr(linking, "grow_tree", None)  # calling it would fail
    cells = [frozenset({0, 3}), frozenset({1, 4}), frozenset({2, 5})]
    groups = [[one, other] for one in cells for other in (frozenset({0}), frozenset({1}), None)]
    people = [[a, b] for a in range(6) for b in (0, 1, 2)]
    assert lists(candidates(attributes_of(people, groups))) == expected(people, groups)


def test_scattered_hierarchies_become_intervals():
    cells = [frozenset({0, 2, 4, 6}), frozenset({1, 3, 5, 7}), frozenset({0, 4}), frozenset({2, 6}), frozenset({1, 7})]
    found = axis(encoded(range(8), cells))
    assert found.exact.all()
    assert found.size == 4  # {0, 4}, {2, 6}, {1, 7}, {3, 5}


def test_wholly_suppressed_groups_and_copies():
    people, groups = [[0], [1]], [[None], [frozenset({1})], [None], [frozenset({1})]]
    assert lists(candidates(attributes_of(people, groups))) == [[0, 2], [0, 1, 2, 3]]


def test_nobody_or_nothing():
    cells = [frozenset({0})]
    assert lists(candidates([encoded([], cells)])) == []
    assert lists(candidates([encoded([0, -1], [])])) == [[], []]


def test_the_limit_counts_persons_and_groups(monkeypatch):
    monkeypatch.setattr(linking, "FIRST", 1)
    monkeypatch.setattr(linking, "POINTS", 1)
    attributes = attributes_of([[0]] * 3 + [[1]] * 2, [[frozenset({0, 1})]] * 4 + [[frozenset({1})]])
    assert candidates(attributes, at_most=22).group.size == 22
    with pytest.raises(InputError, match="at most 21 pairs") as caught:
        candidates(attributes, at_most=21)
    assert "22 were found when 3 of 5 persons were done" in str(caught.value)


def test_unknown_values_are_not_counted_twice_by_the_limit(monkeypatch):
    people, groups = larger(5, 3, 200, 0.3)
    people = [[-1, -1, -1], *people]
    right = expected(people, groups)
    total = sum(map(len, right))
    assert lists(candidates(attributes_of(people, groups), way="tree", at_most=total)) == right
    with pytest.raises(InputError):
        candidates(attributes_of(people, groups), way="tree", at_most=total - 1)


def test_progress_ends_with_everybody(monkeypatch):
    monkeypatch.setattr(linking, "FIRST", 2)
    monkeypatch.setattr(linking, "POINTS", 2)
    told, progress = [], Progress()
    monkeypatch.setattr(progress, "count", lambda done, of: told.append((done, of)))
    candidates(attributes_of([[v] for v in (0, 0, 1, 2, 3, -1)], [[frozenset({v})] for v in range(4)]),
               progress=progress)  # fmt: skip
    assert len(told) == 3
    assert told[-1] == (6, 6)
    assert told == sorted(told)


def test_no_attributes_and_attributes_of_different_tables():
    with pytest.raises(InputError, match="at least one quasi-identifier"):
        candidates([])
    cells = [frozenset({0})]
    with pytest.raises(InputError, match="expected 2 persons and 1 groups, found 3 and 1 for age"):
        candidates([encoded([0, 0], cells), encoded([0, 0, 0], cells, "age")])


@pytest.mark.parametrize(
    "change",
    [
        {"start": np.array([0, 2])},
        {"start": np.array([0, 3, 2])},
        {"group": np.array([2], dtype=np.int32)},
        {"person": np.array([-2], dtype=np.int32)},
        {"start": np.array([0, 2, 2])},
        {"low": np.array([1, -1], dtype=np.int32)},
        {"high": np.array([2, 0], dtype=np.int32)},
        {"high": np.array([2], dtype=np.int32)},
    ],
)
def test_attributes_check_themselves(change):
    right = {
        "person": np.array([0], dtype=np.int32),
        "group": np.array([0], dtype=np.int32),
        "start": np.array([0, 1, 2]),
        "low": np.array([1, 0], dtype=np.int32),
        "high": np.array([2, 1], dtype=np.int32),
        "everything": np.zeros(2, dtype=bool),
    }
    Attribute(**right)
    with pytest.raises(InternalError):
        Attribute(**(right | change))
