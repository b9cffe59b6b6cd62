"""What no attack expects: no release, other things than releases, values of every type, and nobody to attack."""

import datetime
import json

import polars as pl
import pytest

import showthrough as st
from showthrough.attacks.outcomes import NOBODY
from showthrough.errors import InputError

PEOPLE = pl.DataFrame({"id": list("abcdef"), "age": [21, 22, 31, 32, 41, 42]})
PRIOR = pl.DataFrame({"id": ["a", "a"], "value": ["x", "y"], "p": [0.9, 0.1]})
PUBLISH = {"method": "mondrian", "criteria": [st.KAnonymity(2)]}
ATTACKS = {
    "intersection": lambda r, who: st.attacks.intersection(r, register=who),
    "homogeneity": lambda r, who: st.attacks.homogeneity(r, register=who),
    "skewness": lambda r, who: st.attacks.skewness(r, register=who),
    "similarity": lambda r, who: st.attacks.similarity(r, epsilon=1, register=who),
    "membership": st.attacks.membership,
    "linking": st.attacks.linking,
    "bcf": lambda r, who: st.attacks.bcf(r, register=who),
    "differencing": lambda r, who: st.attacks.differencing(r, register=who),
    "least_knowledge": lambda r, who: st.attacks.least_knowledge(r, register=who, seconds=5),
    "definetti": lambda r, who: st.attacks.definetti(r, register=who),
    "background": lambda r, who: st.attacks.background(r, [], register=who),
    "bayes": lambda r, who: st.attacks.bayes(r, PRIOR, register=who),
    "minimality": lambda r, who: st.attacks.minimality(r, register=who, publish=PUBLISH),
    "all": lambda r, who: st.attack_all(r, register=who, seconds=10),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("given", [[], [PEOPLE], PEOPLE, None, 7, "D1.csv"], ids=lambda given: type(given).__name__)
def test_no_releases(name, given):
    with pytest.raises(InputError) as caught:
        ATTACKS[name](given, PEOPLE)
    assert str(caught.value).endswith(".")


def bucketized(values):
    rows = pl.DataFrame({"id": list("abcdef"), "group": [1, 1, 1, 2, 2, 2], "age": PEOPLE["age"], "v": values})
    return st.Release.bucketized(rows, id="id", group="group", sensitive="v", quasi=["age"], name="D")


DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 1, 3, 2, 1)]
TYPED = {
    "flags": [True, False, True, False, True, False],
    "days": DAYS,
    "moments": [datetime.datetime(2020, 1, day, 12) for day in (1, 2, 1, 3, 2, 1)],
    "large": [1e20, 2e20, 1e20, 0.5, 2e20, 1e20],
    "whole": [1, 2, 1, 3, 2, 1],
}


@pytest.mark.parametrize("kind", TYPED)
def test_values_of_every_type(kind):
    values = TYPED[kind]
    release = bucketized(values)
    known = st.infer(release, knowledge=[st.knowledge.known("a", values[0])])
    assert known.of("a") == {values[0]: 1.0}
    assert st.infer(release, knowledge=[st.knowledge.excluded("b", values[1])]).of("b") == {values[0]: 1.0}
    sure = pl.DataFrame({"id": ["a"], "value": [values[0]], "p": [1.0]})
    assert st.infer(release, prior=sure).of("a")[values[0]] == pytest.approx(1)
    assert st.attacks.bayes(release, sure, 0.5).people.filter(pl.col("value") == values[0])["exact"][0] == 1
    least = st.attacks.least_knowledge(release, "a")
    assert (least.size, least.exact) == (1, True)
    assert least.proof.verify([release], knowledge=least.statements)
    truth = pl.DataFrame({"id": list("abcdef"), "value": values})
    everything = st.attack_all([release], truth=truth, seconds=60)
    assert {"least-knowledge", "definetti", "homogeneity"} <= set(everything.results)
    right = everything.results["homogeneity"].score.table.filter(pl.col("belief") == "group")
    assert right["accuracy"][0] > 0


@pytest.mark.parametrize("kind", ["flags", "days"])
def test_priors_that_are_read_as_text(kind):
    values = TYPED[kind]
    typed = pl.DataFrame({"id": ["a", "a"], "value": values[:2], "p": [0.7, 0.3]})
    texts = typed.with_columns(pl.col("value").cast(pl.String))
    answers = [st.infer(bucketized(values), prior=prior).of("a") for prior in (typed, texts)]
    assert answers[0] == pytest.approx(answers[1])
    assert answers[0][values[0]] > 2 / 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [0, 1, 1e308])
def test_numbers_as_large_as_they_get(epsilon):
    release = bucketized([1e308, -1e308, 1.0, 0.0, 1.0, 2.0])
    near = st.attacks.similarity(release, epsilon=epsilon)
    assert near.rates["persons"][0] == {0: 0, 1: 3, 1e308: 6}[epsilon]
    assert (
        st.attacks.proximity(st.infer(release), epsilon, limit=0.9).rates["persons"][0]
        == {0: 0, 1: 3, 1e308: 6}[epsilon]
    )
    endless = bucketized([float("inf"), 1.0, 2.0, 3.0, 4.0, 5.0])
    with pytest.raises(InputError, match="finite"):
        st.attacks.similarity(endless, epsilon=epsilon)
    with pytest.raises(InputError, match="finite"):
        st.attacks.proximity(st.infer(endless), epsilon)


def test_nobody_of_the_register_fits():
    rows = pl.DataFrame({"age": ["20-29"] * 2 + ["30-39"] * 2, "v": list("xyxy")})
    release = st.Release.generalized(rows, quasi=["age"], sensitive="v", name="G")
    strangers = pl.DataFrame({"id": ["a"], "age": [99]})
    for name in ("intersection", "homogeneity", "skewness", "definetti", "least_knowledge"):
        found = ATTACKS[name](release, strangers)
        assert found.notes[-1] == NOBODY, name
        assert NOBODY in str(found) or name == "least_knowledge"  # whose text is one sentence
        assert NOBODY in json.dumps(found.as_dict())
    assert NOBODY not in str(st.attacks.homogeneity(release, register=PEOPLE))


def test_statements_about_nobody():
    rows = pl.DataFrame({"age": ["20-29"] * 4, "v": list("xyxy")})
    release = st.Release.generalized(rows, quasi=["age"], sensitive="v", name="G")
    with pytest.raises(InputError, match="the releases name nobody"):
        st.attacks.least_knowledge([release, release])
    assert "name nobody" in st.attack_all([release, release]).not_run["least-knowledge"]


@pytest.mark.parametrize("seed", [0, 1, 2, 4242])
def test_chance_exposes_nobody(seed):
    """Persons who look alike, two in every group: whatever is sampled, neither value is likelier."""
    rows = pl.DataFrame({"id": [str(k) for k in range(40)], "g": [k // 2 for k in range(40)], "v": list("xy") * 20})
    release = st.Release.bucketized(rows, id="id", group="g", sensitive="v")
    found = st.attacks.definetti(release, seed=seed)
    assert found.people["p"].is_between(0.3, 0.7).all()
    assert found.rates.filter(pl.col("belief") == "p")["persons"][0] <= 4
