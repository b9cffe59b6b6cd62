"""The grid of realistic histories is what it promises, and the programs that judge answers find wrong ones."""

import os
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from benchmarks.histories import independent
from benchmarks.real_grid import FAMILIES, every, grid, small
from benchmarks.real_histories import HELD_OUT, NAMED, Kind, Spec, make
from benchmarks.real_judge import judge_bounds, judge_facts
from benchmarks.real_oracle import Program

import showthrough as st
from tests.located_cases import located

DATA = Path(os.environ.get("SHOWTHROUGH_DATA", ""))
SEATED = [0, 3, 4, 8, 11, 17]  # located histories that do not contradict themselves


def test_the_grid_is_large_mixed_and_the_same_every_time():
    specs = grid()
    assert specs == grid()
    assert len(specs) == sum(FAMILIES.values()) == 200
    assert len({spec.name for spec in every()}) == len(every()) == 200 + len(NAMED)
    kinds = {kind.method for spec in specs for kind in spec.kinds}
    assert kinds >= {"anatomy", "levels", "local-recoding", "mondrian", "mondrian-relaxed", "mdav", "m-invariance"}
    assert {len(spec.kinds) for spec in specs} == {2, 3, 4, 5, 6}
    assert {spec.reader for spec in specs} == {"ids", "register", "presence"}
    assert {spec.changed for spec in specs} == {0, 5, 50, 500}
    assert Counter(spec.data for spec in specs).keys() == {"adult", "ipums", "ipums-all"}
    assert all(500 <= spec.persons <= 10_000 for spec in specs)


def test_held_out_seeds_are_another_grid():
    shown, kept = grid(0), grid(HELD_OUT)
    assert {spec.seed for spec in kept} == {HELD_OUT}
    assert sum(str(a).split("; seed")[0] == str(b).split("; seed")[0] for a, b in zip(shown, kept, strict=True)) < 20


def test_small_histories_are_small():
    assert len(small()) == 300
    assert max(spec.persons for spec in small()) == 1_500


def program(post: st.Posterior) -> Program:
    return Program(post.releases, [post.groups_of(name) for name in post.names])


def answers() -> list[st.Posterior]:
    cases = [located(seed) for seed in SEATED]
    return [
        st.infer(independent(60, 3, releases=3, seed=1)),
        *(st.infer(case.releases, register=case.register) for case in cases),
    ]


@pytest.mark.parametrize("number", range(1 + len(SEATED)))
def test_programs_agree_with_facts_and_bounds(number):
    post = answers()[number]
    judge, facts, bounds = program(post), post.proven(), post.bounds(post.ids[:8])
    judged = judge_facts(judge, facts, 10.0)
    assert (judged.confirmed, judged.refuted, judged.unjudged) == (facts.height, 0, 0)
    assert judge_bounds(judge, bounds, 10.0).confirmed == bounds.height
    for *key, value, lower, upper in bounds.iter_rows():
        ends = judge.ends(int(judge.signature[judge.people[tuple(key)]]), judge.values[value], 10.0)
        assert ends == pytest.approx((lower, upper), abs=1e-7)


def test_programs_refute_what_is_not_so():
    post = answers()[0]
    judge, doubt = program(post), post.to_frame().filter(pl.col("p").is_between(0.05, 0.95))
    for fact in ("certain", "impossible"):
        made_up = doubt.select("id", "value", fact=pl.lit(fact))
        judged = judge_facts(judge, made_up.sample(1, seed=1), 10.0)
        assert (judged.refuted, len(judged.examples)) == (1, 1)
    narrow = post.bounds(doubt["id"].unique()[:3]).filter(pl.col("upper") - pl.col("lower") > 0.1)
    judged = judge_bounds(judge, narrow.with_columns(upper=pl.col("upper") - 0.05), 10.0)
    assert judged.refuted == narrow.height > 0


def test_a_point_that_fits_gives_the_same_verdicts():
    history = make(Spec("", "frequencies", 90, (Kind("anatomy", 3),) * 3, overlap=0.8, seed=2))
    post = st.infer(history.releases)
    judge, free = program(post), program(post)
    judge.start_from(history.truth, 10.0)
    assert judge.point is not None
    alive = post.to_frame().filter(pl.col("p") < 1).select("id", "value", fact=pl.lit("impossible"))
    facts = pl.concat([post.proven().select("id", "value", "fact"), alive])
    for k in range(facts.height):
        one = facts[k : k + 1]
        mine, other = judge_facts(judge, one, 10.0), judge_facts(free, one, 10.0)
        assert (mine.confirmed, mine.refuted) == (other.confirmed, other.refuted)


def test_a_history_is_made_with_its_truth():
    history = make(Spec("", "frequencies", 90, (Kind("anatomy", 3),) * 3, overlap=0.8, seed=2))
    for release in history.releases:
        told = release.counts().group_by("value").agg(pl.col("n").sum()).sort("value")
        true = history.truth.filter(pl.col("release") == release.name)["value"].value_counts().sort("value")
        assert told["n"].to_list() == true["count"].to_list()


@pytest.mark.skipif(not (DATA / "adult").is_dir(), reason="Adult is not there: set SHOWTHROUGH_DATA to its folder")
@pytest.mark.parametrize("method", ["levels", "local-recoding", "mdav"])
def test_a_history_of_adult_is_made_the_same_every_time(method):
    spec = Spec("", "adult", 200, (Kind("anatomy", 3), Kind(method, 4)), reader="presence", changed=5, seed=1)
    first, again = make(spec), make(spec)
    assert [r.fingerprint() for r in first.releases] == [r.fingerprint() for r in again.releases]
    assert first.truth.equals(again.truth)
    assert len(first.changed) == 5
    values = first.truth.filter(pl.col("id").is_in(list(first.changed))).group_by("id").agg(pl.col("value").n_unique())
    assert values["value"].to_list() == [2] * 5
    assert first.arguments["register"].height == 400
    assert {"in_D1", "in_D2"} <= set(first.arguments["register"].columns)
