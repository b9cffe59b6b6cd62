"""The oracle of the general problem against the older oracles, against itself, and by its own conditions."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factored_cases import FLAVOURS, Size, case, made, tampered
from tests.oracles import factored, seats
from tests.oracles.factored import Case, Row, Statement
from tests.oracles.inequalities import Optimum, Program, least_divergence
from tests.seatings import seatings

flavours = st.sampled_from(sorted(FLAVOURS))
seeds = st.integers(0, 2**32)


@settings(max_examples=15, deadline=None)
@given(seatings(persons=5))
def test_same_as_the_oracle_of_seatings(seating):
    form = factored.of_seating(seating)
    assert factored.feasible(form) == seats.feasible(seating)
    limits = factored.bounds(form, form.pairs())
    for pair, ends in seats.bounds(seating).items():
        assert limits[pair] == pytest.approx(ends, abs=1e-7)
    answer = factored.maximum_entropy(form)
    expected = seats.maximum_entropy(seating)
    for pair, p in answer.x.items():
        assert p == pytest.approx(expected.get(pair, 0.0), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(seatings(persons=5))
def test_same_worlds_as_the_oracle_of_seatings(seating):
    total, shares = factored.worlds(factored.of_seating(seating))
    assert total == sum(1 for _ in seats.worlds(seating))
    assert shares == seats.posterior(seating)


@settings(max_examples=30, deadline=None)
@given(seeds, flavours)
def test_the_answer_meets_the_conditions_of_the_maximum(seed, flavour):
    form = case(seed, flavour)
    answer = factored.maximum_entropy(form)
    assert factored.violation(form, answer) < 1e-9
    for p in form.fits:
        assert sum(answer.x[p, s] for s in form.values) == pytest.approx(1, abs=1e-11)


@settings(max_examples=30, deadline=None)
@given(seeds, flavours)
def test_no_feasible_point_has_more_entropy(seed, flavour):
    form, random = case(seed, flavour), np.random.default_rng(seed)
    answer = factored.maximum_entropy(form)
    lp = factored.linear.linear(form, prior=True)
    best = [answer.x[k] if len(k) == 2 else answer.y[k] for k in lp.keys]
    for _ in range(3):
        corner = lp.extreme(random.normal(size=len(lp.keys)))
        shares = corner / [form.persons_of(key[0]) for key in lp.keys]
        for share in (1e-3, 0.3):
            mixed = dict(zip(lp.keys, (1 - share) * np.array(best) + share * np.maximum(shares, 0), strict=True))
            x = {key: p for key, p in mixed.items() if len(key) == 2}
            y = {key: p for key, p in mixed.items() if len(key) == 4}
            assert factored.entropy(form, x, y) <= answer.entropy + 1e-6 * share


@settings(max_examples=12, deadline=None)
@given(seeds, flavours)
def test_face_bounds_and_worlds_agree(seed, flavour):
    form, truth = made(seed, replace(FLAVOURS[flavour], persons=4, heaviest=min(2, FLAVOURS[flavour].heaviest)))
    limits, shape = factored.bounds(form), factored.face(form)
    for key, (low, high) in limits.items():
        assert (key in shape.zeros) == (high <= 1e-7)
        assert low - 1e-9 <= shape.inside[key] / form.persons_of(key[0]) <= high + 1e-9
    for (p, _), s in truth.value.items():
        assert (p, s) not in shape.zeros
    for i, side in shape.tight.items():
        row = form.bounded()[i]
        assert row.lower < row.upper
        assert truth.activity(row) == (row.upper if side == "upper" else row.lower)
    total, shares = factored.worlds(form)
    assert total > 0
    for pair, share in shares.items():
        assert limits[pair][0] - 1e-7 <= share <= limits[pair][1] + 1e-7
    assert factored.face(form, prior=True).zeros >= shape.zeros


@settings(max_examples=20, deadline=None)
@given(seeds, flavours)
def test_where_nothing_fits_there_is_no_world(seed, flavour):
    form = tampered(seed, flavour)
    if not factored.feasible(form):
        assert sum(form.persons_of(p) for p in form.fits) > 7 or factored.worlds(form)[0] == 0


def test_the_generators_make_all_there_is():
    seen = Counter()
    for seed in range(40):
        form = case(seed, "loose")
        answer = factored.maximum_entropy(form)
        for i, row in enumerate(form.bounded()):
            kind = "row" if isinstance(row, Row) else "statement"
            if row.lower == row.upper:
                seen[kind, "exact"] += 1
            elif i in answer.face.tight:
                seen[kind, "tight"] += 1
            else:
                mu = answer.multiplier[i]
                seen[kind, "inactive" if abs(mu) < 1e-9 else "at lower" if mu > 0 else "at upper"] += 1
        seen["zero of the prior"] += any(f == 0 for own in form.prior.values() for f in own.values())
        seen["zeros that the prior adds"] += answer.face.zeros > factored.face(form).zeros
        seen["coefficient"] += any(abs(a) > 1 for s in form.statements for a in s.terms.values())
        seen["infeasible"] += not factored.feasible(tampered(seed, "loose"))
    ways = [
        (kind, way) for kind in ("row", "statement") for way in ("exact", "tight", "inactive", "at lower", "at upper")
    ]
    assert all(seen[what] > 2 for what in [*ways, "zero of the prior", "coefficient", "infeasible"]), seen


def test_a_larger_case():
    size = Size(persons=25, values=4, releases=3, groups=4, heaviest=3, seated=0.4, ranged=0.3, statements=3)
    form, _ = made(4, size)
    assert factored.violation(form, factored.maximum_entropy(form)) < 1e-9


def two(lower=1, upper=1, **more):
    """Two persons in one group that holds a at least once and b as it comes."""
    rows = [Row(0, 0, "a", lower, upper), Row(0, 0, "b", 0, math.inf)]
    return Case(["a", "b"], {"p": [[0]], "q": [[0]]}, rows, **more)


def test_a_range_by_hand():
    assert factored.maximum_entropy(two(0, 2)).x["p", "a"] == pytest.approx(0.5, abs=1e-12)
    upper = factored.maximum_entropy(two(0, 0.5))
    assert upper.x["p", "a"] == pytest.approx(0.25, abs=1e-12)
    assert upper.multiplier[0] == pytest.approx(math.log(1 / 3), abs=1e-10)
    assert factored.maximum_entropy(two(1.5, 2)).multiplier[0] == pytest.approx(math.log(3), abs=1e-10)


def test_a_prior_by_hand():
    prior = {"p": {"a": 3.0, "b": 1.0}, "q": {"a": 1.0, "b": 3.0}}
    answer = factored.maximum_entropy(two(1, 1, prior=prior))
    assert answer.x["p", "a"] == pytest.approx(0.75, abs=1e-12)
    none = {"p": {"a": 0.0, "b": 1.0}, "q": {"a": 1.0, "b": 1.0}}
    assert factored.maximum_entropy(two(1, 1, prior=none)).x["q", "a"] == pytest.approx(1, abs=1e-12)
    assert factored.feasible(two(2, 2, prior=none))
    assert not factored.feasible(two(2, 2, prior=none), prior=True)
    assert factored.worlds(two(1, 1, prior=prior)) == (
        10,
        {
            ("p", "a"): Fraction(9, 10),
            ("p", "b"): Fraction(1, 10),
            ("q", "a"): Fraction(1, 10),
            ("q", "b"): Fraction(9, 10),
        },
    )


def test_a_statement_by_hand():
    told = Statement({("p", "a"): 2, ("q", "a"): -1}, 0.5, 0.5)
    answer = factored.maximum_entropy(two(1, 1, statements=[told]))
    assert answer.x["p", "a"] == pytest.approx(0.5, abs=1e-12)
    assert factored.face(two(0, 2, statements=[Statement({("p", "a"): 3}, 3, 9)])).tight == {2: "lower"}


def test_seats_count_in_worlds_and_in_entropy():
    form = Case(["a", "b"], {"p": [[None, 0, 1]]}, [Row(0, 0, "a", 0, 1), Row(0, 1, "a", 0, 1)])
    assert factored.worlds(form) == (4, {("p", "a"): 0.75, ("p", "b"): 0.25})
    answer = factored.maximum_entropy(form)
    assert answer.x["p", "a"] == pytest.approx(0.75, abs=1e-12)
    assert answer.entropy == pytest.approx(math.log(4), abs=1e-12)


def test_a_wrong_answer_is_seen():
    form = two(0, 0.5)
    answer = factored.maximum_entropy(form)
    assert factored.violation(form, replace(answer, multiplier=-answer.multiplier)) > 0.1
    assert factored.violation(form, replace(answer, x={**answer.x, ("p", "a"): 0.3, ("p", "b"): 0.7})) > 0.04


def test_a_bound_that_is_touched_by_chance():
    one = np.ones((1, 2))
    program = Program(np.ones(2), one, np.ones(1), np.array([[1.0, 0.0]]), np.array([0.5]))
    found = least_divergence(program, np.array([0.2, 0.8]))
    assert found.u == pytest.approx([0.5, 0.5], abs=1e-10)
    assert program.off(Optimum(np.array([0.4, 0.6]), found.nu, found.slope)) > 0.01
