"""Counting queries answered from noisy counts, against an oracle that goes through persons."""

import numpy as np
import polars as pl
import pytest

from showthrough.comparing.bins import joint, marginals
from showthrough.comparing.noisy_answers import query_error
from showthrough.comparing.option import ToCompare
from showthrough.measuring.queries import Workload
from showthrough.release.release import Release
from tests.comparing.tables import people

QUASI = ("age", "sex", "town")


def published(table, cells, rng):
    """Counts of the cells with made-up noise, as a noisy release, and as (table, cells, value): count."""
    counts, rows = {}, []
    values = sorted(set(table["ill"]))
    for own in cells.tables:
        grid = [[]]
        for name in own:
            grid = [[*first, cell] for first in grid for cell in cells.domain[name]]
        for place in grid:
            for value in values:
                fits = [
                    row
                    for row in cells.table.iter_rows(named=True)
                    if row["ill"] == value and all(row[n] == c for n, c in zip(own, place, strict=True))
                ]
                count = len(fits) + int(rng.integers(-2, 3))
                counts[own, tuple(place), value] = count
                shown = dict.fromkeys(cells.quasi) | dict(zip(own, place, strict=True))
                rows.append({**shown, "ill": value, "count": count})
    noise = {"mechanism": "geometric", "neighbours": "replace-one", "scale": 4.0}
    if len(cells.tables) > 1:
        noise["marginals"] = [{"quasi": list(own), "epsilon": 0.5, "delta": 0, "scale": 4.0} for own in cells.tables]
        noise["scale"] = None
    schema = {**dict.fromkeys(cells.quasi, pl.String), "ill": pl.String, "count": pl.Int64}
    return Release.noisy(pl.DataFrame(rows, schema=schema), sensitive="ill", quasi=list(cells.quasi), **noise), counts


def expected(table, cells, counts, asked, ends):
    """The estimate by persons: each cell spread over the values that rows of it have."""
    values = sorted(set(table["ill"]))[ends[0] : ends[1] + 1]

    def inside(name):
        every = sorted(set(table[name]))
        if name not in asked:
            return set(every)
        low, high = asked[name]
        return set(every[low : high + 1])

    def part(name, cell):
        covered = set(table.filter(pl.Series(cells.table[name] == cell))[name])
        return len(covered & inside(name)) / len(covered) if covered else 0.0

    def share(own, value, *, clipped):
        total = every = 0.0
        for (table_of, place, v), count in counts.items():
            if table_of == own and v == value:
                known = max(count, 0) if clipped else count
                every += known
                total += known * np.prod([part(n, c) for n, c in zip(own, place, strict=True)])
        return total, every

    untold = np.prod([len(inside(n)) / len(set(table[n])) for n in QUASI if n not in cells.domain])
    found = 0.0
    for value in values:
        if len(cells.tables) == 1:
            found += share(cells.tables[0], value, clipped=False)[0]
            continue
        persons = np.mean(
            [sum(c for (t, _, v), c in counts.items() if t == own and v == value) for own in cells.tables]
        )
        fits = [share(own, value, clipped=True) for own in cells.tables]
        found += max(persons, 0.0) * np.prod([some / every if every else 0.0 for some, every in fits])
    return untold * found


@pytest.mark.parametrize("make", [joint, marginals])
@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_the_oracle(make, seed, monkeypatch):
    table = people(60, seed)
    cells = make(ToCompare(table, "id", "ill", QUASI, {}), (0.5, 3.0)[seed % 2])
    release, counts = published(table, cells, np.random.default_rng(seed))
    seen = []
    module = query_error.__globals__
    ask = module["ask"]

    def noted(coded, estimate, workload):
        seen.append(estimate)
        return ask(coded, estimate, workload)

    monkeypatch.setitem(module, "ask", noted)
    error = query_error(table, cells, release, Workload(30, selectivity=0.3, seed=seed))
    assert error.answers.height == 30
    (estimate,) = seen
    rng = np.random.default_rng(seed)
    for _ in range(25):
        asked = {}
        for number, name in enumerate(QUASI):
            size = table[name].n_unique()
            if rng.random() < 0.7:
                asked[number] = tuple(sorted(rng.integers(0, size, 2).tolist()))
        ends = tuple(sorted(rng.integers(0, table["ill"].n_unique(), 2).tolist()))
        named = {QUASI[number]: own for number, own in asked.items()}
        assert estimate(asked, ends) == pytest.approx(expected(table, cells, counts, named, ends))
