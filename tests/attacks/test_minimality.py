"""Minimality: the textbook example, and random tables against every assignment of values to persons."""

import json
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.attacks import class_worlds, world_replays
from showthrough.errors import CriterionError, InputError

module = import_module("showthrough.attacks.minimality")

TRUE = pl.DataFrame(
    {"id": list("abcdef"), "q": ["q1", "q1", "q2", "q2", "q2", "q2"], "s": ["Yes", "Yes", "No", "No", "No", "No"]}
)


def diverse(values):
    return 2 * sum(v == "Yes" for v in values) <= len(values)


def textbook(table):
    """Wong et al.: the first group is merged with two others only if one of both groups violates the rule."""
    first, second = table.filter(pl.col("q") == "q1"), table.filter(pl.col("q") == "q2")
    if diverse(first["s"]) and diverse(second["s"]):
        rows = list(table.select("q", "s").iter_rows())
    else:
        lent = second.filter(pl.col("s") == "No").head(2)
        merged, rest = [*first["s"], *lent["s"]], second.join(lent, on="id", how="anti")["s"].to_list()
        if lent.height < 2 or not diverse(merged) or not diverse(rest):
            return None
        rows = [("{q1, q2}", s) for s in merged] + [("q2", s) for s in rest]
    frame = pl.DataFrame(rows, schema=["q", "s"], orient="row")
    return st.Release.generalized(frame, sensitive="s", quasi=["q"], name="T")


def credibility(outcome):
    return {(id, v): p for id, v, p in outcome.people.select("id", "value", "p").iter_rows() if p}


def test_the_textbook_example_gives_credibility_1():
    found = st.attacks.minimality(textbook(TRUE), register=TRUE.drop("s"), publish=textbook)
    told = credibility(found)
    assert {id: told[id, "Yes"] for id in "ab"} == {"a": 1.0, "b": 1.0}
    assert {id: told[id, "No"] for id in "cdef"} == dict.fromkeys("cdef", 1.0)
    assert (found.confidentiality, found.exact, found.inconclusive) == (1.0, True, 0)
    alone = {(i, v): p for i, v, p in found.people.select("id", "value", "release").iter_rows()}
    assert alone["a", "Yes"] == pytest.approx(0.5)
    json.dumps(found.as_dict())
    assert "1.000" in str(found)


def rows_of(release):
    return None if release is None else Counter(release.to_frame().iter_rows())


def by_hand(release, table, publish):
    """Credibility over all different assignments of the published values to persons."""
    wanted, hits, many = rows_of(release), Counter(), 0
    values = [v for v, n in release.tally.select("value", "n").iter_rows() for _ in range(n)]
    for world in sorted(set(permutations(values))):
        try:
            came = publish(table.with_columns(pl.Series("s", world)))
        except InputError:
            continue
        if rows_of(came) == wanted:
            many += 1
            hits.update(zip(table["id"].to_list(), world, strict=True))
    return {pair: n / many for pair, n in hits.items()}


def halving(table):
    """A small Mondrian of one's own: halve by age as long as both halves have two different values."""
    rows = []

    def cut(part):
        half = part.height // 2
        low, high = part[:half], part[half:]
        if half and all(p["s"].n_unique() >= 2 for p in (low, high)) and low["age"][-1] < high["age"][0]:
            cut(low)
            cut(high)
        else:
            rows.extend((f"[{part['age'][0]}, {part['age'][-1]}]", s) for s in part["s"].sort())

    cut(table.sort("age"))
    frame = pl.DataFrame(rows, schema=["age", "s"], orient="row")
    return st.Release.generalized(frame, sensitive="s", quasi=["age"], name="H")


def random_table(seed, rows=7):
    rng = np.random.default_rng(seed)
    ages = np.sort(rng.integers(20, 26, rows))
    return pl.DataFrame(
        {"id": [f"P{n}" for n in range(rows)], "age": ages, "s": rng.choice(["a", "b", "c"], rows, p=[0.6, 0.2, 0.2])}
    )


