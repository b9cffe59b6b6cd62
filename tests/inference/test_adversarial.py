"""Instances made to break the numerics: near-forced values, huge weights, slow mixing, doubling chains, forged proofs.

The truths used here are made apart from the package: linear programs over all persons, one-dimensional
maximum entropy where one degree of freedom is left, and the log-linear form on the face.
"""

import random
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize_scalar

from showthrough import infer
from showthrough.errors import ChangedValueError, ContradictionError
from showthrough.inference import recession
from showthrough.inference.face import Face, WeighingStep
from showthrough.inference.log import Log
from showthrough.inference.reduce import reduce
from showthrough.inference.solving import solve
from tests.histories import releases
from tests.inference.adversaries import (
    check_everything,
    doubling,
    made,
    random_history,
    signatures_as_persons,
    system,
    weighted_problem,
)

# ---------------------------------------------------------------- the face where flows are not enough


def test_random_histories_whose_zeros_need_more_than_flows():
    weighed = 0
    for seed in range(40):
        history = random_history(random.Random(seed))
        post = infer(releases(history))
        check_everything(history, post, proofs=12)
        weighed += any(isinstance(step, WeighingStep) for step in post._solved.face.steps)
    assert weighed >= 5  # otherwise this test lost its teeth


@pytest.mark.parametrize("seed", range(4))
def test_duplicated_releases_change_nothing(seed):
    history = random_history(random.Random(1000 + seed))
    once, often = infer(releases(history)), infer(releases(history * 3))
    assert often._solved.face.alive.tolist() == once._solved.face.alive.tolist()
    assert np.abs(often._solved.x - once._solved.x).max() < 1e-9
    assert often.certificate.status == "exact"


