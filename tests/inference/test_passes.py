"""Passes over the variables: equal to the dense formula, and the same bits on any number of threads."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some_of

from showthrough.inference import newton, passes
from showthrough.inference.correction import correct
from showthrough.inference.reduce import Reduced
from showthrough.inference.rows import Rows

some = settings(max_examples=60, deadline=None, derandomize=True)
seeds = some_of.integers(0, 2**32 - 1)


def random_problem(seed, *, signatures=40, releases=3, components=4):
    """Signatures with 2 to 6 choices, each on a random row per release or on none; counts of a random answer."""
    rng = np.random.default_rng(seed)
    component = np.sort(rng.integers(components, size=signatures))
    component = np.unique(component, return_inverse=True)[1]
    length = rng.integers(2, 7, size=signatures)
    start = np.append(0, np.cumsum(length))
    per_component = int(rng.integers(3, 9))
    owner = np.repeat(component, length)
    row = owner * per_component + rng.integers(per_component, size=(releases, owner.size))
    row[rng.random(row.shape) < 0.2] = -1
    used, row = np.unique(np.append(row, -1), return_inverse=True)
    row = np.where(row == 0, used.size, row)[:-1].reshape(releases, -1) - 1  # absent: one past the last row
    weight = rng.integers(1, 5, size=signatures).astype(float)
    x = rng.random(owner.size)
    x /= np.repeat(np.add.reduceat(x, start[:-1]), length)
    count = dense_rows(row, used.size - 1) @ (np.repeat(weight, length) * x)
    return Reduced(
        weight=weight,
        start=start,
        rows=Rows(count, count, row.astype(np.int32), tuple(range(releases))),
        signature_component=component,
        row_component=np.unique(used[1:] // per_component, return_inverse=True)[1],
        row_block=np.full(count.size, -1),
        components=int(component.max()) + 1,
        variable_of=np.arange(owner.size),
        row_of=np.arange(count.size),
        candidate_of=np.empty(0, dtype=np.int64),
    )


def dense_rows(row, rows):
    """[rows, v] how often each variable counts in each row."""
    matrix = np.zeros((rows + 1, row.shape[1]))
    for own in row:
        np.add.at(matrix, (own, np.arange(own.size)), 1.0)
    return matrix[:-1]


def ways(problem, monkeypatch):
    monkeypatch.setattr(passes, "_BLOCK", 16)
    return [passes.Whole(problem), passes.Blocks(problem, threads=1), passes.Blocks(problem, threads=3)]


@some
@given(seeds)
def test_every_sweep_is_its_dense_formula(seed):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    mu, d = rng.normal(scale=3, size=(2, problem.rows.size))
    A = dense_rows(problem.rows.sure, problem.rows.size)
    own = np.repeat(np.eye(problem.weight.size), np.diff(problem.start), axis=0)  # [v, m]
    w = own @ problem.weight
    e = np.exp(A.T @ mu)
    x = e / (own @ (own.T @ e))
    t = A.T @ d - own @ (own.T @ (x * (A.T @ d)))
    H = A @ (np.diag(w * x) - np.diag(w * x) @ own @ own.T @ np.diag(x)) @ A.T
    with pytest.MonkeyPatch.context() as monkeypatch:
        for way in ways(problem, monkeypatch):
            found, log_sum = way.softmax(mu)
            assert found == pytest.approx(x, rel=1e-11)
            assert log_sum == pytest.approx(np.log(own.T @ e), abs=1e-11)
            assert way.spread(d) == pytest.approx(A.T @ d, abs=1e-12)
            assert way.tangent(x, d) == pytest.approx(t, abs=1e-11)
            assert way.gather(x) == pytest.approx(A @ (w * x), abs=1e-11)
            assert way.hessian(x, d) == pytest.approx(H @ d, abs=1e-10)
            assert way.diagonal(x) == pytest.approx(A @ (w * x * (1 - x)), abs=1e-11)
            for release, row in enumerate(problem.rows.sure):
                alone = dense_rows(row[None], problem.rows.size) @ (w * x)
                assert way.gather_release(release, x) == pytest.approx(alone, abs=1e-11)


@some
@given(seeds)
def test_scores_far_apart_neither_overflow_nor_vanish(seed):
    problem = random_problem(seed)
    mu = np.random.default_rng(seed).normal(scale=2000, size=problem.rows.size)
    z = dense_rows(problem.rows.sure, problem.rows.size).T @ mu
    with pytest.MonkeyPatch.context() as monkeypatch:
        for way in ways(problem, monkeypatch):
            x, log_sum = way.softmax(mu)
            assert np.add.reduceat(x, problem.start[:-1]) == pytest.approx(np.ones(problem.weight.size))
            assert log_sum == pytest.approx(np.logaddexp.reduceat(z, problem.start[:-1]), rel=1e-12, abs=1e-9)


def solved(problem, threads, monkeypatch):
    """Everything that a large problem goes through, on this many threads."""
    for limit, value in {"LARGE": 0, "_SHARED": 0, "_BLOCK": 16, "_STRETCH": 8}.items():
        monkeypatch.setattr(passes, limit, value)
    monkeypatch.setattr(passes, "_cores", lambda: threads)
    solution = newton.solve(problem)
    corrected = correct(problem, solution.mu)
    return solution.mu, solution.step, corrected.x, corrected.mu, np.array([solution.passes, corrected.passes])


@settings(max_examples=12, deadline=None, derandomize=True)
@given(seeds)
def test_the_number_of_threads_does_not_change_a_bit(seed):
    problem = random_problem(seed, signatures=80)
    assume(np.unique(problem.row_component).size == problem.components)
    with pytest.MonkeyPatch.context() as monkeypatch:
        once = solved(problem, 1, monkeypatch)
        for threads in (2, 4):
            for a, b in zip(once, solved(replace(problem), threads, monkeypatch), strict=True):
                assert np.array_equal(a, b)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seeds)
def test_blocks_solve_what_whole_arrays_solve(seed):
    problem = random_problem(seed, signatures=80)
    assume(np.unique(problem.row_component).size == problem.components)
    whole = correct(problem, newton.solve(problem).mu)
    with pytest.MonkeyPatch.context() as monkeypatch:
        x = solved(replace(problem), 2, monkeypatch)[2]
    assert x == pytest.approx(whole.x, abs=1e-7)
    assert whole.met.all()


def test_an_error_on_a_thread_reaches_the_caller_and_ends_the_work(monkeypatch):
    monkeypatch.setattr(passes, "_BLOCK", 16)
    way, done = passes.Blocks(random_problem(1), threads=2), []

    def work(item):
        if item == 3:
            raise KeyboardInterrupt
        done.append(item)

    with pytest.raises(KeyboardInterrupt):
        way.share(work, range(100_000))
    assert len(done) < 100_000
    way.share(done.append, range(5))  # and the threads still serve


def test_blocks_and_their_threads_go_with_the_problem(monkeypatch):
    monkeypatch.setattr(passes, "LARGE", 0)
    monkeypatch.setattr(passes, "_SHARED", 0)
    monkeypatch.setattr(passes, "_BLOCK", 16)
    monkeypatch.setattr(passes, "_cores", lambda: 3)
    problem = random_problem(0)
    problem.sweeps.softmax(np.zeros(problem.rows.size))
    sweeps = weakref.ref(problem.sweeps)
    gc.collect()
    gc.disable()
    try:
        del problem
        assert sweeps() is None  # without the collector, which comes seldom: large arrays do not call it
    finally:
        gc.enable()