@pytest.mark.parametrize("seed", range(12))
def test_credibility_is_the_share_of_worlds_that_come_out(seed):
    table = random_table(seed)
    release = halving(table)
    found = st.attacks.minimality(release, register=table.drop("s"), publish=halving)
    assert found.exact
    expected = by_hand(release, table.drop("s"), halving)
    assert credibility(found) == pytest.approx({k: p for k, p in expected.items() if p})
    assert found.confidentiality == pytest.approx(max(expected.values()))


@pytest.mark.parametrize("seed", [30, 31])
def test_arguments_of_anonymize_are_replayed(seed):
    table = random_table(seed, rows=6)
    arguments = {"method": "mondrian", "criteria": [st.KAnonymity(2), st.DistinctLDiversity(2)]}
    whole = {**arguments, "id": "id", "sensitive": "s", "quasi": ["age"], "quasi_anyway": ["age"]}
    try:
        release = st.anonymize(table, **whole)
    except InputError:
        pytest.skip("this table cannot be published")
    found = st.attacks.minimality(release, register=table.drop("s"), publish=arguments)
    expected = by_hand(release, table.drop("s"), lambda t: st.anonymize(t, **whole))
    assert credibility(found) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(40, 46))
def test_samples_agree_with_all_worlds_within_their_interval(seed, monkeypatch):
    table = random_table(seed, rows=9)
    release = halving(table)
    exact = st.attacks.minimality(release, register=table.drop("s"), publish=halving)
    monkeypatch.setattr(module, "MOST", 0)
    monkeypatch.setattr(world_replays, "LISTED", 0)
    monkeypatch.setattr(world_replays, "ENOUGH", 400)
    sampled = st.attacks.minimality(release, register=table.drop("s"), publish=halving, seed=seed)
    assert not sampled.exact
    both = exact.people.join(sampled.people, on=["id", "value"], suffix="_drawn", how="left")
    for p, low, high in both.select("p", "low_drawn", "high_drawn").iter_rows():
        assert (low or 0.0) - 0.06 <= p <= (high or 0.0) + 0.06
    assert (both["p"] - both["p_drawn"].fill_null(0.0)).abs().max() < 0.12


@pytest.mark.parametrize("seed", range(50, 54))
def test_listed_worlds_of_each_class_are_exact_where_classes_are_independent(seed, monkeypatch):
    """Far apart: no rejected cut looks into two classes, as every class is cut off first."""
    table = random_table(seed, rows=8)
    release = halving(table)
    exact = st.attacks.minimality(release, register=table.drop("s"), publish=halving)
    monkeypatch.setattr(module, "MOST", 0)
    monkeypatch.setattr(world_replays, "LISTED", 5000)
    by_class = st.attacks.minimality(release, register=table.drop("s"), publish=halving)
    assert by_class.exact
    both = exact.people.join(by_class.people, on=["id", "value"], suffix="_class")
    assert (both["p"] - both["p_class"]).abs().max() < 1e-9
    blocks = next(note for note in by_class.notes if "put together" in note)
    assert "depend" not in blocks


def test_a_random_algorithm_is_replayed_over_seeds():
    """With half of its seeds it merges everything: a world in which it needs not to counts half."""

    def sometimes(table, seed):
        if seed % 2:
            merged = table.with_columns(pl.lit(f"[{table['age'].min()}, {table['age'].max()}]").alias("age")).drop("id")
            return st.Release.generalized(merged, sensitive="s", quasi=["age"], name="H")
        return halving(table)

    table = pl.DataFrame({"id": list("abcd"), "age": [1, 2, 3, 4], "s": ["x", "x", "y", "y"]})
    found = st.attacks.minimality(sometimes(table, 1), register=table.drop("s"), publish=sometimes)
    told = credibility(found)  # worlds xxyy and yyxx come out always, the four others with half of the seeds
    weight = {"xxyy": 1, "yyxx": 1, "xyxy": 0.5, "xyyx": 0.5, "yxxy": 0.5, "yxyx": 0.5}
    together = sum(w for world, w in weight.items() if world[0] == "x") / sum(weight.values())
    assert told["a", "x"] == pytest.approx(together)
    assert any("8 seeds" in note for note in found.notes)