@pytest.mark.parametrize("shape", [(1200, 2, 12, 2), (1500, 3, 6, 3), (1200, 4, 8, 2), (1500, 5, 10, 3)])
def test_long_cycles_of_overlapping_groups(shape):
    n, count, size, values = shape
    rng = random.Random(7)
    truth = {p: rng.randrange(values) for p in range(n)}
    history = []
    for r in range(count):
        order = [(p + r * size // count) % n for p in range(n)]
        history.append(made([order[k : k + size] for k in range(0, n, size)], truth))
    post = infer(releases(history))
    number, A, b = system(history)
    x = np.zeros(len(number))
    for person, value, p in post.to_frame().iter_rows():
        x[number[person, value]] = p
    assert post.certificate.status == "exact"
    assert np.abs(A @ x - b).max() <= 1e-8
    # one program for all zeros at once: y is 1 wherever it can be positive
    v = len(number)
    result = linprog(
        np.concatenate([-np.ones(v), np.zeros(v + 1)]),
        A_eq=sp.hstack([A, A, sp.csr_array(-b[:, None])], format="csr"),
        b_eq=np.zeros(b.size),
        bounds=[(0, 1)] * v + [(0, None)] * v + [(1, None)],
        method="highs",
    )
    assert ((x > 0) == (result.x[:v] > 0.5)).all()


# ---------------------------------------------------------------- doubling chains: weights of proofs grow like 2^k


def twin_chains(k):
    """Two doubling chains from the same start, y<k> = u<k>; w has what is left over between them: nothing."""
    truth = {"y0": "b", "q": "a", "u0": "b", "r": "a", "w": "b"}
    first, second, third = [["q", "u0"]], [["r", f"y{k}", "w"]], [["y0", "q"], [f"u{k}", "r"]]
    for j in range(k):
        truth |= {f"n{j}": "a", f"m{j}": "a", f"y{j + 1}": "b", f"s{j}": "a", f"t{j}": "a", f"u{j + 1}": "b"}
        first += [[f"y{j}", f"n{j}"], [f"u{j + 1}", f"s{j}", f"t{j}"]]
        second += [[f"y{j}", f"m{j}"], [f"u{j}", f"s{j}"]]
        third += [[f"y{j + 1}", f"n{j}", f"m{j}"], [f"u{j}", f"t{j}"]]
    return [made(own, truth) for own in (first, second, third)]


def _entropy(p):
    return -sum(q * np.log(q) for q in (p, 1 - p) if q > 0)


@pytest.mark.parametrize("k", [1, 4, 10, 20, 27])
def test_honest_values_down_to_a_billionth_are_kept(k):
    post = infer(releases(doubling(k)))
    assert post._solved.face.alive.all()
    assert post.certificate.status == "exact"
    best = minimize_scalar(
        lambda top: -sum((1 if j == k else 3) * _entropy(top / 2 ** (k - j)) for j in range(k + 1)),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    for j in (0, k // 2, k):
        assert post.of(f"y{j}")["a"] == pytest.approx(best.x / 2 ** (k - j), rel=1e-6)
    tight = {(i, v): (low, high) for i, v, low, high in post.bounds(["y0"]).iter_rows()}
    assert tight["y0", "a"] == pytest.approx((0.0, 2.0**-k), rel=1e-6)
    # yet whole values leave one world
    facts = {(i, v) for i, v, fact, _ in post.proven(integral=True).iter_rows() if fact == "impossible"}
    assert ("y0", "a") in facts


@pytest.mark.parametrize("k", [1, 3, 5, 8, 12, 16, 18])
def test_a_zero_whose_proof_needs_weights_of_two_to_the_k(k):
    history = twin_chains(k)
    rels = releases(history)
    post = infer(rels)
    assert post.of("w") == {"b": 1.0}
    assert post.certificate.status == "exact"
    assert post.explain("w", "a").verify(rels)
    assert (~post._solved.face.alive).sum() == 1
    assert post.of(f"y{k}")["a"] == pytest.approx(post.of(f"u{k}")["a"], abs=1e-8)


def test_no_exact_certificate_for_a_wrong_answer():
    for k in (26, 29, 31):
        post = infer(releases(twin_chains(k)))
        wrong = abs(post.of(f"y{k}")["a"] - post.of(f"u{k}")["a"])  # equal in every feasible point
        assert wrong <= 1e-5 or not post.certificate.status.certain


# ---------------------------------------------------------------- tiny beside huge


def weighted_instance(rng, most):
    count, m, values = int(rng.integers(2, 5)), int(rng.integers(3, 12)), int(rng.integers(2, 5))
    groups = rng.integers(0, rng.integers(2, 5), (count, m))
    groups[rng.random((count, m)) < 0.1] = -1
    groups[0][(groups < 0).all(axis=0)] = 0
    weight = (10 ** rng.uniform(0, most, m)).astype(int)
    weight[rng.random(m) < 0.3] = 1
    persons = np.zeros((m, values), dtype=int)
    for s in range(m):
        persons[s, rng.integers(values)] = weight[s] - 1  # nearly all the same,
        persons[s, rng.integers(values)] += 1  # and one case that may be another
    return groups, persons


def greatest_persons(problem):
    """[v] the most persons a variable can have, by one program each."""
    tails, heads = [problem.signature], [np.arange(problem.variables)]
    for row in problem.rows.sure:
        here = np.flatnonzero(row < problem.rows.size)
        tails.append(problem.signatures + row[here])
        heads.append(here)
    at = (np.concatenate(tails), np.concatenate(heads))
    A = sp.csr_array((np.ones(at[0].size), at), shape=(problem.signatures + problem.rows.size, problem.variables))
    b = np.concatenate([problem.weight, problem.count]).astype(float)
    found = np.zeros(problem.variables)
    for k in range(found.size):
        c = np.zeros(found.size)
        c[k] = -1
        result = linprog(c, A_eq=A, b_eq=b, bounds=(0, None), method="highs")
        assert result.status == 0
        found[k] = -result.fun
    return found


@pytest.mark.parametrize("most", [3, 5, 7])
def test_no_honest_case_among_millions_is_called_zero(most):
    rng = np.random.default_rng(most)
    removed = 0
    for _ in range(20):
        problem = weighted_problem(*weighted_instance(rng, most))
        face = Face.whole(problem)
        x, mu = solve(face, Log())
        assert np.isfinite(x).all()
        assert np.isfinite(mu).all()
        most_persons = greatest_persons(problem)
        # vertices are whole or small fractions: the least positive maximum is far from 0
        assert (face.alive == (most_persons > 1e-3)).all()
        removed += int((~face.alive).sum())
    assert removed > 10


# 714 persons, two releases, eight signatures: Newton overshoots, the softmax saturates, the step is 0 ever after
STALL = (
    [[0, -1, -1, 0, 0, 0, 1, 0], [1, 1, 1, 1, -1, 0, 0, -1]],
    [
        [0, 0, 67, 0],
        [0, 10, 0, 0],
        [0, 0, 0, 35],
        [0, 0, 0, 1],
        [1, 0, 0, 0],
        [1, 360, 73, 158],
        [2, 5, 0, 0],
        [0, 0, 1, 0],
    ],
)


def test_small_groups_beside_large_ones_converge():
    post = infer(releases(signatures_as_persons(*STALL)))
    assert post.certificate.status == "exact"


def test_weights_from_one_to_ten_million_converge():
    rng = np.random.default_rng(0)
    missed = []
    for k in range(120):
        groups, persons = weighted_instance(rng, 7)
        problem = weighted_problem(groups, persons)
        face = Face.whole(problem)
        x, _ = solve(face, Log())
        expected = np.zeros(problem.rows.size + 1)
        for row in problem.rows.sure:
            np.add.at(expected, row, problem.weight[problem.signature] * x)
        # 1e-8 persons, or what double precision can tell of counts this large
        allowed = max(1e-8, 1e-14 * problem.count.max())
        if (np.abs(expected[:-1] - problem.count) > allowed).any():
            missed.append(k)
    assert not missed


def test_whole_numbers_do_not_wrap_around_in_a_weighing():
    persons = [[1008, 16], [1024, 0], [1024, 0], [1008, 16]]
    problem = weighted_problem([[0, 0, 1, 1], [0, 1, 0, 1]], persons)
    reduced = reduce(problem, np.ones(problem.variables, dtype=bool))
    x = np.tile([1 - 16 / 1024, 16 / 1024], 4)
    # 16 · 2^60 is 0 in 64 bits: the sum looks right although value 1 is possible for everybody
    direction = np.where(problem.row_value[reduced.row_of] == 1, -(2.0**60), 0.0)
    assert recession.prove(reduced, x, direction).zeros.size == 0


def test_directions_beyond_whole_numbers_are_no_error():
    problem = weighted_problem([[0, 0, 1, 1], [0, 1, 0, 1]], [[9, 1], [10, 0], [10, 0], [9, 1]])
    reduced = reduce(problem, np.ones(problem.variables, dtype=bool))
    x = np.tile([0.98, 0.02], 4)
    for size in (1e19, 1e300):
        direction = np.where(problem.row_value[reduced.row_of] == 1, -size, 0.0)
        assert recession.prove(reduced, x, direction).zeros.size == 0


# ---------------------------------------------------------------- releases that cannot be


def tampered(rng):
    history = random_history(rng)
    for _ in range(rng.randint(1, 3)):
        group, other = rng.choice(rng.choice(history)), rng.choice(rng.choice(history))
        group[1][rng.randrange(len(group[1]))] = rng.choice(group[1] if rng.random() < 0.7 else other[1])
    return history


@pytest.mark.parametrize("changed", ["refuse", "split"])
def test_tampered_counts_are_found_exactly_when_nothing_fits(changed):
    seen = Counter()
    for seed in range(70):
        history = tampered(random.Random(seed))
        rels = releases(history)
        try:
            post = infer(rels, changed=changed, contradictions="refuse")
        except ChangedValueError:
            assert changed == "refuse"
            seen["changed"] += 1
            continue
        except ContradictionError as error:
            fits, proof = False, error.contradiction
            seen["proven" if proof else "orphan"] += 1
        else:
            fits = True
            assert post.certificate.status == "exact"
            for row in post.proven().head(6).iter_rows(named=True):
                assert post.explain(row["id"], row["value"], release=row.get("release")).verify(rels)
            seen["split" if post._solved.history.split_release is not None else "fits"] += 1
        if changed == "refuse":
            number, A, b = system(history)
            result = linprog(np.zeros(len(number)), A_eq=A, b_eq=b, bounds=(0, 1), method="highs")
            assert fits == (result.status == 0)
    assert min(seen["proven"], seen["orphan"], seen["fits"], seen["changed"] + seen["split"]) >= 3


# replaying what comes first makes the second of three steps overfull already
OVERFULL_EARLY = [[([19], [2])], [([8, 13], [0, 2])], [([19, 13], [0, 2]), ([8], [0])]]


def test_every_contradiction_verifies():
    failed = []
    for seed, history in [(-1, OVERFULL_EARLY), *((s, tampered(random.Random(s))) for s in range(160))]:
        rels = releases(history)
        try:
            infer(rels, contradictions="refuse")
        except ContradictionError as error:
            if error.contradiction is not None and not error.contradiction.verify(rels):
                failed.append(seed)
    assert not failed
