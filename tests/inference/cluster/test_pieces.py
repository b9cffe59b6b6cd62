"""A history in pieces is answered as on one machine: the same probabilities, facts and figures."""

import random

import numpy as np
import polars as pl
import pytest
from benchmarks.version_histories import history
from benchmarks.version_worker import known, release

import showthrough as st
from showthrough.engines.local import local
from showthrough.engines.processes import processes
from showthrough.errors import InputError, ShowthroughError
from showthrough.inference.cluster import cutting
from tests.inference.tables import as_release, random_population, random_table

WHO = ["id", "release", "value"]
SUMS = (
    "persons", "signatures", "variables", "rows", "components", "proven_zeros", "proven_ones", "suspected_zeros",
    "contradictions", "changed", "persons_by_state", "status", "releases",
)  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(cutting, "PERSONS", 3)


def answers(given):
    frame = given.to_frame(uncertified=True) if isinstance(given, st.Posterior) else given.to_frame()
    if "release" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias("release"))
    return frame.sort(WHO)


def same(one, wide):
    here, there = answers(one), answers(wide)
    assert here.select(*WHO, "state").equals(there.select(*WHO, "state"))
    sure = here["state"].is_in(["exact", "certified"])
    away = (here["p"] - there["p"]).filter(sure).abs().max()
    assert (away or 0.0) < 1e-12
    assert one.fact_counts() == wide.fact_counts()
    assert wide.entropy == pytest.approx(one.entropy, abs=1e-9)
    left, right = one.certificate.as_dict(), wide.certificate.as_dict()
    assert {k: left[k] for k in SUMS} == {k: right[k] for k in SUMS}
    columns = ["id", "value", "fact", "by"]
    assert one.proven().select(columns).sort(columns).equals(wide.proven().select(columns).sort(columns))


def both(releases, **given):
    def asked(**engine):
        try:
            return st.infer(releases, **given, **engine)
        except ShowthroughError as refusal:
            return refusal

    return asked(), asked(engine=local())


@pytest.mark.parametrize("seed", range(7_000, 7_040))
def test_random_histories_of_all_kinds(seed):
    data = history(seed)
    one, wide = both([release(r) for r in data["releases"]], changed=data["changed"], **known(data))
    if isinstance(wide, ShowthroughError):
        assert type(one) is type(wide)
    else:
        same(one, wide)
        assert len(wide.pieces) == 1 or wide.certificate.persons > 3


@pytest.mark.parametrize("seed", range(8))
def test_tables_with_ranges_and_totals_beside_a_release_with_ids(seed):
    rng = random.Random(seed)
    population, truth = random_population(rng, 2, 2)
    table = as_release(random_table(rng, population, truth, ("q0", "q1")), ("q0", "q1"), "table")
    persons = [(*cell, value) for (cell, value), n in sorted(truth.items()) for _ in range(n)]
    register = pl.DataFrame(
        {"id": [f"p{k}" for k in range(len(persons))], "q0": [p[0] for p in persons], "q1": [p[1] for p in persons]}
    )
    ids = register.with_columns(
        pl.Series("v", [p[2] for p in persons]), pl.Series("g", np.arange(len(persons)) // 3)
    ).drop("q0", "q1")
    apart = st.Release.bucketized(ids, id="id", sensitive="v", group="g", name="apart")
    one, wide = both([table, apart], register=register)
    if isinstance(wide, ShowthroughError):
        assert type(one) is type(wide)
    else:
        same(one, wide)


def test_on_all_cores_the_same_bytes_as_here():
    data = history(7_003)
    releases = [release(r) for r in data["releases"]]
    here = st.infer(releases, engine=local(), changed="split", **known(data))
    with processes(2) as engine:
        there = st.infer(releases, engine=engine, changed="split", **known(data))
    for table in ("answer", "people", "facts"):
        mine = {p.name: p.read_bytes() for p in sorted((here.folder / table).iterdir())}
        assert mine == {p.name: p.read_bytes() for p in sorted((there.folder / table).iterdir())}
    assert not (here.folder / "pieces").exists()


def test_what_is_left_goes_with_the_answer():
    data = history(7_003)
    answer = st.infer([release(r) for r in data["releases"]], engine=local(), changed="split", **known(data))
    folder = answer.folder
    assert folder.stat().st_mode & 0o077 == 0
    del answer
    assert not folder.exists()


def test_what_is_refused_leaves_nothing_behind(tmp_path):
    class There:
        name, workers, folder = "there", 1, tmp_path

        def map(self, function, parts, shared=None):
            return local().map(function, parts, shared)

    frame = pl.DataFrame({"id": ["a", "b"], "g": [1, 1], "v": ["x", "y"]})
    other = frame.with_columns(pl.Series("v", ["z", "z"]))
    both = [
        st.Release.bucketized(f, id="id", sensitive="v", group="g", name=n) for f, n in ((frame, "1"), (other, "2"))
    ]
    assert st.infer(both[:1], engine=There()).folder.parent == tmp_path
    before = set(tmp_path.iterdir())
    with pytest.raises(ShowthroughError):
        st.infer(both, engine=There(), contradictions="refuse")
    assert set(tmp_path.iterdir()) == before


def test_what_ties_everybody_is_said():
    frame = pl.DataFrame({"id": ["a", "b"], "g": [1, 1], "v": ["x", "y"]})
    one = st.Release.bucketized(frame, id="id", sensitive="v", group="g")
    with pytest.raises(InputError, match="statements and priors"):
        st.infer([one], knowledge=[st.knowledge.known("a", "x")], engine=local())
    with pytest.raises(InputError, match="table is one of answer, people, facts"):
        st.infer([one], engine=local()).scan("persons")
    with pytest.raises(InputError, match="Only what Spark worked on"):
        st.infer([one], engine=local()).to_spark()


def centroids(register, values, k, name):
    """A microaggregated release of persons with two numbers: groups of neighbours, the mean of each."""
    order = sorted(range(register.height), key=lambda i: (register["age"][i] // 10, register["pay"][i]))
    group = np.empty(register.height, dtype=np.int64)
    group[order] = np.arange(register.height) // k
    frame = pl.DataFrame({"age": register["age"], "pay": register["pay"], "g": group, "v": values})
    means = frame.with_columns(pl.col("age", "pay").mean().round(2).over("g"))
    return st.Release.microaggregated(means, quasi=["age", "pay"], sensitive="v", group="g", name=name)


@pytest.mark.parametrize("seed", range(9_300, 9_306))
def test_persons_at_nearest_centroids(seed):
    """Distances count in deviations of the whole register, and a guess that is refuted gives way for everybody."""
    rng = np.random.default_rng(seed)
    n = 60
    ages, pay = rng.integers(20, 60, n), rng.gamma(2.0, 20.0 * (1 + seed % 3), n).round(1)
    register = pl.DataFrame({"id": [f"p{i}" for i in range(n)], "age": ages, "pay": pay})
    values = rng.choice(list("abcd"), n)
    releases = [centroids(register, values, k, f"R{k}") for k in (3, 4)]
    if seed % 2:  # who is where contradicts the guess for some
        ids = register.select("id").with_columns(pl.Series("g", np.arange(n) // 5), pl.Series("v", values))
        releases.append(st.Release.bucketized(ids, id="id", sensitive="v", group="g", name="ids"))
    one, wide = both(releases[: 3 if seed % 2 else 1], register=register)
    assert not isinstance(one, ShowthroughError)
    same(one, wide)
    assert dict(one.reader.leeway.near) == dict(wide.reader.leeway.near)
    assert (len(wide.pieces) == 1) == bool(wide.reader.leeway.near)
