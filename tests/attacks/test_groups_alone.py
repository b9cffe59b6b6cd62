"""Homogeneity, skewness and similarity: each release alone, against shares by hand; and proximity of posteriors."""

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.examples import figure1, hospitals
from tests.attacks.test_intersection import SEEDS, bucketized, history

TREE = {"*": {"low": ["a", "b", "c"], "high": ["d", "e", "f", "g", "h"]}}


def shares(releases, register, truth):
    """Per release: of everybody the share of each value in the groups that the person fits, as fractions."""
    found = {}
    for release in releases:
        counts = release.counts()
        rows = {g: Counter() for g in release.labels}
        for group, value, n in counts.iter_rows():
            rows[group][value] += n
        if release.roles.id is not None:
            fits = {p: [g] for p, g in release.groups().iter_rows()}
        else:
            there = register.filter(pl.col(f"in_{release.name}"))
            cells = dict(release.cells().iter_rows())
            fits = {
                p: [g for g, cell in cells.items() if cell == "*" or _inside(cell, int(age))]
                for p, age in there.select("id", "age").iter_rows()
            }
        table = sum(rows.values(), Counter())
        for p, groups in fits.items():
            own = sum((rows[g] for g in groups), Counter())
            total = sum(own.values())
            found[release.name, p] = {v: Fraction(n, total) for v, n in own.items()}
        found[release.name] = {v: Fraction(n, sum(table.values())) for v, n in table.items()}
    return found


def _inside(cell, age):
    low, high = cell.strip("[]").split(",")
    return int(low) <= age <= int(high)


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_random_histories(seed):
    releases, register, _, truth = history(seed)
    expected = shares(releases, register, truth)
    found = st.attacks.homogeneity(releases, 0.5, register=register)
    assert found.people.height == sum(isinstance(key, tuple) for key in expected)
    for name, p, value, most in found.people.iter_rows():
        own = expected[name, p]
        assert most == pytest.approx(float(max(own.values())))
        assert own[value] == max(own.values())
    for name, persons, of in found.rates.select("release", "persons", "of").iter_rows():
        mine = [own for key, own in expected.items() if isinstance(key, tuple) and key[0] == name]
        assert (persons, of) == (sum(max(own.values()) >= Fraction(1, 2) for own in mine), len(mine))
    skew = st.attacks.skewness(releases, 1.5, register=register)
    for name, p, value, share, table, ratio in skew.people.iter_rows():
        own, every = expected[name, p], expected[name]
        assert ratio == pytest.approx(float(max(s / every[v] for v, s in own.items())))
        assert (share, table) == pytest.approx((float(own[value]), float(every[value])))
    believed = found.believed()
    for belief in found.beliefs:
        assert (believed[belief] > 0).all()
    score = found.score(pl.DataFrame({"id": list(truth), "value": list(truth.values())}))
    assert score.table.height == 2 * len(releases)


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 7])
def test_similar_values(seed):
    releases, register, _, truth = history(seed)
    expected = shares(releases, register, truth)
    kin = st.attacks.similarity(releases, 0.7, hierarchy=TREE, register=register)
    for name, p, kind, share, many in kin.people.iter_rows():
        own = {k: sum(s for v, s in expected[name, p].items() if v in TREE["*"][k]) for k in TREE["*"]}
        assert share == pytest.approx(float(max(own.values())))
        assert own[kind] == max(own.values())
        assert many == sum(v in TREE["*"][kind] for v in expected[name, p])
    number = {v: str(k) for k, v in enumerate("abcdefgh")}
    told = [release.recoded(number) for release in releases]
    near = st.attacks.similarity(told, 0.7, epsilon=1, register=register)
    for name, p, centre, share, many in near.people.iter_rows():
        own = {number[v]: s for v, s in expected[name, p].items()}
        mass = {c: sum(s for v, s in own.items() if abs(int(v) - int(c)) <= 1) for c in number.values()}
        published = [c for c in mass if any(c in r.tally["value"] for r in told)]
        assert share == pytest.approx(float(max(mass[c] for c in published)))
        assert (float(mass[centre]), many) == (pytest.approx(share), sum(abs(int(v) - int(centre)) <= 1 for v in own))


def test_a_group_of_one_value_and_none():
    table_1 = hospitals.releases()[0]
    found = st.attacks.homogeneity(table_1, register=hospitals.register())
    assert found.rates["persons"].to_list() == [4]  # the group of four with cancer
    assert found.baseline["persons"].to_list() == [0]
    one = bucketized(["a"], ["x"], [1], "one")
    for attack in (st.attacks.homogeneity, st.attacks.skewness):
        assert attack(one).people.height == 1
        assert "1 persons" not in str(attack([one, one])).replace("of 1 persons", "")
    with pytest.raises(st.errors.InputError, match="share is a number"):
        st.attacks.homogeneity(one, 0)
    with pytest.raises(st.errors.InputError, match="ratio is a number above 1"):
        st.attacks.skewness(one, 1)
    with pytest.raises(st.errors.InputError, match="published by no release"):
        st.attacks.skewness(one, values=["y"])
    with pytest.raises(st.errors.InputError, match="Say when values are similar"):
        st.attacks.similarity(one)
    with pytest.raises(st.errors.InputError, match="level"):
        st.attacks.similarity(one, hierarchy={"*": ["x"]}, level=3)
    for text in (str(found), json.dumps(found.as_dict())):
        assert "Cancer" not in text


