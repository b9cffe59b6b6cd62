"""The algebra of rows beside plain loops over variables, candidates and entries of statements."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some_of

from showthrough.inference.rows import Rows, Seats, Stated

some = settings(max_examples=80, deadline=None, derandomize=True)
seeds = some_of.integers(0, 2**32 - 1)


def random_rows(seed):
    """Two sure releases, two with candidates, and statements, over a few variables."""
    rng = np.random.default_rng(seed)
    size, variables = int(rng.integers(2, 9)), int(rng.integers(1, 8))
    sure = rng.integers(0, size + 1, size=(2, variables)).astype(np.int32)
    seats, offset = [], 0
    for release in (2, 3):
        length = rng.integers(1, 4, size=variables)
        row = np.concatenate([rng.choice(size + 1, size=n, replace=False) for n in np.minimum(length, size + 1)])
        start = np.append(0, np.cumsum(np.minimum(length, size + 1)))
        seats.append(Seats(release, start, row.astype(np.int32), offset))
        offset += row.size
    entries = int(rng.integers(0, 5))
    stated = Stated(
        rng.integers(0, variables, size=entries), rng.integers(0, size, size=entries).astype(np.int32),
        rng.integers(-3, 4, size=entries),
    )  # fmt: skip
    lower = rng.integers(0, 5, size=size)
    upper = lower + rng.integers(0, 3, size=size)
    return rng, Rows(lower, upper, sure, (0, 1), tuple(seats), stated)


def candidates(rows, own, variable):
    span = range(int(own.start[variable]), int(own.start[variable + 1]))
    return [(rows.variables + own.offset + k, int(own.row[k])) for k in span]


def weight_of(rows, weights, row):
    return 0 if row == rows.size else int(weights[row])


@some
@given(seeds)
def test_scores_are_sums_of_best_candidates(seed):
    rng, rows = random_rows(seed)
    weights, alive = rng.integers(-5, 6, size=rows.size), np.ones(rows.terms, dtype=bool)
    alive[rows.variables :] = rng.random(rows.candidates) < 0.7
    for own in rows.seats:  # whoever is possible has a candidate left
        alive[rows.variables + own.offset + own.start[:-1]] = True
    found, behind = rows.scores(weights, alive), rows.behind(weights, alive)
    for v in range(rows.variables):
        score = sum(weight_of(rows, weights, int(r)) for r in rows.sure[:, v])
        for own in rows.seats:
            left = {t: weight_of(rows, weights, r) for t, r in candidates(rows, own, v) if alive[t]}
            score += max(left.values())
            for term, _ in candidates(rows, own, v):
                assert behind[term] == (term in left and left[term] < max(left.values()))
        said = np.flatnonzero(rows.stated.variable == v)
        score += sum(int(rows.stated.coefficient[k] * weights[rows.stated.row[k]]) for k in said)
        assert found[v] == score


@some
@given(seeds)
def test_counts_reach_what_the_weights_make_of_their_ends(seed):
    rng, rows = random_rows(seed)
    weights = rng.integers(-5, 6, size=rows.size)
    ends = [int(w) * int(low if w > 0 else high) for w, low, high in zip(weights, rows.lower, rows.upper, strict=True)]
    assert rows.reach(weights) == sum(ends)


@some
@given(seeds)
def test_a_part_scores_as_the_whole(seed):
    rng, rows = random_rows(seed)
    chosen = rng.permutation(rows.variables)[: int(rng.integers(1, rows.variables + 1))]
    part, taken = rows.over(chosen)
    whole_alive = np.ones(rows.terms, dtype=bool)
    weights = rng.integers(-5, 6, size=rows.size)
    expected = rows.scores(weights, whole_alive)[chosen]
    assert part.scores(weights, np.ones(part.terms, dtype=bool)).tolist() == expected.tolist()
    owners = np.concatenate([own.owner for own in rows.seats])[taken]
    assert chosen[part.owner[part.variables :]].tolist() == owners.tolist()
    smaller, kept = part.numbered()
    assert smaller.scores(weights[kept], np.ones(smaller.terms, dtype=bool)).tolist() == expected.tolist()
    assert smaller.served().all()
    settled, left = smaller.settled()
    assert settled.scores(weights[kept], np.ones(settled.terms, dtype=bool)).tolist() == expected.tolist()
    assert settled.candidates == int(left.sum())


@some
@given(seeds)
def test_who_hangs_on_what(seed):
    rng, rows = random_rows(seed)
    asked = rng.random(rows.size) < 0.4
    tail, head = rows.links()
    pairs = {(int(v), int(r)) for v, r in zip(tail, head, strict=True) if r >= 0}
    assert np.flatnonzero(rows.touching(asked)).tolist() == sorted({v for v, r in pairs if asked[r]})
    assert np.flatnonzero(rows.served()).tolist() == sorted({r for _, r in pairs})
    some_variables = np.flatnonzero(rng.random(rows.variables) < 0.5)
    assert rows.of(some_variables).tolist() == sorted({r for v, r in pairs if v in set(some_variables.tolist())})
