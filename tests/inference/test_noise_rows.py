"""Noisy counts beside every other kind of row: seats, ranges, statements, several tables, split ids."""

import itertools

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.inference import noise_belief
from showthrough.inference.kernel import Kernel, Softness
from showthrough.inference.noise_program import prepared
from showthrough.inference.noise_rows import with_noise
from showthrough.inference.reduce import reduce
from tests.histories import releases

K = st.knowledge


def noisy(rows, *, columns=("cell",), scale=1.0, name="N", **more):
    frame = pl.DataFrame(rows, schema=[*columns, "value", "count"], orient="row", infer_schema_length=None)
    told = {"mechanism": "geometric", "scale": scale, "neighbours": "replace-one", **more}
    return st.Release.noisy(frame, sensitive="value", quasi=list(columns), name=name, **told)


def shares(worlds):
    """P(person has value) from (world, weight)."""
    total = sum(w for _, w in worlds)
    n = len(worlds[0][0])
    return {(i, v): sum(w for world, w in worlds if world[i] == v) / total for i in range(n) for v in "abc"}


def misfit(published, counted, scale=1.0):
    return float(np.exp(-sum(abs(y - counted.get(key, 0)) for key, y in published.items()) / scale))


def counted(cells, world):
    found = {}
    for cell, value in zip(cells, world, strict=True):
        found[cell, value] = found.get((cell, value), 0) + 1
    return found


def test_several_tables_of_one_release_count_together():
    """Value by sex and value by age, each with its own noise."""
    rows = [("f", None, "a", 2), ("f", None, "b", 0), ("m", None, "a", 0), ("m", None, "b", 1)]
    rows += [(None, "old", "a", 0), (None, "old", "b", 3), (None, "young", "a", 1), (None, "young", "b", 0)]
    tables = [{"quasi": ["sex"], "epsilon": 1.0, "scale": 2.0}, {"quasi": ["age"], "epsilon": 2.0, "scale": 1.0}]
    release = noisy(rows, columns=("sex", "age"), scale=None, marginals=tables)
    sex, age = ["f", "f", "m"], ["old", "young", "old"]
    post = st.infer([release], register=pl.DataFrame({"id": [0, 1, 2], "sex": sex, "age": age}))
    first = {(r[0], r[2]): r[3] for r in rows if r[0]}
    second = {(r[1], r[2]): r[3] for r in rows if r[1]}
    worlds = [
        (w, misfit(first, counted(sex, w), 2.0) * misfit(second, counted(age, w)))
        for w in itertools.product("ab", repeat=3)
    ]
    for id, value, p in post.to_frame().iter_rows():
        assert p == pytest.approx(shares(worlds)[id, value], abs=1e-9)


def test_who_fits_several_cells_is_in_one_of_them():
    published = {("20-29", "a"): 2, ("20-29", "b"): 0, ("30-39", "a"): 0, ("30-39", "b"): 1}
    release = noisy([(c, v, n) for (c, v), n in published.items()], columns=("age",))
    register = pl.DataFrame({"id": [0, 1], "age": ["25", None]}, schema={"id": pl.Int64, "age": pl.String})
    post = st.infer([release], register=register)
    worlds = []
    for world in itertools.product("ab", repeat=2):
        for cell in ("20-29", "30-39"):
            worlds.append((world, misfit(published, counted(["20-29", cell], world))))
    for id, value, p in post.to_frame().iter_rows():
        assert p == pytest.approx(shares(worlds)[id, value], abs=1e-9)


def test_values_that_the_table_does_not_list_are_not_counted():
    release = noisy([("x", "a", 3)])
    plain = releases([[([0, 1], ["a", "c"])]])
    post = st.infer([*plain, release], register=pl.DataFrame({"id": [0, 1, 2], "cell": ["x", "y", "x"]}))
    worlds = []
    for one, other in (("a", "c"), ("c", "a")):
        for third in "ac":
            worlds.append(((one, other, third), misfit({("x", "a"): 3}, counted(["x", "y", "x"], (one, other, third)))))
    for id, value, p in post.to_frame().iter_rows():
        assert p == pytest.approx(shares(worlds)[id, value], abs=1e-9)


