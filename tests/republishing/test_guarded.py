"""Guarded publishing: whatever it returns keeps the policy in every prefix, by a fresh inference."""

import contextlib
import os
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import (
    DistinctLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    MUniqueness,
    Policy,
    Release,
    anonymize,
    infer,
)
from showthrough.errors import InputError, PolicyError
from showthrough.republishing.search import Search
from showthrough.republishing.tied import joint
from tests.republishing.changing import raw_tables

MANY = int(os.environ.get("SHOWTHROUGH_EXAMPLES", "3"))
SEEDS = st.integers(0, 2**32 - 1)
ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}
BASES = {
    "anatomy": [FrequencyLDiversity(2)],
    "mondrian": [KAnonymity(3), DistinctLDiversity(2)],
    "local-recoding": [KAnonymity(2), FrequencyLDiversity(2)],
}
POLICIES = [
    Policy(max_posterior=0.5),
    Policy(max_posterior=0.6),
    Policy(certain=0),
    Policy(certain=1, max_posterior=0.8),
    Policy(certain=0, impossible=3),
    Policy(max_gain=0.25, certain=0),
    Policy(max_posterior=0.7, integral="required"),
]


def guard(table, history, policy, **more):
    base = more.pop("method", "anatomy")
    criteria = more.pop("criteria", BASES[base])
    return anonymize(
        table, method=base, criteria=criteria, strategy="guarded", policy=policy, history=history,
        name=f"R{len(history) + 1}", **{"hold_back": True, **ROLES, **more},
    )  # fmt: skip


def m_invariant(table, history, m, **more):
    return anonymize(
        table, criteria=[MUniqueness(m)], strategy="m-invariance", history=history, name=f"R{len(history) + 1}",
        **{"hold_back": True, **ROLES, **more},
    )  # fmt: skip


def top(releases):
    """The largest probability of anybody, by a fresh inference of releases that publish ids."""
    return infer(releases).to_frame()["p"].max()


@settings(max_examples=MANY, deadline=None)
@given(SEEDS, st.sampled_from(sorted(BASES)), st.sampled_from(POLICIES), st.sampled_from(["bucketized", "generalized"]))
def test_every_release_keeps_the_policy_in_every_prefix(seed, base, policy, output):
    history, made = [], 0
    for table in raw_tables(seed, persons=22, releases=3, moves=0.1):
        exposed = "accept" if seed % 2 else "refuse"
        try:
            release = guard(table, history, policy, method=base, output=output, exposed=exposed, seconds=2)
        except PolicyError:
            continue
        made += 1
        before = joint(history) if history else None
        history = [*history, release]
        fresh = joint(history)
        assert policy.review(fresh, before, exposed=release.made.exposed).holds
        assert all(c.check(release).holds for c in BASES[base])
        if before is None:
            assert release.made.exposed == ()
        else:
            known = policy.review(before).breaches["id"] if policy.max_gain is None else None
            assert known is None or set(release.made.exposed) == set(known)
        published = release.groups().height
        assert published + release.made.suppressed == table.height
        fakes = release.counterfeits["n"].sum() if release.counterfeits.height else 0
        assert release.made.counterfeits == fakes
    assert made


@settings(max_examples=MANY, deadline=None)
@given(SEEDS, st.integers(2, 3), st.booleans(), st.sampled_from(sorted(BASES)))
def test_never_dearer_than_m_invariance(seed, m, hold_back, base):
    """Along m-invariant histories: whenever m-invariance finds a release the guard does, at most as dear."""
    history = []
    criteria = [DistinctLDiversity(m)] if base != "anatomy" else [FrequencyLDiversity(m)]
    for table in raw_tables(seed, persons=24, values=m + 3, releases=4):
        try:
            other = m_invariant(table, history, m, hold_back=hold_back)
        except InputError:
            continue
        policy = Policy(max_posterior=1 / m)
        mine = guard(table, history, policy, method=base, criteria=criteria, hold_back=hold_back, seconds=2)
        assert mine.made.counterfeits + mine.made.suppressed <= other.made.counterfeits + other.made.suppressed
        assert top([*history, mine]) <= 1 / m + 2e-5
        history = [*history, other]


def test_the_same_seed_the_same_release():
    for base in BASES:
        runs = []
        for _ in range(2):
            history = []
            for table in raw_tables(5, persons=20, releases=2):
                history.append(guard(table, history, Policy(max_posterior=0.6), method=base, seed=3))
            runs.append(history)
        for one, other in zip(*runs, strict=True):
            assert one.to_frame().equals(other.to_frame())
            assert one.made.notes[:-1] == other.made.notes[:-1]


