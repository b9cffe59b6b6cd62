"""Raw tables that change from release to release, with everything that can happen to a person."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl


def raw_tables(
    seed: int,
    *,
    persons: int = 40,
    values: int = 5,
    releases: int = 4,
    changes: float = 0.0,
    moves: float = 0.0,
    turnover: float = 0.3,
) -> Iterator[pl.DataFrame]:
    """id, age, zip, value of those who are there; some leave, come, come back, move, or change their value."""
    generator = np.random.default_rng(seed)
    value = generator.integers(0, values, persons)
    age, area = generator.integers(20, 60, persons), generator.integers(0, 6, persons)
    inside = generator.random(persons) < 0.6
    for number in range(releases):
        inside |= ~inside.any()
        here = np.flatnonzero(inside)
        yield pl.DataFrame(
            {
                "id": [f"p{i}" for i in here],
                "age": age[here],
                "zip": [f"z{a}" for a in area[here]],
                "value": [f"v{v}" for v in value[here]],
            }
        )
        flip = generator.random(persons) < turnover
        inside = np.where(flip, generator.random(persons) < 0.6, inside)
        other = generator.random(persons) < changes
        value = np.where(other, generator.integers(0, values, persons), value)
        moved = generator.random(persons) < moves
        age = np.where(moved, generator.integers(20, 60, persons), age)
        assert number < releases


def series_of(releases, tables):
    """Releases as the independent checker of m-invariance wants them: (records, fakes) with values as numbers."""
    series = []
    for release, table in zip(releases, tables, strict=True):
        own = dict(table.select("id", "value").iter_rows())
        link = release.groups()
        records = [(i, int(own[i][1:]), int(g)) for i, g in link.iter_rows()]
        published = {}
        for group, value, n in release.tally.iter_rows():
            published.setdefault(int(group), []).extend([int(value[1:])] * n)
        for _, value, group in records:
            published[group].remove(value)
        fakes = [(group, value) for group, left in published.items() for value in left]
        assert len(fakes) == (release.counterfeits["n"].sum() if release.counterfeits.height else 0)
        series.append((records, fakes))
    return series
