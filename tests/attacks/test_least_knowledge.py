"""The smallest set of statements against all sets, judged by worlds or by linear programs."""

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import showthrough as st
from tests.oracles import factored, worst_cases
from tests.oracles.factored import Case, Row, Statement


def bucketized(groups, name="D1"):
    rows = [(f"p{who}", g, v) for g, members in enumerate(groups) for who, v in members]
    frame = pl.DataFrame(rows, schema=["id", "g", "v"], orient="row")
    return st.Release.bucketized(frame, id="id", sensitive="v", group="g", name=name)


def by_worlds(values, most):
    """The fewest known or excluded values of a group's members that make its first member certain."""
    every = worst_cases.worlds([values])
    listed = [(kind, i, v) for i in range(len(values)) for v in sorted(set(values)) for kind in ("known", "excluded")]
    listed = [one for one in listed if one[:2] != ("known", 0)]
    for size in range(most + 1):
        for chosen in combinations(listed, size):
            left = [w[0] for w in every if all((w[0][i] == v) == (kind == "known") for kind, i, v in chosen)]
            if left and len({w[0] for w in left}) == 1:
                return size
    return None


@pytest.mark.parametrize("seed", [*range(12), *range(500, 506)])
def test_one_group(seed):
    random = np.random.default_rng(seed)
    values = random.choice(list("abc"), random.integers(2, 5)).tolist()
    release = bucketized([list(enumerate(values))])
    found = st.attacks.least_knowledge(release, "p0", most=2)
    expected = by_worlds(values, 2)
    assert (found.size, found.exact) == (expected, expected is not None)
    if found.proof is not None:
        assert found.proof.verify([release], knowledge=found.statements)
        assert (found.proof.id, found.proof.value, found.proof.fact) == (found.id, found.value, "certain")


def two_releases(seed):
    random = np.random.default_rng(seed)
    people = list(range(5))
    truth = {p: str(random.choice(list("abc"))) for p in people}
    places = [{p: int(random.integers(0, 2)) for p in people} for _ in range(2)]
    releases, rows = [], []
    for r, place in enumerate(places):
        groups = [[(p, truth[p]) for p in people if place[p] == g] for g in range(2)]
        releases.append(bucketized([g for g in groups if g], f"D{r + 1}"))
        rows += [Row(r, place[p], truth[p], n, n) for p, n in _counted(people, place, truth)]
    values = sorted(set(truth.values()))
    fits = {f"p{p}": [[place[p]] for place in places] for p in people}
    return releases, Case(values, fits, rows, []), truth


def _counted(people, place, truth):
    many = Counter((place[p], truth[p]) for p in people)
    first = {(place[p], truth[p]): p for p in people}
    return [(first[key], n) for key, n in many.items()]


def gives_away(case, statements, target):
    """Whether linear programs leave one value of the target."""
    told = Case(case.values, case.fits, case.rows, statements)
    if not factored.feasible(told):
        return False
    keys = [(target, v) for v in case.values]
    return any(low > 1 - 1e-7 for low, _ in factored.bounds(told, keys).values())


def as_row(kind, who, value):
    wanted = int(kind == "known")
    return Statement({(who, value): 1}, wanted, wanted)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 700, 701, 702])
def test_two_releases(seed):
    releases, case, _ = two_releases(seed)
    target = "p0"
    found = st.attacks.least_knowledge(releases, target, most=1)
    listed = [
        as_row(kind, who, v)
        for who in case.fits
        for v in case.values
        for kind in ("known", "excluded")
        if (kind, who) != ("known", target)
    ]
    if gives_away(case, [], target):
        assert (found.size, found.statements) == (0, ())
    elif any(gives_away(case, [one], target) for one in listed):
        assert (found.size, found.exact) == (1, True)
        assert found.proof.verify(releases, knowledge=found.statements)
    else:
        assert found.at_least == 2
        assert found.size is None or found.size >= 2


