"""Persons who fit several groups: the joint program of value and seat against dense oracles."""

from math import log

import polars as pl
import pytest
from hypothesis import given, settings

from showthrough import infer
from showthrough.errors import ContradictionError
from tests.oracles import seats
from tests.oracles.seats import Seating
from tests.seatings import releases, seatings

OVERLAP = Seating([[["a", "b"], ["a", "c"]]], {1: [[0]], 2: [[0, 1]], 3: [[0, 1]], 4: [[1]]})


def posterior(case: Seating):
    published, membership = releases(case)
    return infer(published, membership=membership)


def by_pair(frame: pl.DataFrame) -> dict:
    return {row[:2]: row[2:] if len(row) > 3 else row[2] for row in frame.iter_rows()}


@settings(max_examples=40, deadline=None)
@given(seatings())
def test_maximum_entropy_is_that_of_the_dense_program(case):
    post = posterior(case)
    truth, found = seats.maximum_entropy(case), by_pair(post.to_frame())
    assert post.certificate.status == "exact"
    for pair in truth.keys() | found.keys():
        assert found.get(pair, 0.0) == pytest.approx(truth.get(pair, 0.0), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(seatings(persons=5))
def test_bounds_and_facts_are_those_of_linear_programs(case):
    post = posterior(case)
    truth, found = seats.bounds(case), by_pair(post.bounds())
    facts = post.proven()
    certain = {row[:2] for row in facts.filter(pl.col("fact") == "certain").iter_rows()}
    assert certain == {pair for pair, (low, _) in truth.items() if low > 1 - 1e-7}
    assert {pair for pair in truth if pair not in found} == {pair for pair, (_, high) in truth.items() if high < 1e-7}
    for pair, limits in found.items():
        assert limits == pytest.approx(truth[pair], abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(seatings(persons=5))
def test_worlds_and_whole_values_are_those_of_enumeration(case):
    post = posterior(case)
    truth, found = seats.posterior(case), by_pair(post.worlds().select("id", "value", "p"))
    for pair in truth.keys() | found.keys():
        assert found.get(pair, 0.0) == pytest.approx(float(truth.get(pair, 0)), abs=1e-12)
    facts = post.proven(integral=True)
    certain = {row[:2] for row in facts.filter(pl.col("fact") == "certain").iter_rows()}
    assert certain == {pair for pair, share in truth.items() if share == 1}


@settings(max_examples=25, deadline=None)
@given(seatings(persons=5))
def test_every_fact_has_a_proof_that_verifies(case):
    published, membership = releases(case)
    post = infer(published, membership=membership)
    for person, value, _, _ in post.proven().iter_rows():
        proof = post.explain(person, value)
        assert proof.verify(published, membership=membership)
        assert str(proof)


def test_two_groups_that_overlap():
    post = posterior(OVERLAP)
    assert post.of(1) == pytest.approx({"a": 1 / 2, "b": 1 / 2})
    assert sum(post.of(2).values()) == pytest.approx(1)
    assert post.of(2) == post.of(3)
    assert post.entropy == pytest.approx(-sum(p * log(p) for i in (1, 2, 3, 4) for p in post.of(i).values()))


def test_bounds_of_a_group_that_is_known_beside_groups_that_are_not():
    fits = {1: [[0]], 2: [[0]], 3: [[1, 2]], 4: [[1, 2]], 5: [[1, 2]], 6: [[1]]}
    case = Seating([[["a", "b"], ["a", "b"], ["a", "b"]]], fits)
    assert by_pair(posterior(case).bounds()) == {(p, v): (0.0, 1.0) for p in fits for v in "ab"}


def test_a_membership_that_leaves_too_few_for_a_group_is_refused():
    published, membership = releases(Seating([[["a", "b"], ["c"]]], {1: [[0]], 2: [[0]], 3: [[0]]}))
    with pytest.raises(ContradictionError):
        infer(published, membership=membership, contradictions="refuse")


def test_candidates_do_not_multiply_over_the_releases():
    """Two groups to choose from in each of 40 releases: 2^40 combinations, 80 candidates per person."""
    post = posterior(Seating([[["a", "b"], ["a", "b"]]] * 40, {p: [[0, 1]] * 40 for p in range(4)}))
    assert post.certificate.status == "exact"
    assert post._solved.problem.rows.candidates == 40 * 2 * 2  # everybody is alike: one signature
    assert post.of(0) == pytest.approx({"a": 0.5, "b": 0.5})
