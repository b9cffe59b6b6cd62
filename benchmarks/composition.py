"""The intersection attack on Adult and IPUMS as in the composition paper (Ganta et al., KDD 2008, section 3).

    python -m benchmarks.composition DATA [--seeds 3] [--rows 10000] [--k 5]

DATA holds adult/ and ipums/ with their hierarchies. Two random subsets with 5 000 persons in both are anonymized
independently; everybody's group is known, as the paper assumes. Prints the mean over seeds of the percentages: perfect
breach, confidence of 25 % or more, vulnerable, and already homogeneous in one release; and average group sizes. The
textbook's Mondrian stands beside the package's own, which makes smaller groups: how much an attack finds depends on it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.textbook_mondrian import groups_of

BOTH = 5_000
SETS = {
    "adult": ("adult/adult_kdd08.csv.gz", "occupation"),
    "ipums": ("ipums/ipums_la_97_kdd08.csv", "occ1950"),
}
METHODS = ("textbook", "textbook, relaxed", "mdav", "mondrian", "mondrian-relaxed")
BANDS: dict[tuple[str, str], tuple[tuple[int, int], tuple[int, int] | None]] = {
    ("adult", "textbook"): ((2, 5), (55, 66)),
    ("ipums", "textbook"): ((42, 50), (80, 88)),
    ("adult", "textbook, relaxed"): ((8, 15), (93, 99)),
    ("ipums", "textbook, relaxed"): ((52, 60), (96, 100)),
    ("adult", "mdav"): ((14, 24), None),
    ("ipums", "mdav"): ((56, 66), None),
}
"""Where perfect breach and 25 % lie by independent scripts at k = 5 and 10 000 rows."""


def table_of(data: Path, name: str) -> tuple[pl.DataFrame, str, dict[str, st.Hierarchy]]:
    """A table with ids, its sensitive column, and the hierarchies of its quasi-identifiers."""
    file, sensitive = SETS[name]
    table = pl.read_csv(data / file, infer_schema=False).with_row_index("id")
    table = table.with_columns(pl.col("id").cast(pl.String))
    quasi = [c for c in table.columns if c not in ("id", sensitive)]
    trees = {c: st.Hierarchy.read(data / name / "hierarchies" / f"{c}.csv") for c in quasi}
    return table, sensitive, trees


def release_of(rows: pl.DataFrame, sensitive: str, trees: dict[str, st.Hierarchy], how: str, given: Any) -> st.Release:
    """One anonymization: strict with hierarchies but for the age, relaxed on ordered codes, or by distance."""
    numbered = rows.with_columns(pl.col("age").cast(pl.Int64))
    shared: dict[str, Any] = {
        "id": "id", "sensitive": sensitive, "quasi": list(trees), "criteria": [st.KAnonymity(given.k)], "seed": 0,
    }  # fmt: skip
    kept = {column: tree for column, tree in trees.items() if column != "age"}
    if how == "mondrian":
        return st.anonymize(numbered, method=how, hierarchies=kept, **shared)
    if not how.startswith("textbook"):
        return st.anonymize(numbered, method=how, **shared)
    relaxed = how.endswith("relaxed")
    cut = {column: None if relaxed else kept.get(column) for column in trees}
    group = groups_of(rows, cut, given.k, relaxed=relaxed)
    told = rows.select("id", sensitive).with_columns(group=pl.Series(group))
    return st.Release.bucketized(told, id="id", sensitive=sensitive, group="group", quasi=[])


def main() -> None:
    """One line per table and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    print(
        "| table | method | perfect % | at 25 % | vulnerable % | homogeneous % | group size | anonymity before, after |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in SETS:
        table, sensitive, trees = table_of(given.data, name)
        for how in METHODS:
            figures = []
            for seed in range(given.seeds):
                drawn = np.random.default_rng(seed).permutation(table.height)
                second = np.concatenate([drawn[:BOTH], drawn[given.rows : 2 * given.rows - BOTH]])
                mixed = np.random.default_rng(seed + 1).permutation(second)
                pair = [release_of(table[rows], sensitive, trees, how, given) for rows in (drawn[: given.rows], mixed)]
                start = time.perf_counter()
                a = st.attacks.intersection(pair)
                seconds = time.perf_counter() - start
                size, before = a.averages["group size"].mean(), a.people["prior"].mean()
                after = a.people["posterior"].mean()
                figures.append((a.perfect, a.at(0.25), a.vulnerable, a.homogeneous, size, before, after, seconds))
            mean = np.mean(np.array(figures, dtype=float), axis=0)
            told = " | ".join(f"{figure:.1f}" for figure in mean[:5])
            print(
                f"| {name} | {how} | {told} | {mean[5]:.2f}, {mean[6]:.2f} | {_band(name, how, mean, given)}",
                flush=True,
            )


def _band(name: str, how: str, mean: Any, given: Any) -> str:
    """Whether the figures lie where independent scripts put them."""
    if (given.k, given.rows) != (5, 10_000) or (name, how) not in BANDS:
        return ""
    perfect, quarter = BANDS[name, how]
    ends = [(mean[0], perfect), *([(mean[1], quarter)] if quarter else [])]
    inside = all(low <= figure <= high for figure, (low, high) in ends)
    return f"{'inside' if inside else 'outside'} {' and '.join(f'{low}–{high}' for _, (low, high) in ends)}"


if __name__ == "__main__":
    main()
