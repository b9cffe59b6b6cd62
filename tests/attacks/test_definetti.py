"""deFinetti: sampled and fixed-point beliefs against all assignments, and what it refuses or answers at the edges."""

import json

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.attacks.convergence import effective, r_hat
from showthrough.attacks.group_members import GroupMembers
from showthrough.errors import InputError
from tests.oracles import attacks as slow

DOMAINS = [["f", "m"], ["a", "b", "c"]]


def made(rng, sizes, values=("Cold", "Flu", "HIV")):
    """A bucketized release of groups of these sizes whose values depend on sex and area, and the same as lists."""
    rows, groups, attributes = [], [], []
    for number, size in enumerate(sizes):
        members, own = [], []
        for _ in range(size):
            sex, area = int(rng.integers(2)), int(rng.integers(3))
            value = values[(sex + 2 * (area == 0) + int(rng.random() < 0.2)) % len(values)]
            members.append(len(attributes))
            attributes.append((DOMAINS[0][sex], DOMAINS[1][area]))
            own.append(value)
        groups.append((members, own))
        rows += [(f"P{m}", *attributes[m], f"G{number}", v) for m, v in zip(members, rng.permutation(own), strict=True)]
    frame = pl.DataFrame(rows, schema=["id", "sex", "area", "group", "disease"], orient="row")
    release = st.Release.bucketized(frame, id="id", sensitive="disease", group="group", name="B")
    return release, groups, attributes


def beliefs(outcome, column="p"):
    found = {}
    for id, value, p in outcome.people.select("id", "value", column).iter_rows():
        found.setdefault(id, {})[value] = p
    return found


def small(seed):
    rng = np.random.default_rng(seed)
    sizes = [int(rng.integers(2, 4)) for _ in range(int(rng.integers(2, 5)))]
    return made(rng, sizes)


@pytest.mark.parametrize("seed", range(8))
def test_sampling_agrees_with_all_assignments_within_its_interval(seed):
    release, groups, attributes = small(seed)
    found = st.attacks.definetti(release, seed=seed, domain={"sex": DOMAINS[0], "area": DOMAINS[1]})
    values = sorted({v for _, own in groups for v in own})
    exact = slow.learned_beliefs(groups, attributes, DOMAINS, values)
    assert found.converged
    assert found.people["error"].mean() <= 0.015
    for id, value, p, error in found.people.select("id", "value", "p", "error").iter_rows():
        assert abs(p - exact[int(id[1:])][value]) <= 5 * error + 0.003


@pytest.mark.parametrize("seed", [9161, 9176, 9300])
def test_worlds_that_chains_rarely_meet_are_within_the_interval_too(seed):
    """Few persons of up to four values: chains stay long where one value has one look, and 200 sweeps miss the rest."""
    rng = np.random.default_rng(seed)
    values = list("abcd")[: int(rng.integers(2, 5))]
    domains = [list("xyz")[: int(rng.integers(2, 4))] for _ in range(int(rng.integers(1, 4)))]
    groups, attributes, rows = [], [], []
    for g in range(int(rng.integers(2, 5))):
        size, own = int(rng.integers(2, 5 if g < 2 else 4)), []
        members = list(range(len(attributes), len(attributes) + size))
        for _ in members:
            looks = [domain[int(rng.integers(len(domain)))] for domain in domains]
            attributes.append(looks)
            own.append(values[(ord(looks[0]) - 120 + int(rng.random() < 0.4)) % len(values)])
        groups.append((members, own))
        rows += [(f"P{m}", *attributes[m], f"G{g}", v) for m, v in zip(members, rng.permutation(own), strict=True)]
    quasi = [f"q{k}" for k in range(len(domains))]
    frame = pl.DataFrame(rows, schema=["id", *quasi, "group", "s"], orient="row")
    release = st.Release.bucketized(frame, id="id", sensitive="s", group="group", quasi=quasi, name="R")
    found = st.attacks.definetti(release, seed=seed, domain=dict(zip(quasi, domains, strict=True)))
    exact = slow.learned_beliefs(groups, attributes, domains, sorted({v for _, own in groups for v in own}))
    assert found.effective >= 400
    for id, value, p, error in found.people.select("id", "value", "p", "error").iter_rows():
        assert abs(p - exact[int(id[1:])][value]) <= 5 * error + 0.003


