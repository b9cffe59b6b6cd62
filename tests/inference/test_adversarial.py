"""Instances made to break the numerics: near-forced values, huge weights, slow mixing, doubling chains, forged proofs.

The truths used here are made apart from the package: linear programs over all persons, one-dimensional
maximum entropy where one degree of freedom is left, and the log-linear form on the face.
"""

import datetime
import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize_scalar

from showthrough import Release, infer
from showthrough.errors import ChangedValueError, ContradictionError, UnknownPersonError
from showthrough.examples import figure1
from showthrough.inference import recession
from showthrough.inference.face import Face, WeighingStep
from showthrough.inference.problem import Problem
from showthrough.inference.proof import Argument, Contradiction, Proof, WeighedRow
from showthrough.inference.reduce import reduce
from showthrough.inference.run import Log, solve
from tests.histories import release, releases
from tests.oracles import linear, worlds

# ---------------------------------------------------------------- truths


def system(history):
    """Variables (person, value), and the rows One and Relation as a sparse matrix."""
    homes = {}
    for groups in history:
        for persons, values in groups:
            for p in persons:
                homes.setdefault(p, []).append(set(values))
    common = {p: sorted(set.intersection(*sets)) for p, sets in homes.items()}
    number = {pair: k for k, pair in enumerate((p, v) for p, values in common.items() for v in values)}
    tails, heads, right = [], [], []
    for p, values in common.items():
        tails += [len(right)] * len(values)
        heads += [number[p, v] for v in values]
        right.append(1)
    for groups in history:
        for persons, values in groups:
            for v, n in Counter(values).items():
                holders = [number[p, v] for p in persons if (p, v) in number]
                tails += [len(right)] * len(holders)
                heads += holders
                right.append(n)
    shape = (len(right), len(number))
    return number, sp.csr_array((np.ones(len(tails)), (tails, heads)), shape=shape), np.array(right, dtype=float)


def largest(A, b):
    """The greatest possible value of every variable, as far as it matters: 0 or above 0."""
    found = np.zeros(A.shape[1])
    for k in range(found.size):
        if found[k] < 1e-6:
            c = np.zeros(found.size)
            c[k] = -1
            result = linprog(c, A_eq=A, b_eq=b, bounds=(0, 1), method="highs")
            assert result.status == 0
            found = np.maximum(found, result.x)
    return found


def check_everything(history, post, *, proofs=10**6):
    """Zeros as the linear programs say, counts met, log-linear on the face, proofs that verify."""
    number, A, b = system(history)
    x = np.zeros(len(number))
    alive = np.zeros(len(number), dtype=bool)
    for person, value, p in post.to_frame().iter_rows():
        x[number[person, value]] = p
        alive[number[person, value]] = True
    possible = largest(A, b) > 1e-7
    assert not (~alive & possible).any(), "an honest variable was called zero"
    assert not (alive & ~possible).any(), "a forced zero was missed"
    assert post.certificate.status == "exact"
    assert np.abs(A @ x - b).max() <= 1e-8
    # at the optimum log x is a sum of multipliers, one for each row
    rows = A[:, alive].toarray().T
    mu = np.linalg.lstsq(rows, np.log(x[alive]), rcond=None)[0]
    assert np.abs(rows @ mu - np.log(x[alive])).max() < 1e-6
    rels = list(post.history.releases)
    for person, value, fact, by in post.proven().rows()[:proofs]:
        proof = post.explain(person, value)
        assert (proof.fact, proof.by) == (fact, by)
        assert proof.verify(rels)


def made(groups, truth):
    return [(list(g), [truth[p] for p in g]) for g in groups]


def random_history(rng):
    """2-5 releases of 8-40 persons in groups of 2-5: pairwise flows miss zeros in about a third of them."""
    n, count, values, size = rng.randint(8, 40), rng.randint(2, 5), rng.randint(2, 4), rng.randint(2, 5)
    often = [rng.random() ** 2 + 0.02 for _ in range(values)]
    truth = dict(enumerate(rng.choices(range(values), often, k=n)))
    missing = rng.choice([0, 0, 0, 0.15])
    history = []
    for _ in range(count):
        order = [p for p in range(n) if rng.random() >= missing] or [0]
        rng.shuffle(order)
        history.append(made([order[k : k + size] for k in range(0, len(order), size)], truth))
    return history


def signatures_as_persons(groups, persons):
    """A history from groups[release][signature] (-1: absent) and persons[signature][value]."""
    ids = [[f"s{s}-{k}" for k in range(sum(own))] for s, own in enumerate(persons)]
    history = []
    for own_groups in groups:
        history.append([])
        for g in sorted(set(own_groups) - {-1}):
            members = [s for s, own in enumerate(own_groups) if own == g]
            values = [f"v{v}" for s in members for v, n in enumerate(persons[s]) for _ in range(n)]
            history[-1].append(([i for s in members for i in ids[s]], values))
    return history


