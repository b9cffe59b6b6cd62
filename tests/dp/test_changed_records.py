"""How many records worlds with and without a value differ in, and how far a posterior can move."""

import itertools
import pickle
from collections import Counter

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.errors import InputError, ParameterError, UnknownValueError
from tests.histories import releases
from tests.oracles.couplings import least_distance
from tests.oracles.worlds import worlds


def cut(truth, *partitions):
    """Bucketized releases of a truth."""
    return [[(list(g), [truth[i] for i in g]) for g in groups] for groups in partitions]


def enumerated(history, people):
    return [tuple(w[p] for p in people) for w in worlds(history)]


def test_near_partners_are_not_a_coupling():
    post = st.infer(releases(cut("abaacc", [[0, 1, 2, 5], [3, 4]], [[0, 1, 3, 5], [2, 4]])))
    assert st.dp.changed_records(post, 0, "a") == 4
    row = (
        st.dp.after(post, epsilon=1.0).people.filter((pl.col("id") == 0) & (pl.col("value") == "a")).row(0, named=True)
    )
    assert row["p"] == pytest.approx(4 / 9)
    assert row["high"] == pytest.approx(4 * np.exp(4) / (4 * np.exp(4) + 5))
    assert row["high"] > 0.919  # what a posterior reaches
    assert st.dp.posterior_interval(4 / 9, epsilon=1.0, changed=2).high == pytest.approx(0.855, abs=5e-4)


def test_a_pair_and_a_cycle():
    pair = st.infer(releases(cut(["Flu", "HIV"], [[0, 1]])))
    assert st.dp.changed_records(pair, 1, "HIV") == 2
    ring = st.infer(releases(cut("ababab", [[0, 1], [2, 3], [4, 5]], [[1, 2], [3, 4], [5, 0]])))
    assert st.dp.changed_records(ring, 3, "a") == 6
    assert st.dp.posterior_interval(0.5, epsilon=0.5, changed=6).high == pytest.approx(0.953, abs=5e-4)


def test_one_large_group_takes_a_swap():
    truth = list("aaabbbccccddddeeeeffffgggghhhhiiiijjjj")
    post = st.infer(releases(cut(truth, [range(len(truth))])))
    found = st.dp.after(post, epsilon=1.0).people
    assert set(found["changed"]) == {2}
    assert set(found["by"]) == {"worlds"}