def test_only_true_statements():
    """Of values a, a, b the target is certain if it has not b; but if it has b, two others must be known."""
    release = bucketized([list(enumerate("aab"))])
    truth = pl.DataFrame({"id": ["p0", "p1", "p2"], "value": ["a", "a", "b"]})
    free = st.attacks.least_knowledge(release, "p2")
    assert (free.size, free.value) == (1, "a")
    true = st.attacks.least_knowledge(release, "p2", truth=truth)
    assert (true.size, true.value, true.exact) == (1, "b", True)
    assert str(true.statements[0]) == "p2 does not have a"
    known = st.attacks.least_knowledge(release, "p2", truth=truth, kinds=["known"])
    assert (known.size, {str(s) for s in known.statements}) == (2, {"p0 has a", "p1 has a"})


def test_anybody_and_a_limit():
    release = bucketized([list(enumerate("aabb")), [(10 + i, v) for i, v in enumerate("abcd")]])
    found = st.attacks.least_knowledge(release)
    assert (found.size, found.exact) == (1, True)
    assert found.id in ("p0", "p1", "p2", "p3")
    half = st.attacks.least_knowledge(release, limit=0.49)
    assert (half.size, half.statements) == (0, ())
    assert str(half) == "Nothing has to be known besides the releases to make a reader more than 49 % sure of a value."
    some = st.attacks.least_knowledge(release, "p10", limit=0.3)
    assert (some.size, some.exact) == (1, True)
    assert some.p == pytest.approx(1 / 3)


def test_a_share_of_a_sub_population():
    frame = pl.DataFrame({"id": list("123456"), "sex": list("ffmmmf"), "g": [1, 1, 1, 2, 2, 2], "v": list("abcabc")})
    release = st.Release.bucketized(frame, id="id", sensitive="v", group="g")
    shares = [st.knowledge.share("a", where={"sex": "f"}, equals="2/3"), st.knowledge.share("a", ids=["1"], equals=1)]
    found = st.attacks.least_knowledge(release, "1", kinds=[], shares=shares)
    assert (found.size, [s.kind for s in found.statements]) == (1, ["share"])
    assert found.proof.verify([release], knowledge=found.statements)
    nothing = st.attacks.least_knowledge(release, "1", kinds=[], shares=shares[:1])
    assert (nothing.size, nothing.exact) == (None, False)


def test_a_bound_where_time_is_over():
    release = bucketized([list(enumerate("abcdefgh"))])
    found = st.attacks.least_knowledge(release, "p0", seconds=0)
    assert (found.size, found.at_least, found.exact) == (7, 1, False)
    assert "That is a bound" in str(found)
    assert found.proof.verify([release], knowledge=found.statements)
    without = st.attacks.least_knowledge(release, "p0", kinds=["known"], seconds=0)
    assert (without.size, without.at_least) == (None, 1)


def test_a_large_history_is_taken_apart():
    groups = [[(4 * g + i, v) for i, v in enumerate("abcd" if g else "aabb")] for g in range(50)]
    release = bucketized(groups)
    found = st.attacks.least_knowledge(release, "p0")
    assert (found.size, found.exact) == (1, True)
    assert found.tried < 10
    assert found.proof.verify([release], knowledge=found.statements)
    assert st.attacks.least_knowledge(release).size == 1


def test_nobody_is_named():
    release = bucketized([list(enumerate(["illness1", "illness2", "illness2"]))])
    found = st.attacks.least_knowledge(release, "p1")
    for said in (str(found), repr(found), str(found.as_dict()), found._repr_html_() or ""):
        assert "illness" not in said
        assert "p1" not in said


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"limit": 0}, "limit"),
        ({"kinds": "known"}, "kinds"),
        ({"kinds": ["guessed"]}, "kinds"),
        ({"most": 0}, "most"),
        ({"seconds": -1}, "seconds"),
        ({"id": "p9"}, "in none of the releases"),
    ],
)
def test_wrong_questions(wrong, words):
    with pytest.raises(st.errors.InputError, match=words):
        st.attacks.least_knowledge(bucketized([list(enumerate("ab"))]), **wrong)
