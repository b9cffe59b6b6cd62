"""An audit beside the truth: counted once more by hand, calibrated where nothing changed, and honest where it did."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.auditing.scoring import score
from showthrough.report.guesses import told_to
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
    releases, tables = history(5, people=600, releases=1)
    for name, one in zip(tables, releases, strict=True):
        one.to_frame().write_csv(f"{name}.csv")
        tables[name].write_csv(f"{name}-true.csv")
    roles = ["--id", "id", "--sensitive", "value", "--group", "group"]
    done = run("audit", "D1.csv", *roles, "--tables", "D1-true.csv", "--json", "a.json")
    assert done.code in (0, 4), done.err
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["truth"]["right"] <= told["truth"]["persons"]
    assert "By the publisher's own tables the likeliest value is the true one" in " ".join(done.out.split())
    assert not any(f"p{k}" in json.dumps(told["truth"]) for k in range(600))


@pytest.mark.parametrize("seed", [11, 12])
def test_the_command_beside_tables_whose_values_changed(tmp_path, monkeypatch, seed):
    """Counted once more by hand: who changed is one person per release, with the value of that release."""
    monkeypatch.chdir(tmp_path)
    releases, tables = history(seed, people=80, changes=12)
    for name, one in zip(tables, releases, strict=True):
        one.to_frame().write_csv(f"{name}.csv")
        tables[name].write_csv(f"{name}-true.csv")
    truth = {name: dict(table.iter_rows()) for name, table in tables.items()}
    moved = {person for person, value in truth["D1"].items() if truth["D2"][person] != value}
    assert moved
    roles = ["--id", "id", "--sensitive", "value", "--group", "group", "--audience", "internal"]
    own = ["--tables", "D1-true.csv", "D2-true.csv", "--json", "a.json", "--people", "people.csv"]
    done = run("audit", "D1.csv", "D2.csv", *roles, *own)
    assert done.code == 0, done.err
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["certificate"]["changed"] == {"told": len(moved), "split": 0, "tolerated": 0}
    people = pl.read_csv("people.csv", infer_schema=False)
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for row in people.filter(pl.col("p").is_not_null()).iter_rows(named=True):
        key = (row["id"], row["release"] or "")
        best[key] = max(best.get(key, (0.0, "")), (float(row["p"]), row["value"]))
    assert {person for person, at in best if at} == moved
    assert told["truth"]["persons"] == len(best) == 80 + len(moved)
    sure = [(key, value) for key, (p, value) in best.items() if p > 1 - 1e-12]
    assert told["truth"]["certain"] == [len(sure), len(sure)]
    assert all(truth[at or "D2"][person] == value for (person, at), value in sure)
    # between equally likely values any may be the guess, so the count lies between what they allow
    every: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in people.filter(pl.col("p").is_not_null()).iter_rows(named=True):
        every.setdefault((row["id"], row["release"] or ""), []).append((float(row["p"]), row["value"]))
    hits = [
        [truth[at or "D2"][person] == value for p, value in rows if p > max(rows)[0] - 1e-9]
        for (person, at), rows in every.items()
    ]
    assert sum(map(all, hits)) <= told["truth"]["right"] <= sum(map(any, hits))


def test_the_command_keeps_the_truth_of_few_for_internal_eyes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    releases, tables = history(6, people=12, releases=1)
    releases[0].to_frame().write_csv("D1.csv")
    tables["D1"].write_csv("own.csv")
    roles = ["--id", "id", "--sensitive", "value", "--group", "group", "--tables", "own.csv"]
    told = json.loads(run("audit", "D1.csv", *roles, "--json", "-").out)
    assert "truth" not in told
    assert "is not told here" in " ".join(told["summary"])
    assert "really have" not in " ".join(told["summary"])
    known = json.loads(run("audit", "D1.csv", *roles, "--json", "-", "--audience", "internal").out)
    assert known["truth"]["persons"] == 12


def scored_at_random(seed):
    """Persons of random probabilities, some certain, some nearly always right."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    p = np.where(rng.random(n) < rng.random(), 1.0, rng.random(n) ** rng.choice([0.3, 1, 3]))
    right = (rng.random(n) < np.where(rng.random(n) < rng.random(), p, rng.integers(0, 2))) | (p == 1)
    return score(pl.DataFrame({"p": p, "certain": p == 1, "true": ["x"] * n, "right": right}))


@pytest.mark.parametrize("seed", range(60))
def test_shareable_figures_single_out_nobody_even_by_subtraction(seed):
    """Whatever sets of persons the figures tell of, their differences hold ten right and ten wrong, or nobody."""
    all_of_it = scored_at_random(seed)
    told = told_to("shareable", all_of_it)
    assert told_to("internal", all_of_it) is all_of_it
    if told is None:
        n, right = all_of_it.persons - all_of_it.certain[0], all_of_it.right - all_of_it.certain[1]
        assert n
        assert min(right, n - right) < 10
        return
    assert sum(s.persons for s in told.calibration) == told.persons
    assert sum(s.right for s in told.calibration) == told.right
    sums, above = {told.certain, (told.persons, told.right), *told.at_least.values()}, np.zeros(2, dtype=int)
    for step in reversed(told.calibration):
        above = above + np.array([step.persons, step.right])
        sums.add((int(above[0]), int(above[1])))
    nested = sorted(s for s in sums if s[0] >= told.certain[0])
    for (few, hit), (many, more) in pairwise(nested):
        if many > few:
            assert min(more - hit, many - few - (more - hit)) >= 10


def test_most_histories_of_some_size_are_told():
    told = [told_to("shareable", scored_at_random(seed)) for seed in range(60)]
    assert sum(t is not None for t in told) > 20
    assert any(t is not None and len(t.calibration) > 2 and t.at_least for t in told)