@pytest.mark.parametrize("seed", range(8))
def test_em_ends_at_a_fixed_point(seed):
    release, groups, attributes = small(seed + 100)
    found = st.attacks.definetti(release, method="em", domain={"sex": DOMAINS[0], "area": DOMAINS[1]})
    own = beliefs(found)
    before = [own[f"P{n}"] for n in range(len(attributes))]
    after = slow.fixed_point_of(groups, attributes, DOMAINS, before)
    assert found.converged
    assert found.people["error"].null_count() == found.people.height
    for one, other in zip(before, after, strict=True):
        assert one == pytest.approx(other, abs=2e-5)


def test_how_far_the_fixed_point_is_from_all_assignments():
    """It is no posterior: the distance is real, and bounded here so that a change for the worse is noticed."""
    apart = []
    for seed in range(20):
        release, groups, attributes = small(seed + 200)
        own = beliefs(st.attacks.definetti(release, method="em", domain={"sex": DOMAINS[0], "area": DOMAINS[1]}))
        values = sorted({v for _, them in groups for v in them})
        exact = slow.learned_beliefs(groups, attributes, DOMAINS, values)
        apart += [abs(p - exact[int(id[1:])][v]) for id, row in own.items() for v, p in row.items()]
    assert 0.01 < max(apart) < 0.45
    assert sum(apart) / len(apart) < 0.12


def test_members_whom_nobody_describes_take_values_away_and_teach_nothing():
    """A counterfeit in a group is somebody unknown: the same as enumeration with a member without attributes."""
    rng = np.random.default_rng(5)
    release, groups, attributes = made(rng, [3, 3])
    hidden = groups[0][0][0]
    frame = release.records.filter(pl.col("id") != f"P{hidden}")
    counts = release.tally.rename({"value": "disease", "n": "count"})
    fewer = st.Release.bucketized(
        frame, id="id", sensitive="disease", group="group", values=counts, counterfeits={"G0": 1}, name="C"
    )
    found = st.attacks.definetti(fewer, domain={"sex": DOMAINS[0], "area": DOMAINS[1]})
    unknown = [(None, None) if n == hidden else own for n, own in enumerate(attributes)]
    exact = slow.learned_beliefs(groups, unknown, DOMAINS, sorted({v for _, own in groups for v in own}))
    assert f"P{hidden}" not in found.people["id"].to_list()
    for id, value, p, error in found.people.select("id", "value", "p", "error").iter_rows():
        assert abs(p - exact[int(id[1:])][value]) <= 5 * error + 0.003


def test_the_same_seed_gives_the_same_answer():
    release, _, _ = small(7)
    one, same, other = (st.attacks.definetti(release, seed=s).people for s in (3, 3, 4))
    assert one.equals(same)
    assert not one.equals(other)


def large(seed, groups=150, size=3):
    rng = np.random.default_rng(seed)
    release, lists, _ = made(rng, [size] * groups)
    true = pl.DataFrame(
        [(f"P{m}", v) for ms, own in lists for m, v in zip(ms, own, strict=True)], schema=["id", "value"], orient="row"
    )
    return release, true


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_learning_beats_random_worlds_and_the_calibrated_variant_is_calibrated(seed):
    release, true = large(seed)
    found = st.attacks.definetti(release, seed=seed, seconds=60)
    table = {row["belief"]: row for row in found.score(true).table.iter_rows(named=True)}
    assert table["p"]["low"] > table["release"]["high"]
    assert table["calibrated"]["low"] > table["release"]["high"]
    assert table["calibrated"]["calibration_error"] < 0.1
    assert 0 < found.weight <= 2


def correlated(seed, groups=400):
    """Every attribute stands in the table six times: naive Bayes counts the same evidence six times over."""
    release, true = large(seed, groups)
    copies = [pl.col("area").alias(f"area{n}") for n in range(6)]
    frame = release.records.with_columns(copies)
    counts = release.tally.rename({"value": "disease", "n": "count"})
    return st.Release.bucketized(frame, id="id", sensitive="disease", group="group", values=counts, name="C"), true


def test_evidence_that_is_counted_several_times_is_taken_back():
    release, true = correlated(11)
    found = st.attacks.definetti(release, method="em")
    table = {row["belief"]: row for row in found.score(true).table.iter_rows(named=True)}
    assert found.weight < 0.5
    assert table["p"]["calibration_error"] > 0.05
    assert table["calibrated"]["calibration_error"] < 0.05
    assert table["calibrated"]["calibration_error"] < table["p"]["calibration_error"]


