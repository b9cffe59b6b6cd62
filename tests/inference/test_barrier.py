"""Walls inside ranges: figures that fit each other, and a way that ends where the signs of multipliers say."""

import random

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.inference import newton
from showthrough.inference.approach import approach
from showthrough.inference.barrier import Barrier
from showthrough.inference.clock import Clock
from showthrough.inference.graphs import levels, strong_components
from showthrough.inference.kernel import Kernel, Softness
from showthrough.inference.problem import build
from showthrough.inference.reduce import reduce
from showthrough.inference.rows import Rows
from tests.inference.coded import history_of
from tests.inference.test_filling import tables


def ranged(rng, size):
    lower = rng.integers(0, 5, size)
    upper = lower + rng.integers(0, 4, size)
    return Rows(lower, upper, np.empty((0, 0), dtype=np.int32), (), ())


@pytest.mark.parametrize("tau", [1.0, 1e-2, 1e-5])
def test_counts_asked_for_are_the_slope_and_bend_the_curvature(tau):
    rng = np.random.default_rng(3)
    barrier = Barrier(ranged(rng, 200), tau)
    mu = rng.normal(size=200) * 10.0 ** rng.integers(-3, 2, 200)
    step = 1e-6 * np.maximum(np.abs(mu), tau)
    before, here, after = barrier.at(mu - step), barrier.at(mu), barrier.at(mu + step)
    wide = barrier.wide
    assert np.all((here.asked[wide] > 0) & (here.asked[wide] < barrier.width[wide]))
    assert np.all(here.asked[~wide] == 0)
    assert np.all(here.bend[~wide] == 0)
    slope = (after.gain - before.gain) / (2 * step)
    assert slope[wide] == pytest.approx(here.asked[wide], rel=1e-3, abs=1e-6)
    curvature = -(after.asked - before.asked) / (2 * step)
    assert curvature[wide] == pytest.approx(here.bend[wide], rel=1e-3, abs=1e-6)


def test_the_method_with_walls_meets_the_counts_it_asks_for():
    for seed in range(20):
        _history, problem, _ = build(history_of(tables(seed)))
        reduced = reduce(problem, np.ones(problem.terms, dtype=bool))
        found = newton.solve(reduced, softness=Softness(tau=0.1), most=newton.Effort(60))
        done = found.converged[reduced.row_component]
        assert np.abs(Kernel(reduced, softness=Softness(tau=0.1)).at(found.mu).g[done]).max(initial=0.0) < 0.1


def test_the_way_ends_at_multipliers_whose_signs_fit():
    for seed in range(30, 60):
        _history, problem, _ = build(history_of(tables(seed)))
        reduced = reduce(problem, np.ones(problem.terms, dtype=bool))
        found = approach(reduced, None, np.full(reduced.rows.size, newton.DAMPED), Clock())
        kernel = Kernel(reduced)
        expected = kernel.gather(kernel.mass(kernel.softmax(found.mu)[0]))
        wide = reduced.rows.ranged
        assert np.all(expected[wide & (found.mu > 0)] < reduced.rows.upper[wide & (found.mu > 0)] + 1e-3)
        assert np.all(expected[wide & (found.mu < 0)] > reduced.rows.lower[wide & (found.mu < 0)] - 1e-3)


def test_levels_rise_along_every_edge_between_strong_components():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        nodes = int(rng.integers(2, 40))
        tail, head = rng.integers(0, nodes, (2, int(rng.integers(1, 60))))
        label = strong_components(nodes, tail, head)
        height = levels(label, tail, head)
        apart = label[tail] != label[head]
        assert np.all(height[label[head[apart]]] > height[label[tail[apart]]])


def test_thousands_of_hidden_cells_converge():
    """Five tables of places, ages and trades; every count from 1 to 4 is hidden by chance."""
    rng, people = random.Random(1), 6000
    place = [rng.randrange(300) for _ in range(people)]
    columns = {
        "place": place,
        "district": [p // 10 for p in place],
        "ward": [(p + rng.randrange(2)) % 300 for p in place],
        "age": [rng.randrange(60) for _ in place],
        "trade": [rng.randrange(40) for _ in place],
    }
    register = pl.DataFrame({"id": range(people)} | {c: [f"{c[0]}{k}" for k in own] for c, own in columns.items()})
    values = pl.Series("value", [f"v{min(9, int(rng.expovariate(0.5)))}" for _ in place])
    known = register.with_columns(values)
    releases, hidden = [], 0
    for own in (["place"], ["ward"], ["district", "trade"], ["age", "trade"], ["district", "age"]):
        counts = known.group_by([*own, "value"]).agg(pl.len().alias("n")).sort([*own, "value"])
        marked = [str(n) if n > 4 or rng.random() < 0.7 else "c" for n in counts["n"]]
        hidden += marked.count("c")
        shown = counts.select(*own, "value").with_columns(pl.Series("count", marked))
        releases.append(st.Release.counted(shown, sensitive="value", name="-".join(own), suppressed={"c": (1, 4)}))
    assert hidden > 2000
    post = st.infer(releases, register=register)
    assert str(post.certificate.status) in ("exact", "certified")
    truth = dict(zip(known["id"].to_list(), known["value"].to_list(), strict=True))
    assert all(truth[i] == v for i, v, sure in post.best().select("id", "value", "certain").rows() if sure)
    cells = post.cells(seconds=0)
    assert (cells["lower"] <= cells["upper"]).all()
