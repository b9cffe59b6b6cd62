"""Whole values, bounds, increments and channels under attack."""

import datetime
import random

import numpy as np
import polars as pl
import pytest

from showthrough import infer
from showthrough.errors import UnknownPersonError
from tests.histories import release, releases
from tests.inference.adversaries import TWO, doubling, made, random_history, system
from tests.oracles import linear, worlds

# ---------------------------------------------------------------- whole values


def test_whole_values_agree_with_enumeration():
    added = 0
    for seed in range(60):
        rng = random.Random(seed)
        n, size = rng.randint(4, 10), rng.randint(2, 4)
        truth = {p: rng.randrange(2) for p in range(n)}
        history = []
        for _ in range(rng.randint(2, 4)):
            order = [p for p in range(n) if rng.random() < 0.93] or [0]
            rng.shuffle(order)
            history.append(made([order[k : k + size] for k in range(0, len(order), size)], truth))
        post = infer(releases(history))
        _, share = worlds.posterior(history)
        facts = post.proven(integral=True)
        assert "undecided" not in facts["fact"]
        assert not facts.select("id", "value").is_duplicated().any()
        certain = {(i, v) for i, v, fact, _ in facts.iter_rows() if fact == "certain"}
        assert certain == {(i, v) for i, own in share.items() for v, q in own.items() if q == 1}
        for i, v, fact, _ in facts.iter_rows():
            assert fact == "certain" or v not in share[i]
        for i, v, q, *_ in post.worlds().iter_rows():
            assert q == pytest.approx(float(share[i].get(v, 0)), abs=1e-12)
        added += "worlds" in facts["by"]
    assert added


class CountingTooLongError(Exception):
    """Raised by a test that counts steps, so that a hang becomes a failure."""


def test_counting_worlds_keeps_to_its_limit(monkeypatch):
    """Dead ends count too: a signature that closes rows of many values has very many of them."""
    from showthrough.inference import worlds as counting

    spent = 0

    def comb(n, k):
        nonlocal spent
        spent += 1
        if spent > 20 * 2000:
            raise CountingTooLongError
        return 1

    # D1: 64 persons, eight values eight times each; D2: four of them again, alone, with a, a, b, b
    history = [[(list(range(64)), [v for v in "abcdefgh" for _ in range(8)])], [([0, 1, 8, 9], list("aabb"))]]
    post = infer(releases(history))
    monkeypatch.setattr(counting, "comb", comb)
    post.worlds(most_states=2000)
    assert 0 < spent <= 2000


def test_worlds_of_persons_with_a_thousand_values():
    n = 1100
    post = infer(releases([[(list(range(n)), list(range(n)))], [([0, 1], [0, 1])]]))
    assert post.worlds([0])["p"].to_list() == [0.5, 0.5]
    assert post.worlds([5])["p"].to_list() == pytest.approx([1 / (n - 2)] * (n - 2))


# ---------------------------------------------------------------- bounds, increments, attribution


def test_bounds_hold_the_answer_and_match_the_programs():
    for seed in range(12):
        history = random_history(random.Random(500 + seed))
        if len(system(history)[0]) > 60:
            continue
        post = infer(releases(history))
        limits = linear.bounds(history)
        p = {(i, v): q for i, v, q in post.to_frame().iter_rows()}
        for i, v, low, high in post.bounds().iter_rows():
            assert (low, high) == pytest.approx(limits[i, v], abs=1e-7)
            assert low - 1e-9 <= p[i, v] <= high + 1e-9


def test_an_honest_value_has_an_upper_bound_above_zero():
    post = infer(releases(doubling(30)))
    [upper] = post.bounds(["y0"]).filter(pl.col("value") == "a")["upper"]
    assert upper > 0


def test_extending_gives_what_inferring_gives():
    for seed in range(25):
        history = random_history(random.Random(900 + seed))
        rels = releases(history)
        step = infer(rels[:1])
        for rel in rels[1:]:
            step = step.extend(rel)
        whole = infer(rels)
        assert step._solved.face.alive.tolist() == whole._solved.face.alive.tolist()
        assert np.abs(step._solved.x - whole._solved.x).max() < 1e-8
        assert step.certificate.status == "exact"
        for person, value, _, _ in step.proven().rows()[:6]:
            assert step.explain(person, value).verify(rels)


def test_extending_numbers_by_text():
    rels = [release([([1, 2, 3], [9, 10, 10])], "D1"), release([(["1", "2"], ["9", "10"])], "D2")]
    step, whole = infer(rels[:1]).extend(rels[1]), infer(rels)
    assert step.to_frame().rows() == whole.to_frame().rows()


def test_extending_remembers_how_to_treat_changed_values():
    old, new = release([(["ann", "bob"], ["x", "y"])], "old"), release([(["ann", "eve"], ["z", "z"])], "new")
    step, whole = infer([old], changed="split").extend(new), infer([old, new], changed="split")
    assert step.to_frame().rows() == whole.to_frame().rows()


def two_releases_with(a, b):
    first = release([([1, 2, 3], [a, a, b]), ([4, 5], [a, b])], "D1")
    return [first, release([([1, 4], [a, b]), ([2, 3, 5], [a, a, b])], "D2")]


@pytest.mark.parametrize(
    "values",
    [
        ("x", "y"),
        (1, 2),
        (0.1, 1e-7),
        (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
        pytest.param((True, False)),
        pytest.param((datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2))),
        pytest.param((datetime.timedelta(1), datetime.timedelta(2))),
    ],
)
def test_channels_do_not_depend_on_the_type_of_the_values(values):
    [(_, _, channel, persons, change)] = infer(two_releases_with(*values)).channels().rows()
    assert (channel, persons) == (True, 5)
    assert change == pytest.approx(0.09161812, abs=1e-7)


def test_an_id_beyond_64_bits_is_unknown():
    with pytest.raises(UnknownPersonError):
        infer(TWO).of(2**70)
