"""Quick bounds: never narrower than what fits, and at least as narrow as single rows make them."""

import numpy as np
import pytest

from showthrough.inference.clock import Clock
from showthrough.inference.face import Face
from showthrough.inference.intervals import intervals
from showthrough.inference.log import Log
from showthrough.inference.pairs import Pairs
from showthrough.inference.problem import collapse
from showthrough.inference.run import answered
from tests import factored_cases
from tests.inference.coded import history_of
from tests.oracles import factored
from tests.oracles import intervals as single_rows

FLAVOURS = sorted(factored_cases.FLAVOURS)
SEEDS = range(30)
ROUNDED = 1e-6


def one_of(case, pair, low, high):
    """Bounds of one of the persons behind a name, from the least and largest share of them."""
    persons = case.persons_of(pair[0])
    return max(0.0, low * persons - (persons - 1)), min(1.0, high * persons)


def quick(case, face, of_person, clock=None):
    """(person, value) to bounds."""
    pairs = Pairs.of(face, np.zeros(face.problem.terms))
    lower, upper = intervals(face, clock).per_person(face, pairs)
    people, values, found = list(case.fits), list(case.values), {}
    for k, person in enumerate(people):
        signature = int(of_person[k])
        for v in range(int(pairs.start[signature]), int(pairs.start[signature + 1])):
            found[person, values[int(pairs.value[v])]] = float(lower[v]), float(upper[v])
    return found


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_no_bound_leaves_out_what_fits(flavour):
    for seed in SEEDS:
        case = factored_cases.case(seed, flavour)
        limits = factored.bounds(case, case.pairs())
        solved, _ = answered(history_of(case), Log())
        problem, of_person = collapse(history_of(case))
        for face, mine in ((Face.whole(problem), of_person), (solved.face, solved.of_person)):
            for clock in (None, Clock(0)):
                for pair, (lower, upper) in quick(case, face, mine, clock).items():
                    low, high = one_of(case, pair, *limits[pair])
                    assert lower <= low + ROUNDED, (seed, pair)
                    assert upper >= high - ROUNDED, (seed, pair)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_bounds_are_at_least_those_of_single_rows(flavour):
    for seed in SEEDS:
        case = factored_cases.case(seed, flavour)
        known = single_rows.intervals(case)
        problem, of_person = collapse(history_of(case))
        for pair, (lower, upper) in quick(case, Face.whole(problem), of_person).items():
            low, high = single_rows.of_one_person(case, pair, known[pair])
            assert lower >= low - ROUNDED, (seed, pair)
            assert upper <= high + ROUNDED, (seed, pair)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_where_nothing_fits_either_everything_is_open_or_single_rows_do_not_see_it(flavour):
    for seed in range(200, 230):
        case = factored_cases.tampered(seed, flavour)
        if factored.feasible(case):
            continue
        problem, of_person = collapse(history_of(case))
        if (np.diff(problem.start) == 0).any():
            continue
        empty = any(low > high for low, high in single_rows.intervals(case).values())
        found = quick(case, Face.whole(problem), of_person)
        assert all(lower <= upper for lower, upper in found.values())
        if empty:
            assert (0.0, 1.0) in found.values() or all(low == high for low, high in found.values()), seed


def test_a_statement_with_a_coefficient_bounds_by_a_fraction():
    said = factored.Statement({("p", "a"): 2}, 0, 1)
    rows = [factored.Row(0, 0, "a", 1, 1), factored.Row(0, 0, "b", 1, 1)]
    case = factored.Case(["a", "b"], {"p": [[0]], "q": [[0]]}, rows, [said], {"p": 1, "q": 1}, None)
    problem, of_person = collapse(history_of(case))
    found = quick(case, Face.whole(problem), of_person)
    assert found["p", "a"] == pytest.approx((0.0, 0.5), abs=1e-7)
    assert found["p", "b"] == pytest.approx((0.5, 1.0), abs=1e-7)
    assert found["q", "a"] == pytest.approx((0.5, 1.0), abs=1e-7)
    assert found["p", "a"][1] >= 0.5 >= found["p", "b"][0]
