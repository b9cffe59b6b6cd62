"""Values that are published as cells: ranges, sets and labels fit a person as one of several values."""

from __future__ import annotations

import random

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import InputError
from tests.oracles.covers import bounds
from tests.saying import refusing

VALUES = ["a", "b", "c", "d"]


def random_sets(seed: int) -> tuple[list[list[tuple[list[str], list[frozenset[str]]]]], list[str]]:
    """Two or three releases of a few persons; of each value a set that holds it is published."""
    rng = random.Random(seed)
    people = [f"p{k}" for k in range(rng.randint(3, 6))]
    truth = {p: rng.choice(VALUES) for p in people}
    releases = []
    for _ in range(rng.randint(2, 3)):
        order = rng.sample(people, len(people))
        cut = rng.randint(1, len(people) - 1)
        groups = []
        for persons in (order[:cut], order[cut:]):
            sets = [frozenset({truth[p], *rng.sample(VALUES, rng.choice([0, 0, 1, 2]))}) for p in persons]
            groups.append((persons, rng.sample(sets, len(sets))))
        releases.append(groups)
    shown = sorted({v for release in releases for _, sets in release for own in sets for v in own})
    return releases, shown


def printed(own: frozenset[str]) -> str:
    return "{" + ", ".join(sorted(own)) + "}" if len(own) > 1 else next(iter(own))


def as_releases(releases) -> list[st.Release]:
    found = []
    for k, groups in enumerate(releases, start=1):
        rows = [
            (p, g, printed(own))
            for g, (persons, sets) in enumerate(groups)
            for p, own in zip(persons, sets, strict=True)
        ]
        frame = pl.DataFrame(rows, schema=["id", "g", "v"], orient="row")
        found.append(st.Release.bucketized(frame, id="id", sensitive="v", group="g", name=f"D{k}").with_value_cells())
    return found


@pytest.mark.parametrize("seed", range(40))
def test_bounds_and_facts_are_those_of_a_program_over_sets(seed):
    told, shown = random_sets(seed)
    releases = as_releases(told)
    expected = bounds(told, shown)
    post = st.infer(releases)
    assert post.certificate.status in ("exact", "certified")
    found = {(i, v): (low, high) for i, v, low, high in post.bounds().rows()}
    p = {(i, v): x for i, v, x in post.to_frame().rows()}
    # values that all sets cover alike are one part, called by one of their names
    parts = {v: [s for s in shown if _alike(told, s, v)] for v in shown}
    for (person, value), (low, high) in expected.items():
        same = [part for part in parts[value] if (person, part) in found]
        if len(parts[value]) > 1:
            continue  # tested by the sum below
        assert found.get((person, value), (0.0, 0.0)) == pytest.approx((low, high), abs=1e-6), (
            seed,
            person,
            value,
            same,
        )
        assert low - 1e-6 <= p.get((person, value), 0.0) <= high + 1e-6
    for person in {i for i, _ in found}:
        assert sum(x for (i, _), x in p.items() if i == person) == pytest.approx(1.0, abs=1e-6)
    for person, value, fact, *_ in post.proven().rows():
        assert post.explain(person, value).verify(releases), (seed, person, value, fact)


def _alike(told, s: str, v: str) -> bool:
    return all((s in own) == (v in own) for release in told for _, sets in release for own in sets)


def bucketized(name: str, values: list[str], groups: list[int]) -> st.Release:
    frame = {"id": [str(k) for k in range(len(values))], "g": groups, "v": values}
    return st.Release.bucketized(frame, id="id", sensitive="v", group="g", name=name).with_value_cells()


def test_ranges_are_cut_where_others_end():
    one, other = bucketized("A", ["20-30", "20-30"], [1, 2]), bucketized("B", ["25-35", "<=24"], [1, 2])
    post = st.infer([one, other])
    assert post.of("0") == {"25-30": 1.0}
    assert post.of("1") == {"20-24": 1.0}


def test_an_exact_value_elsewhere_is_told_apart():
    exact = st.Release.bucketized({"id": ["0", "1"], "g": [1, 1], "v": [25, 40]}, id="id", sensitive="v", group="g")
    post = st.infer([bucketized("A", ["20-30", "31-50"], [1, 2]), exact])
    assert post.of("0") == {"25": 1.0}
    assert post.of("1") == {"40": 1.0}


TREE = [
    ["A01", "A00-A09", "A", "*"],
    ["A02", "A00-A09", "A", "*"],
    ["A15", "A15-A19", "A", "*"],
    ["B01", "B00", "B", "*"],
]


def test_chapters_of_a_hierarchy(tmp_path):
    rows = {"zip": ["1", "1", "2", "2"], "dx": ["A00-A09", "B", "A", "A15"]}
    tree = st.Hierarchy.from_rows(TREE)
    coarse = st.Release.generalized(rows, sensitive="dx", quasi=["zip"], hierarchies={"dx": tree}, name="G")
    people = pl.DataFrame({"id": ["1", "2", "3", "4"], "zip": ["1", "1", "2", "2"]})
    fine = {"id": ["1", "2", "3", "4"], "g": [1, 2, 1, 2], "dx": ["A01", "A15", "A15", "B01"]}
    exact = st.Release.bucketized(fine, id="id", sensitive="dx", group="g", name="H")
    post = st.infer([coarse.with_value_cells(), exact], register=people)
    assert [post.of(i) for i in "1234"] == [{"A01": 1.0}, {"B01": 1.0}, {"A15": 1.0}, {"A15": 1.0}]
    assert st.infer([coarse, exact], register=people).of("1") != {"A01": 1.0}  # read as a value, A00-A09 is another one
    coarse.with_value_cells().save(tmp_path / "G")
    again = st.read_release(tmp_path / "G")
    assert again.value_cells
    assert again.fingerprint() == coarse.with_value_cells().fingerprint() != coarse.fingerprint()
    assert st.infer([again, exact], register=people).of("4") == {"A15": 1.0}


def test_counts_of_cells_with_totals():
    rows = {"sex": ["f", "f", "f", "m"], "age": ["20-30", "25-40", "Total", "20-30"], "count": ["c", "2", "5", "1"]}
    table = st.Release.counted(rows, sensitive="age", totals=["Total"], suppressed={"c": (1, 9)}, name="T")
    found = st.infer([table.with_value_cells()]).cells("T")
    assert dict(zip(found["value"], found["lower"], strict=False))["25-40"] == 2
    assert found.filter((pl.col("value") == "20-30") & (pl.col("cell") == "1 (f)")).select("lower", "upper").rows() == [
        (3, 3)
    ]


def test_cells_that_cannot_be_read_get_a_sentence():
    rows = {"zip": ["1", "2"], "dx": ["A", "Z99"]}
    tree = st.Hierarchy.from_rows(TREE)
    table = st.Release.generalized(rows, sensitive="dx", quasi=["zip"], hierarchies={"dx": tree}, name="G")
    with refusing(InputError, match="Z99", hidden=("Z99",)):
        st.infer([table.with_value_cells()])
