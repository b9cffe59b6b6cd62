"""Count tables with ranges and totals beside a register: probabilities, bounds and proofs of persons."""

from __future__ import annotations

import pickle
import random
from collections import Counter

import polars as pl
import pytest

import showthrough as st
from tests.inference.tables import as_release, random_table, rounding_of
from tests.oracles import factored
from tests.oracles.tables import TOTAL, Population

NOBODY = "nobody"


def random_people(rng: random.Random) -> tuple[Population, dict[str, tuple[tuple[str, ...], str]]]:
    """A few persons with labels and values."""
    labels = {"q0": ("a0", "a1"), "q1": ("b0", "b1")}
    population = Population(labels, ("v0", "v1", "v2")[: rng.randint(2, 3)])
    people = {
        f"p{k}": (tuple(rng.choice(own) for own in labels.values()), rng.choice(population.values))
        for k in range(rng.randint(4, 7))
    }
    return population, people


def case_of(releases: list[st.Release], tables: list[list[dict]], columns: list[tuple[str, ...]], register: dict):
    """The same as plain data: of each table one release for its leaves, and statements for its totals."""
    names = ("q0", "q1")
    values = [*sorted({row["value"] for rows in tables for row in rows} - {TOTAL}), NOBODY]
    fits: dict[str, list[list[int | None]]] = {p: [[None]] * len(tables) for p in register}
    weight: dict[str, int] = {}
    rows, statements, cells_of = [], [], {}
    for r, (release, printed, own) in enumerate(zip(releases, tables, columns, strict=True)):
        groups = [tuple(release.records.row(k)) for k in range(release.labels.len())]
        rounding = rounding_of(printed)
        for p, (cell, _) in register.items():
            mine = tuple(cell[names.index(c)] for c in own)
            fits[p] = [*fits[p][:r], [groups.index(mine) if mine in groups else None], *fits[p][r + 1 :]]
            cells_of[p, r] = mine
        for g, cell in enumerate(groups):
            inside = sum(cells_of[p, r] == cell for p in register)
            spare = int(release.size[g]) - inside
            exact = release.least is None or release.size[g] == release.least[g]
            assert spare >= 0, "the register holds more than the table: another test"
            if spare:
                name = f"unnamed {r} {g}"
                fits[name] = [[g] if k == r else [None] for k in range(len(tables))]
                weight[name], cells_of[name, r] = spare, cell
                if exact:
                    statements.append(factored.Statement({(name, NOBODY): 1}, 0, 0))
            rows.append(factored.Row(r, g, NOBODY, 0, 1000))
        for row in printed:
            low, high = row["ends"]
            if rounding and row["count"].isdigit():
                low, high = max(0, int(row["count"]) - rounding // 2), int(row["count"]) + rounding // 2
            cell = tuple(row[c] for c in own)
            if TOTAL not in (*cell, row["value"]):
                if high and cell in groups:
                    rows.append(factored.Row(r, groups.index(cell), row["value"], low, high))
                continue
            under = [p for (p, k), c in cells_of.items() if k == r and _below(c, cell) and c in groups]
            counted = [v for v in values if v != NOBODY and row["value"] in (TOTAL, v)]
            statements.append(factored.Statement({(p, v): 1 for p in under for v in counted}, low, high))
    statements += [factored.Statement({(p, NOBODY): 1}, 0, 0) for p in register]
    return factored.Case(values, fits, rows, statements, weight)


def _below(leaf: tuple[str, ...], cell: tuple[str, ...]) -> bool:
    return all(b in (TOTAL, a) for a, b in zip(leaf, cell, strict=True))


def some_tables(seed: int):
    """Tables, and a register that knows some or all of the persons; None where nothing is hidden."""
    rng = random.Random(seed)
    population, people = random_people(rng)
    truth = Counter(dict.fromkeys(population.cells(), 0))
    truth.update(people.values())
    columns = rng.choice([[("q0",)], [("q0", "q1")], [("q0",), ("q1",)], [("q0", "q1"), ("q1",)]])
    tables = [random_table(rng, population, truth, own) for own in columns]
    known = rng.choice([len(people), len(people) - 1, len(people) - 2])
    register = dict(rng.sample(sorted(people.items()), known))
    releases = [as_release(rows, own, f"T{k}") for k, (rows, own) in enumerate(zip(tables, columns, strict=True))]
    return releases, tables, columns, register


def as_register(register: dict) -> pl.DataFrame:
    rows = [(p, *cell) for p, (cell, _) in register.items()]
    return pl.DataFrame(rows, schema=["id", "q0", "q1"], orient="row")


def check(seed: int) -> Counter:
    """One set of tables beside the oracle; what was seen."""
    releases, tables, columns, register = some_tables(seed)
    case = case_of(releases, tables, columns, register)
    post = st.infer(releases, register=as_register(register))
    assert post.certificate.status in ("exact", "certified"), (seed, post.certificate)
    exact = factored.maximum_entropy(case).x
    pairs = [(p, v) for p in register for v in case.values if v != NOBODY]
    limits = factored.bounds(case, pairs)
    found = {(i, v): p for i, v, p in post.to_frame().rows()}
    ends = {(i, v): (low, high) for i, v, low, high in post.bounds().rows()}
    proven = {(i, v): fact for i, v, fact, *_ in post.proven().rows()}
    for pair in pairs:
        assert found.get(pair, 0.0) == pytest.approx(exact.get(pair, 0.0), abs=1e-6), (seed, pair)
        assert ends.get(pair, (0.0, 0.0)) == pytest.approx(limits.get(pair, (0.0, 0.0)), abs=1e-6), (seed, pair)
        if pair in proven:
            proof = post.explain(*pair)
            assert proof.verify(releases, register=as_register(register)), (seed, pair)
            assert limits.get(pair, (0.0, 0.0))[proven[pair] == "impossible"] == pytest.approx(
                float(proven[pair] == "certain"), abs=1e-6
            )
    by_counts = [fact for _, _, fact, by, *_ in post.proven().rows() if by == "counts"]
    return Counter(tables=1, ranged=any(r.ranged for r in releases), **Counter(by_counts))


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_persons_of_a_register(seed):
    seen = sum((check(k) for k in range(seed, seed + 10)), Counter())
    assert seen["ranged"] >= 5


@pytest.mark.parametrize("seed", range(300, 306))
def test_one_more_table_pickled_and_parts(seed):
    releases, *_, register = some_tables(seed)
    people = as_register(register)
    whole = st.infer(releases, register=people)
    grown = st.infer(releases[:1], register=people)
    for release in releases[1:]:
        grown = grown.extend(release)
    assert grown.names == whole.names == tuple(r.name for r in releases)
    pairs = {(i, v): p for i, v, p in whole.to_frame().rows()}
    assert {(i, v): p for i, v, p in grown.to_frame().rows()} == pytest.approx(pairs, abs=1e-6)
    again = pickle.loads(pickle.dumps(whole))
    assert again.cells().equals(whole.cells())
    assert whole.alone().largest.shape == (len(releases), whole.ids.len())
    alone = st.infer(releases[:1], register=people)
    assert whole.alone().largest[0] == pytest.approx(alone.largest(), abs=1e-6, nan_ok=True)
    added = whole.attribution()
    assert set(added["release"]) <= set(whole.names)


def test_who_fits_a_table_need_not_be_in_it():
    """Nobody of a0 has v0, whatever the register says: then fewer persons than fit are in the first table."""
    one = {"q0": ["a0", "a0"], "value": ["v0", "v1"], "count": ["1", "c"]}
    other = {"q0": ["a0", "a0"], "value": ["v1", "v2"], "count": ["1", "1"]}
    first = st.Release.counted(one, sensitive="value", suppressed={"c": (0, 2)}, name="T1")
    second = st.Release.counted(other, sensitive="value", name="T2")
    people = pl.DataFrame({"id": ["x", "y"], "q0": ["a0", "a0"]})
    post = st.infer([first, second], register=people)
    assert not post.contradictions
    assert any("not everybody of the register who fits" in note for note in post.reader.notes())
    assert post.bounds()["upper"].max() == 1.0


@pytest.mark.parametrize("seed", range(400, 410))
def test_a_register_beside_tables_of_one_population(seed):
    """The truth is among what is possible, for persons and for cells."""
    rng = random.Random(seed)
    population, people = random_people(rng)
    truth = Counter(dict.fromkeys(population.cells(), 0))
    truth.update(people.values())
    columns = [("q0", "q1"), ("q1",)]
    tables = [random_table(rng, population, truth, own) for own in columns]
    releases = [as_release(rows, own, f"T{k}", "P") for k, (rows, own) in enumerate(zip(tables, columns, strict=True))]
    known = dict(rng.sample(sorted(people.items()), len(people) - 1))
    post = st.infer(releases, register=as_register(known))
    ends = {(i, v): (low, high) for i, v, low, high in post.bounds().rows()}
    assert all(ends[p, value][1] == 1.0 for p, (_, value) in known.items())
    cells = post.cells("T1")
    for cell, value, low, high in cells.select("cell", "value", "lower", "upper").rows():
        label = cell.partition("(")[2][:-1]
        true = sum(n for (own, v), n in truth.items() if label in (TOTAL, own[1]) and value in (TOTAL, v))
        assert low <= true <= high, (seed, cell, value)