def test_a_seed_that_matters_in_one_world_alone_is_found(monkeypatch):
    """The last world of many, xx for the oldest, is merged with every third seed only."""

    def rarely(table, seed):
        world = "".join(table.sort("age")["s"])
        if not world.endswith("xx") or seed % 3 == 1:
            merged = table.with_columns(pl.lit(f"[{table['age'].min()}, {table['age'].max()}]").alias("age")).drop("id")
            return st.Release.generalized(merged, sensitive="s", quasi=["age"], name="H")
        return None

    table = pl.DataFrame({"id": list("abcd"), "age": [1, 2, 3, 4], "s": ["x", "x", "y", "y"]})
    for few in (0, 50):  # two seeds first, and all at once
        monkeypatch.setattr(world_replays, "FEW", few)
        found = st.attacks.minimality(rarely(table, 1), register=table.drop("s"), publish=rarely)
        assert credibility(found)["d", "x"] == pytest.approx((2 + 3 / 8) / (5 + 3 / 8))
        assert any("8 seeds" in note for note in found.notes)


@pytest.mark.parametrize("seed", [3034, 3038, 3044, 3048])
def test_relaxed_cuts_against_all_assignments(seed):
    """Ties are cut by the seed, in some worlds only: every assignment is published again with eight seeds."""
    rng = np.random.default_rng(seed)
    n, values = int(rng.integers(4, 7)), ["a", "b", "c"][: int(rng.integers(2, 4))]
    n = min(n, 5) if len(values) == 3 else n
    table = pl.DataFrame(
        {
            "id": [f"i{k}" for k in range(n)],
            "age": rng.integers(20, 24, n),
            "sex": ["fm"[int(x)] for x in rng.integers(0, 2, n)],
            "s": [values[int(x)] for x in rng.integers(0, len(values), n)],
        }
    )
    publish = {"method": "mondrian-relaxed", "criteria": [st.FrequencyLDiversity(2)]}

    def rows(table, seed):
        try:
            made = st.anonymize(
                table, id="id", sensitive="s", quasi=["age", "sex"], quasi_anyway=["age", "sex"], seed=seed, **publish
            )
        except (InputError, CriterionError):
            return None, None
        return made, sorted(made.to_frame().select("age", "sex", "s").cast(pl.String).rows())

    release, published = rows(table, 0)
    assert release is not None
    total, own = 0, Counter()
    for world in set(permutations(table["s"].to_list())):
        came = sum(rows(table.with_columns(pl.Series("s", world)), k)[1] == published for k in range(8))
        total += came
        own.update(dict.fromkeys(zip(table["id"], world, strict=True), came))
    told = credibility(st.attacks.minimality(release, register=table.drop("s"), publish=publish))
    for key, p in told.items():
        assert p == pytest.approx(own[key] / total)


def test_an_algorithm_that_never_comes_to_this_release_is_inconclusive():
    other = {"method": "mondrian", "criteria": [st.KAnonymity(6)]}
    found = st.attacks.minimality(textbook(TRUE), register=TRUE.drop("s"), publish=other)
    assert found.confidentiality is None
    assert found.inconclusive == 6
    assert any("nothing is known" in note for note in found.notes)
    assert "No credibility" in str(found)
    assert (found.rates["of"][0], found.baseline["of"][0]) == (0, 0)