def test_twenty_releases_in_a_row():
    history = []
    for table in raw_tables(11, persons=40, releases=20):
        history.append(guard(table, history, Policy(max_posterior=0.5)))
        assert top(history) <= 0.5 + 2e-5
    assert len(history) == 20


def test_a_first_release_has_no_history():
    (table,) = raw_tables(1, releases=1)
    release = guard(table, [], Policy(max_posterior=0.5, max_gain=0.1))
    assert top([release]) <= 0.5 + 2e-5
    assert release.made.suppressed == release.made.counterfeits == 0


def exposed_history():
    """A is certain: the only value that both groups share."""
    people = ["a", "b", "c", "d"]
    first = pl.DataFrame({"id": people, "age": [1, 2, 3, 4], "zip": ["z"] * 4, "value": ["x", "y", "x", "y"]})
    other = pl.DataFrame({"id": people, "age": [1, 2, 3, 4], "zip": ["z"] * 4, "value": ["x", "y", "x", "y"]})
    from showthrough import Release

    one = Release.bucketized(
        first.with_columns(group=pl.Series([1, 1, 2, 2])), id="id", sensitive="value", group="group", name="D1"
    )
    two = Release.bucketized(
        pl.DataFrame({"id": ["a", "n"], "age": [1, 9], "zip": ["z", "z"], "value": ["x", "w"], "group": [1, 1]}),
        id="id",
        sensitive="value",
        group="group",
        name="D2",
    )
    return [one, two], other


def test_a_refusal_names_who_is_exposed_already_but_not_to_everybody():
    history, table = exposed_history()
    with pytest.raises(PolicyError) as problem:
        guard(table, history, Policy(max_posterior=0.5))
    assert "Earlier releases already put" in problem.value.internal
    assert "Concerned: a, b" in problem.value.internal or "Concerned: a, n, b" in problem.value.internal
    assert "Concerned" not in problem.value.shareable
    assert set(problem.value.breaches["id"]) == {"a", "b", "n"}
    release = guard(table, history, Policy(max_posterior=0.5), exposed="accept")
    assert set(release.made.exposed) == {"a", "b", "n"}
    post = infer([*history, release])
    assert max(post.of("c").values()) <= 0.5 + 2e-5
    assert "but 3 persons whom earlier releases expose" in str(release.made)
    for note in release.made.notes:
        assert not any(f" {i}," in note for i in ("a", "b", "n"))


def test_a_limit_on_the_gain_alone_exposes_nobody_before():
    history, table = exposed_history()
    release = guard(table, history, Policy(max_gain=0.5, certain=None))
    assert release.made.exposed == ()
    before, after = infer(history), infer([*history, release])
    assert all(p <= before.of(i).get(v, 0) + 0.5 + 2e-5 for i in table["id"] for v, p in after.of(i).items())


def test_a_table_that_nothing_can_be_made_of_is_refused_in_words():
    table = pl.DataFrame({"id": ["a", "b", "c"], "age": [1, 2, 3], "zip": ["z"] * 3, "value": ["x", "x", "y"]})
    with pytest.raises(PolicyError) as problem:
        guard(table, [], Policy(max_posterior=0.5), hold_back=False)
    told = problem.value.shareable
    assert "No release of this table was found" in told
    assert "hold_back=True (with 1 record held back)" in told
    assert "came to its end" in told
    assert guard(table, [], Policy(max_posterior=0.5)).made.suppressed == 1


def test_a_refusal_suggests_only_what_was_seen_to_work():
    """In the first table holding back helps and a weaker limit does, in the second nothing does."""
    ids, same = ["a", "b", "c"], {"age": [1, 2, 3], "zip": ["z"] * 3}
    criteria = [FrequencyLDiversity(1)]
    for values, held, limit in ((["x", "x", "y"], True, 2 / 3), (["x", "x", "x"], False, None)):
        table = pl.DataFrame({"id": ids, **same, "value": values})
        with pytest.raises(PolicyError) as problem:
            guard(table, [], Policy(max_posterior=0.5), hold_back=False, method="mondrian", criteria=criteria)
        told = problem.value.shareable
        assert ("This would do" in told) == held
        assert ("hold_back=True" in told) == held
        assert ("Holding records back was tried too and does not help" in told) == (not held)
        named = re.search(r"max_posterior=([0-9.]+)", told)
        assert (named is None) == (limit is None), told
        if named:
            assert limit <= float(named[1]) <= limit + 0.001
            weaker = Policy(max_posterior=float(named[1]))
            done = guard(table, [], weaker, hold_back=False, method="mondrian", criteria=criteria)
            assert done.made.suppressed == 0
        assert "within 600 s" not in told
        assert not re.search(r"\b[abc]\b(?! )", "".join(re.findall(r"Concerned.*", told)))


