"""Counts made from noisy ones: the least squares solution of a general solver, totals that stay, tables that agree."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

from showthrough.anonymizers import tidied

some = settings(max_examples=60, deadline=None, derandomize=True)
SIZES = {"a": 2, "b": 3, "c": 2, "v": 2}


@hs.composite
def tables(draw):
    """Some tables over subsets of the columns, each with v, in any order of columns."""
    sets = draw(
        hs.lists(
            hs.sampled_from([(), ("a",), ("b",), ("a", "b"), ("c", "a"), ("b", "a", "c")]), min_size=1, unique=True
        )
    )
    rng = np.random.default_rng(draw(hs.integers(0, 10**6)))
    found = {(*own, "v"): rng.normal(0, 10, [SIZES[c] for c in (*own, "v")]) for own in sets}
    return found, {axes: float(rng.uniform(0.2, 5)) for axes in found}


def nearest(found, variance):
    """The consistent tables that are nearest: all margins of one full table, by weighted least squares."""
    names = tuple(SIZES)
    full = list(itertools.product(*(range(SIZES[c]) for c in names)))
    rows, wanted, weight = [], [], []
    for axes, counts in found.items():
        for place in itertools.product(*(range(n) for n in counts.shape)):
            at = dict(zip(axes, place, strict=True))
            rows.append([float(all(cell[names.index(c)] == k for c, k in at.items())) for cell in full])
            wanted.append(counts[place])
            weight.append(variance[axes] ** -0.5)
    A, y, w = np.array(rows), np.array(wanted), np.array(weight)
    x = np.linalg.lstsq(A * w[:, None], y * w, rcond=None)[0]
    fitted, made, first = A @ x, {}, 0
    for axes, counts in found.items():
        made[axes] = fitted[first : first + counts.size].reshape(counts.shape)
        first += counts.size
    return made


@some
@given(tables())
def test_consistent_tables_are_the_nearest_ones(drawn):
    found, variance = drawn
    mine, theirs = tidied.consistent(found, variance), nearest(found, variance)
    for axes in found:
        assert mine[axes] == pytest.approx(theirs[axes], abs=1e-8)
    again = tidied.consistent(mine, variance)
    assert all(again[axes] == pytest.approx(mine[axes], abs=1e-9) for axes in found)


@some
@given(hs.lists(hs.floats(-50, 50, allow_nan=False), min_size=1, max_size=12))
def test_counts_that_are_not_negative_keep_their_total(counts):
    given_counts = np.array(counts)
    made = tidied.nonnegative(given_counts)
    assert (made >= 0).all()
    assert made.sum() == pytest.approx(max(0.0, given_counts.sum()), abs=1e-9)
    kept = made > 0
    if kept.any():  # all that are left gave up the same, and nobody who gave up more than it had is left
        lost = (given_counts - made)[kept]
        assert lost == pytest.approx(np.full(kept.sum(), lost[0]), abs=1e-9)
        assert (given_counts[~kept] <= lost[0] + 1e-9).all()
    if (given_counts >= 0).all():
        assert made == pytest.approx(given_counts, abs=1e-9)


@some
@given(hs.lists(hs.floats(0, 50, allow_nan=False), min_size=1, max_size=12))
def test_whole_counts_keep_their_total(counts):
    given_counts = np.array(counts)
    made = tidied.whole(given_counts)
    assert made.dtype == np.int64
    assert made.sum() == round(float(given_counts.sum()))
    assert (np.abs(made - given_counts) < 1 + 1e-9).all()
    assert (made >= 0).all()


@pytest.mark.parametrize("off", [0.0, 1e-12, -1e-12, 1e-9, -1e-9])
@pytest.mark.parametrize("total", [2.5, 3.5, 366.5, 7.0])
def test_tables_that_agree_on_a_total_agree_on_its_rounding(total, off):
    """A half was rounded by its last digit, so that tables of the same persons had different whole totals."""
    one = np.array([total / 4 + off, 3 * total / 4])
    assert tidied.whole(one).sum() == np.floor(total + 0.5)
    assert np.abs(tidied.whole(one) - one).max() < 1 + 1e-6