def weighted_problem(groups, persons):
    """The same as a `Problem`, so that weights can be as large as one likes."""
    groups, persons = np.array(groups), np.array(persons)
    labels, rows, place, total = np.full_like(groups, -1), [], {}, 0
    for r, own in enumerate(groups):
        for g in np.unique(own[own >= 0]):
            labels[r, own == g] = total
            for v, n in enumerate(persons[own == g].sum(axis=0)):
                if n:
                    place[total, v] = len(rows)
                    rows.append((total, v, n, r))
            total += 1
    start, value, row = [0], [], []
    for s in range(groups.shape[1]):
        own = labels[:, s].tolist()
        for v in range(persons.shape[1]):
            if all(g < 0 or (g, v) in place for g in own):
                value.append(v)
                row.append([len(rows) if g < 0 else place[g, v] for g in own])
        start.append(len(value))
    table = np.array(rows)
    return Problem(
        weight=persons.sum(axis=1).astype(np.int64),
        groups=labels.astype(np.int32),
        start=np.array(start, dtype=np.int64),
        value=np.array(value, dtype=np.int32),
        row=np.ascontiguousarray(np.array(row, dtype=np.int32).T),
        count=table[:, 2].astype(np.int64),
        row_value=table[:, 1].astype(np.int32),
        row_group=table[:, 0].astype(np.int32),
        row_release=table[:, 3].astype(np.int32),
    )


# ---------------------------------------------------------------- the face where flows are not enough


def test_random_histories_whose_zeros_need_more_than_flows():
    weighed = 0
    for seed in range(40):
        history = random_history(random.Random(seed))
        post = infer(releases(history))
        check_everything(history, post, proofs=12)
        weighed += any(isinstance(step, WeighingStep) for step in post.face.steps)
    assert weighed >= 5  # otherwise this test lost its teeth


@pytest.mark.parametrize("seed", range(4))
def test_duplicated_releases_change_nothing(seed):
    history = random_history(random.Random(1000 + seed))
    once, often = infer(releases(history)), infer(releases(history * 3))
    assert often.face.alive.tolist() == once.face.alive.tolist()
    assert np.abs(often.x - once.x).max() < 1e-9
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


def doubling(k):
    """One degree of freedom t: person y<j> has value a with probability 2^j·t, n<j> and m<j> with 1 − 2^j·t."""
    truth, groups = {"y0": "b"}, ([], [], [])
    for j in range(k):
        y, n, m, z = f"y{j}", f"n{j}", f"m{j}", f"y{j + 1}"
        truth |= {n: "a", m: "a", z: "b"}
        for own, group in zip(groups, ([y, n], [y, m], [z, n, m]), strict=True):
            own.append(group)
    return [made(own, truth) for own in groups]


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
    assert post.face.alive.all()
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
    assert (~post.face.alive).sum() == 1
    assert post.of(f"y{k}")["a"] == pytest.approx(post.of(f"u{k}")["a"], abs=1e-8)


def test_no_exact_certificate_for_a_wrong_answer():
    for k in (26, 29, 31):
        post = infer(releases(twin_chains(k)), accept_unconverged=True)
        wrong = abs(post.of(f"y{k}")["a"] - post.of(f"u{k}")["a"])  # equal in every feasible point
        assert wrong <= 1e-5 or post.certificate.status == "not_converged"


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
    for row in problem.row:
        here = np.flatnonzero(row < problem.rows)
        tails.append(problem.signatures + row[here])
        heads.append(here)
    at = (np.concatenate(tails), np.concatenate(heads))
    A = sp.csr_array((np.ones(at[0].size), at), shape=(problem.signatures + problem.rows, problem.variables))
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
        x, mu = solve(face, Log(lambda _: None))
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
        x, _ = solve(face, Log(lambda _: None))
        expected = np.zeros(problem.rows + 1)
        for row in problem.row:
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
            post = infer(rels, changed=changed)
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
            seen["split" if post.history.split_release is not None else "fits"] += 1
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
            infer(rels)
        except ContradictionError as error:
            if error.contradiction is not None and not error.contradiction.verify(rels):
                failed.append(seed)
    assert not failed


# ---------------------------------------------------------------- forged proofs


TWO = [release([([1, 2], ["a", "b"])], "D1"), release([([1, 3], ["a", "b"])], "D2")]  # nothing is certain here


def forged(*rows, id=1, value="a", fact="certain", **more):
    steps = (Argument(tuple(WeighedRow(*row) for row in rows), ""),)
    return Proof(id, value, fact, "counts", steps, "", ("D1", "D2"), **more)


