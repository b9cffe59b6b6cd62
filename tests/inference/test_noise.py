"""Noisy counts as evidence: Bayes' rule over enumerated worlds, and optimal expected counts where worlds are many."""

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.inference import noise_belief
from tests.histories import releases
from tests.oracles.noise import all_worlds, log_law, off_the_optimum, weighed
from tests.oracles.worlds import worlds

LAWS = [("geometric", 1.0), ("laplace", 0.7), ("gaussian", 1.3), ("discrete-gaussian", 0.8)]


def cut(truth, *partitions):
    return [[(list(g), [truth[i] for i in g]) for g in groups] for groups in partitions]


def noisy(cells, values, published, law, name="N", **more):
    """A noisy release over the cells of one column."""
    rows = [(c, v, published[c, v]) for c in cells for v in values if (c, v) in published]
    frame = pl.DataFrame(rows, schema={"cell": pl.String, "value": pl.String, "count": pl.Float64}, orient="row")
    if law[0] in ("geometric", "discrete-gaussian"):
        frame = frame.with_columns(pl.col("count").cast(pl.Int64))
    claim = {} if law[0] in ("geometric", "laplace") else {"epsilon": 99.0, "delta": 1e-5}
    return st.Release.noisy(
        frame,
        sensitive="value",
        quasi=["cell"],
        mechanism=law[0],
        scale=law[1],
        neighbours="replace-one",
        name=name,
        **claim,
        **more,
    )


def drawn(rng, counts, law):
    """Counts with noise; its law is drawn from a table here, the package never draws."""
    mechanism, scale = law
    if mechanism == "laplace":
        return counts + rng.laplace(0, scale)
    if mechanism == "gaussian":
        return counts + rng.normal(0, scale)
    reach = np.arange(-60, 61)
    p = np.exp([log_law(mechanism, scale)(t) for t in reach])
    return counts + int(rng.choice(reach, p=p / p.sum()))


def case(seed, law):
    """A small history of bucketized releases, the cell of everybody, and noisy counts of the cells."""
    rng = np.random.default_rng(seed)
    n, values = int(rng.integers(2, 7)), "abc"[: int(rng.integers(2, 4))]
    truth = [values[k] for k in rng.integers(0, len(values), n)]
    partitions = []
    for _ in range(int(rng.integers(1, 3))):
        label = rng.integers(0, 2, n)
        partitions.append([np.flatnonzero(label == g).tolist() for g in np.unique(label)])
    cell_of = ["xy"[k] for k in rng.integers(0, 2, n)]
    published = {
        (c, v): drawn(rng, sum(a == c and b == v for a, b in zip(cell_of, truth, strict=True)), law)
        for c in "xy"
        for v in values
    }
    register = pl.DataFrame({"id": list(range(n)), "cell": cell_of})
    return cut(truth, *partitions), cell_of, published, values, register


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(15))
def test_small_components_follow_bayes_rule(seed, law):
    history, cell_of, published, values, register = case(seed, law)
    n = len(cell_of)
    plain = st.infer(releases(history), register=register)
    post = plain.extend(noisy("xy", values, published, law))
    found = [tuple(w[p] for p in range(n)) for w in worlds(history)]
    truth = weighed(found, [1.0] * len(found), cell_of, published, log_law(*law))
    for id, value, p in post.to_frame().iter_rows():
        assert p == pytest.approx(truth.get((id, value), 0.0), abs=1e-9)
    assert post.proven().equals(plain.proven())
    assert post.bounds().equals(plain.bounds())
    assert post.certain().tolist() == plain.certain().tolist()
    open_ones = ~plain.certain()
    assert {*post.states().filter(pl.Series(open_ones))} <= {"believed"}
    assert post.certificate.evidence.by_worlds == int(open_ones.sum())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(100, 115))