@pytest.mark.parametrize("seed", range(60))
def test_against_a_linear_program_over_single_worlds(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    truth = ["abc"[k] for k in rng.integers(0, 3, n)]
    partitions = []
    for _ in range(int(rng.integers(1, 4))):
        label = rng.integers(0, 3, n)
        partitions.append([np.flatnonzero(label == g).tolist() for g in np.unique(label)])
    history = cut(truth, *partitions)
    post = st.infer(releases(history))
    found, people = enumerated(history, range(n)), range(n)
    shares = {(i, v): k / len(found) for i in people for v, k in Counter(w[i] for w in found).items()}
    for id, value, p, changed in (
        st.dp.after(post, epsilon=1.0).people.select("id", "value", "p", "changed").iter_rows()
    ):
        assert p == pytest.approx(shares.get((id, value), 0.0), abs=1e-12)
        assert changed == least_distance(found, [1.0] * len(found), id, value)


@pytest.mark.parametrize("seed", range(20))
def test_worlds_weigh_what_the_prior_makes_them(seed):
    rng = np.random.default_rng(100 + seed)
    truth = ["ab"[k] for k in rng.integers(0, 2, 5)]
    history = cut(truth, [[0, 1, 2], [3, 4]], [[0, 3], [1, 2, 4]])
    share = {
        (i, v): w for i in range(5) for v, w in zip("ab", np.round(rng.dirichlet([1, 1]), 3).tolist(), strict=True)
    }
    if min(share.values()) == 0:
        pytest.skip("a prior that excludes")
    prior = pl.DataFrame([(i, v, p) for (i, v), p in share.items()], schema=["id", "value", "p"], orient="row")
    post = st.infer(releases(history), prior=prior)
    found = enumerated(history, range(5))
    weight = [float(np.prod([share[i, v] for i, v in enumerate(w)])) for w in found]
    for id, value, changed in st.dp.after(post, epsilon=1.0).people.select("id", "value", "changed").iter_rows():
        assert changed == least_distance(found, weight, id, value)


def test_persons_alike_whom_no_count_ties_together_change_alone():
    counts = pl.DataFrame({"cell": ["x"] * 3, "value": list("abc"), "count": [5, 20, 19]})
    noisy = st.Release.noisy(
        counts, sensitive="value", quasi=["cell"], mechanism="geometric", scale=4.0, neighbours="replace-one", name="N"
    )
    post = st.infer([noisy], register=pl.DataFrame({"id": range(44), "cell": ["x"] * 44}))
    assert st.dp.changed_records(post, 0, "a") == 1
    assert st.dp.changed_records(post, 0, "a", cells="N") == 1
    people = st.dp.after(post, epsilon=0.5).people
    assert set(people["by"]) == {"worlds"}
    assert people["high"].to_numpy() == pytest.approx(st.dp.posterior_interval(1 / 3, epsilon=0.5, changed=1).high)
    assert st.dp.after(post, epsilon=0.5, p="bounds").people["changed"].to_list() == [1] * (3 * 44)


def test_too_many_worlds_and_bounds_take_all_open_persons():
    history = cut("abaacc", [[0, 1, 2, 5], [3, 4]], [[0, 1, 3, 5], [2, 4]])
    post = st.infer(releases(history))
    assert st.dp.changed_records(post, 0, "a", most_states=3) == 6
    found = st.dp.after(post, epsilon=1.0, most_states=3)
    assert set(found.people["by"]) == {"maximum entropy"}
    assert "belief" in " ".join(found.assumptions)
    wide = st.dp.after(post, epsilon=0.1, p="bounds").people
    assert set(wide["changed"]) == {6}
    exact = st.dp.after(post, epsilon=0.1).people
    assert (wide["high"] >= exact["high"] - 1e-12).all()
    assert (wide["low"] <= exact["low"] + 1e-12).all()


def test_certain_values_do_not_move_and_unknown_ones_are_refused():
    post = st.infer(releases(cut("aab", [[0, 1], [2]])))
    found = st.dp.after(post, epsilon=5.0).people
    assert found["low"].to_list() == found["high"].to_list() == [1.0] * 3
    assert st.dp.changed_records(post, 2, "a") == 0
    with pytest.raises(UnknownValueError):
        st.dp.changed_records(post, 2, "zzz")
    with pytest.raises(InputError):
        st.dp.after(None, epsilon=1.0)


def test_persons_who_may_not_exist_have_no_number():
    frame = pl.DataFrame({"age": ["20-29", "20-29"], "illness": ["a", "b"], "count": ["c", "5"]})
    table = st.Release.counted(frame, sensitive="illness", quasi=["age"], suppressed={"c": (1, 4)}, name="T")
    register = pl.DataFrame({"id": ["1", "2"], "age": ["25", "26"]})
    post = st.infer([table], register=register)
    found = st.dp.after(post, epsilon=1.0)
    assert found.people["changed"].null_count() == found.people.height
    assert found.people["high"].to_list() == [1.0] * found.people.height
    with pytest.raises(InputError):
        st.dp.changed_records(post, "1", "a")


def test_interval_of_delta_fails_as_seldom_as_it_says():
    """The worst law for a claim: with δ everything is given away; and random laws, summed."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        k, p, epsilon, d = (
            int(rng.integers(2, 8)),
            rng.uniform(0.05, 0.95),
            rng.uniform(0.05, 1.0),
            int(rng.integers(1, 4)),
        )
        chain = rng.dirichlet(np.ones(k), size=d + 1)
        if rng.random() < 0.5:
            chain = (chain * 0.3 + chain[0] * 0.7) * np.exp(0.0)
        e = np.exp(epsilon)
        delta = max(
            max(np.maximum(a - e * b, 0).sum(), np.maximum(b - e * a, 0).sum()) for a, b in itertools.pairwise(chain)
        )
        if not 0 < delta < 1:
            continue
        for failure in (0.05, 0.3, 0.8):
            ends = st.dp.posterior_interval(p, epsilon=epsilon, changed=d, delta=float(delta), failure=failure)
            seen = p * chain[0] + (1 - p) * chain[-1]
            belief = p * chain[0] / seen
            outside = seen[(belief < ends.low - 1e-12) | (belief > ends.high + 1e-12)].sum()
            assert outside <= ends.failure + 1e-12


def test_an_interval_is_a_pair_that_pickles():
    ends = st.dp.posterior_interval(0.25, epsilon=0.5, changed=1, delta=1e-9)
    low, high = ends
    assert low < 0.25 < high
    again = pickle.loads(pickle.dumps(ends))
    assert (again, again.failure) == (ends, ends.failure)
    assert st.dp.posterior_interval(0.25, epsilon=1000.0, changed=5) == (0.0, 1.0)
    assert st.dp.posterior_interval(0.25, epsilon=1.0, changed=0) == (0.25, 0.25)


@pytest.mark.parametrize(
    "given", [{"p": 1.5}, {"p": True}, {"epsilon": 0}, {"changed": -1}, {"changed": 1.5}, {"delta": 1.0}]
)
def test_bad_parameters_are_refused(given):
    told = {"p": 0.5, "epsilon": 1.0, "changed": 1, **given}
    with pytest.raises(ParameterError):
        st.dp.posterior_interval(told.pop("p"), **told)
