"""Worst knowledge against all knowledge, tried on all worlds, and the figures of the papers."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.criteria.atoms import exactly, least
from showthrough.criteria.implications import Implications
from showthrough.criteria.skyline import Skyline
from tests.criteria.releases import by_group, counted
from tests.oracles import worst_cases as slow

PAPER = [list("aabbc"), list("aadef")]
SEEDS = range(60)
KEPT_ASIDE = range(9000, 9040)


def some_groups(seed, *, groups, most, values):
    random = np.random.default_rng(seed)
    letters = np.array(list("abcdefgh")[:values])
    many = random.integers(1, groups + 1)
    return [random.choice(letters, random.integers(1, most + 1)).tolist() for _ in range(many)]


def fractions(worst, found):
    """The exact level of each group, in the order of their names."""
    names = found.labelled(np.arange(found.counts.groups)).to_series().to_list()
    return [worst.exactly(g) for _, g in sorted(zip(names, range(found.counts.groups), strict=True))]


def agrees(worst, groups, expected):
    found = counted(groups)
    made = worst(found.counts)
    assert fractions(made, found) == expected
    assert by_group(found, made.level) == pytest.approx([float(p) for p in expected], abs=1e-12)


@pytest.mark.parametrize(("k", "expected"), [(0, "2/5"), (1, "2/3"), (2, "1")])
def test_the_figures_of_the_paper(k, expected):
    found = counted(PAPER)
    assert st.worst_case(found, implications=k).exact == Fraction(expected)
    assert st.worst_case(found, implications=k).p == float(Fraction(expected))


def test_an_implication_across_groups():
    """One pair in the target's group and one in the other: 10/19; the worst single implication is another."""
    first, second = Implications(counted(PAPER).counts, 1), exactly([2, 1, 1, 1], 1)
    against = exactly([2, 2, 1], 1)[1][0] * second[1][0]
    assert Fraction(2, 5) / (Fraction(2, 5) + against) == Fraction(10, 19)
    assert first.exactly(0) == Fraction(2, 3)
    alone = [list("ab"), list("cdefgh")]  # here the other group is worse than the own one
    assert fractions(Implications(counted(alone).counts, 1), counted(alone)) == slow.by_formulas(alone, 1)[:2]


@pytest.mark.parametrize("seed", [*SEEDS, *KEPT_ASIDE])
def test_all_formulas_of_implications(seed):
    groups = some_groups(seed, groups=2, most=3, values=3)
    for k in range(3):
        agrees(lambda counts, k=k: Implications(counts, k), groups, slow.by_formulas(groups, k))
    agrees(lambda counts: Implications(counts, 1), groups, slow.by_formulas(groups, 1, parts=2))


@pytest.mark.parametrize("seed", [*SEEDS, *KEPT_ASIDE])
def test_pairs_of_many_groups(seed):
    groups = some_groups(100 + seed, groups=3, most=4, values=4)
    for k in range(4):
        if len(slow.worlds(groups)) * len(slow.atoms(groups)) ** min(k, 3) < 3_000_000:
            agrees(lambda counts, k=k: Implications(counts, k), groups, slow.by_pairs(groups, k))


@pytest.mark.parametrize("seed", [*SEEDS, *KEPT_ASIDE])
def test_all_knowledge_of_a_skyline(seed):
    groups = some_groups(200 + seed, groups=3, most=4, values=3)
    if len(slow.worlds(groups)) > 300:
        groups = groups[:2]
    random = np.random.default_rng(seed)
    for _ in range(3):
        point = tuple(random.integers(0, 3, 3).tolist())
        agrees(lambda counts, p=point: Skyline(counts, p), groups, slow.by_skyline(groups, *point))


