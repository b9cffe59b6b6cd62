"""Proofs are data that anybody can re-check, and the checker does refuse."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from showthrough import Release, infer
from showthrough.examples import figure1
from showthrough.inference.proof import Argument, Proof, WeighedRow
from tests.histories import histories, release, releases


def test_a_proof_fails_on_other_counts():
    d1, d2 = figure1.releases()
    proof = infer([d1, d2]).explain("14", "Flu")
    rows = d1.to_frame().with_columns(disease=d1.to_frame()["disease"].replace("Flu", "Asthma"))
    other = Release.bucketized(rows, id="pseudonym", sensitive="disease", group="group", name="D1")
    assert proof.verify([d1, d2])
    assert not proof.verify([other, d2])
    assert not proof.verify([d1])


def test_wrong_claims_are_refused():
    both = figure1.releases()
    proof = infer(both).explain("14", "Flu")
    assert not replace(proof, value="Pneumonia").verify(both)
    assert not replace(proof, fact="certain").verify(both)
    assert not replace(proof, id="1").verify(both)
    assert not replace(proof, id="nobody").verify(both)
    assert not replace(proof, steps=()).verify(both)


def test_an_argument_that_does_not_add_up_is_refused():
    both = figure1.releases()
    proof = infer(both).explain("14", "Flu")
    first = proof.steps[0].rows[0]
    for rows in (proof.steps[0].rows[1:], (replace(first, weight=2), *proof.steps[0].rows[1:])):
        assert not replace(proof, steps=(Argument(rows, ""),)).verify(both)


def test_a_made_up_proof_is_judged_on_its_merits():
    both = figure1.releases()
    row = WeighedRow(0, "3", "Lung Cancer", 1)
    mine = Proof("10", "Lung Cancer", "certain", "counts", (Argument((row,), ""),), "", ("D1", "D2"))
    assert mine.verify(both)
    assert not replace(mine, id="8").verify(both)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(histories(persons=7, least_releases=2))
def test_no_proof_survives_a_false_claim(history):
    rels = releases(history)
    post = infer(rels)
    for person, value, fact, _ in post.proven().iter_rows():
        proof = post.explain(person, value)
        if fact == "certain":
            assert not replace(proof, fact="impossible").verify(rels)
        else:
            assert not replace(proof, fact="certain").verify(rels)


@pytest.mark.parametrize("mixed", [False, True])
def test_ids_and_values_of_other_types(mixed):
    d1 = release([([1, 2], [10, 20]), ([3, 4], [10, 10])], "D1")
    second = [([1, 3], [20, 10]), ([2, 4], [10, 10])]
    if mixed:
        second = [([str(p) for p in persons], [str(v) for v in values]) for persons, values in second]
    rels = [d1, release(second, "D2")]
    post = infer(rels)
    assert post.of(1) == ({"20": 1.0} if mixed else {20: 1.0})
    for person, value, _, _ in post.proven().iter_rows():
        assert post.explain(person, value).verify(rels)