def test_time_is_blamed_only_where_it_ended_the_search(monkeypatch):
    table = pl.DataFrame({"id": list("abc"), "age": [1, 2, 3], "zip": ["z"] * 3, "value": ["x"] * 3})
    for late in (False, True):
        monkeypatch.setattr(Search, "late", property(lambda _, late=late: late))
        with pytest.raises(PolicyError) as problem:
            guard(table, [], Policy(max_posterior=0.5), method="mondrian", criteria=[KAnonymity(2)], hold_back=True)
        told = str(problem.value)
        assert ("ended the search" in told) == ("More time may find one" in told) == late
        assert ("came to its end" in told) == ("More time would not change that" in told) == (not late)


def test_a_review_is_true_if_it_holds():
    release = Release.bucketized({"id": ["a", "b"], "g": [1, 1], "v": ["x", "y"]}, id="id", group="g", sensitive="v")
    post = infer([release])
    for limit in (0.4, 0.6):
        review = Policy(max_posterior=limit).review(post)
        assert bool(review) is review.holds is (limit > 0.5)


def test_merging_costs_nothing_where_m_invariance_needs_counterfeits():
    """A mild limit: neighbours that merge keep more records than values that must be invented."""
    history, table = [], None
    generator = np.random.default_rng(2)
    ids = np.arange(60)
    value = generator.integers(0, 4, 60)
    frame = pl.DataFrame(
        {"id": [f"p{i}" for i in ids], "age": ids, "zip": ["z"] * 60, "value": [f"v{v}" for v in value]}
    )
    history.append(guard(frame[:50], [], Policy(max_posterior=0.6), method="mondrian"))
    table = frame[10:]
    mine = guard(table, history, Policy(max_posterior=0.6), method="mondrian")
    other = m_invariant(table, history, 2)
    assert mine.made.counterfeits + mine.made.suppressed <= other.made.counterfeits + other.made.suppressed
    assert top([*history, mine]) <= 0.6 + 2e-5


def test_what_is_preferred():
    """Mondrian's groups lose less of the quasi-identifiers; groups of different values let a series go on."""
    (table,) = raw_tables(4, persons=80, releases=1)
    more = {
        "method": "mondrian",
        "criteria": [KAnonymity(2), FrequencyLDiversity(2)],
        "policy": Policy(max_posterior=0.6),
    }
    lasting, useful = (guard(table, [], prefer=p, **more) for p in ("lasting", "useful"))
    assert lasting.tally["n"].max() == 1
    assert useful.made.utility.gcp_set <= lasting.made.utility.gcp_set
    with pytest.raises(InputError, match="prefer is lasting or useful"):
        guard(table, [], prefer="both", **more)


def test_the_time_limit_ends_the_repairs():
    told = []
    with contextlib.suppress(PolicyError):
        history = []
        for table in raw_tables(3, persons=60, releases=3, values=3):
            history.append(
                guard(table, history, Policy(max_gain=0.01), method="mondrian", seconds=1e-9, progress=told.append)
            )
            assert not any("merged" in note for note in history[-1].made.notes)
    assert told


def test_a_policy_is_asked_for_and_must_be_one():
    (table,) = raw_tables(1, releases=1)
    with pytest.raises(InputError, match="obeys a policy"):
        guard(table, [], None)
    with pytest.raises(InputError, match="Expected a policy"):
        guard(table, [], 0.5)
    with pytest.raises(InputError, match="obeys a policy"):
        anonymize(table, method="anatomy", criteria=BASES["anatomy"], policy=Policy(certain=0), **ROLES)
    with pytest.raises(InputError, match="exposed is refuse or accept"):
        guard(table, [], Policy(certain=0), exposed="maybe")


def test_criteria_beyond_the_values_hold_too():
    history = []
    for table in raw_tables(8, persons=40, releases=3):
        release = guard(table, history, Policy(max_posterior=0.6), method="mondrian", criteria=[KAnonymity(4)])
        assert min(release.size.to_list()) >= 4
        assert [c.holds for c in release.made.checks] == [True]
        history.append(release)
        assert top(history) <= 0.6 + 2e-5


@pytest.mark.parametrize("policy", [Policy(max_posterior=0.75), Policy(certain=0)])
def test_counterfeits_that_no_limit_needs_are_dropped(policy):
    """m = 3 keeps three values in each group; where the limit needs two of them, two do."""
    history, dropped = [], 0
    for table in raw_tables(21, persons=30, values=6, releases=3):
        other = m_invariant(table, history, 3)
        mine = guard(table, history, policy, criteria=[DistinctLDiversity(2)], method="mondrian")
        dropped += other.made.counterfeits > mine.made.counterfeits
        history.append(other)
    assert dropped
