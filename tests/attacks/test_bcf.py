"""Cracks of insert-only histories against all ways to pair records."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import ContradictionError, InputError
from tests.oracles.buddies import exact, formulas

AGES = range(8)


def split(rng: random.Random, ages: list[int], *, overlap: bool) -> list[tuple[int, int]]:
    """The cell of each record: ranges that touch each other, some wider than they need be."""
    cuts = [0, *sorted(rng.sample(range(1, len(AGES)), rng.randint(1, 3))), len(AGES)]
    cells = [(a, b - 1) for a, b in pairwise(cuts)]
    found = []
    for age in ages:
        fits = [cell for cell in cells if cell[0] <= age <= cell[1]]
        if overlap and rng.random() < 0.3:
            fits.append((max(0, age - 1), min(len(AGES) - 1, age + 1)))
        found.append(rng.choice(fits))
    return found


def grown(seed: int, *, overlap: bool = False, releases: int = 2):
    """A history that grows: records with ages and values, and its releases."""
    rng = random.Random(seed)
    persons = [(rng.choice(AGES), rng.choice("ab" if rng.random() < 0.7 else "abc")) for _ in range(rng.randint(3, 7))]
    sizes = sorted(rng.sample(range(1, len(persons) + 1), releases))
    tables, given = [], []
    for k, size in enumerate(sizes):
        cells = split(rng, [age for age, _ in persons[:size]], overlap=overlap)
        tables.append([(frozenset(range(a, b + 1)), v) for (a, b), (_, v) in zip(cells, persons, strict=False)])
        rows = {"age": [f"{a}-{b}" for a, b in cells], "v": [v for _, v in persons[:size]]}
        given.append(st.Release.generalized(rows, sensitive="v", quasi=["age"], name=f"R{k + 1}"))
    return persons, tables, given


def compared(seed: int, *, overlap: bool = False) -> list[tuple[bool, bool, bool]]:
    """Compare one history; for each person whether the formulas are looser than what is exact."""
    _, (earlier, later), given = grown(seed, overlap=overlap)
    register = pl.DataFrame({"id": [f"age {a}" for a in AGES], "age": list(AGES)})
    people = st.attacks.bcf(given, register=register).people
    looser = []
    for age, row in zip(AGES, people.iter_rows(named=True), strict=True):
        assert row["id"] == f"age {age}"
        if not any(age in cell for cell, _ in later):
            assert row["backward"] is None
            continue
        said, true = formulas(earlier, later, age), exact(earlier, later, age)
        if any(age in cell for cell, _ in earlier):
            assert (row["forward"], row["cross"]) == said[:2], (seed, age)
            assert (row["forward_exact"], row["cross_exact"]) == true[:2], (seed, age)
        else:
            assert row["forward"] is None
        assert row["backward"] == said[2], (seed, age)
        assert row["backward_exact"] == true[2], (seed, age)
        assert all(a <= b for a, b in zip(said, true, strict=True))
        looser.append(tuple(a < b for a, b in zip(said, true, strict=True)))
    return looser


@pytest.mark.parametrize("seed", range(60))
def test_growing_tables(seed):
    compared(seed)


@pytest.mark.parametrize("seed", range(500, 560))
def test_cells_that_overlap_within_a_release(seed):
    """A person then fits several groups, and any of them may hold the person's record."""
    compared(seed, overlap=True)


def test_without_time_exact_figures_of_persons_in_several_groups_are_left_out_and_counted():
    told = 0
    for seed in range(30):
        _, _, given = grown(seed, overlap=True)
        register = pl.DataFrame({"id": list(AGES), "age": list(AGES)})
        whole, quick = (st.attacks.bcf(given, register=register, seconds=seconds) for seconds in (600, 0))
        late = quick.people["forward_exact"].is_null() & quick.people["forward"].is_not_null()
        assert any("Time ended" in note for note in quick.notes) == late.any()
        assert not any("Time ended" in note for note in whole.notes)
        for column in whole.people.columns:
            same = quick.people[column].eq_missing(whole.people[column])
            assert (same | late).all() if column in ("forward_exact", "cross_exact") else same.all()
        told += int(late.sum())
    assert told > 30


