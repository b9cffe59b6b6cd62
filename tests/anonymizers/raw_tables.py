"""Raw tables as a publisher has them, and the independent checks of what is made of them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import polars as pl
from hypothesis import strategies as st

from showthrough.register.locating import locate
from showthrough.register.register import Register
from tests.oracles import criteria as oracle

TREE = {"n": {"n1": {}, "n2": {}}, "s": {"s1": {}, "s2": {}}, "w": {"w1": {}}}
PLACES = ["n1", "n2", "s1", "s2", "w1"]
QUASI = ["age", "place", "job"]


@st.composite
def raw_tables(draw: st.DrawFn, *, least: int = 1, most: int = 40, values: int = 5) -> pl.DataFrame:
    """Ids, a number, a place under a hierarchy, a job without one, and a sensitive number."""
    rows = draw(st.integers(least, most))

    def column(numbers):
        return draw(st.lists(numbers, min_size=rows, max_size=rows))

    return pl.DataFrame(
        {
            "id": draw(st.permutations([f"zq{n}" for n in range(rows)])),
            "age": column(st.integers(18, 30)),
            "place": [PLACES[n] for n in column(st.integers(0, 4))],
            "job": ["bcde"[n] for n in column(st.integers(0, 3))],
            "ill": column(st.integers(0, values - 1)),
        },
        schema_overrides={"age": pl.Int64, "ill": pl.Int64},
    )


def groups_of(release) -> list[list]:
    """The values of each published group, from the rows or counts alone."""
    if release.kind == "bucketized":
        found: dict = {}
        for group, value, n in release.counts().iter_rows():
            found.setdefault(group, []).extend([value] * n)
        return list(found.values())
    rows = release.to_frame()
    cells: dict = {}
    for row in rows.iter_rows(named=True):
        cells.setdefault(tuple(row[c] for c in release.roles.quasi), []).append(row.get("ill"))
    return list(cells.values())


def satisfies(criterion, groups: list[list], table: list) -> bool:
    """The criterion by its definition."""
    kind = type(criterion).__name__
    return all(_one(kind, criterion, values, table) for values in groups)


def _one(kind, criterion, values, table) -> bool:
    count = Counter(values)
    most, n = max(count.values()), len(values)
    match kind:
        case "KAnonymity":
            return n >= criterion.k
        case "DistinctLDiversity":
            return len(count) >= criterion.l
        case "FrequencyLDiversity":
            return most * Fraction(str(criterion.l)) <= n
        case "EntropyLDiversity":
            return oracle.entropy_holds(values, criterion.l)
        case "RecursiveLDiversity":
            return oracle.recursive_holds(values, Fraction(str(criterion.c)), criterion.l)
        case "AlphaKAnonymity":
            return n >= criterion.k and Fraction(most, n) <= Fraction(str(criterion.alpha))
        case "TCloseness":
            p, q = oracle.shares(values), oracle.shares(table)
            return sum(abs(p.get(v, 0) - q[v]) for v in q) / 2 <= Fraction(str(criterion.t))
        case "BetaLikeness":
            return oracle.beta(values, table, enhanced=False) <= criterion.beta + 1e-9
        case "DeltaDisclosure":
            return oracle.disclosure(values, table, occurring=criterion.occurring) < criterion.delta + 1e-9
        case "MUniqueness":
            return n >= criterion.m and most == 1
        case "Dissimilarity":
            near = oracle.most_neighbours(values, oracle.decimal_near(criterion.epsilon))
            room = (1 - Fraction(str(criterion.delta))) * (n - 1)
            return n >= criterion.k and (near < room if criterion.strict else near <= room)
    raise AssertionError(f"no independent check of {kind}")


def fits(cell: str, value) -> bool:
    """Whether a printed cell covers a value, read by hand."""
    if cell in ("*", str(value), "all"):
        return True
    if cell.startswith("{"):
        return str(value) in cell.strip("{}").split(", ")
    if cell.startswith("["):
        low, high = (float(x) for x in cell.strip("[]").split(", "))
        return low <= value <= high
    if cell.startswith("<="):
        return value <= float(cell[2:])
    if cell.startswith(">="):
        return value >= float(cell[2:])
    return value in TREE.get(cell, {})


def covered(release, table: pl.DataFrame) -> bool:
    """Whether the cells of everybody's own group cover everybody's own values, by hand and by the register."""
    link = dict(release.groups().iter_rows())
    shown = {row[0]: row[1:] for row in release.cells().iter_rows()}
    quasi = release.roles.quasi
    for row in table.iter_rows(named=True):
        if row["id"] not in link:
            continue
        cells = shown[link[row["id"]]]
        if not all(fits(cell, row[c]) for cell, c in zip(cells, quasi, strict=True)):
            return False
    found = locate(release, "the release", Register.of(table.select("id", *quasi), id="id")).candidates
    labels = release.labels.to_list()
    ids = table["id"].to_list()
    return all(link[ids[i]] in {labels[g] for g in found.of(i).tolist()} for i in range(len(ids)) if ids[i] in link)
