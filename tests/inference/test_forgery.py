"""Proofs that should not verify do not, and those that should do, whatever types they are asked in."""

import datetime
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest

from showthrough import Release, infer
from showthrough.examples import figure1
from showthrough.inference.proof import Argument, Contradiction, Proof, WeighedRow
from tests.histories import release, releases
from tests.inference.adversaries import TWO, made


def forged(*rows, id=1, value="a", fact="certain", **more):
    steps = (Argument(tuple(WeighedRow(*row) for row in rows), ""),)
    return Proof(id, value, fact, "counts", steps, "", ("D1", "D2"), **more)


def test_nothing_is_proven_of_an_open_pair():
    assert infer(TWO).proven().filter(pl.col("id") == 1).is_empty()
    everything = {(g, v) for g in (1, 1.0, True, Fraction(1), Decimal(1), "1", 2, -1, None) for v in ("a", "b", "c")}
    rng = random.Random(0)
    for _ in range(120):
        chosen = rng.sample(sorted(everything, key=repr), rng.randint(1, 4))
        rows = [(rng.choice([0, 1, -1, 2]), g, v, rng.choice([-2, -1, 0, 1, 1, 2, 10**30])) for g, v in chosen]
        rows += rng.sample(rows, rng.randint(0, len(rows)))  # a row may stand twice
        for value in ("a", "b"):
            for fact in ("certain", "impossible"):
                assert not forged(*rows, value=value, fact=fact).verify(TWO)
        steps = (Argument(tuple(WeighedRow(*row) for row in rows), ""),)
        assert not Contradiction(steps, ("D1", "D2")).verify(TWO)


def test_rows_that_stand_twice_count_twice():
    both = figure1.releases()
    proof = infer(both).explain("14", "Flu")
    first, *rest = proof.steps[0].rows
    assert proof.verify(both)
    assert not replace(proof, steps=(Argument((first, first, *rest), ""),)).verify(both)
    half = (replace(first, weight=first.weight - 1), replace(first, weight=1), *rest)
    assert replace(proof, steps=(Argument(half, ""),)).verify(both)


@pytest.mark.parametrize("weight", [0.5, 1.5, float("nan"), float("inf"), None, "x"])
def test_weights_that_are_not_whole_prove_nothing(weight):
    assert not forged((0, 1, "a", weight), (0, 1, "b", 1)).verify(TWO)


def test_a_label_that_merely_equals_a_group_proves_nothing():
    rows = pl.DataFrame({"id": [1, 2], "group": [True, True], "value": ["a", "b"]})
    open_pair = [Release.bucketized(rows, id="id", sensitive="value", group="group", name="D1")]
    assert infer(open_pair).of(1) == {"a": 0.5, "b": 0.5}
    assert not forged((0, Decimal(1), "a", 1)).verify(open_pair)


@pytest.mark.parametrize("label", [1j, frozenset([1]), datetime.datetime(2020, 1, 1), 1.5])
def test_strange_labels_are_refused_without_an_error(label):
    day = datetime.date(2020, 1, 1)
    rows = pl.DataFrame({"id": [1, 2], "group": [day, day], "value": ["a", "b"]})
    open_pair = [Release.bucketized(rows, id="id", sensitive="value", group="group", name="D1")]
    assert not forged((0, day, "a", 1), (0, label, "a", 1)).verify(open_pair)


def test_a_proof_asked_for_by_number_verifies_where_ids_are_text():
    both = figure1.releases()
    post = infer(both)
    assert post.of(14) == post.of("14")
    assert post.explain(14, "Flu").verify(both)


def test_a_proof_asked_for_by_number_verifies_where_values_are_text():
    both = [release([(["x", "y"], ["10", "20"])], "D1"), release([(["x", "z"], ["10", "30"])], "D2")]
    post = infer(both)
    assert post.explain("x", 10).fact == "certain"
    assert post.explain("x", 10).verify(both)


def test_a_certain_value_is_not_impossible_in_another_type():
    both = [release([(["x", "y"], ["10", "20"])], "D1"), release([(["x", "z"], ["10", "30"])], "D2")]
    assert infer(both).of("x") == {"10": 1.0}
    assert not Proof("x", 10, "impossible", "sets", (), "", ("D1", "D2")).verify(both)


def test_a_fact_at_the_end_of_a_long_chain_is_explained():
    n = 700
    truth = {p: "ab"[p % 2] for p in range(n)}
    groups = [[], [], [[0]]]
    for p in range(n - 1):
        groups[p % 3].append([p, p + 1])
    rels = releases([made(own, truth) for own in groups])
    post = infer(rels)
    assert post.of(n - 1) == {truth[n - 1]: 1.0}
    assert post.explain(n - 1, truth[n - 1]).verify(rels)