@pytest.mark.parametrize("seed", range(40))
def test_what_is_told_leads_to_what_is_said(seed):
    """The knowledge of a worst case, applied to all worlds, gives its probability, and there is no more than asked."""
    groups = some_groups(300 + seed, groups=3, most=4, values=4)
    every = slow.worlds(groups)
    random = np.random.default_rng(seed)
    k, point = int(random.integers(0, 4)), tuple(random.integers(0, 3, 3).tolist())
    for worst in (
        st.worst_case(counted(groups), implications=k),
        st.worst_case(counted(groups), excluded=point[0], known=point[1], family=point[2]),
    ):
        told = worst.knowledge.rows()
        (_, _, value, _), *rest = told
        target = (int(told[0][0][1:]), 0)

        for_it = all_ = 0
        for world in every:

            def person(row, world=world, group=target[0]):
                at = int(row[0][1:])
                number = 0 if row[1] == "target" else int(row[1].split()[2])
                return world[at][number if at == group else number - 1]

            have = world[target[0]][0] == value
            fits = all(
                person(row) != row[2] if "does not" in row[3]
                else person(row) == row[2] if row[3].startswith("this")
                else have or person(row) != row[2]
                for row in rest
            )  # fmt: skip
            all_ += fits
            for_it += fits and have
        assert Fraction(for_it, all_) == worst.exact
        kinds = [row[3] for row in rest]
        if "implication" in worst.kind:
            assert len(kinds) <= k
        else:
            assert sum("does not" in says for says in kinds) <= point[0]
            assert sum(says.startswith("this") for says in kinds) <= point[1]
            assert sum(says.startswith("if") for says in kinds) <= point[2]


@pytest.mark.parametrize("seed", range(30))
def test_floats_and_fractions_of_one_group(seed):
    random = np.random.default_rng(seed)
    counts = sorted(random.integers(1, 9, random.integers(2, 9)).tolist(), reverse=True)
    most = len(counts)
    top = np.cumsum([0, *counts])[None, :]
    found = least(np.array([sum(counts)]), top, most)[0]
    exact = [p for p, _ in exactly(counts, most)]
    assert found.tolist() == pytest.approx([float(p) for p in exact], rel=1e-12)
    assert exact == sorted(exact, reverse=True)
    assert exact[-1] == 0


def test_a_family_is_worst_where_its_chain_is_the_smallest():
    """Two relatives of whom one of two has the value give it away; six of ten are more, but leave 2/15."""
    target, pair, many = list("acdefgh"), list("ab"), list("aaaaaabbbb")
    found = counted([target, pair, many])
    assert fractions(Skyline(found.counts, (0, 0, 2)), found)[0] == 1
    found = counted([target, many])
    assert fractions(Skyline(found.counts, (0, 0, 2)), found)[0] == 1 / (1 + 6 * Fraction(2, 15))


def test_the_skyline_of_one_group():
    assert st.worst_case(counted([list("aabbcd")]), excluded=1, known=1, family=1).exact == Fraction(4, 5)


@pytest.mark.parametrize(
    ("c", "holds"), [(0.4, False), (Fraction(2, 5), False), (0.4000000000000001, True), (0.41, True), (0.39, False)]
)
def test_the_limit_is_compared_exactly(c, holds):
    assert bool(st.CKSafety(c, 0).check(counted(PAPER))) is holds
    assert bool(st.SkylinePrivacy(c, (0, 0, 0)).check(counted(PAPER))) is holds


def test_a_third_is_no_decimal():
    groups = counted([list("abc")])
    assert st.CKSafety(0.3333333333333333, 0).check(groups).holds is False  # the decimal is below a third
    assert st.CKSafety(Fraction(1, 3), 0).check(groups).holds is False
    assert st.CKSafety(Fraction(1, 3) + Fraction(1, 10**30), 0).check(groups).holds is True
    assert st.CKSafety(0.33333333333333337, 0).check(groups).holds is True


