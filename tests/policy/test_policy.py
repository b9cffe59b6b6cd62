"""Each limit of a policy against plain loops over the posterior, and sentences for bad limits."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Policy, Release, infer
from showthrough.errors import InputError
from tests.oracles.worlds import worlds

SEEDS = st.integers(0, 2**32 - 1)


def history(seed, *, releases=2, persons=8, values=4, size=(2, 3, 4)):
    """Random bucketized releases of one table, as groups of (persons, values)."""
    generator = np.random.default_rng(seed)
    own = generator.integers(0, values, persons)
    found = []
    for _ in range(releases):
        there = generator.permutation(persons)[: int(generator.integers(persons // 2, persons + 1))]
        groups = []
        while len(there):
            n = int(generator.choice(size))
            groups.append((there[:n].tolist(), own[there[:n]].tolist()))
            there = there[n:]
        found.append(groups)
    return found


def published(groups, name):
    rows = [(f"p{i}", g, v) for g, (ids, values) in enumerate(groups) for i, v in zip(ids, sorted(values), strict=True)]
    frame = pl.DataFrame(rows, schema=["id", "group", "value"], orient="row")
    return Release.bucketized(frame, id="id", sensitive="value", group="group", name=name)


def posterior(groups):
    return infer([published(g, f"R{k}") for k, g in enumerate(groups)])


def everybody(post):
    return {i: post.of(i) for i in post.ids.to_list()}


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([0.2, 1 / 3, 0.5, 0.6, 0.9]))
def test_the_largest_probability(seed, limit):
    post = posterior(history(seed))
    review = Policy(max_posterior=limit, certain=None, integral="no").review(post)
    over = {(i, str(v)) for i, own in everybody(post).items() for v, p in own.items() if p > limit + 2e-5}
    assert set(review.breaches.select("id", "value").iter_rows()) == over
    assert review.holds == (not over)
    flags = Policy(max_posterior=limit, certain=None).over_limit(post)
    assert set(post.ids.filter(pl.Series(flags))) == {i for i, _ in over}


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.1, 0.3, 0.5]))
def test_gain_against_the_releases_before(seed, limit):
    groups = history(seed)
    before, after = posterior(groups[:1]), posterior(groups)
    old, new = everybody(before), everybody(after)
    over = {
        (i, str(v))
        for i, own in new.items()
        if i in old
        for v, p in own.items()
        if p - old[i].get(v, 0.0) > limit + 2e-5
    }
    policy = Policy(max_gain=limit, certain=None, integral="no")
    assert set(policy.review(after, before).breaches.select("id", "value").iter_rows()) == over
    assert policy.review(after).holds  # there is nothing to gain from
    flags = policy.over_limit(after, before)
    assert set(after.ids.filter(pl.Series(flags))) == {i for i, _ in over}


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([0, 1, 2, 0.5]), st.sampled_from([0.3, 0.5, 0.8]))
def test_proximity_of_values(seed, reach, limit):
    post = posterior(history(seed, values=6))
    over = {
        (i, str(v))
        for i, own in everybody(post).items()
        for v in own
        if math.fsum(p for w, p in own.items() if abs(w - v) <= reach) > limit + 2e-5
    }
    review = Policy(proximity=(reach, limit), certain=None, integral="no").review(post)
    assert set(review.breaches.select("id", "value").iter_rows()) == over


def test_proximity_of_many_persons_and_tiny_distances():
    persons = 3000
    values = [1e6 + 0.1 * (k % 3) for k in range(persons)]
    frame = pl.DataFrame({"id": range(persons), "group": [k // 3 for k in range(persons)], "value": values})
    post = infer([Release.bucketized(frame, id="id", sensitive="value", group="group")])
    near = Policy(proximity=(0.1, 0.7), certain=None, integral="no").review(post)
    assert near.persons == persons  # the middle value has both others within 0.1
    assert Policy(proximity=(0.09, 0.7), certain=None, integral="no").review(post).holds


def facts(groups):
    """Certain persons and impossible pairs over whole values, by counting worlds."""
    every = list(worlds(groups))
    persons = sorted({i for release in groups for ids, _ in release for i in ids})
    seen = {i: set().union(*(set(v) for release in groups for ids, v in release if i in ids)) for i in persons}
    possible = {i: {world[i] for world in every} for i in persons}
    certain = {f"p{i}" for i in persons if len(possible[i]) == 1}
    impossible = {(f"p{i}", str(v)) for i in persons for v in seen[i] - possible[i]}
    return certain, impossible


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(0, 3), st.integers(0, 12))
def test_certain_and_impossible_over_whole_values(seed, most_certain, most_impossible):
    groups = history(seed)
    post = posterior(groups)
    certain, impossible = facts(groups)
    review = Policy(certain=most_certain).review(post)
    assert set(review.breaches["id"]) == (certain if len(certain) > most_certain else set())
    assert review.undecided == 0
    assert review.conclusive
    review = Policy(certain=None, impossible=most_impossible).review(post)
    told = set(review.breaches.select("id", "value").iter_rows())
    assert told == (impossible if len(impossible) > most_impossible else set())


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_persons_who_do_not_count(seed):
    groups = history(seed)
    post = posterior(groups)
    certain, _ = facts(groups)
    left_out = set(sorted(certain)[::2])
    review = Policy(certain=0, max_posterior=0.5).review(post, exposed=left_out)
    assert not left_out & set(review.breaches["id"])
    assert certain - left_out <= set(review.breaches["id"])
    flags = Policy(certain=0, impossible=0, integral="no").over_limit(post, exposed=left_out)
    assert not left_out & set(post.ids.filter(pl.Series(flags)))


def test_undecided_is_inconclusive_only_if_required():
    post = posterior(history(3, persons=10))
    whole = post.proven(integral=True)
    undecided = whole.head(1).with_columns(pl.lit("undecided").alias("fact"))
    for kind, conclusive in (("checked", True), ("required", False)):
        policy = Policy(certain=None, impossible=10**6, integral=kind)
        shown = type(post)(*(getattr(post, f) for f in post.__dataclass_fields__))
        object.__setattr__(shown, "proven", lambda **_: pl.concat([whole, undecided]))
        review = policy.review(shown)
        assert (review.undecided, review.conclusive) == (1, conclusive)


@pytest.mark.parametrize(
    ("limits", "part"),
    [
        ({"max_posterior": 1.5}, "max_posterior lies between 0 and 1, not at 1.5"),
        ({"max_posterior": float("nan")}, "max_posterior lies between 0 and 1"),
        ({"max_posterior": "0.5"}, "max_posterior lies between 0 and 1, not at '0.5'"),
        ({"max_posterior": True}, "max_posterior lies between"),
        ({"max_gain": -0.1}, "max_gain lies between"),
        ({"certain": -1}, "certain is a whole number of 0 or more, not -1"),
        ({"certain": 0.5}, "certain is a whole number"),
        ({"impossible": True}, "impossible is a whole number"),
        ({"proximity": (1,)}, "proximity is a pair"),
        ({"proximity": 3}, "proximity is a pair"),
        ({"proximity": (-1, 0.5)}, "proximity is a pair"),
        ({"proximity": (1, float("nan"))}, "proximity is a pair"),
        ({"integral": "maybe"}, "integral is one of no, checked, required, not 'maybe'"),
        ({"seconds": 0}, "a number above 0, not 0"),
        ({"certain": None}, "without any limit allows everything"),
    ],
)
def test_bad_limits_are_sentences(limits, part):
    with pytest.raises(InputError) as problem:
        Policy(**limits)
    assert part in problem.value.internal


def test_proximity_needs_numbers():
    frame = pl.DataFrame({"id": [1, 2], "group": [1, 1], "value": ["flu", "cold"]})
    post = infer([Release.bucketized(frame, id="id", sensitive="value", group="group")])
    with pytest.raises(InputError, match="needs numbers"):
        Policy(proximity=(1, 0.5)).review(post)