@pytest.mark.parametrize("seed", [21, 22, 23])
def test_two_releases_together_are_at_least_as_accurate_as_one(seed):
    first, true = large(seed)
    rng = np.random.default_rng(seed + 1000)
    order = rng.permutation(true.height)
    placed = true.with_columns(pl.Series("group", np.argsort(order) // 3 + 1))
    frame = first.records.drop("group").join(placed, on="id").rename({"value": "disease"})
    second = st.Release.bucketized(frame, id="id", sensitive="disease", group="group", name="second")
    one = st.attacks.definetti(first, method="em").score(true, beliefs=["p"]).table["accuracy"][0]
    both = st.attacks.definetti([first, second], method="em")
    scores = {row["belief"]: row["accuracy"] for row in both.score(true).table.iter_rows(named=True)}
    assert scores["p"] >= one
    assert scores["p"] >= scores["release"]


def test_pooled_beliefs_meet_the_counts_of_every_release():
    first, true = large(31, groups=20)
    second = st.Release.bucketized(
        first.records.drop("group").join(true, on="id").with_columns(pl.Series("group", np.arange(60) % 20)),
        id="id", sensitive="value", quasi=["sex", "area"], group="group", name="second",
    )  # fmt: skip
    found = st.attacks.definetti([first, second], method="em").people
    for release in (first, second):
        group = release.groups()
        total = found.join(group, on="id").group_by("group", "value").agg(pl.col("p").sum())
        both = release.counts().join(total, on=["group", "value"], how="left")
        assert (both["n"] - both["p"].fill_null(0.0)).abs().max() < 1e-6


def test_one_release_pooled_is_one_release():
    """The same fixed point by `infer` as by scaling in each group."""
    release, _ = large(41, groups=12)
    alone = st.attacks.definetti(release, method="em").people
    persons = release.records.select("id", "sex")  # tells nothing that the release does not
    empty = st.Release.generalized(persons, id="id", sensitive=None, quasi=["sex"], name="register")
    pooled = st.attacks.definetti([release, empty], method="em").people
    both = alone.join(pooled, on=["id", "value"], suffix="_pooled")
    assert both.height == alone.height
    assert (both["p"] - both["p_pooled"]).abs().max() < 0.02


GENERALIZED = pl.DataFrame(
    {"sex": ["f", "f", "*", "*", "m", "m"], "disease": ["Flu", "HIV", "Flu", "Cold", "Cold", "Cold"]}
)


def test_a_generalized_release_with_a_register():
    release = st.Release.generalized(GENERALIZED, sensitive="disease", quasi=["sex"], name="G")
    register = pl.DataFrame({"id": list("abcdef"), "sex": list("ffffmm")})
    found = st.attacks.definetti(release, register=register, method="em")
    assert found.people["id"].n_unique() == 6
    sampled = st.attacks.definetti(release, register=register)
    assert any("left out" in note for note in sampled.notes)


def test_rows_are_persons_where_nobody_is_named_and_a_register_gets_their_mean():
    release, _ = large(51, groups=30)
    frame = release.records.drop("id")
    counts = release.tally.rename({"value": "disease", "n": "count"})
    unnamed = st.Release.bucketized(frame, sensitive="disease", group="group", values=counts, name="U")
    rows = st.attacks.definetti(unnamed, method="em")
    named = st.attacks.definetti(release, method="em")
    assert rows.people["id"].n_unique() == 90
    assert sorted(rows.people["p"].round(9).to_list()) == sorted(named.people["p"].round(9).to_list())
    register = release.records.select("id", "sex", "area")
    told = st.attacks.definetti(unnamed, method="em", register=register).people
    assert told.group_by("id").agg(pl.col("p").sum())["p"].to_list() == pytest.approx([1.0] * 90)
    alike = named.people.join(register, on="id").group_by("sex", "area", "value").agg(pl.col("p").sum())
    many = register.group_by("sex", "area").len()
    mean = alike.join(many, on=["sex", "area"]).with_columns(mean=pl.col("p") / pl.col("len"))
    both = told.join(register, on="id").join(mean, on=["sex", "area", "value"])
    assert (both["p"] - both["mean"]).abs().max() < 1e-9


@pytest.mark.parametrize("method", ["gibbs", "em"])
@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"id": ["1"], "q": ["a"], "g": ["G"], "s": ["x"]}),
        pl.DataFrame({"id": ["1", "2"], "q": ["a", "b"], "g": ["G", "G"], "s": ["x", "x"]}),
        pl.DataFrame({"id": ["1", "2"], "q": ["a", "b"], "g": ["G", "H"], "s": ["x", "y"]}),
        pl.DataFrame(
            {"id": ["1", "2"], "q": [None, None], "g": ["G", "G"], "s": ["x", "y"]}, schema_overrides={"q": pl.String}
        ),
        pl.DataFrame({"id": ["1", "2"], "g": ["G", "G"], "s": ["x", "y"]}),
    ],
)
def test_degenerate_releases_have_an_answer(frame, method):
    """One row, one value, a raw table, nothing known of anybody, no quasi-identifier."""
    release = st.Release.bucketized(frame, id="id", sensitive="s", group="g", name="D")
    found = st.attacks.definetti(release, method=method)
    assert found.people.group_by("id").agg(pl.col("p").sum())["p"].to_list() == pytest.approx([1.0] * frame.height)
    json.dumps(found.as_dict())
    assert str(found)


