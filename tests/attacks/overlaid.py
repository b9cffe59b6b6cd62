"""Random tables of one population whose cells overlap: ranges of ages, some by place; some counts hidden or rounded."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

import polars as pl

import showthrough as st
from tests.oracles.overlays import Row

MARKS = {"c": (1, 4), "x": (0, 3)}
TOTAL = "Total"


@dataclass
class Overlaid:
    """The tables, and what an attacker reads in them: rows by table and by (cell, value)."""

    releases: list[st.Release] = field(default_factory=list)
    rows: list[dict[tuple[str, str], Row]] = field(default_factory=list)
    parts: list[tuple[int, str]] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    truth: dict[tuple[tuple[int, str], str], int] = field(default_factory=dict)

    def every(self, tables: list[int] | None = None) -> list[Row]:
        """All rows of some tables."""
        chosen = range(len(self.rows)) if tables is None else tables
        return [row for k in chosen for row in self.rows[k].values()]

    def regions(self, table: int) -> list[frozenset]:
        """The cells of a table as parts."""
        return list(dict.fromkeys(row[0] for row in self.rows[table].values()))

    def counted(self, table: int, parts: frozenset) -> bool:
        """Whether a table leaves room for somebody in some parts."""
        return any(high for own, _, _, high in self.rows[table].values() if own <= parts)

    def persons(self, parts: frozenset, value: str | None) -> int:
        """How many there are in truth."""
        return sum(n for (part, own), n in self.truth.items() if part in parts and value in (None, own))


def overlaid(seed: int, *, ages: int = 7, most: int = 6, tables: int = 3, plain: bool = False) -> Overlaid:
    """Two or more tables; with ``plain`` nothing is hidden, by ages alone."""
    rng = random.Random(seed)
    found = Overlaid()
    places = ["a"] if plain or rng.random() < 0.4 else ["a", "b"]
    found.values = [f"v{k}" for k in range(rng.randint(1, 2))]
    every = [(age, place) for age in range(ages) for place in places]
    found.truth = {(part, v): max(0, rng.randint(-2, most)) for part in every for v in found.values}
    covered: set = set()
    for k in range(rng.randint(2, tables)):
        by_place = len(places) > 1 and rng.random() < 0.6
        first, last = sorted(rng.sample(range(ages + 1), 2))
        cuts = [first, *sorted(rng.sample(range(first + 1, last), rng.randint(0, min(2, last - first - 1)))), last]
        cells = [(f"{a}-{b - 1}", frozenset(range(a, b))) for a, b in pairwise(cuts)]
        own = [(age, [p], {(y, p) for y in years}) for age, years in cells for p in places] if by_place else [
            (age, [], {(y, p) for y in years for p in places}) for age, years in cells
        ]  # fmt: skip
        if not any(found.persons(frozenset(parts), None) for _, _, parts in own):
            continue  # a table that counts nobody is refused
        _print(rng, found, f"T{k}", own, plain=plain)
        covered |= {part for _, _, parts in own for part in parts}
    if not covered:
        return overlaid(seed + 10_000, ages=ages, most=most, tables=tables, plain=plain)
    found.parts = sorted(covered)
    found.truth = {key: n for key, n in found.truth.items() if key[0] in covered}
    return found


def _print(rng: random.Random, found: Overlaid, name: str, cells: list, *, plain: bool) -> None:
    """One table: as a release, and as rows."""
    with_total = rng.random() < 0.5
    base = None if plain else rng.choice([None, None, 3])
    rows, told = [], {}
    labels = [*found.values, *([TOTAL] if with_total else [])]
    for age, place, parts in cells:
        for v in labels:
            value = None if v == TOTAL else v
            n = found.persons(frozenset(parts), value)
            shown, ends = str(n), (n, n)
            if not plain and 1 <= n <= 4 and rng.random() < 0.4:
                shown, ends = "c", MARKS["c"]
            elif not plain and n <= 3 and rng.random() < 0.1:
                shown, ends = "x", MARKS["x"]
            elif base:
                near = base * round(n / base)
                shown, ends = str(near), (max(0, near - 1), near + 1)
            row = {"age": age, "value": v, "count": shown}
            rows.append(row | ({"place": place[0]} if place else {}))
            told[", ".join([age, *place]), v] = (frozenset(parts), value, *ends)
    release = st.Release.counted(
        pl.DataFrame(rows), sensitive="value", suppressed=MARKS, rounding=base, totals=[TOTAL] if with_total else None,
        name=name,
    )  # fmt: skip
    found.releases.append(release)
    found.rows.append(told)
