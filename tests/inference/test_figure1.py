"""The worked example of Wang, Zhu, Du and Teng, with its exact numbers."""

from fractions import Fraction as F

import polars as pl
import pytest

from showthrough import infer
from showthrough.errors import NotProvenError
from showthrough.examples import figure1
from tests.histories import FIGURE1, WHOLE_VALUES, X1, releases
from tests.oracles import common_values, entropy, linear, worlds
from tests.saying import refusing

THIRD, HALF, QUARTER = F(1, 3), F(1, 2), F(1, 4)
TOGETHER = {
    **dict.fromkeys("1234", {"Diabetes": QUARTER, "Flu": HALF, "Pneumonia": QUARTER}),
    **dict.fromkeys("56", {"Flu": HALF, "Pneumonia": HALF}),
    "7": {"Diabetes": F(1)},
    **dict.fromkeys("89", {"Flu": HALF, "HIV": HALF}),
    "10": {"Lung Cancer": F(1)},
    **dict.fromkeys(("11", "12"), {"HIV": HALF, "Pneumonia": HALF}),
    "13": {"Diabetes": F(1)},
    **dict.fromkeys(("14", "15"), {"Diabetes": HALF, "Pneumonia": HALF}),
}


def alone(groups):
    return {p: {v: F(values.count(v), len(values)) for v in values} for persons, values in groups for p in persons}


@pytest.mark.parametrize(
    ("which", "truth", "nats"),
    [
        ([0], alone(FIGURE1[0]), 14.046394),
        ([1], alone(FIGURE1[1]), 13.183347),
        ([0, 1], TOGETHER, 9.704061),
    ],
)
def test_probabilities_and_entropy(which, truth, nats):
    post = infer([figure1.releases()[k] for k in which])
    assert {p: set(post.of(p)) for p in truth} == {p: set(row) for p, row in truth.items()}
    for person, row in truth.items():
        for value, p in row.items():
            assert post.of(person)[value] == pytest.approx(float(p), abs=1e-9)
    assert post.to_frame().height == sum(len(row) for row in truth.values())
    assert post.entropy == pytest.approx(nats, abs=5e-7)
    assert post.certificate.status == "exact"


def test_shipped_files_are_the_figure():
    for shipped, groups in zip(figure1.releases(), FIGURE1, strict=True):
        published = {
            g: (sorted(ids, key=int), sorted(values))
            for g, ids, values in shipped.to_frame()
            .group_by("group", maintain_order=True)
            .agg("pseudonym", "disease")
            .iter_rows()
        }
        assert published == {str(k): (persons, sorted(values)) for k, (persons, values) in enumerate(groups, 1)}


def test_maximum_common_subset_of_5():
    assert common_values(FIGURE1, "5") == {"Pneumonia", "Flu"}
    assert set(infer(figure1.releases()).of("5")) == {"Pneumonia", "Flu"}


def test_sixteen_worlds_agree():
    total, share = worlds.posterior(FIGURE1)
    assert total == 16
    assert worlds.posterior(FIGURE1[:1])[0] == 2592
    assert worlds.posterior(FIGURE1[1:])[0] == 1296
    assert share == TOGETHER


def test_facts():
    facts = infer(figure1.releases()).proven()
    certain = facts.filter(pl.col("fact") == "certain").select("id", "value", "by").rows()
    assert certain == [("7", "Diabetes", "counts"), ("10", "Lung Cancer", "counts"), ("13", "Diabetes", "counts")]
    by_counts = facts.filter((pl.col("fact") == "impossible") & (pl.col("by") == "counts")).select("id", "value")
    assert set(by_counts.rows()) == {
        ("7", "Flu"), ("7", "Pneumonia"), ("10", "Flu"), ("10", "HIV"),
        ("13", "HIV"), ("13", "Pneumonia"), ("14", "Flu"), ("15", "Flu"),
    }  # fmt: skip
    by_sets = facts.filter(pl.col("by") == "sets").select("id", "value").rows()
    assert len(by_sets) == 12
    assert ("11", "Flu") in by_sets


def test_sizes_of_the_problem():
    post = infer(figure1.releases())
    problem = post._solved.problem
    weighted = int(problem.weight[problem.signature].sum())
    assert (weighted, post.ids.len(), problem.rows.size) == (39, 15, 24)
    pairs, A, _ = linear.system(FIGURE1)
    assert (len(pairs), A.shape[0]) == (39, 15 + 24)


def test_bounds():
    post = infer(figure1.releases())
    limits = {(i, v): (low, high) for i, v, low, high in post.bounds().iter_rows()}
    for person, row in TOGETHER.items():
        for value in row:
            assert limits[person, value] == ((1.0, 1.0) if len(row) == 1 else (0.0, 1.0))
    assert len(limits) == sum(len(row) for row in TOGETHER.values())
    assert post.bounds(["10", "14"])["id"].unique(maintain_order=True).to_list() == ["10", "14"]


def test_reasons_read_as_sentences():
    both = figure1.releases()
    post = infer(both)
    proof = post.explain("10", "Lung Cancer")
    assert str(proof) == (
        "Group 3 of D1 publishes 1 × Lung Cancer, and only person 10 can have it (8 and 9 are, in "
        "another release, in groups without it): that person has Lung Cancer.\nTherefore 10 has Lung Cancer."
    )
    assert proof.steps[0].groups == ((0, "3"),)
    assert str(post.explain("14", "Flu")) == (
        "Group 1 of D1 publishes 2 × Flu. The persons who can have it (1, 2, 3 and 4) are all in groups 1 and 2 of "
        "D2, which publish 2 in all. None is left over: nobody else in groups 1 and 2 of D2 has Flu, so not 14 or "
        "15.\nTherefore 14 cannot have Flu."
    )
    assert "not among the values of group 4 of D1" in str(post.explain("11", "Flu"))
    with refusing(NotProvenError, match=r"neither certain nor impossible for 5: P = 0\.5"):
        post.explain("5", "Flu")


def test_x1_is_not_the_worlds_posterior():
    post = infer(releases(X1))
    assert post.of(1)["a"] == pytest.approx(0.575049, abs=5e-7)
    assert post.of(5)["a"] == pytest.approx(0.575049, abs=5e-7)
    assert post.of(4)["b"] == pytest.approx(0.575049, abs=5e-7)
    assert post.of(2)["a"] == post.of(3)["a"] == pytest.approx(0.712476, abs=5e-7)
    exact = entropy.maximum_entropy(X1)
    assert all(post.of(p)[v] == pytest.approx(x, abs=1e-9) for (p, v), x in exact.items())
    assert worlds.posterior(X1)[1][1]["a"] == F(2, 3)


def test_whole_values_case_is_a_third_for_everybody():
    post = infer(releases(WHOLE_VALUES))
    assert all(post.of(p)["b"] == pytest.approx(1 / 3, abs=1e-9) for p in range(1, 7))
    assert worlds.posterior(WHOLE_VALUES)[0] == 2
