"""Membership: probabilities against a general solver, largest matchings and m/N; and the command."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import showthrough as st
from showthrough.attacks.membership import presence
from showthrough.register.attribute import Candidates
from tests.attacks.test_intersection import bucketized
from tests.cli.running import run


def random_fits(seed):
    """Persons with the groups that they fit, and the records of the groups."""
    rng = np.random.default_rng(seed)
    groups, persons = int(rng.integers(1, 5)), int(rng.integers(1, 14))
    fits = [np.flatnonzero(rng.random(groups) < rng.choice([0.3, 0.6])) for _ in range(persons)]
    rows = rng.integers(1, 5, groups)
    start = np.concatenate([[0], np.cumsum([own.size for own in fits])])
    return Candidates(start.astype(np.int64), np.concatenate(fits).astype(np.int32)), fits, rows


def most_seated(fits, rows):
    """As many persons as fit at once, record by record."""
    seat = np.repeat(np.arange(rows.size), rows)
    fitting = np.array([[g in own for g in seat] for own in fits], dtype=np.int8).reshape(len(fits), seat.size)
    return int((maximum_bipartite_matching(csr_array(fitting), perm_type="column") >= 0).sum())


@pytest.mark.parametrize("seed", [*range(80), *range(5000, 5080)])
def test_as_many_are_expected_as_fit(seed):
    candidates, fits, rows = random_fits(seed)
    p = presence(candidates, rows.astype(float), np.zeros(len(fits), dtype=bool))
    assert p.sum() == pytest.approx(most_seated(fits, rows), abs=2e-3)
    assert ((p >= 0) & (p <= 1)).all()
    assert (p[[own.size == 0 for own in fits]] == 0).all()


def by_solver(fits, rows):
    """The most entropy of all ways to share persons out, with every record filled: its dual, by a general solver."""

    def dual(theta):
        sums = [1 + sum(np.exp(theta[g]) for g in own) for own in fits]
        slope = np.zeros(rows.size)
        for own, total in zip(fits, sums, strict=True):
            slope[own] += np.exp(theta[own]) / total
        return float(np.log(sums).sum() - theta @ rows), slope - rows

    done = minimize(dual, np.zeros(rows.size), jac=True, method="BFGS", options={"gtol": 1e-9})
    if np.abs(dual(done.x)[1]).max() > 1e-6:
        return None  # a limit that no weights reach
    inside = [sum(np.exp(done.x[g]) for g in own) for own in fits]
    return np.array([own / (1 + own) for own in inside])


def test_the_most_entropy():
    compared = 0
    for seed in range(400):
        candidates, fits, rows = random_fits(seed)
        seated = most_seated(fits, rows)
        if seated < rows.sum() or seated >= sum(own.size > 0 for own in fits):
            continue  # records that nobody fills, or room for everybody
        expected = by_solver(fits, rows)
        if expected is None:
            continue
        p = presence(candidates, rows.astype(float), np.zeros(len(fits), dtype=bool))
        assert p == pytest.approx(expected, abs=1e-4), seed
        compared += 1
    assert compared >= 40


def table(cells, name="V"):
    frame = pl.DataFrame({"age": cells, "v": ["x"] * len(cells)})
    return st.Release.generalized(frame, sensitive="v", quasi=["age"], name=name)


def test_one_group_is_m_of_n():
    people = pl.DataFrame({"id": list("abcdefgh"), "age": ["21", "22", "23", "24", "25", "41", "42", "70"]})
    found = st.attacks.membership(table(["[20, 29]"] * 3 + ["[40, 49]"] * 2), people)
    assert found.people["p"].to_list() == pytest.approx([0.6] * 5 + [1.0, 1.0, 0.0])
    assert found.rates["persons"].to_list() == [2, 1]
    assert found.baseline["persons"].to_list() == [0, 0]
    assert found.people["size_alone"][0] == pytest.approx(5 / 8)
    known = people.with_columns(in_V=pl.Series([True, False, None, None, None, None, None, None]))
    some = st.attacks.membership(table(["[20, 29]"] * 3 + ["[40, 49]"] * 2), known)
    assert some.people["p"].to_list() == pytest.approx([1.0, 0.0, 2 / 3, 2 / 3, 2 / 3, 1.0, 1.0, 0.0])
    truth = pl.DataFrame({"id": list("abcdefgh"), "value": ["in"] * 3 + ["out"] * 2 + ["in"] * 2 + ["out"]})
    assert found.score(truth).table["accuracy"][0] == pytest.approx(6 / 8)


def test_degenerate_input():
    people = pl.DataFrame({"id": ["a"], "age": ["30"]})
    for release in (table(["*"]), table(["[20, 29]"]), table(["*"] * 5)):
        assert st.attacks.membership(release, people).people.height == 1
    named = bucketized(["a", "b"], ["x", "y"], [1, 1], "ids")
    found = st.attacks.membership([named, table(["*"])], pl.DataFrame({"id": ["a", "c"], "age": ["1", "2"]}))
    assert found.people["p"].to_list() == pytest.approx([1.0, 0.0, 0.5, 0.5])
    assert "ids publishes ids" in str(found)
    with pytest.raises(st.errors.InputError, match="register"):
        st.attacks.membership(table(["*"]), None)
    with pytest.raises(st.errors.InputError, match="high is a number"):
        st.attacks.membership(table(["*"]), people, high=2)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": ["[20, 29]"] * 3, "v": list("xyz")}).write_csv("V.csv")
    pl.DataFrame({"id": [f"p{k}" for k in range(5)], "age": range(21, 26)}).write_csv("people.csv")
    pl.DataFrame({"id": ["p0", "p1", "p2"], "v": list("xyz")}).write_csv("T.csv")
    options = ["V.csv", "--sensitive", "v", "--quasi", "age", "--register", "people.csv", "--truth", "T.csv"]
    done = run("attack", "membership", *options, "--high", 0.6, "--json", "-")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert [row["persons"] for row in told["rates"]] == [5, 0]
    assert "p0" not in done.out
    assert told["score"]["unknown"] == 0
    linked = json.loads(run("attack", "linking", *options, "--json", "-").out)
    assert [row["persons"] for row in linked["rates"]] == [5, 0, 0]