def test_the_baseline_is_of_the_same_persons():
    found = st.attacks.minimality(
        textbook(TRUE), register=TRUE.drop("s"), publish={"method": "mondrian", "criteria": [st.KAnonymity(6)]}
    )
    p = pl.when(pl.col("id") == found.people["id"][0]).then("release").alias("p")
    one = replace(found, people=found.people.with_columns(p))
    scored = one.score(TRUE.select("id", value="s"))
    assert scored.table["persons"].to_list() == [1, 1]


def test_suppressed_persons_may_have_any_value():
    table = pl.DataFrame({"id": list("abcde"), "q": ["1", "1", "1", "1", "2"], "s": ["x", "y", "x", "y", "x"]})

    def large_only(frame):
        kept = frame.filter(pl.len().over("q") >= 2).drop("id")
        return st.Release.generalized(kept, sensitive="s", quasi=["q"], name="S")

    found = st.attacks.minimality(large_only(table), register=table.drop("s"), publish=large_only)
    told = credibility(found)
    assert told["a", "x"] == pytest.approx(0.5, abs=0.02)
    assert told["e", "x"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"id": ["1"], "age": [3], "s": ["x"]}),
        pl.DataFrame({"id": list("123"), "age": [3, 4, 5], "s": ["x", "x", "x"]}),
        pl.DataFrame({"id": list("1234"), "age": [1, 2, 3, 4], "s": ["x", "y", "y", "x"]}),
    ],
)
def test_degenerate_tables_have_an_answer(table):
    """One row, one value, and a release that is the raw table."""

    def raw(frame):
        return st.Release.generalized(frame.drop("id"), sensitive="s", quasi=["age"], name="R")

    for publish in (raw, halving):
        found = st.attacks.minimality(publish(table), register=table.drop("s"), publish=publish)
        assert found.people.group_by("id").agg(pl.col("p").sum())["p"].to_list() == pytest.approx([1.0] * table.height)
    assert st.attacks.minimality(raw(table), register=table.drop("s"), publish=raw).confidentiality == 1.0


def test_what_it_refuses():
    release, register = textbook(TRUE), TRUE.drop("s")
    with pytest.raises(InputError, match="everybody in the table"):
        st.attacks.minimality(release, register=register.head(5), publish=textbook)
    with pytest.raises(InputError, match="lacks the quasi-identifier"):
        st.attacks.minimality(release, register=register.rename({"q": "z"}), publish=textbook)
    with pytest.raises(InputError, match="is the algorithm"):
        st.attacks.minimality(release, register=register, publish="mondrian")
    with pytest.raises(InputError, match="returns a release"):
        st.attacks.minimality(release, register=register, publish=lambda _: 3)
    with pytest.raises(InputError, match="without its table"):
        st.attacks.minimality(release, register=register, publish={"table": 1})


def test_the_same_seed_gives_the_same_answer(monkeypatch):
    monkeypatch.setattr(module, "MOST", 0)
    monkeypatch.setattr(world_replays, "LISTED", 0)
    monkeypatch.setattr(world_replays, "ENOUGH", 25)
    table = random_table(60, rows=6)
    one, same = (
        st.attacks.minimality(halving(table), register=table.drop("s"), publish=halving, seed=5) for _ in range(2)
    )
    assert one.people.equals(same.people)


def test_worlds_of_a_block_are_all_matrices_with_their_weights():
    kind = np.array([0, 0, 1, 1, 1])
    block = class_worlds.ClassBlock((0,), np.arange(5), kind, np.array([0, 0, 0, 1, 2]), np.ones((2, 3), dtype=bool), 3)
    assert block.enumerate(100)
    by_hand = Counter()
    for world in permutations(block.values.tolist()):
        by_hand[block.matrix(np.array(world)).tobytes()] += 1
    repeated = 3 * 2  # the three equal values, in any order
    assert {m.tobytes(): w for m, w in block.worlds} == {k: n // repeated for k, n in by_hand.items()}
    assert not block.enumerate(2)