def test_large_components_weigh_expected_counts(seed, law, monkeypatch):
    monkeypatch.setattr(noise_belief.believed, "__kwdefaults__", {"most_states": 0})
    history, cell_of, published, values, register = case(seed, law)
    post = st.infer([*releases(history), noisy("xy", values, published, law)], register=register)
    assert post.certificate.evidence.by_worlds == 0
    x = np.zeros((len(cell_of), len(values)))
    for id, value, p in post.to_frame().iter_rows():
        x[id, values.index(value)] = p
    groups = [(people, [list(told).count(v) for v in values]) for release in history for people, told in release]
    table = np.array([[published[c, v] for v in values] for c in "xy"], dtype=float)
    missed, off = off_the_optimum(x, groups, ["xy".index(c) for c in cell_of], table, law)
    assert missed < 1e-5
    assert off < 1e-4
    assert post.certificate.evidence.residual < 1e-4


@pytest.mark.parametrize("seed", range(10))
def test_a_noisy_release_alone_tells_a_register_something(seed):
    rng = np.random.default_rng(seed)
    law, n, values = LAWS[seed % 4], 4, "ab"
    cell_of = ["xy"[k] for k in rng.integers(0, 2, n)]
    published = {(c, v): float(np.round(rng.normal(1, 2))) for c in "xy" for v in values}
    post = st.infer(
        [noisy("xy", values, published, law)], register=pl.DataFrame({"id": list(range(n)), "cell": cell_of})
    )
    everything = all_worlds(values, n)
    truth = weighed(everything, [1.0] * len(everything), cell_of, published, log_law(*law))
    for id, value, p in post.to_frame().iter_rows():
        assert p == pytest.approx(truth[id, value], abs=1e-9)
    assert not post.proven().height


def test_a_prior_and_several_noisy_releases_multiply():
    values, cell_of, law = "ab", ["x", "x", "y"], LAWS[0]
    first = {(c, v): k for k, (c, v) in enumerate([("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")])}
    second = {("x", "a"): 2, ("x", "b"): -1, ("y", "a"): 0, ("y", "b"): 3}
    prior = pl.DataFrame({"id": [0, 0, 1, 1, 2, 2], "value": list("ababab"), "p": [0.25, 0.75, 0.5, 0.5, 0.875, 0.125]})
    tables = [noisy("xy", values, own, law, name) for own, name in ((first, "N1"), (second, "N2"))]
    post = st.infer(tables, register=pl.DataFrame({"id": [0, 1, 2], "cell": cell_of}), prior=prior)
    share = {(i, v): p for i, v, p in prior.iter_rows()}
    everything = all_worlds(values, 3)
    logs = log_law(*law)
    weight = []
    for world in everything:
        counts = {
            (c, v): sum(a == c and b == v for a, b in zip(cell_of, world, strict=True)) for c in "xy" for v in values
        }
        weight.append(
            float(
                np.prod([share[i, v] for i, v in enumerate(world)])
                * np.exp(sum(logs(y - counts[key]) for key, y in second.items()))
            )
        )
    truth = weighed(everything, weight, cell_of, first, logs)
    for id, value, p in post.to_frame().iter_rows():
        assert p == pytest.approx(truth[id, value], abs=1e-9)


def test_who_may_not_be_counted_is_weighed_both_ways():
    law, published = LAWS[0], {("x", "a"): 2, ("x", "b"): 0}
    register = pl.DataFrame({"id": [0, 1], "cell": ["x", "x"], "in_N": [True, None]})
    post = st.infer([noisy("x", "ab", published, law)], register=register)
    total, hits = 0.0, {"a": 0.0, "b": 0.0}
    for one in "ab":
        for two in "ab":
            for inside in (True, False):
                counts = {v: (one == v) + (inside and two == v) for v in "ab"}
                mass = float(np.exp(-sum(abs(published["x", v] - counts[v]) for v in "ab")))
                total += mass
                hits[two] += mass
    assert post.of(1)["a"] == pytest.approx(hits["a"] / total)