def test_nothing_is_proven_of_an_open_pair():
    assert infer(TWO).proven().filter(pl.col("id") == 1).is_empty()
    everything = {(g, v) for g in (1, 1.0, True, Fraction(1), Decimal(1), "1", 2, -1, None) for v in ("a", "b", "c")}
    rng = random.Random(0)
    for _ in range(120):
        chosen = rng.sample(sorted(everything, key=repr), rng.randint(1, 4))
        rows = [(rng.choice([0, 1, -1, 2]), g, v, rng.choice([-2, -1, 0, 1, 1, 2, 10**30])) for g, v in chosen]
        rows += rng.sample(rows, rng.randint(0, len(rows)))  # a row may stand twice
        for value in ("a", "b"):
            for fact in ("certain", "impossible"):
                assert not forged(*rows, value=value, fact=fact).verify(TWO)
        steps = (Argument(tuple(WeighedRow(*row) for row in rows), ""),)
        assert not Contradiction(steps, ("D1", "D2")).verify(TWO)


def test_rows_that_stand_twice_count_twice():
    both = figure1.releases()
    proof = infer(both).explain("14", "Flu")
    first, *rest = proof.steps[0].rows
    assert proof.verify(both)
    assert not replace(proof, steps=(Argument((first, first, *rest), ""),)).verify(both)
    half = (replace(first, weight=first.weight - 1), replace(first, weight=1), *rest)
    assert replace(proof, steps=(Argument(half, ""),)).verify(both)


@pytest.mark.parametrize("weight", [0.5, 1.5, float("nan"), float("inf"), None, "x"])
def test_weights_that_are_not_whole_prove_nothing(weight):
    assert not forged((0, 1, "a", weight), (0, 1, "b", 1)).verify(TWO)


def test_a_label_that_merely_equals_a_group_proves_nothing():
    rows = pl.DataFrame({"id": [1, 2], "group": [True, True], "value": ["a", "b"]})
    open_pair = [Release.bucketized(rows, id="id", sensitive="value", group="group", name="D1")]
    assert infer(open_pair).of(1) == {"a": 0.5, "b": 0.5}
    assert not forged((0, Decimal(1), "a", 1)).verify(open_pair)


@pytest.mark.parametrize("label", [1j, frozenset([1]), datetime.datetime(2020, 1, 1), 1.5])
def test_strange_labels_are_refused_without_an_error(label):
    day = datetime.date(2020, 1, 1)
    rows = pl.DataFrame({"id": [1, 2], "group": [day, day], "value": ["a", "b"]})
    open_pair = [Release.bucketized(rows, id="id", sensitive="value", group="group", name="D1")]
    assert not forged((0, day, "a", 1), (0, label, "a", 1)).verify(open_pair)


def test_a_proof_asked_for_by_number_verifies_where_ids_are_text():
    both = figure1.releases()
    post = infer(both)
    assert post.of(14) == post.of("14")
    assert post.explain(14, "Flu").verify(both)


def test_a_proof_asked_for_by_number_verifies_where_values_are_text():
    both = [release([(["x", "y"], ["10", "20"])], "D1"), release([(["x", "z"], ["10", "30"])], "D2")]
    post = infer(both)
    assert post.explain("x", 10).fact == "certain"
    assert post.explain("x", 10).verify(both)


def test_a_certain_value_is_not_impossible_in_another_type():
    both = [release([(["x", "y"], ["10", "20"])], "D1"), release([(["x", "z"], ["10", "30"])], "D2")]
    assert infer(both).of("x") == {"10": 1.0}
    assert not Proof("x", 10, "impossible", "sets", (), "", ("D1", "D2")).verify(both)


def test_a_fact_at_the_end_of_a_long_chain_is_explained():
    n = 700
    truth = {p: "ab"[p % 2] for p in range(n)}
    groups = [[], [], [[0]]]
    for p in range(n - 1):
        groups[p % 3].append([p, p + 1])
    rels = releases([made(own, truth) for own in groups])
    post = infer(rels)
    assert post.of(n - 1) == {truth[n - 1]: 1.0}
    assert post.explain(n - 1, truth[n - 1]).verify(rels)


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
        for i, v, q in post.worlds().iter_rows():
            assert q == pytest.approx(float(share[i].get(v, 0)), abs=1e-12)
        added += "worlds" in facts["by"]
    assert added


class CountingTooLongError(Exception):
    """Raised by a test that counts steps, so that a hang becomes a failure."""


def test_counting_worlds_keeps_to_its_limit(monkeypatch):
    """2 × 2 groups of 4 000 persons with two values: proven(integral=True, seconds=5) takes minutes."""
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
        assert step.face.alive.tolist() == whole.face.alive.tolist()
        assert np.abs(step.x - whole.x).max() < 1e-8
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
