"""Random small histories: every number and every fact against enumeration, linear programs and a dense solve."""

import pytest
from hypothesis import HealthCheck, given, settings

from showthrough import infer
from tests.histories import histories, releases
from tests.oracles import entropy, linear, worlds

slow = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@slow
@given(histories())
def test_probabilities_are_the_maximum_entropy_answer(history):
    post = infer(releases(history))
    exact = entropy.maximum_entropy(history)
    for (person, value), p in exact.items():
        assert post.of(person).get(value, 0.0) == pytest.approx(p, abs=1e-9)
    assert post.certificate.status == "exact"
    assert post.certificate.gap <= 2e-10
    assert post.certificate.residual <= 1e-8


@slow
@given(histories())
def test_zeros_and_bounds_are_those_of_the_linear_programs(history):
    post = infer(releases(history))
    limits = linear.bounds(history)
    mine = {(i, v): (low, high) for i, v, low, high in post.bounds().iter_rows()}
    assert set(mine) == {pair for pair, (_, high) in limits.items() if high > 1e-7}
    for pair, bounds in mine.items():
        assert bounds == pytest.approx(limits[pair], abs=1e-7)
    certain = {(i, v) for i, v, fact, _ in post.proven().iter_rows() if fact == "certain"}
    assert certain == {pair for pair, (low, _) in limits.items() if low > 1 - 1e-7}


@slow
@given(histories(persons=7))
def test_no_fact_contradicts_a_possible_world(history):
    rels = releases(history)
    post = infer(rels)
    total, share = worlds.posterior(history)
    assert total > 0
    for person, value, fact, _ in post.proven().iter_rows():
        assert share[person].get(value, 0) == (1 if fact == "certain" else 0)


@slow
@given(histories())
def test_every_fact_has_a_proof_that_verifies(history):
    rels = releases(history)
    post = infer(rels)
    for person, value, fact, by in post.proven().iter_rows():
        proof = post.explain(person, value)
        assert (proof.fact, proof.by) == (fact, by)
        assert proof.verify(rels)
        assert str(proof).endswith(f"{value}.")