def test_values_that_matter():
    rare = bucketized(list("abcdefgh"), list("xyyyyyyy"), [1, 1, 2, 2, 2, 2, 2, 2], "rare")
    assert st.attacks.skewness(rare, 4).rates["persons"].to_list() == [2]  # 1/2 instead of 1/8
    assert st.attacks.skewness(rare, 4, values=["y"]).rates["persons"].to_list() == [0]


# Table I of the paper: allergy, asthma, myocarditis of the first group
SYNDROMES = ["0.8 0.0 0.0", "0.6 0.4 0.4", "0.7 0.1 0.1", "1.0 0.2 0.2", "0.1 0.9 0.9"]


def test_example_2_of_the_paper():
    def apart(one, other):
        return min(abs(float(a) - float(b)) for a, b in zip(one.split(), other.split(), strict=True))

    post = st.infer([bucketized(list("12345"), SYNDROMES, [1] * 5, "G")])
    found = st.attacks.proximity(post, 0.1, metric=apart, limit=0.8)
    assert found.people["p"].to_list() == pytest.approx([0.8] * 5)
    assert found.people["value"].to_list() == ["0.7 0.1 0.1"] * 5
    assert found.rates["persons"].to_list() == [5]


def test_decimals_are_compared_as_decimals():
    group = bucketized(list("12345"), ["0.6", "0.8", "0.7", "0.8", "0.1"], [1] * 5, "G")
    found = st.attacks.proximity(st.infer([group]), 0.1)
    assert found.people["p"].to_list() == pytest.approx([0.8] * 5)
    assert found.people["value"].to_list() == ["0.7"] * 5
    assert found.rates["persons"].to_list() == [5]
    assert found.baseline["persons"].to_list() == [0]
    assert 0.8 - 0.7 > 0.1  # what binary fractions would say


@pytest.mark.parametrize("seed", [*range(25), *range(700, 725)])
def test_random_posteriors(seed):
    rng = np.random.default_rng(seed)
    n, digits = int(rng.integers(1, 30)), int(rng.integers(0, 3))
    pool = [str(Decimal(int(k)).scaleb(-digits)) for k in rng.integers(0, 30, size=12)]
    truth = [str(rng.choice(pool)) for _ in range(n)]
    ids = [f"p{k}" for k in range(n)]
    releases = [bucketized(ids, truth, rng.integers(1, max(2, n // 4 + 1), n).tolist(), f"R{r}") for r in (1, 2)]
    post = st.infer(releases)
    reach = Decimal(int(rng.integers(0, 6))).scaleb(-digits)
    found = st.attacks.proximity(post, float(reach))
    for id, centre, p, alone in found.people.iter_rows():
        own = post.of(id)
        mass = {c: sum(q for v, q in own.items() if abs(Decimal(v) - Decimal(c)) <= reach) for c in post.values}
        assert p == pytest.approx(max(mass.values()), abs=1e-6)
        assert mass[centre] == pytest.approx(p, abs=1e-6)
        assert alone == pytest.approx(max(own.values()))
    table = {(a, b): abs(Decimal(a) - Decimal(b)) for a in post.values for b in post.values}
    for metric in (table, lambda a, b: abs(Decimal(a) - Decimal(b))):
        other = st.attacks.proximity(post, float(reach), metric=metric)
        assert other.people["p"].to_list() == pytest.approx(found.people["p"].to_list(), abs=1e-9)
    score = found.score(pl.DataFrame({"id": ids, "value": truth}))
    near = [abs(Decimal(t) - Decimal(c)) <= reach for t, c in zip(truth, found.people["value"], strict=True)]
    guess = [
        q if p > 0.5 + 1e-9 else 1 - q if p < 0.5 - 1e-9 else 0.5 for p, q in zip(found.people["p"], near, strict=True)
    ]
    assert score.table["accuracy"][0] == pytest.approx(sum(guess) / n)


def test_metrics():
    post = st.infer(figure1.releases())
    same = st.attacks.proximity(post, 0, metric="equal")
    assert same.people["p"].to_list() == pytest.approx(post.largest().tolist())
    tree = {"*": {"infection": ["Flu", "HIV", "Pneumonia"], "other": ["Diabetes", "Lung Cancer"]}}
    kin = st.attacks.proximity(post, 0.5, metric=tree)
    assert dict(kin.people.select("id", "p").iter_rows())["11"] == pytest.approx(1.0)
    with pytest.raises(st.errors.InputError, match="numbers"):
        st.attacks.proximity(post, 1)
    with pytest.raises(st.errors.InputError, match="epsilon"):
        st.attacks.proximity(post, -1, metric="equal")
    with pytest.raises(st.errors.InputError, match="posterior"):
        st.attacks.proximity(figure1.releases(), 1)
    for text in (str(kin), json.dumps(kin.as_dict())):
        assert "Flu" not in text