def test_identical_releases_say_what_one_says():
    release, _ = large(61, groups=15)
    same = release.called("again")
    one = st.attacks.definetti(release, method="em").people
    both = st.attacks.definetti([release, same], method="em").people
    joined = one.join(both, on=["id", "value"], suffix="_both")
    assert (joined["p"] - joined["p_both"]).abs().max() < 0.02


def test_what_it_refuses():
    release, _, _ = small(1)
    with pytest.raises(InputError, match="one of gibbs, em"):
        st.attacks.definetti(release, method="vb")
    with pytest.raises(InputError, match='method="em"'):
        st.attacks.definetti([release, release.called("again")])
    with pytest.raises(InputError, match="lacks a value"):
        st.attacks.definetti(release, domain={"sex": ["f"]})
    with pytest.raises(InputError, match="no known quasi-identifier"):
        st.attacks.definetti(release, domain={"shoe": ["f"]})
    with pytest.raises(InputError, match="whole number"):
        st.attacks.definetti(release, seed=-1)


def test_numbers_are_taken_in_ranges_and_it_is_said():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"id": range(60), "age": rng.integers(18, 90, 60), "g": np.arange(60) // 3, "s": ["x", "y", "z"] * 20}
    )
    release = st.Release.bucketized(frame, id="id", sensitive="s", group="g", quasi=["age"], name="N")
    found = st.attacks.definetti(release, method="em")
    assert any("age" in note and "ranges" in note for note in found.notes)


def test_agreement_of_chains_by_hand():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4, 50, 3)) + np.array([0.0, 0.5, 2.0]) * np.arange(4)[:, None, None]
    by_hand = [slow.r_hat(draws[:, :, q].tolist()) for q in range(3)]
    assert r_hat(draws).tolist() == pytest.approx(by_hand, rel=1e-12)
    assert by_hand[2] > 1.5 > 1.1 > by_hand[0]


def test_effective_draws_of_a_process_whose_worth_is_known():
    """An autoregressive process with coefficient φ is worth n (1 − φ)/(1 + φ) draws."""
    rng = np.random.default_rng(1)
    for phi in (0.0, 0.5, 0.9):
        x = rng.normal(size=(4, 20_000, 1)) * np.sqrt(1 - phi**2)
        for t in range(1, x.shape[1]):
            x[:, t] += phi * x[:, t - 1]
        assert effective(x)[0] == pytest.approx(80_000 * (1 - phi) / (1 + phi), rel=0.15)


def test_scaling_and_dealing_keep_the_counts():
    rng = np.random.default_rng(2)
    group = rng.integers(0, 5, 30)
    tally = [
        (g, v, n)
        for g in range(5)
        for v, n in enumerate(np.bincount(rng.integers(0, 3, (group == g).sum()), minlength=3))
        if n
    ]
    at, value, n = (np.array(column) for column in zip(*tally, strict=True))
    seats = GroupMembers.of(group, (at, value, n), 5)
    p, _ = seats.matched(rng.normal(size=seats.value.size))
    assert np.bincount(seats.column, weights=p) == pytest.approx(n)
    assert seats.by_member(p) == pytest.approx(np.ones(30))
    for _ in range(5):
        entry = seats.dealt(rng)
        assert (seats.member[entry] == np.arange(30)).all()
        assert np.bincount(seats.column[entry], minlength=n.size).tolist() == n.tolist()
