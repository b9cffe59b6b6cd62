"""Zeros that couple several values: flows of single values miss them, the Newton direction shows them."""

import random

import numpy as np
import pytest

from showthrough import infer
from showthrough.inference import closing, recession, solving, support
from showthrough.inference.closing import close_by_flow
from showthrough.inference.face import Face, WeighingStep
from showthrough.inference.history import encode
from showthrough.inference.problem import build
from tests.histories import releases
from tests.oracles import linear

COUPLED = [
    [([4, 3, 5, 9, 11], [2, 2, 0, 3, 0]), ([2, 8, 7, 1, 0], [2, 3, 2, 1, 4]), ([10, 6], [3, 3])],
    [([0, 10, 1, 9, 5], [4, 3, 1, 3, 0]), ([11, 6, 2, 8, 3], [0, 3, 2, 3, 2]), ([4, 7], [2, 2])],
]


def dense_history(seed):
    """Everybody in both releases: many zeros are forced, some by several values together."""
    rng = random.Random(seed)
    n, values, size = rng.choice([12, 15, 16, 18, 20, 24]), rng.choice([3, 4, 5]), rng.choice([3, 4, 5])
    truth = [rng.randrange(values) for _ in range(n)]
    history = []
    for _ in range(rng.choice([2, 2, 3])):
        order = rng.sample(range(n), n)
        groups = [order[k : k + size] for k in range(0, n, size)]
        history.append([(g, [truth[p] for p in g]) for g in groups])
    return history


def by_flow_alone(rels):
    _, problem, _ = build(encode(rels))
    face = Face.whole(problem)
    close_by_flow(face)
    return int(face.alive.sum())


def by_flow_between_releases_alone(rels, monkeypatch):
    with monkeypatch.context() as without:
        without.setattr(closing, "filled_releases", lambda _face: [])
        return by_flow_alone(rels)


def test_flow_between_releases_alone_misses_a_coupled_zero(monkeypatch):
    rels = releases(COUPLED)
    post = infer(rels)
    assert post._solved.face.alive.sum() < by_flow_between_releases_alone(rels, monkeypatch)
    assert post._solved.face.alive.sum() == by_flow_alone(rels)
    assert any(isinstance(step, WeighingStep) for step in post._solved.face.steps)
    limits = linear.bounds(COUPLED)
    assert set(post.to_frame().select("id", "value").rows()) == {p for p, (_, high) in limits.items() if high > 1e-7}
    texts = []
    for person, value, *_ in post.proven().iter_rows():
        proof = post.explain(person, value)
        assert proof.verify(rels)
        texts.append(str(post.explain(person, value, seconds=0)))
        assert len(str(proof)) <= len(texts[-1])


def test_an_argument_with_weights_is_said_with_them():
    post = infer(releases(dense_history(5)))
    texts = [str(post.explain(person, value, seconds=0)) for person, value, *_ in post.proven().iter_rows()]
    assert any("with these weights" in text for text in texts)


@pytest.mark.parametrize("block", range(8))
def test_the_proven_set_is_the_linear_programs_set(block):
    missed = 0
    for seed in range(25 * block, 25 * block + 25):
        history = dense_history(seed)
        rels = releases(history)
        post = infer(rels)
        limits = linear.bounds(history)
        possible = {p for p, (_, high) in limits.items() if high > 1e-7}
        assert set(post.to_frame().select("id", "value").rows()) == possible
        assert post.certificate.status == "exact"
        missed += by_flow_alone(rels) > post._solved.face.alive.sum()
    assert missed or block  # the first block is known to hold such cases


def test_group_constants_change_nothing():
    _, problem, _ = build(encode(releases(COUPLED)))
    from showthrough.inference.reduce import reduce

    reduced = reduce(problem, np.ones(problem.variables, dtype=bool))
    rng = np.random.default_rng(0)
    constants = rng.normal(size=int(reduced.row_block.max()) + 1)
    flat = recession.without_group_constants(reduced, constants[reduced.row_block])
    assert np.abs(flat).max() < 1e-12


def test_an_honest_direction_proves_nothing():
    _, problem, _ = build(encode(releases(COUPLED)))
    from showthrough.inference.reduce import reduce

    post = infer(releases(COUPLED))
    reduced = reduce(problem, post._solved.face.alive)
    rng = np.random.default_rng(1)
    for _ in range(50):
        d = rng.normal(size=reduced.rows.size).round(1)
        x = np.full(reduced.variable_of.size, 0.01)
        assert recession.prove(reduced, x, d).zeros.size == 0


@pytest.mark.parametrize("history", [COUPLED, *(dense_history(seed) for seed in range(25))])
def test_programs_alone_prove_the_same_zeros_one_argument_at_a_time(history, monkeypatch):
    rels = releases(history)
    expected = infer(rels)
    monkeypatch.setattr(solving._Bursts, "_take_falling", lambda *_: False)
    monkeypatch.setattr(solving, "_PATIENCE", 4)
    monkeypatch.setattr(support, "_EFFORT", 0)
    found = infer(rels)
    assert found.certificate.status == expected.certificate.status == "exact"
    assert np.array_equal(found._solved.face.alive, expected._solved.face.alive)
    assert found._solved.x == pytest.approx(expected._solved.x, abs=1e-9)


def test_where_systems_are_hard_several_guesses_of_what_falls_are_tried(monkeypatch):
    """The one that proves most counts: a guess that takes something possible for a zero may prove nothing."""
    histories, tried = [releases(dense_history(seed)) for seed in range(12)], []
    made = recession._projected
    expected = [infer(rels)._solved.face.alive for rels in histories]

    def watched(problem, falling, flat, clock, *, more_than):
        tried.append(int(falling.sum()))
        return None if len(tried) % 4 == 1 else made(problem, falling, flat, clock, more_than=more_than)

    monkeypatch.setattr(recession, "_projected", watched)
    monkeypatch.setattr(recession, "_roundings", lambda *_: ())
    monkeypatch.setattr(recession, "_by_programs", lambda *_: ())
    monkeypatch.setattr(closing, "filled_releases", lambda _face: [])
    monkeypatch.setattr(solving, "take_crowded", lambda *_: False)
    prove, zeros = recession.prove, {False: 0, True: 0}

    def both(problem, mass, d, clock=None, programs=None, *, hard=False):
        for way in zeros:
            tried.clear()
            found = prove(problem, mass, d, clock, programs, hard=way)
            assert len(tried) <= (1 + len(recession._GUESSES) if way else 1)
            zeros[way] += found.zeros.size
        return found

    monkeypatch.setattr(recession, "prove", both)
    found = [infer(rels)._solved.face.alive for rels in histories]
    assert zeros[False] == 0 < zeros[True]
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