def test_statements_bind_and_noise_weighs():
    release = noisy([("x", "a", 2), ("x", "b", 0)])
    register = pl.DataFrame({"id": ["0", "1", "2"], "cell": ["x", "x", "y"]})
    post = st.infer([release], register=register, knowledge=[K.exactly_one(["0", "2"], "a")])
    worlds = [
        (w, misfit({("x", "a"): 2, ("x", "b"): 0}, counted(["x", "x", "y"], w)))
        for w in itertools.product("ab", repeat=3)
        if (w[0] == "a") + (w[2] == "a") == 1
    ]
    for id, value, p in post.to_frame().iter_rows():
        assert p == pytest.approx(shares(worlds)[int(id), value], abs=1e-9)


def test_ranges_bind_and_noise_weighs():
    table = st.Release.counted(
        pl.DataFrame({"cell": ["x", "x"], "value": ["a", "b"], "count": ["c", "c"]}),
        sensitive="value", quasi=["cell"], suppressed={"c": (1, 2)}, name="T",
    )  # fmt: skip
    release = noisy([("x", "a", 4), ("x", "b", 0)])
    register = pl.DataFrame({"id": ["0", "1", "2"], "cell": ["x"] * 3, "in_T": [True] * 3, "in_N": [True] * 3})
    plain = st.infer([table], register=register)
    post = plain.extend(release)
    assert post.of("0")["a"] > plain.of("0")["a"]
    assert post.bounds().equals(plain.bounds())


def test_a_split_id_keeps_its_parts():
    first, second = releases([[([0, 1, 2], ["a", "b", "b"])], [([0, 1, 2], ["c", "a", "b"])]])
    release = noisy([("x", "a", 1), ("x", "b", 0), ("x", "c", 0)])
    register = pl.DataFrame({"id": [0, 1, 2], "cell": ["x", "x", "y"]})
    post = st.infer([first, second, release], register=register, changed=[(0, "D2")])
    assert "release" in post.to_frame().columns
    assert post.certificate.status == "believed"


def _case(rng):
    """A history with candidates, ranges and statements beside noise."""
    n = int(rng.integers(3, 7))
    cells = [("20-29", "30-39")[k] for k in rng.integers(0, 2, n)]
    ages = [None if rng.random() < 0.3 else ("25" if c == "20-29" else "35") for c in cells]
    truth = ["ab"[k] for k in rng.integers(0, 2, n)]
    table = st.Release.generalized(
        pl.DataFrame({"age": cells, "value": truth}), sensitive="value", quasi=["age"], name="G"
    )
    rows = [(c, v, int(rng.integers(-2, 5))) for c in ("20-29", "30-39") for v in "ab"]
    law = {} if rng.random() < 0.5 else {"mechanism": "discrete-gaussian", "epsilon": 9.0, "delta": 1e-3}
    register = pl.DataFrame({"id": [str(k) for k in range(n)], "age": ages}, schema={"id": pl.String, "age": pl.String})
    said = [K.count("a", ids=["0", "1", "2"], at_least=1, at_most=2)] if rng.random() < 0.5 else []
    return [table, noisy(rows, columns=("age",), **law)], register, said


@pytest.mark.parametrize("seed", range(12))
def test_the_dual_of_all_rows_has_the_gradient_that_it_says(seed):
    rng = np.random.default_rng(seed)
    given, register, said = _case(rng)
    post = st.infer(given, register=register, knowledge=said)
    solved = post._solved
    noise = with_noise(solved.history, solved.problem, solved.of_person, solved.face.alive)
    problem, terms, _ = prepared(reduce(noise.problem, noise.alive), noise)
    if not problem.components:
        pytest.skip("everybody is certain")
    kernel = Kernel(problem, softness=Softness(noise=terms))
    mu = rng.normal(0, 0.3, problem.rows.size)
    mu[kernel.noise.row] = np.clip(mu[kernel.noise.row], -0.9, 0.9)
    here = kernel.at(mu)
    for k in range(mu.size):
        step = np.zeros(mu.size)
        step[k] = 1e-6
        ahead, behind = kernel.at(mu + step), kernel.at(mu - step)
        assert here.g[k] == pytest.approx((ahead.F.sum() - behind.F.sum()) / 2e-6, abs=1e-5)
        assert kernel.curved(here, step / 1e-6) == pytest.approx((ahead.g - behind.g) / 2e-6, abs=1e-4)


