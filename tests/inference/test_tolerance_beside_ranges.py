"""Tolerating changed values where a table hides counts."""

from __future__ import annotations

import pytest

import showthrough as st


def test_beside_ranges_it_says_that_it_finds_nobody():
    first = st.Release.bucketized(
        {"id": list("abcd"), "g": [1, 1, 2, 2], "v": list("xyxy")}, id="id", sensitive="v", group="g", name="D1"
    )
    second = st.Release.bucketized(
        {"id": list("abcd"), "g": [1, 2, 1, 2], "v": list("zzxy")}, id="id", sensitive="v", group="g", name="D2"
    )
    rows = {"age": ["1", "1", "2", "2"], "v": list("xyxy"), "count": ["c", "1", "1", "c"]}
    table = st.Release.counted(rows, sensitive="v", suppressed={"c": (0, 4)}, name="T")
    people = {"id": list("abcd"), "age": ["1", "1", "2", "2"]}
    post = st.infer([first, second, table], register=people, changed="tolerate")
    assert [str(one).count('changed="tolerate" finds nobody here') for one in post.contradictions] == [1]
    with pytest.raises(st.errors.ContradictionError, match="finds nobody here"):
        st.infer([first, second, table], register=people, changed="tolerate", contradictions="refuse")


def bucketized(name: str, ids: str, groups: list[int], values: str) -> st.Release:
    rows = {"id": list(ids), "g": groups, "v": list(values)}
    return st.Release.bucketized(rows, id="id", sensitive="v", group="g", name=name)


def test_who_shares_no_value_is_a_guess_beside_ranges_too():
    """Nobody tied to somebody who was taken for changed is settled, whether or not a table hides counts elsewhere."""
    history = [bucketized("D1", "abe", [1, 1, 1], "xyy"), bucketized("D2", "ace", [1, 2, 2], "zxy")]
    rows = {"age": ["9", "9"], "v": list("xy"), "count": ["c", "1"]}
    table = st.Release.counted(rows, sensitive="v", suppressed={"c": (1, 4)}, name="T")
    people = {"id": list("abcde"), "age": ["1", "1", "1", "9", "1"]}
    plain, beside = (st.infer(own, register=people, changed="tolerate") for own in (history, [*history, table]))
    assert set(beside.changes()["id"]) == {"a"}
    unsettled = [dict(zip(post.ids.to_list(), post.unsettled().tolist(), strict=True)) for post in (plain, beside)]
    assert unsettled[0] == dict.fromkeys("abce", True)
    assert unsettled[1] == {**unsettled[0], "d": False}
    assert beside.proven().rows() == plain.proven().rows()