def test_every_pair_of_three_releases():
    _, tables, given = grown(3, releases=3)
    register = pl.DataFrame({"id": list(AGES), "age": list(AGES)})
    outcome = st.attacks.bcf(given, register=register)
    assert outcome.by == ("earlier", "later")
    for a, b in combinations(range(3), 2):
        people = outcome.people.filter(pl.col("earlier") == f"R{a + 1}", pl.col("later") == f"R{b + 1}")
        for age, told in zip(AGES, people["backward_exact"], strict=True):
            if told is not None:
                assert told == exact(tables[a], tables[b], age)[2]


def release(name, rows):
    cells, values = zip(*rows, strict=True)
    return st.Release.generalized({"job": cells, "v": values}, sensitive="v", quasi=["job"], name=name)


R1 = release("R1", [("{a, b}", "flu")] * 3 + [("{a, b}", "HIV")] * 2)
R2 = release("R2", [("{a}", "flu")] + [("{a}", "HIV")] * 3 + [("{b, c}", "flu")] * 4)


def test_by_hand():
    """Of a's records in R1 two of three flus lie elsewhere in R2; one HIV of R2 came later; two of HIV must be old."""
    outcome = st.attacks.bcf([R1, R2], register=pl.DataFrame({"id": ["x", "y", "z"], "job": ["a", "b", "d"]}))
    x, y, z = outcome.people.rows(named=True)
    assert (x["forward"], x["cross"], x["backward"]) == (2, 1, 2)
    assert (x["earlier_group"], x["later_group"]) == (5, 4)
    assert (y["forward_exact"], y["cross_exact"], y["backward_exact"]) == (2, 1, 2)
    assert z["forward"] is None
    assert outcome.anonymity.rows() == [("forward", 5, 3, 3), ("cross", 4, 3, 3), ("backward", 4, 2, 2)]
    assert outcome.notes == ("1 person of the register fits no group of some release.",)
    assert "x" not in outcome.lines()[0]
    assert outcome.as_dict()["anonymity"][2]["left_exact"] == 2


def test_who_is_known_to_be_there_or_not():
    told = pl.DataFrame({"id": ["x", "y"], "job": ["a", "a"], "in_R1": ["yes", "no"]})
    x, y = st.attacks.bcf([R1, R2], register=told).people.rows(named=True)
    assert (x["forward"], x["backward"]) == (2, None)
    assert (y["forward"], y["backward"]) == (None, 2)


def test_hidden_characters_have_something_in_common():
    one = st.Release.generalized({"zip": ["1305*", "1306*"], "v": ["a", "a"]}, sensitive="v", quasi=["zip"], name="A")
    two = st.Release.generalized(
        {"zip": ["130*8", "130*8", "1305*"], "v": ["a", "a", "b"]}, sensitive="v", quasi=["zip"], name="B"
    )
    register = pl.DataFrame({"id": ["x"], "zip": ["13058"]})
    row = st.attacks.bcf([one, two], register=register).people.row(0, named=True)
    assert (row["forward"], row["cross"], row["forward_exact"], row["backward_exact"]) == (0, 2, 0, 2)


def test_what_is_refused():
    register = pl.DataFrame({"id": ["x"], "job": ["a"]})
    with pytest.raises(ContradictionError, match="3 records of R2 cannot be found in R1"):
        st.attacks.bcf([R2, R1], register=register)
    with pytest.raises(InputError, match="two releases"):
        st.attacks.bcf([R1], register=register)
    named = st.Release.bucketized({"id": ["1"], "g": [1], "v": ["a"]}, id="id", sensitive="v", group="g")
    with pytest.raises(InputError, match="shows no cells"):
        st.attacks.bcf([R1, named], register=register)
