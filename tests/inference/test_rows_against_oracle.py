"""Ranges, statements, priors, weights and candidates: the solver beside the dense oracle of the general problem."""

import numpy as np
import pytest

from showthrough.errors import ContradictionError, InputError
from showthrough.inference.log import Log
from showthrough.inference.run import answered
from tests import factored_cases
from tests.inference.coded import history_of
from tests.oracles import factored

FLAVOURS = sorted(factored_cases.FLAVOURS)
SEEDS = 24


def solved(case):
    return answered(history_of(case), Log())


def answers(case, found):
    """P(value | person) of the solver, and what it proved impossible."""
    people, values = list(case.fits), list(case.values)
    p, possible = {}, set()
    for k, person in enumerate(people):
        for v in found.span(int(found.of_person[k])):
            value = values[int(found.problem.value[v])]
            p[person, value] = float(found.x[v])
            if found.face.alive[v]:
                possible.add((person, value))
    return p, possible


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_probabilities_are_the_oracles(flavour):
    for seed in range(SEEDS):
        case = factored_cases.case(seed, flavour)
        exact = factored.maximum_entropy(case).x
        found, certificate = solved(case)
        assert certificate.status in ("exact", "certified"), (seed, certificate)
        p, _ = answers(case, found)
        for pair in case.pairs():
            assert p.get(pair, 0.0) == pytest.approx(exact.get(pair, 0.0), abs=1e-7), (seed, pair)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_is_proven_is_what_the_linear_programs_force(flavour):
    for seed in range(100, 100 + SEEDS // 2):
        case = factored_cases.case(seed, flavour)
        limits = factored.bounds(case, case.pairs())
        found, certificate = solved(case)
        _, possible = answers(case, found)
        able = {pair for pair in case.pairs() if limits.get(pair, (0.0, 0.0))[1] > 1e-7}
        assert able <= possible, (seed, "a possible pair was called impossible")
        if certificate.status == "exact" and case.prior is None:
            assert possible == able, seed


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_fits_nothing_is_a_contradiction(flavour):
    for seed in range(200, 200 + SEEDS // 2):
        case = factored_cases.tampered(seed, flavour)
        if factored.feasible(case):
            if factored.feasible(case, prior=True):
                solved(case)
            continue
        try:
            _, certificate = solved(case)
        except ContradictionError:
            continue
        assert certificate.status not in ("exact", "certified"), seed


def test_the_worlds_of_values_weigh_their_seatings():
    from showthrough.inference.integral import world_shares

    for flavour in ("plain", "weighed", "seated", "ranges", "seated ranges", "statements"):
        for seed in range(15):
            case = factored_cases.case(seed, flavour)
            total, share = factored.worlds(case)
            if not total:
                continue
            found, _ = solved(case)
            counted = world_shares(
                found.face, found.mu, found.of_person, most_states=10**6, seconds=60, refuse=True
            ).share
            for k, person in enumerate(case.fits):
                for v in found.span(int(found.of_person[k])):
                    value = case.values[int(found.problem.value[v])]
                    assert counted[v] == pytest.approx(float(share.get((person, value), 0)), abs=1e-12), (flavour, seed)


def test_worlds_of_very_many_persons_are_too_many_to_count_at_once():
    from showthrough.inference.integral import decide, world_shares

    rows = [factored.Row(0, g, v, 10**9, 10**9) for g in (0, 1) for v in "ab"]
    case = factored.Case(["a", "b"], {"p": [[0, 1]], "rest": [[0, 1]]}, rows, weight={"rest": 4 * 10**9 - 1})
    found, _ = solved(case)
    with pytest.raises(InputError, match="most_states"):
        world_shares(found.face, found.mu, found.of_person, most_states=200_000, seconds=2, refuse=True)
    facts = decide(found.face, seconds=5)
    assert not facts.impossible.any()


def test_signatures_split_where_a_statement_or_a_prior_tells_persons_apart():
    rows = [factored.Row(0, 0, "a", 2, 2), factored.Row(0, 0, "b", 1, 1)]
    fits = {"p": [[0]], "q": [[0]], "r": [[0]]}
    alike = factored.Case(["a", "b"], fits, rows)
    told = factored.Case(["a", "b"], fits, rows, [factored.Statement({("p", "a"): 1}, 1, 1)])
    believed = factored.Case(["a", "b"], fits, rows, prior={n: {"a": 1.0, "b": 2.0 if n == "p" else 1.0} for n in fits})
    assert [solved(case)[0].problem.signatures for case in (alike, told, believed)] == [1, 2, 2]


def test_a_prior_of_zero_is_belief_and_no_fact():
    rows = [factored.Row(0, 0, "a", 1, 1), factored.Row(0, 0, "b", 1, 1)]
    prior = {"p": {"a": 0.0, "b": 1.0}, "q": {"a": 1.0, "b": 1.0}}
    case = factored.Case(["a", "b"], {"p": [[0]], "q": [[0]]}, rows, prior=prior)
    found, certificate = solved(case)
    p, possible = answers(case, found)
    assert p["p", "b"] == p["q", "a"] == 1
    assert len(possible) == 4
    assert certificate.proven_ones == 0


def test_a_prior_that_excludes_what_the_counts_require_is_a_contradiction():
    prior = {"p": {"a": 0.0, "b": 1.0}}
    case = factored.Case(["a", "b"], {"p": [[0]]}, [factored.Row(0, 0, "a", 1, 1)], prior=prior)
    with pytest.raises(ContradictionError, match="prior"):
        solved(case)


def test_memory_grows_with_the_columns_not_with_the_persons():
    rows = [factored.Row(0, 0, "a", 60_000_000, 60_000_000), factored.Row(0, 0, "b", 40_000_001, 40_000_001)]
    case = factored.Case(["a", "b"], {"p": [[0]], "rest": [[0]]}, rows, weight={"rest": 100_000_000})
    found, certificate = solved(case)
    assert found.history.group_of.shape[1] == 2
    assert certificate.status == "exact"
    assert np.allclose(found.x, [0.6, 0.4], atol=1e-8)
