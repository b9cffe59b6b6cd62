"""Hard histories and truths of their own for the attacks on the numerics."""

from collections import Counter

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from tests.histories import release
from tests.inference.problems import plain_problem


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
    rels = list(post.releases)
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
    return plain_problem(
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


def doubling(k):
    """One degree of freedom t: person y<j> has value a with probability 2^j·t, n<j> and m<j> with 1 − 2^j·t."""
    truth, groups = {"y0": "b"}, ([], [], [])
    for j in range(k):
        y, n, m, z = f"y{j}", f"n{j}", f"m{j}", f"y{j + 1}"
        truth |= {n: "a", m: "a", z: "b"}
        for own, group in zip(groups, ([y, n], [y, m], [z, n, m]), strict=True):
            own.append(group)
    return [made(own, truth) for own in groups]


TWO = [release([([1, 2], ["a", "b"])], "D1"), release([([1, 3], ["a", "b"])], "D2")]  # nothing is certain here
