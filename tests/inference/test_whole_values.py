"""Facts over whole values and the possible-worlds posterior, against enumeration."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from showthrough import infer
from showthrough.errors import ContradictionError, InputError
from showthrough.inference import integral
from tests.histories import FIGURE1, WHOLE_VALUES, X1, histories, releases
from tests.oracles import worlds

some = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def test_the_six_person_case():
    post = infer(releases(WHOLE_VALUES))
    assert post.proven().height == 0
    facts = {(i, v): (fact, by) for i, v, fact, by in post.proven(integral=True).iter_rows()}
    assert facts[2, "b"] == ("certain", "worlds")
    assert facts[2, "a"] == ("impossible", "worlds")
    assert all(facts[p, "b"] == ("impossible", "worlds") for p in (1, 3, 6))
    assert (4, "b") not in facts
    assert (5, "b") not in facts


@pytest.mark.parametrize("counted", [0, 20_000])
@some
@given(history=histories(persons=8, least_releases=2))
def test_whole_value_facts_are_those_of_enumeration(history, counted):
    integral.COUNTED = counted  # 0: integer programs decide
    try:
        facts = infer(releases(history)).proven(integral=True, seconds=60)
    finally:
        integral.COUNTED = 20_000
    _, share = worlds.posterior(history)
    found = {(i, v): fact for i, v, fact, _ in facts.iter_rows()}
    assert "undecided" not in found.values()
    for release in history:
        for persons, values in release:
            for p in persons:
                for v in values:
                    truth = share[p].get(v, 0)
                    expected = {0: "impossible", 1: "certain"}.get(truth)
                    assert found.get((p, v)) == expected


@some
@given(history=histories(persons=8))
def test_worlds_posterior_is_the_share_of_worlds(history):
    _, share = worlds.posterior(history)
    for i, v, p, *_ in infer(releases(history)).worlds().iter_rows():
        assert p == pytest.approx(float(share[i].get(v, 0)), abs=1e-12)


def test_worlds_of_the_papers_example_and_of_x1():
    figure = {(i, v): p for i, v, p, *_ in infer(releases(FIGURE1)).worlds().iter_rows()}
    assert figure["1", "Flu"] == 0.5
    assert figure["10", "Lung Cancer"] == 1.0
    x1 = {(i, v): p for i, v, p, *_ in infer(releases(X1)).worlds([1, 4]).iter_rows()}
    assert x1 == pytest.approx({(1, "a"): 2 / 3, (1, "b"): 1 / 3, (4, "a"): 1 / 3, (4, "b"): 2 / 3})


def test_components_that_are_too_large_are_left_out_or_refused():
    post = infer(releases(X1))
    assert post.worlds(most_states=2, seconds=0).height == 0
    with pytest.raises(InputError, match="most_states"):
        post.worlds([1], most_states=2, seconds=0)


def test_time_that_runs_out_leaves_undecided_pairs():
    facts = infer(releases(WHOLE_VALUES)).proven(integral=True, seconds=0)
    assert set(facts["fact"]) == {"undecided"}
    assert facts.height == 12


def test_probabilities_without_worlds_are_a_contradiction():
    """Three releases of six persons whose fractional answer exists but no whole one."""
    pairs = [([1, 2], "ab"), ([3, 4], "ab"), ([5, 6], "ab")]
    odd = [
        [(list(persons), list(values)) for persons, values in pairs],
        [([2, 3], ["a", "b"]), ([1, 4], ["a", "b"]), ([5, 6], ["a", "b"])],
        [([1, 3], ["a", "b"]), ([2, 4], ["a", "b"]), ([5, 6], ["a", "b"])],
    ]
    assert worlds.posterior(odd)[0] == 0
    post = infer(releases(odd))
    assert np.allclose(post.to_frame()["p"], 0.5)
    with pytest.raises(ContradictionError, match="no assignment of whole values"):
        post.proven(integral=True)
    with pytest.raises(ContradictionError, match="no assignment of whole values"):
        post.worlds()
