"""Membership against trying every placement."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.errors import ContradictionError, InputError
from showthrough.register.linking import Candidates
from showthrough.register.membership import membership
from tests.oracles.linking import islands, most_placed
from tests.register.instances import lists


def candidates_of(fits):
    start = np.concatenate([[0], np.cumsum([len(own) for own in fits])]).astype(np.int64)
    return Candidates(start, np.array([g for own in fits for g in own], dtype=np.int32))


def applied(fits, rows, present):
    return membership(
        candidates_of(fits), rows=np.array(rows, dtype=np.int64), present=np.array(present, dtype=np.int8)
    )


@st.composite
def placings(draw):
    groups = draw(st.integers(1, 4))
    rows = draw(st.lists(st.integers(0, 3), min_size=groups, max_size=groups))
    own = st.lists(st.integers(0, groups - 1), max_size=3, unique=True).map(sorted)
    fits = draw(st.lists(own, max_size=6))
    present = draw(st.lists(st.sampled_from([-1, -1, 0, 1]), min_size=len(fits), max_size=len(fits)))
    return fits, rows, present


@settings(max_examples=300, deadline=None)
@given(placings())
def test_every_placement(instance):
    fits, rows, present = instance
    left = [[] if known == 0 else own for own, known in zip(fits, present, strict=True)]
    must = [known == 1 for known in present]
    if most_placed(left, rows, must) < 0:
        with pytest.raises(ContradictionError):
            applied(fits, rows, present)
        return
    found = applied(fits, rows, present)
    assert lists(Candidates(found.start, found.group)) == left
    parts = islands(left, len(rows))
    start, group = found.groups_of_component()
    assert [set(group[start[k] : start[k + 1]].tolist()) for k in range(start.size - 1)] == parts
    for k, part in enumerate(parts):
        people = [p for p, own in enumerate(left) if own and own[0] in part]
        inside = most_placed([left[p] for p in people], rows, [must[p] for p in people])
        assert found.anonymous[k] == sum(rows[g] for g in part) - inside
        assert found.component_of_group[list(part)].tolist() == [k] * len(part)
        for p in people:
            assert found.outside[p] == (inside < len(people) and not must[p])
    for p, own in enumerate(left):
        if not own:
            assert found.outside[p]


def test_one_candidate_each_takes_no_scipy(monkeypatch):
    import builtins

    real = builtins.__import__

    def guarded(name, *given):
        assert not name.startswith("scipy")
        return real(name, *given)

    monkeypatch.setattr(builtins, "__import__", guarded)
    found = applied([[0], [0], [1], [1], [1]], [3, 2], [-1] * 5)
    assert found.outside.tolist() == [False, False, True, True, True]
    assert found.anonymous.tolist() == [1, 0]


def test_contradictions_give_counts_only():
    with pytest.raises(ContradictionError, match="of 3 persons known to be in it, 2 find no place") as caught:
        applied([[0], [0], []], [1], [1, 1, 1])
    assert caught.value.shareable == str(caught.value)


def test_a_chain_of_groups_is_one_component():
    found = applied([[0, 1], [1, 2], [1, 2]], [1, 1, 1, 5], [-1] * 3)
    assert found.component_of_group.tolist() == [0, 0, 0, 1]
    assert found.anonymous.tolist() == [0, 5]
    assert not found.outside.any()


@pytest.mark.parametrize(
    ("rows", "present", "message"),
    [
        ([1], [1, 1], "presence of 1 persons"),
        ([1], [2], "1 .present., 0 .absent. or -1"),
        ([], [1], "size of 0 or more"),
        ([-1], [1], "size of 0 or more"),
    ],
)
def test_bad_input_is_a_sentence(rows, present, message):
    with pytest.raises(InputError, match=message):
        applied([[0]], rows, present)