def test_without_anybody_located_noise_says_nothing():
    plain = releases(cut("aabb", [[0, 1, 2, 3]]))
    post = st.infer([*plain, noisy("x", "ab", {("x", "a"): 4, ("x", "b"): 0}, LAWS[0])])
    assert post.of(0) == {"a": 0.5, "b": 0.5}
    assert post.certificate.status == "exact"


def test_a_membership_locates_persons_in_cells():
    table = noisy("xy", "ab", {("x", "a"): 1, ("x", "b"): 0, ("y", "a"): 0, ("y", "b"): 1}, LAWS[0])
    group = dict(zip(table.cells()["cell"], table.cells()["group"], strict=True))
    member = pl.DataFrame({"id": [0, 1], "group": [group["x"], group["y"]]})
    post = st.infer([*releases(cut("ab", [[0, 1]])), table], membership={"N": member})
    assert post.of(0)["a"] == pytest.approx(1 / (1 + np.exp(-4)))


def test_wide_noise_changes_nothing_and_narrow_noise_is_no_proof():
    history, cell_of = cut("aabb", [[0, 1, 2, 3]]), ["x", "x", "y", "y"]
    published = {("x", "a"): 2, ("x", "b"): 0, ("y", "a"): 0, ("y", "b"): 2}
    register = pl.DataFrame({"id": [0, 1, 2, 3], "cell": cell_of})
    wide = st.infer([*releases(history), noisy("xy", "ab", published, ("geometric", 1e6))], register=register)
    assert wide.of(0)["a"] == pytest.approx(0.5, abs=1e-5)
    narrow = st.infer([*releases(history), noisy("xy", "ab", published, ("geometric", 0.01))], register=register)
    assert narrow.of(0)["a"] == pytest.approx(1.0)
    assert not narrow.certain().any()
    assert narrow.bounds()["lower"].max() == 0
    assert "believed" in str(narrow.certificate)


def test_what_else_a_posterior_tells_works_beside_noise():
    history, _, published, values, register = case(3, LAWS[0])
    table = noisy("xy", values, published, LAWS[0])
    post = st.infer([*releases(history), table], register=register)
    assert post.names[-1] == "N"
    assert post.best().height == post.ids.len()
    assert post.attribution()["release"].n_unique() == len(post.names)
    assert post.leave_one_out().height
    assert post.alone().largest.shape == (len(post.names), post.ids.len())
    assert post.ranges().height
    assert post.groups_of("N").height == 0
    assert post.worlds().height
    assert st.dp.after(post, epsilon=1.0).people.height
    again = st.infer([table, *releases(history)], register=register)
    assert again.to_frame().sort("id", "value")["p"].to_list() == pytest.approx(
        post.to_frame().sort("id", "value")["p"].to_list()
    )
    shorter = post._solver.part(post._solved, range(len(history)))[0]
    assert not shorter.history.noise


def test_each_release_alone_and_as_the_history_grew():
    table = noisy("xy", "ab", {("x", "a"): 4, ("x", "b"): -1, ("y", "a"): 0, ("y", "b"): 1}, ("geometric", 2.0))
    register = pl.DataFrame({"id": [0, 1, 2, 3], "cell": ["x", "y", "x", "y"]})
    plain = releases(cut("abab", [[0, 1], [2, 3]]))
    post = st.infer([*plain, table], register=register)
    alone = post.alone().largest
    only = st.infer([table], register=register)
    assert alone[0].tolist() == [0.5] * 4
    assert alone[1].tolist() == pytest.approx(only.largest().tolist())
    assert only.alone().largest[0].tolist() == pytest.approx(only.largest().tolist())
    grown = post.attribution().filter(pl.col("release") == "N")
    assert grown["p_before"].to_list() == [0.5] * 4
    assert grown["p_after"].to_list() == pytest.approx(post.largest().tolist())
    unknown = st.infer([table, *plain])
    assert np.isnan(unknown.alone().largest[0]).all()
    assert unknown.attribution().filter(pl.col("release") == "D1")["p_after"].to_list() == [0.5] * 4