@pytest.mark.parametrize("seed", range(12, 24))
def test_expected_counts_meet_what_the_other_releases_say(seed, monkeypatch):
    monkeypatch.setattr(noise_belief.believed, "__kwdefaults__", {"most_states": 0})
    rng = np.random.default_rng(seed)
    given, register, said = _case(rng)
    post = st.infer(given, register=register, knowledge=said)
    assert post.certificate.evidence.by_worlds == 0
    if post.certificate.evidence.by_expected_counts:
        assert post.certificate.evidence.residual < 1e-4
    sums = post.to_frame().group_by("id").agg(pl.col("p").sum())["p"].to_numpy()
    assert sums == pytest.approx(np.ones(sums.size), abs=1e-6)
    if said:
        share = post.to_frame().filter(pl.col("id").is_in(["0", "1", "2"]) & (pl.col("value") == "a"))["p"].sum()
        assert 1 - 1e-3 <= share <= 2 + 1e-3


@pytest.mark.parametrize("seed", range(2))
def test_expected_counts_agree_with_another_solver(seed, monkeypatch):
    """Sixteen persons in groups of four, two tables by the same cells: quadratic programs on the likelihood."""
    from scipy.linalg import qr
    from scipy.optimize import minimize

    monkeypatch.setattr(noise_belief.believed, "__kwdefaults__", {"most_states": 0})
    rng = np.random.default_rng(seed)
    n, values = 16, "abc"
    truth, cell = rng.integers(0, 3, n), rng.integers(0, 2, n)
    frame = {"id": list(range(n)), "value": [values[v] for v in truth], "g": (np.arange(n) // 4).tolist()}
    groups = st.Release.bucketized(frame, id="id", sensitive="value", group="g", name="D")
    told = [("discrete-gaussian", 2.0), ("gaussian", 3.0)]
    count = np.array([[((cell == c) & (truth == v)).sum() for v in range(3)] for c in range(2)])
    tables, published = [], []
    for k, (law, scale) in enumerate(told):
        y = count + np.round(rng.normal(0, scale, count.shape))
        published.append((y, scale))
        rows = [("xy"[c], values[v], int(y[c, v])) for c in range(2) for v in range(3)]
        tables.append(noisy(rows, mechanism=law, scale=scale, epsilon=99.0, delta=0.1, name=f"N{k}"))
    post = st.infer([groups, *tables], register={"id": list(range(n)), "cell": ["xy"[c] for c in cell]})
    assert post.certificate.evidence.by_worlds == 0
    x = np.zeros((n, 3))
    for id, value, p in post.to_frame().iter_rows():
        x[id, values.index(value)] = p
    people, own = np.nonzero(x)
    inside = np.array([(cell[people] == c) & (own == v) for c in range(2) for v in range(3)], dtype=float)
    ones = np.array([people == i for i in range(n)], dtype=float)
    grouped = np.array([(people // 4 == g) & (own == v) for g in range(n // 4) for v in range(3)], dtype=float)
    held = np.array([(truth[4 * g : 4 * g + 4] == v).sum() for g in range(n // 4) for v in range(3)], dtype=float)

    def cost(z):
        p = np.maximum(z, 1e-12)
        off = [(y.ravel() - inside @ p, s) for y, s in published]
        slope = np.log(p) + 1 - sum(inside.T @ (miss / s**2) for miss, s in off)
        return float((p * np.log(p)).sum() + sum((miss**2).sum() / (2 * s * s) for miss, s in off)), slope

    every, right = np.vstack([ones, grouped]), np.append(np.ones(n), held)
    _, r, order = qr(every.T, mode="economic", pivoting=True)
    kept = order[: int((np.abs(np.diag(r)) > 1e-9).sum())]  # the others follow
    equal = {"type": "eq", "fun": lambda z: every[kept] @ z - right[kept], "jac": lambda _: every[kept]}
    start = np.full(people.size, 1 / 3)
    told = {"maxiter": 400, "ftol": 1e-13}
    found = minimize(
        cost, start, jac=True, bounds=[(0, 1)] * start.size, constraints=equal, method="SLSQP", options=told
    )
    assert x[people, own] == pytest.approx(found.x, abs=2e-3)
    assert cost(x[people, own])[0] <= cost(found.x)[0] + 1e-4
