"""Worlds of several releases by messages, against all of them; and the calibrated variant that leans on them."""

from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.pooled_worlds import agreed

VALUES = 3


def seats(groups, truth):
    """Members of groups of persons who have these values."""
    group, tally = np.full(truth.size, -1), []
    for number, members in enumerate(groups):
        group[members] = number
        values, many = np.unique(truth[members], return_counts=True)
        tally += [(number, v, n) for v, n in zip(values, many, strict=True)]
    return GroupMembers.of(group, tuple(np.array(column) for column in zip(*tally, strict=True)), len(groups))


def by_all_worlds(releases, truth, logs):
    """[persons, values] over every assignment that gives each group of each release its values."""
    found = np.zeros((truth.size, VALUES))
    for world in map(np.array, product(range(VALUES), repeat=truth.size)):
        if all(sorted(world[own]) == sorted(truth[own]) for groups in releases for own in groups):
            found[np.arange(truth.size), world] += np.exp(logs[np.arange(truth.size), world].sum())
    return found / found.sum(axis=1, keepdims=True)


def parts(rng, members):
    """Persons in groups of two or three."""
    cut = [0]
    while cut[-1] < len(members):
        cut.append(min(len(members), cut[-1] + int(rng.integers(2, 4))))
    return [members[a:b] for a, b in pairwise(cut)]


def compared(releases, truth, logs):
    exact = by_all_worlds(releases, truth, logs)
    person, value = np.nonzero(exact > 0)
    start = np.concatenate([[0], np.cumsum((exact > 0).sum(axis=1))])
    every = GroupMembers(
        np.arange(truth.size), np.arange(truth.size), start, person, value,
        np.arange(person.size), np.ones(person.size, dtype=np.int64),
    )  # fmt: skip
    found = agreed(every, [seats(groups, truth) for groups in releases], logs[person, value])
    return found, np.abs(found.p - exact[person, value])


@pytest.mark.parametrize("seed", range(10))
def test_one_release_is_exact(seed):
    rng = np.random.default_rng(seed)
    truth, logs = rng.integers(VALUES, size=8), rng.normal(size=(8, VALUES))
    found, apart = compared([parts(rng, rng.permutation(8))], truth, logs)
    assert found.converged
    assert apart.max() < 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_releases_that_are_tied_without_a_circle_are_exact(seed):
    """Groups {0,1,2}, {3,4,5}, {6,7,8} of the one and {2,3}, {5,6} of the other make a chain."""
    rng = np.random.default_rng(seed + 50)
    truth, logs = rng.integers(VALUES, size=9), rng.normal(size=(9, VALUES))
    first = [np.array(own) for own in ([0, 1, 2], [3, 4, 5], [6, 7, 8])]
    found, apart = compared([first, [np.array([2, 3]), np.array([5, 6])]], truth, logs)
    assert found.converged
    assert apart.max() < 1e-3


def test_small_circles_are_near():
    """Two groupings of the same few persons are full of circles: near on average, not exact."""
    apart = []
    for seed in range(30):
        rng = np.random.default_rng(seed + 900)
        truth, logs = rng.integers(VALUES, size=7), rng.normal(size=(7, VALUES))
        releases = [parts(rng, rng.permutation(7)) for _ in range(2)]
        apart += compared(releases, truth, logs)[1].tolist()
    assert np.mean(apart) < 0.1


def published(persons, groups, name):
    frame = persons.with_columns(pl.Series("group", groups))
    return st.Release.bucketized(
        frame, id="id", sensitive="value", group="group", quasi=[c for c in frame.columns if c[0] == "q"], name=name
    )


@pytest.mark.parametrize("seed", [5, 6])
def test_two_releases_have_a_calibrated_variant(seed):
    """The same attribute stands there eight times, so that the model is too sure; random groups of five."""
    rng = np.random.default_rng(seed)
    many = 1200
    value = rng.integers(6, size=many)
    area = np.where(rng.random(many) < 0.35, value // 2, rng.integers(3, size=many))
    persons = pl.DataFrame({"id": np.arange(many), "value": value, **{f"q{k}": area for k in range(8)}}).with_columns(
        pl.all().cast(pl.String)
    )
    first = published(persons, rng.permutation(many) // 5, "first")
    half = persons[np.sort(rng.permutation(many)[: many // 2])]
    second = published(half, rng.permutation(half.height) // 5, "second")
    found = st.attacks.definetti([first, second], method="em")
    table = {row["belief"]: row for row in found.score(persons.select("id", "value")).table.iter_rows(named=True)}
    assert table["p"]["calibration_error"] > 0.05
    assert table["calibrated"]["calibration_error"] < 0.05
    assert table["calibrated"]["accuracy"] > table["p"]["accuracy"] - 0.05
    assert found.weight is not None
    assert found.weight < 0.2


def test_it_says_why_there_is_no_calibrated_variant():
    persons = pl.DataFrame({"id": ["1", "2", "3", "4"], "value": list("abab"), "q": list("xyyx")})
    both = [published(persons, [0, 0, 1, 1], "one"), published(persons, [0, 1, 1, 0], "two")]
    found = st.attacks.definetti(both, method="em")
    assert found.weight is None
    assert any("no calibrated variant: fewer than 20 groups" in note for note in found.notes)
