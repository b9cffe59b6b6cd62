"""Differencing against attackers who see the smallest parts of the population."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.attacks.arithmetic import explained
from showthrough.attacks.cell_program import CellProgram
from showthrough.attacks.refinement import Counts
from showthrough.errors import ContradictionError, InputError, ParameterError
from showthrough.inference.clock import Clock
from showthrough.register.reader import telling
from tests.attacks.overlaid import TOTAL, Overlaid, overlaid
from tests.oracles.overlays import linear_ends, whole_ends

FEW = 4


def ends(case: Overlaid, parts: frozenset, value: str | None, tables: list[int] | None = None) -> tuple[int, int]:
    low, high = linear_ends(case.parts, case.values, case.every(tables), parts, value)
    return math.ceil(low - 1e-6), 10**9 if high == np.inf else math.floor(high + 1e-6)


def unprinted(case: Overlaid) -> list[frozenset]:
    """Pieces, and what cells of one table leave of a cell of another, unless a table has them as a cell."""
    regions = [(k, own) for k in range(len(case.rows)) for own in case.regions(k)]
    places = [k for k, release in enumerate(case.releases) if "place" in release.roles.quasi]
    wide = []  # cells without the column that one table alone has
    if len(places) == 1:
        ages = {frozenset(age for age, _ in own) for k, own in regions if k == places[0]}
        wide = [(places[0], frozenset(part for part in case.parts if part[0] in own)) for own in ages]
    found = []
    for told in ([*regions], [(k, own) for k, own in regions if k not in places[:1]] + wide if wide else []):
        pieces: dict[tuple, set] = {}
        for part in case.parts if told else []:
            pieces.setdefault(tuple(part in own for _, own in told), set()).add(part)
        found += [frozenset(own) for own in pieces.values()]
    regions = [(k, own) for k, own in regions if not wide or k != places[0]] + wide
    whole = [*regions]
    for k, outer in whole:
        for j in range(len(case.rows)):
            inner = [own for i, own in whole if i == j != k and own < outer and case.counted(j, own)]
            found += [outer - own for own in inner]
            found.append(outer - frozenset().union(*inner))
    cells = {own for k in range(len(case.rows)) for own in case.regions(k)} | {own for _, own in wide}
    return [own for own in dict.fromkeys(found) if own and own not in cells]


def one_set(seed: int) -> tuple[int, int]:
    """Compare everything that comes out; how many numbers, and how many of them by several tables."""
    case = overlaid(seed)
    outcome = st.attacks.differencing(case.releases, few=FEW, seconds=600)
    assert not outcome.notes
    hidden = outcome.cells.filter(pl.col("found") == "hidden").rows(named=True)
    told = {(r["table"], r["cell"], r["value"]): (r["lower"], r["upper"]) for r in hidden}
    for release, rows in zip(case.releases, case.rows, strict=True):
        for (cell, v), (parts, value, low, high) in rows.items():
            if low < high:
                expected = ends(case, parts, value)
                mine = told.pop((release.name, cell, v), None)  # what its own totals settle is no longer hidden
                assert mine == expected or (mine is None and expected[0] == expected[1]), (seed, cell, v)
    assert not told
    found = outcome.cells.filter(pl.col("found") != "hidden").rows(named=True)
    expected_all = []
    for parts in unprinted(case):
        for value in (None, *case.values) if len(case.values) > 1 else case.values:
            low, high = ends(case, parts, value)
            if low == high and 1 <= low <= FEW:
                expected_all.append((parts, value, low))
                assert low == case.persons(parts, value)
    cells = [(own[0], own[1], ends(case, own[0], own[1])) for rows in case.rows for own in rows.values()]
    if len(case.values) > 1:
        cells += [(own, None, ends(case, own, None)) for k in range(len(case.rows)) for own in case.regions(k)]
    known = [*expected_all, *((parts, value, low) for parts, value, (low, high) in cells if low == high)]
    least = [
        (parts, value, n)
        for parts, value, n in expected_all
        if not any(other < parts and v == value and m == n for other, v, m in known)
        and not any(ends(case, parts, value, [k]) == (n, n) for k in range(len(case.rows)))
    ]
    assert sorted((str(v), n) for _, v, n in least) == sorted((str(r["value"]), r["lower"]) for r in found), seed
    return len(found), sum(len(r["tables"]) > 1 for r in found)


@pytest.mark.parametrize("seed", range(40))
def test_overlapping_tables(seed):
    one_set(seed)


@pytest.mark.parametrize("seed", range(300, 330))
def test_the_fewest_tables(seed):
    """No fewer tables leave the same number of persons in the same cell."""
    case = overlaid(seed, ages=4)
    for row in (
        st.attacks.differencing(case.releases, few=FEW)
        .cells.filter(pl.col("found") == "hidden", "exact")
        .rows(named=True)
    ):
        number = next(k for k, release in enumerate(case.releases) if release.name == row["table"])
        parts, value, _, _ = case.rows[number][row["cell"], row["value"]]
        left = (row["lower"], row["lower"])
        fewer = combinations(range(len(case.rows)), len(row["tables"]) - 1)
        assert not any(ends(case, parts, value, list(own)) == left for own in fewer if own)
        used = [k for k, release in enumerate(case.releases) if release.name in row["tables"]]
        assert ends(case, parts, value, used) == left


@pytest.mark.parametrize("seed", range(40))
def test_no_whole_numbers_contradict_it(seed):
    """What is said to be left is left in every world of whole numbers; ends hold for all of them."""
    case = overlaid(1000 + seed, ages=3, most=2, tables=2)
    if len(case.parts) * len(case.values) > 6:
        pytest.skip("too many worlds to try")
    outcome = st.attacks.differencing(case.releases, few=FEW)
    for parts in unprinted(case):
        for value in (None, *case.values):
            whole = whole_ends(case.parts, case.values, case.every(), parts, value, 3)
            low, high = ends(case, parts, value)
            assert whole is not None
            assert low <= whole[0] <= whole[1] <= max(high, whole[1])
    assert outcome.cells.filter("exact").filter(pl.col("lower") != pl.col("upper")).is_empty()


def covers(case: Overlaid, weighing, asked: frozenset, value: str | None) -> None:
    """A weighing covers what it should, and its numbers add up, said by hand."""
    held = {(part, v): Fraction(0) for part in case.parts for v in case.values}
    total, nobody = Fraction(0), set()
    for count, weight in weighing.terms:
        rows = case.rows[count.table]
        nobody |= {key for key in held if ends(case, frozenset([key[0]]), key[1], [count.table]) == (0, 0)}
        if count.high == 0:  # nobody in each part of it
            continue
        low = high = 0
        for v in case.values if count.value is None else [count.value]:
            parts, own, least, most = rows[count.cell, v]
            low, high = low + least, high + most
            for part in parts:
                for single in case.values if own is None else [own]:
                    held[part, single] += weight
        if count.value is not None:
            low, high = max(low, count.low), min(high, count.high)  # as far as its own totals tell
            assert (low, high) == (count.low, count.high)
        total += weight * (high if (weight > 0) == (weighing.end == "upper") else low)
    assert total == weighing.total
    for key in held.keys() - nobody:
        goal = int(key[0] in asked and value in (None, key[1]))
        assert {"both": held[key] == goal, "upper": held[key] >= goal, "lower": held[key] <= goal}[weighing.end]


@pytest.mark.parametrize("seed", range(200, 240))
def test_the_arithmetic_by_hand(seed):
    case = overlaid(seed)
    told: list[list[st.Release]] = []
    for layer in telling(case.releases):
        told = [*told, [layer]] if layer.part_of is None else [*told[:-1], [*told[-1], layer]]
    counts = Counts(told, [release.name for release in case.releases])
    program = CellProgram(counts, Clock())
    for number, rows in enumerate(case.rows):
        for k, row in enumerate(counts.rows):
            if row.table != number or row.low == row.high or (row.cell, row.value) not in rows:
                continue
            parts, value, _, _ = rows[row.cell, row.value]
            at = counts.matrix.indices[counts.matrix.indptr[k] : counts.matrix.indptr[k + 1]].astype(np.int64)
            left = program.between(at)
            if left is None or left[0] != left[1]:
                continue
            why = explained(program, at, left[0])
            assert why.sums
            for weighing in why.sums:
                covers(case, weighing, parts, value)


def pupils(name, age, counts):
    rows = {"age": [age] * len(counts), "illness": list(counts), "count": list(counts.values())}
    return st.Release.counted(rows, sensitive="illness", name=name)


ELEVEN = pupils("Table 1", "15-19", {"none": 7, "asthma": 3, "diabetes": 1})
TEN = pupils("Table 2", "16-19", {"none": 7, "asthma": 3})


def test_eleven_and_ten_in_words():
    outcome = st.attacks.differencing([ELEVEN, TEN])
    assert outcome.cells["because"].to_list() == [
        "Table 1 minus Table 2 leaves 1 person: 11 (15-19; Table 1) − 10 (16-19; Table 2) = 1.",
        "Table 1 minus Table 2 leaves 1 person: 1 (15-19, diabetes; Table 1) − 0 (16-19, diabetes; Table 2) = 1.",
    ]
    assert outcome.cells["everybody"].to_list() == [False, True]
    assert (outcome.rates["persons"].to_list(), outcome.baseline["persons"].to_list()) == ([1], [0])
    assert "Table 1 minus Table 2 leaves 1 person (2 times)." in str(outcome)
    for private in ("15-19", "16-19", "such as", "diabetes", "asthma"):
        assert private not in str(outcome)
        assert private not in str(outcome.as_dict())


def test_a_register_names_the_person():
    school = pl.DataFrame({"id": ["Ann", *(f"pupil {k}" for k in range(10))], "age": ["15"] + ["17"] * 10})
    outcome = st.attacks.differencing([ELEVEN, TEN], register=school)
    assert outcome.people.rows() == [("Ann", "diabetes", False)]
    assert outcome.rates["persons"].to_list() == [1, 1]
    assert "Ann" not in str(outcome)


def test_labels_that_not_all_tables_list():
    """A country of 100, of which two regions are listed: the others are somewhere."""
    country = st.Release.counted({"sex": ["f"], "v": ["x"], "count": [100]}, sensitive="v", name="country")
    listed = {"region": ["A", "B"], "sex": ["f", "f"], "v": ["x", "x"], "count": [57, 40]}
    regions = st.Release.counted(listed, sensitive="v", name="regions")
    north = st.Release.counted({"region": ["A"], "sex": ["f"], "v": ["x"], "count": [57]}, sensitive="v", name="north")
    outcome = st.attacks.differencing([country, regions, north])
    assert outcome.cells.select("lower", "tables").rows() == [(3, ["country", "regions"])]
    assert any("not all tables list" in note for note in outcome.notes)


def test_what_is_refused():
    with pytest.raises(ContradictionError, match="contradict"):
        st.attacks.differencing([ELEVEN, pupils("Table 2", "15-19", {"none": 12})])
    named = st.Release.bucketized({"id": ["1"], "g": [1], "v": ["a"]}, id="id", sensitive="v", group="g")
    with pytest.raises(InputError, match="no table of counts"):
        st.attacks.differencing(named)
    with pytest.raises(ParameterError, match="few is"):
        st.attacks.differencing([ELEVEN], few=0)
    with pytest.raises(InputError, match="no tables"):
        st.attacks.differencing([])


def test_other_populations_are_other_persons():
    def table(name, age, n, population):
        rows = {"age": [age], "v": ["x"], "count": [n]}
        return st.Release.counted(rows, sensitive="v", name=name, population=population)

    apart = st.attacks.differencing([table("A", "15-19", 11, "north"), table("B", "16-19", 10, "south")])
    assert apart.cells.is_empty()
    same = st.attacks.differencing([table("A", "15-19", 11, "north"), table("B", "16-19", 10, "north")])
    assert same.cells["lower"].to_list() == [1]


def test_nothing_is_said_without_time():
    outcome = st.attacks.differencing([ELEVEN, TEN], seconds=0)
    assert outcome.cells.is_empty()
    assert TOTAL not in str(outcome)


@pytest.mark.parametrize("seed", range(700, 706))
def test_a_range_whose_ends_were_reached_is_not_asked_for_again(seed):
    """Ends that earlier answers reached are those of the linear programs."""
    case = overlaid(seed)
    told = [list(telling([release])) for release in case.releases]
    names = [f"Table {k}" for k in range(len(told))]
    try:
        counts = Counts(told, names)
        fresh, used = CellProgram(counts, Clock()), CellProgram(counts, Clock())
        used.look()
    except ContradictionError:
        counts = Counts(told, names, others=True)
        fresh, used = CellProgram(counts, Clock()), CellProgram(counts, Clock())
        used.look()
    A = counts.matrix
    for k, row in enumerate(counts.rows):
        at = A.indices[A.indptr[k] : A.indptr[k + 1]].astype(np.int64)
        found = fresh.between(at)
        assert found is not None
        low, high = used.reached(at)
        assert fresh.bound(at, 1.0) - 1e-6 <= low <= high <= fresh.bound(at, -1.0) + 1e-6
        narrowed = used.narrowed(at, row.low, row.high)
        assert narrowed == (max(row.low, found[0]), min(row.high, found[1]))
        assert not used.varies(at) or found[0] < found[1]
