"""Linking: who fits which groups against cells read by hand, and whether the own group is among them."""

import json
import random

import polars as pl
import pytest

import showthrough as st
from showthrough.examples import hospitals
from tests.attacks.test_intersection import bucketized
from tests.cli.running import run


@pytest.mark.parametrize("seed", [*range(40), *range(300, 340)])
def test_random_releases(seed):
    rng = random.Random(seed)
    people = [f"p{k}" for k in range(rng.randint(1, 25))]
    age = {p: rng.randint(20, 40) for p in people}
    inside = [p for p in people if rng.random() < 0.7] or people[:1]
    home = {p: rng.randint(1, 4) for p in inside}
    span = {
        g: (min(age[p] for p in inside if home[p] == g), max(age[p] for p in inside if home[p] == g))
        for g in set(home.values())
    }
    if rng.random() < 0.3:
        span[rng.choice(list(span))] = (0, 99)
    rows = pl.DataFrame(
        {
            "age": [f"[{span[home[p]][0]}, {span[home[p]][1]}]" for p in inside],
            "g": [home[p] for p in inside],
            "v": ["x"] * len(inside),
        }
    )
    release = st.Release.generalized(rows, sensitive="v", quasi=["age"], group="g", name="V")
    register = pl.DataFrame({"id": people, "age": [str(age[p]) for p in people]})
    truth = pl.DataFrame({"id": inside, "group": [home[p] for p in inside]})
    found = st.attacks.linking(release, register, truth=truth)
    counts = {"one group": 0, "several groups": 0, "no group": 0}
    right = {True: 0, False: 0}
    for _, who, groups, link, records, own in found.people.iter_rows():
        fits = [g for g, (low, high) in span.items() if low <= age[who] <= high]
        assert groups == len(fits)
        assert records == sum(home[p] in fits for p in inside)
        assert link == ("no group" if not fits else "one group" if len(fits) == 1 else "several groups")
        assert own == (True if who in home else None)  # cells never lie
        counts[link] += 1
        if who in home:
            right[len(fits) == 1] += 1
    told = {row["measure"]: (row["persons"], row["of"]) for row in found.rates.iter_rows(named=True)}
    assert {kind: n for kind, (n, _) in told.items() if kind in counts} == counts
    assert told["the own group, and no other"] == (right[True], len(inside))
    assert told["the own group among several"] == (right[False], len(inside))


def test_nearest_centroids():
    table = pl.DataFrame(
        {
            "id": [f"p{k}" for k in range(12)],
            "age": [20, 21, 22, 40, 41, 42, 60, 61, 62, 29, 30, 31],
            "v": list("abcabcabcabc"),
        }
    )
    release = st.anonymize(
        table, method="mdav", id="id", sensitive="v", quasi=["age"], criteria=[st.KAnonymity(3)], seed=1
    )
    found = st.attacks.linking(release, table.select("id", "age"))
    assert found.rates["measure"].to_list()[0] == "nearest centroid"
    told = {row["measure"]: row["persons"] for row in found.rates.iter_rows(named=True)}
    assert told["the own group, and no other"] == 12  # by the link that the publisher keeps
    wrong = release.link.with_columns(group=pl.col("group").reverse())
    beside = st.attacks.linking(release, table.select("id", "age"), truth={release.name or "release 1": wrong})
    assert beside.people["own"].sum() < 12


def test_hospitals_and_refusals():
    found = st.attacks.linking(hospitals.releases(), hospitals.register())
    assert found.people["own"].null_count() == found.people.height
    assert "Alice" not in str(found) + json.dumps(found.as_dict())
    named = bucketized(["a"], ["x"], [1], "ids")
    with pytest.raises(st.errors.InputError, match="nothing to link"):
        st.attacks.linking(named, pl.DataFrame({"id": ["a"], "age": ["1"]}))
    with pytest.raises(st.errors.InputError, match="register"):
        st.attacks.linking(hospitals.releases(), None)
    with pytest.raises(st.errors.InputError, match="Name the release"):
        st.attacks.linking(hospitals.releases(), hospitals.register(), truth=pl.DataFrame({"id": [], "group": []}))
    with pytest.raises(st.errors.InputError, match="another release"):
        st.attacks.linking(hospitals.releases(), hospitals.register(), truth={"X": None})


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": ["[20, 29]"] * 2 + ["[25, 35]"], "g": [1, 1, 2], "v": list("xyz")}).write_csv("V.csv")
    pl.DataFrame({"id": ["p0", "p1", "p2"], "age": [21, 26, 34]}).write_csv("people.csv")
    pl.DataFrame({"id": ["p0", "p1", "p2"], "group": [1, 1, 2]}).write_csv("own.csv")
    roles = ["--sensitive", "v", "--quasi", "age", "--group", "g", "--kind", "generalized"]
    done = run("attack", "linking", "V.csv", *roles, "--register", "people.csv", "--own", "V=own.csv", "--json", "-")
    assert (done.code, done.err) == (0, "")
    told = {row["measure"]: row["persons"] for row in json.loads(done.out)["rates"]}
    assert told == {
        "one group": 2, "several groups": 1, "no group": 0,
        "the own group, and no other": 2, "the own group among several": 1,
    }  # fmt: skip