def test_checks_say_what_fails():
    found = st.CKSafety(0.5, 1).check(counted([list("aabbc"), list("abcdefgh")]))
    assert not found.holds
    assert found.failing_groups == 1
    assert found.level == pytest.approx(2 / 3)
    assert str(found).startswith("(0.5,1)-safety does not hold for 1 of 2 groups (5 persons). ")
    both = st.SkylinePrivacy(0.5, [(0, 0, 1), (1, 0, 0)]).check(counted(PAPER))
    assert both.level == pytest.approx(2 / 3)
    assert "(0,0,1) and (1,0,0)" in both.sentence


@pytest.mark.parametrize("k", [5, 100, 10**9])
def test_more_knowledge_than_there_is_to_know(k):
    assert st.worst_case(counted(PAPER), implications=k).exact == 1
    assert st.worst_case(counted(PAPER), excluded=k).exact == 1
    assert st.worst_case(counted(PAPER), known=k).exact == 1
    assert st.worst_case(counted(PAPER), family=k).exact == 1


@pytest.mark.parametrize("groups", [[["a"]], [["a", "a"]], [["a"], ["b"]]])
def test_one_value_is_certain_without_any_knowledge(groups):
    assert st.worst_case(counted(groups), implications=0).exact == 1
    assert st.worst_case(counted(groups), excluded=0, known=0, family=0).exact == 1


def test_what_is_assumed_is_said():
    frame = pl.DataFrame({"id": range(6), "g": [1] * 4 + [2] * 2, "d": list("aabbcd")})
    plain = st.Release.bucketized(frame, id="id", sensitive="d", group="g")
    assert "random worlds" in str(st.worst_case(plain, implications=1))
    nobody = frame.with_columns(pl.col("id").replace(0, None))
    fake = st.Release.bucketized(nobody, id="id", sensitive="d", group="g", counterfeits={1: 1})
    assert "Counterfeits count as persons" in str(st.worst_case(fake, implications=0))
    hidden = st.worst_case(counted(PAPER, ["a", "b"]), implications=1)
    assert "Suppressed rows" in str(hidden)
    assert hidden.exact == Fraction(2, 3)


def test_values_and_groups_stand_in_the_internal_frame_alone():
    frame = pl.DataFrame({"zip": ["place9"] * 3, "disease": ["illness1", "illness1", "illness2"]})
    found = st.worst_case(st.Release.generalized(frame, sensitive="disease", quasi=["zip"]), implications=0)
    assert "illness1" in str(found.knowledge.rows())
    for said in (str(found), repr(found), str(found.as_dict())):
        assert "illness" not in said
        assert "place" not in said
    assert found.as_dict()["exact"] == "2/3"


def test_several_sensitive_columns_are_one_value():
    frame = pl.DataFrame({"zip": [1] * 4, "job": list("aabb"), "disease": list("xyxx")})
    assert st.worst_case(frame, sensitive=["job", "disease"], quasi=["zip"], implications=0).p == 0.5
    assert st.worst_case(frame, sensitive="job", quasi=["zip"], implications=0).p == 0.5
    assert st.worst_case(frame, sensitive="disease", quasi=["zip"], implications=0).p == 0.75


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "name one of the two"),
        ({"implications": 1, "known": 1}, "name one of the two"),
        ({"implications": -1}, "at least 0"),
        ({"known": 1.5}, "a whole number as known"),
        ({"implications": "2"}, "a whole number as implications"),
    ],
)
def test_wrong_questions(asked, words):
    with pytest.raises(st.errors.ParameterError, match=words):
        st.worst_case(counted(PAPER), **asked)


@pytest.mark.parametrize("points", [(1, 2), [(1, 2, 3), (1,)], [], "123", (1, 2, -1), 5, [(1, 2, "3")]])
def test_wrong_points(points):
    with pytest.raises(st.errors.ParameterError):
        st.SkylinePrivacy(0.5, points)


def test_a_release_without_values():
    with pytest.raises(st.errors.InputError, match="sensitive"):
        st.worst_case(pl.DataFrame({"zip": [1, 2]}), implications=1)
