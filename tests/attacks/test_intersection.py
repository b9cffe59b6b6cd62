"""The intersection attack: the paper's example, and random histories against sets by hand."""

import json
import pickle
import random
from fractions import Fraction

import polars as pl
import pytest

import showthrough as st
from showthrough.attacks import laid
from showthrough.examples import figure1, hospitals
from tests.cli.running import run

SEEDS = [*range(60), *range(9000, 9060)]


def history(seed):
    """Releases of both kinds, a register, and the groups and values that everybody can be in, as plain data."""
    rng = random.Random(seed)
    people = [f"p{k}" for k in range(rng.randint(1, 30))]
    age = {p: rng.randint(20, 60) for p in people}
    letters = "abcdefgh"[: rng.randint(1, 8)]
    if seed % 7 == 0:  # more values than bits of a word
        letters = [f"v{k}" for k in range(150)]
    truth = {p: rng.choice(letters) for p in people}
    releases, sets, presence = [], [], {}
    for r in range(rng.randint(1, 4)):
        inside = [p for p in people if rng.random() < 0.8] or people[:1]
        home = {p: rng.randint(1, max(1, len(inside) // 3)) for p in inside}
        groups = {g: [p for p in inside if home[p] == g] for g in sorted(set(home.values()))}
        name = f"R{r + 1}"
        if rng.random() < 0.5:
            frame = pl.DataFrame({"id": inside, "g": [home[p] for p in inside], "v": [truth[p] for p in inside]})
            releases.append(st.Release.bucketized(frame, id="id", sensitive="v", group="g", name=name))
            sets.append({p: {truth[q] for q in groups[home[p]]} for p in inside})
            continue
        span = {g: (min(age[p] for p in own), max(age[p] for p in own)) for g, own in groups.items()}
        if rng.random() < 0.2:
            span[rng.choice(list(span))] = (0, 99)  # a suppressed row fits everybody
        cell = {g: "*" if s == (0, 99) else f"[{s[0]}, {s[1]}]" for g, s in span.items()}
        frame = pl.DataFrame({"age": [cell[home[p]] for p in inside], "v": [truth[p] for p in inside]})
        releases.append(st.Release.generalized(frame, sensitive="v", quasi=["age"], name=name))
        alike = {p: [g for g in groups if span[g][0] <= age[p] <= span[g][1]] for p in inside}
        sets.append({p: {truth[q] for g in fits for q in groups[g]} for p, fits in alike.items()})
        presence[name] = [p in inside for p in people]
    columns = {"id": people, "age": [str(age[p]) for p in people]}
    register = pl.DataFrame({**columns, **{f"in_{name}": told for name, told in presence.items()}})
    return releases, register, sets, truth


@pytest.mark.parametrize("seed", SEEDS)
def test_random_histories(seed):
    releases, register, sets, truth = history(seed)
    found = st.attacks.intersection(releases, register=register)
    least = min(2, len(releases))
    expected, common = {}, {}
    for p in truth:
        own = [told[p] for told in sets if p in told]
        if len(own) < least:
            continue
        common[p] = set.intersection(*own)
        prior, after = min(map(len, own)), len(common[p])
        expected[p] = (prior, after, prior - after, 1 / after, len(own))
    assert {row[0]: row[1:] for row in found.people.iter_rows()} == expected
    left = found.candidates().group_by("id").agg("value").rows()
    assert {p: set(values) for p, values in left} == common
    for c in (1.0, 0.5, 1 / 3, 0.25, 0.2, 0.1):
        share = sum(Fraction(1, n) >= Fraction(c).limit_denominator(1000) for _, n, *_ in expected.values())
        assert found.at(c) == pytest.approx(100 * share / max(1, len(expected)))
    assert found.vulnerable == pytest.approx(100 * sum(e[2] > 0 for e in expected.values()) / max(1, len(expected)))
    assert found.homogeneous == pytest.approx(100 * sum(e[0] == 1 for e in expected.values()) / max(1, len(expected)))


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_beliefs_and_what_lies_beyond(seed):
    releases, register, _, truth = history(seed)
    found = st.attacks.intersection(releases, register=register, beyond=True)
    for belief in found.beliefs:
        total = found.believed().group_by("id").agg(pl.col(belief).sum())
        assert total[belief].to_list() == pytest.approx([1.0] * total.height, abs=1e-6)
    assert (found.people["left"] <= found.people["posterior"]).all()
    assert (found.people["joint"] >= found.people["confidence"] - 1e-6).all()  # of so many values one is as likely
    assert found.people.filter(pl.col("posterior") == 1)["certain"].all()
    if found.people.height:
        score = found.score(pl.DataFrame({"id": list(truth), "value": list(truth.values())}))
        assert score.table["belief"].to_list() == ["intersection", "joint", "release"]


@pytest.mark.parametrize("seed", SEEDS[::10])
def test_some_persons_at_a_time(seed, monkeypatch):
    releases, register, *_ = history(seed)
    whole = st.attacks.intersection(releases, register=register)
    monkeypatch.setattr(laid, "HELD", 5)
    parts = st.attacks.intersection(releases, register=register)
    assert parts.people.equals(whole.people)
    assert parts.candidates().equals(whole.candidates())
    assert parts.averages.equals(whole.averages)


def test_table_1_of_the_paper():
    found = st.attacks.intersection(hospitals.releases(), register=hospitals.register())
    alice = found.people.filter(pl.col("id") == "Alice").row(0, named=True)
    assert (alice["prior"], alice["posterior"], alice["drop"], alice["confidence"]) == (3, 1, 2, 1.0)
    alone = [
        st.attacks.intersection(release, register=hospitals.register()).people.filter(pl.col("id") == "Alice")
        for release in hospitals.releases()
    ]
    assert [one["posterior"][0] for one in alone] == [3, 4]
    assert found.candidates().filter(pl.col("id") == "Alice")["value"].to_list() == ["AIDS"]
    assert (found.perfect, found.at(0.5), found.vulnerable, found.homogeneous) == (62.5, 100.0, 50.0, 50.0)


def test_counts_beyond_sets():
    found = st.attacks.intersection(figure1.releases(), beyond=True)
    told = {row["measure"]: row["persons"] for row in found.rates.iter_rows(named=True)}
    assert told["perfect breach"] == 0
    assert told["proven certain, of everybody in any release"] == 3  # patients 7, 10 and 13


def bucketized(ids, values, groups, name):
    frame = pl.DataFrame({"id": ids, "v": values, "g": groups})
    return st.Release.bucketized(frame, id="id", sensitive="v", group="g", name=name)


def test_degenerate_input():
    one = bucketized(["a"], ["x"], [1], "one")
    raw = bucketized(list("abc"), list("xyx"), [1, 2, 3], "raw")
    other = bucketized(list("de"), list("xy"), [1, 1], "other")
    assert st.attacks.intersection(one).perfect == 100
    assert st.attacks.intersection([one, one]).people["releases"].to_list() == [2]
    assert st.attacks.intersection([raw, raw]).vulnerable == 0
    nobody = st.attacks.intersection([raw, other], beyond=True)
    assert (nobody.people.height, nobody.perfect, nobody.at(0.25)) == (0, 0.0, 0.0)
    assert "nobody in 2 or more" in str(nobody)
    without = st.Release.generalized(pl.DataFrame({"q": ["*"], "v": ["x"]}), sensitive="v", quasi=["q"], name="rows")
    assert st.attacks.intersection([without, without]).people.height == 0
    with pytest.raises(st.errors.InputError, match="at least one release"):
        st.attacks.intersection([])
    with pytest.raises(st.errors.InputError, match="least is a number"):
        st.attacks.intersection([raw, raw], least=3)
    with pytest.raises(st.errors.InputError, match="confidence is a number"):
        st.attacks.intersection(raw).at(0)


def test_values_that_changed():
    before = bucketized(list("abcd"), list("xxyz"), [1, 1, 2, 2], "before")
    after = bucketized(list("abcd"), list("zzyz"), [1, 1, 2, 2], "after")
    found = st.attacks.intersection([before, after], beyond=True)
    assert found.people["posterior"].to_list() == [0, 0, 2, 2]
    assert found.people["confidence"].to_list() == [None, None, 0.5, 0.5]
    assert found.people["joint"].null_count() == 2
    assert "2 persons without any value in common" in str(found)


def test_pickles_and_names_nobody():
    found = st.attacks.intersection(hospitals.releases(), register=hospitals.register(), beyond=True)
    again = pickle.loads(pickle.dumps(found))
    assert again.believed().equals(found.believed())
    for text in (str(found), repr(found), json.dumps(found.as_dict()), found._repr_html_() or ""):
        assert "Alice" not in text
        assert "AIDS" not in text


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for release, name in zip(figure1.releases(), ("D1", "D2"), strict=True):
        release.save(name)
    done = run("attack", "intersection", "D1", "D2", "--beyond", "--people", "p.csv")
    assert (done.code, done.err) == (0, "")
    assert "perfect breach" in done.out
    assert "Pneumonia" not in done.out
    assert pl.read_csv("p.csv")["posterior"].max() == 3
    told = json.loads(run("attack", "intersection", "D1", "D2", "--json", "-").out)
    assert (told["at"]["50"], told["vulnerable"]) == (60.0, 60.0)
