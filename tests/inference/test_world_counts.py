"""Worlds of values and seats: counted, or sampled with an error that holds."""

import random
import time

import numpy as np
import pytest

from showthrough import infer
from showthrough.inference import world_layers, world_samples, worlds
from showthrough.inference.reduce import reduce
from tests import seatings
from tests.histories import X1, release, releases
from tests.oracles import seats
from tests.oracles.seats import Seating

# four persons with 46 worlds, two of them perhaps outside; three who share a value, with 72 seatings in three releases
ANYWHERE = [3, 4, 5]
SEVEN = Seating(
    [
        [["a"], ["b", "a"], ["a"], ["c"], ["c"], ["c"]],
        [["a"], ["a"], ["b", "a"], ["c"], ["c"], ["c"]],
        [["c"], ["c"], ["c"]],
    ],
    {
        0: [[None, 0, 1, 2], [0, 2], [None]],
        1: [[0, 1], [None, 0, 2], [None]],
        2: [[0, 1, 2], [1, 2], [None]],
        3: [[0, 1, 2], [0, 1, 2], [None]],
        4: [ANYWHERE, ANYWHERE, [0]],
        5: [ANYWHERE, ANYWHERE, [1, 2]],
        6: [ANYWHERE, ANYWHERE, [1, 2]],
    },
)


def components(post):
    solved = post._solved
    return reduce(solved.problem, solved.face.alive, solved.face.rows), solved.mu


def everybody_fits_everything(values, sizes):
    """Releases that hold all persons, with groups of these sizes, and nobody knows who is in which."""
    counts = []
    for own in sizes:
        first = [sum(own[:k]) for k in range(len(own))]
        counts.append([list(values[a : a + n]) for a, n in zip(first, own, strict=True)])
    fits = {p: [list(range(len(own))) for own in sizes] for p in range(len(values))}
    return Seating(counts, fits)


def test_seven_persons_whose_seats_are_many_and_whose_worlds_are_few():
    """One signature, 24 ways to be for each: the combinations of persons and ways would be two millions."""
    case = everybody_fits_everything("aaaabbc", [[4, 3], [5, 2], [3, 4]])
    rels, membership = seatings.releases(case)
    reduced, _ = components(infer(rels, membership=membership))
    assert reduced.components == 1
    found = worlds.count(reduced, 0, most_states=2000)
    brute = by_persons(case)
    assert found.total == brute
    assert found.share[0] == pytest.approx(4 / 7)


def by_persons(case):
    """Worlds person by person, what is left of the counts as the only memory."""
    stock = {(r, g, v): own.count(v) for r, gs in enumerate(case.counts) for g, own in enumerate(gs) for v in set(own)}
    keys = list(stock)
    layer = {tuple(stock.values()): 1}
    for person in case.fits:
        following: dict = {}
        for value, seat in case.options(person):
            taken = [keys.index((r, g, value)) for r, g in enumerate(seat) if g is not None]
            for state, ways in layer.items():
                if all(state[k] > 0 for k in taken):
                    after = tuple(n - (k in taken) for k, n in enumerate(state))
                    following[after] = following.get(after, 0) + ways
        layer = following
    return layer.get((0,) * len(keys), 0)


def test_seven_persons_with_3312_worlds():
    rels, membership = seatings.releases(SEVEN)
    post = infer(rels, membership=membership)
    assert sum(1 for _ in seats.worlds(SEVEN)) == 3312
    reduced, _ = components(post)
    total = 1
    for component in range(reduced.components):
        total *= worlds.count(reduced, component, most_states=5000).total
    assert total == 3312
    truth = seats.posterior(SEVEN)
    for i, v, p, error, by, counts in post.worlds().iter_rows():
        assert p == pytest.approx(float(truth.get((i, v), 0)), abs=1e-12)
        assert (error, by, counts) == (0.0, "counted", "values and seats")


def shuffled(persons, size, count, values, seed):
    rng = random.Random(seed)
    truth = {p: rng.choice("abcdefgh"[:values]) for p in range(persons)}
    found = []
    for r in range(count):
        order = rng.sample(range(persons), persons)
        groups = [order[k : k + size] for k in range(0, persons, size)]
        found.append(release([(g, [truth[p] for p in g]) for g in groups], f"D{r + 1}"))
    return found


def test_samples_hold_the_truth_in_their_interval():
    misses, held = 0, 0
    for seed in range(4):
        reduced, mu = components(infer(shuffled(40, 8, 2, 3, seed)))
        component = int(np.argmax(world_layers.size_of(reduced)))
        truth = worlds.count(reduced, component)
        drawn = world_samples.sample(
            reduced, component, mu[reduced.row_of], most_states=2000, deadline=time.monotonic() + 60
        )
        assert drawn is not None
        assert set(drawn.share) == set(truth.share)
        for v, share in drawn.share.items():
            assert 0 < drawn.error[v] <= 1
            misses += abs(share - float(truth.share[v])) > drawn.error[v]
            held += 1
    assert misses <= 0.1 * held


def test_samples_of_seats_hold_the_truth_too():
    case = everybody_fits_everything("aaaabbbcccddee", [[6, 8], [5, 5, 4]])
    rels, membership = seatings.releases(case)
    reduced, mu = components(infer(rels, membership=membership))
    truth = worlds.count(reduced, 0)
    drawn = world_samples.sample(reduced, 0, mu[reduced.row_of], most_states=1, deadline=time.monotonic() + 60)
    assert drawn is not None
    for v, share in drawn.share.items():
        assert share == pytest.approx(float(truth.share[v]), abs=max(2 * drawn.error[v], 1e-9))


def test_what_is_too_large_to_count_is_sampled_and_says_so():
    post = infer(shuffled(60, 10, 2, 4, 1))
    frame = post.worlds(most_states=1000, seconds=20)
    sampled = frame.filter(by="sampled")
    assert sampled.height
    assert (sampled["error"] > 0).all()
    assert set(frame.filter(by="counted")["error"]) <= {0.0}
    assert set(frame["counts"]) == {"values"}
    for _, own in sampled.group_by("id"):
        assert own["p"].sum() == pytest.approx(1)


def test_nothing_is_drawn_where_few_states_are_open():
    reduced, mu = components(infer(releases(X1)))
    drawn = world_samples.sample(reduced, 0, mu[reduced.row_of], most_states=1, deadline=time.monotonic() + 60)
    truth = worlds.count(reduced, 0)
    assert drawn is not None
    assert set(drawn.error.values()) == {0.0}
    assert drawn.share == pytest.approx({v: float(p) for v, p in truth.share.items()})


def test_orders_keep_the_ends_of_a_chain_apart():
    """Groups in a chain: at most two of them are open at a time, wherever the numbering starts."""
    links = {k: [k, k + 1] for k in range(20)}
    shuffle = random.Random(0).sample(range(20), 20)
    order = world_layers.best_order({s: links[s] for s in shuffle}, dict.fromkeys(range(21), 3))
    assert order in (list(range(20)), list(range(19, -1, -1)))
