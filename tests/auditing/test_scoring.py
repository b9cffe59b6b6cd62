"""An audit beside the truth: counted once more by hand, calibrated where nothing changed, and honest where it did."""

import json

import numpy as np
import polars as pl
import pytest

import showthrough as st
from tests.cli.running import run
from tests.histories import release


def history(seed, people=60, releases=2, changes=0):
    """Releases in random groups of four, the true tables, and how many values changed before the last."""
    rng = np.random.default_rng(seed)
    ids = [f"p{k}" for k in range(people)]
    values = rng.choice(list("abcdef"), people)
    found, tables = [], {}
    for r in range(releases):
        if r == releases - 1 and changes:
            at = rng.choice(people, changes, replace=False)
            values = values.copy()
            values[at] = rng.choice(list("abcdef"), changes)
        parts = np.array_split(rng.permutation(people), people // 4)
        groups = [([ids[i] for i in part], [str(values[i]) for i in part]) for part in parts]
        found.append(release(groups, f"D{r + 1}"))
        tables[f"D{r + 1}"] = pl.DataFrame({"id": ids, "value": [str(v) for v in values]})
    return found, tables


@pytest.mark.parametrize("seed", range(8))
def test_figures_by_hand(seed):
    releases, tables = history(seed)
    found = st.audit(releases).beside(tables)
    truth = dict(tables["D2"].iter_rows())
    rows = [(p, value == truth[i], certain) for i, value, p, certain in found.posterior.best().iter_rows()]
    told = found.scored
    assert told.persons == len(rows) == 60
    assert told.unknown == 0
    assert told.right == sum(right for _, right, _ in rows)
    assert told.expected == pytest.approx(sum(p for p, _, _ in rows))
    assert told.certain == (sum(c for *_, c in rows), sum(c for *_, c in rows))  # what is proven is true
    assert told.at_least["0.5"] == (
        sum(p >= 0.5 - 1e-9 for p, _, _ in rows),
        sum(r for p, r, _ in rows if p >= 0.5 - 1e-9),
    )
    assert sum(step.persons for step in told.calibration) == 60
    assert sum(step.right for step in told.calibration) == told.right
    assert found.people["right"].sum() == told.right


def test_readers_are_calibrated_where_nothing_changed():
    right = expected = 0.0
    for seed in range(40):
        releases, tables = history(100 + seed, people=40)
        told = st.audit(releases).beside(tables).scored
        right, expected = right + told.right, expected + told.expected
    assert right == pytest.approx(expected, rel=0.06)


def test_a_split_id_has_the_value_of_its_release():
    releases = [release([(["x", "y"], ["a", "b"])], "D1"), release([(["x", "z"], ["c", "d"])], "D2")]
    found = st.audit(releases, changed=["x"]).beside(
        {"D1": {"id": ["x", "y"], "value": ["a", "b"]}, "D2": {"id": ["x", "z"], "value": ["c", "d"]}}
    )
    told = {(i, r): true for i, r, true in found.people.select("id", "release", "true").iter_rows()}
    assert told == {("x", "D1"): "a", ("x", "D2"): "c", ("y", None): "b", ("z", None): "d"}


def test_who_has_no_true_value_is_unknown():
    releases, tables = history(3)
    half = {name: table.head(30) for name, table in tables.items()}
    told = st.audit(releases).beside(half).scored
    assert (told.persons, told.unknown) == (30, 30)


def test_the_command_tells_it_with_counts_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    releases, tables = history(5, changes=6)
    for name, one in zip(tables, releases, strict=True):
        one.to_frame().write_csv(f"{name}.csv")
        tables[name].write_csv(f"{name}-true.csv")
    roles = ["--id", "id", "--sensitive", "value", "--group", "group"]
    done = run("audit", "D1.csv", "D2.csv", *roles, "--tables", "D1-true.csv", "D2-true.csv", "--json", "a.json")
    assert done.code in (0, 4), done.err
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["truth"]["right"] <= told["truth"]["persons"]
    assert "By the publisher's own tables the likeliest value is the true one" in " ".join(done.out.split())
    assert not any(f"p{k}" in json.dumps(told["truth"]) for k in range(60))
