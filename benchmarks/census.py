"""A census-like set: five tables of 40 000 cells over different columns and geographies, 10 % of the cells hidden.

Everybody stands in a register with exact quasi-identifiers and in one cell of every table. Counts from 1 to 4 are hidden
as `c`, at random, until a tenth of all cells is. Time and memory are those of this process: tables read, persons
located, inference, what is proven, quick bounds of everybody and of all cells, and sharp ends of cells in the time
given.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import polars as pl

import showthrough as st

VALUES = 10
TABLES = {
    "areas": {"area": 2000, "sex": 2},
    "wards": {"ward": 2000, "sex": 2},
    "ages": {"region": 20, "age": 100, "sex": 2},
    "districts": {"district": 400, "band": 10},
    "trades": {"schooling": 8, "trade": 25, "band20": 20},
}


def register(persons: int, rng: np.random.Generator) -> pl.DataFrame:
    """Persons with codes; places are nested, ages and bands agree, and so on."""
    area, age = _skewed(rng, 2000, persons), rng.integers(0, 100, persons)
    columns = {
        "area": area,
        "district": area // 5,
        "region": area // 100,
        "ward": (area + rng.integers(0, 3, persons)) % 2000,  # another geography, not nested
        "sex": rng.integers(0, 2, persons),
        "age": age,
        "band": age // 10,
        "band20": age // 5,
        "schooling": np.minimum(rng.geometric(0.4, persons) - 1, 7),
        "trade": _skewed(rng, 25, persons),
    }
    texts = {name: pl.Series([f"{name[0]}{c}" for c in codes]) for name, codes in columns.items()}
    return pl.DataFrame({"id": [f"p{k}" for k in range(persons)], **texts})


def _skewed(rng: np.random.Generator, size: int, persons: int) -> np.ndarray:
    """Codes of which the last is about ten times as frequent as the first."""
    share = np.geomspace(1.0, 10.0, size)
    return rng.choice(size, persons, p=share / share.sum())


def values(rng: np.random.Generator, persons: int, none: float) -> pl.Series:
    """Most persons have the first value, as of illnesses; the others are less and less frequent."""
    found = np.where(rng.random(persons) < none, 0, 1 + (rng.geometric(0.35, persons) - 1) % (VALUES - 1))
    return pl.Series("value", [f"v{v}" for v in found])


def table(people: pl.DataFrame, name: str, rng: np.random.Generator, totals: bool) -> tuple[pl.DataFrame, int, int]:
    """One table as printed, its cells, and how many are hidden."""
    columns = list(TABLES[name])
    counts = people.group_by([*columns, "value"]).agg(pl.len().alias("n")).sort([*columns, "value"])
    cells = int(np.prod(list(TABLES[name].values()))) * VALUES  # those that are not listed count nobody
    small = np.flatnonzero((counts["n"] <= 4).to_numpy())
    hidden = rng.choice(small, min(small.size, cells // 10), replace=False)
    mark = np.zeros(counts.height, dtype=bool)
    mark[hidden] = True
    printed = pl.when(pl.Series(mark)).then(pl.lit("c")).otherwise(pl.col("n").cast(pl.String)).alias("count")
    shown = counts.select(*columns, "value", printed)
    if totals:
        sums = people.group_by(columns).agg(pl.len().cast(pl.String).alias("count"))
        sums = sums.select(*columns, pl.lit("Total").alias("value"), "count").sort(columns)
        shown = pl.concat([shown, sums])
    return shown, cells, hidden.size


def main() -> None:
    """Run once and print a line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--persons", type=int, default=200_000)
    parser.add_argument(
        "--seconds", type=float, default=600.0, help="for the inference, and again for sharp ends of cells"
    )
    parser.add_argument("--none", type=float, default=0.8, help="share of persons with the commonest value")
    parser.add_argument("--totals", action="store_true", help="publish the total of every group, too")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    rng = np.random.default_rng(told.seed)
    people = register(told.persons, rng)
    people = people.with_columns(values(rng, told.persons, told.none))
    start = time.perf_counter()
    releases, cells, hidden = [], 0, 0
    for name in TABLES:
        shown, all_cells, away = table(people, name, rng, told.totals)
        cells, hidden = cells + all_cells, hidden + away
        options = {"suppressed": {"c": (1, 4)}, "totals": ["Total"] if told.totals else None}
        releases.append(st.Release.counted(shown, sensitive="value", name=name, **options))
    _say("read", start, f"{cells} cells, {hidden} hidden ({hidden / cells:.1%}), {told.persons} persons")
    start = time.perf_counter()
    post = st.infer(releases, register=people.drop("value"), seconds=told.seconds)
    found = post.certificate
    stages = ", ".join(f"{k} {v:.1f}" for k, v in found.seconds.items() if v >= 0.1)
    work = f"{found.newton_steps} steps, {found.passes} passes"
    _say("infer", start, f"{found.status}, {found.variables} variables, {found.rows} rows, {work}; {stages}")
    print(dict(found.persons_by_state))
    start = time.perf_counter()
    facts = post.fact_counts()
    _say("facts", start, f"{facts.certain} certain, {facts.impossible_by_counts} impossible by counts")
    truth = dict(zip(people["id"], people["value"], strict=True))
    wrong = sum(truth[i] != v for i, v, p in post.best().select("id", "value", "certain").rows() if p)
    print(f"certain and wrong: {wrong}")
    for seconds in (0.0, told.seconds):
        start = time.perf_counter()
        ends = post.cells(seconds=seconds)
        wide = ends.filter(pl.col("published_lower") < pl.col("published_upper"))
        known = int((wide["lower"] == wide["upper"]).sum())
        narrower = int((wide["upper"] - wide["lower"] < wide["published_upper"] - wide["published_lower"]).sum())
        sharp = int(wide["sharp"].sum())
        _say("cells", start, f"{wide.height} hidden: {known} follow, {narrower} narrower, {sharp} sharp")


def _say(stage: str, start: float, figures: str) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    peak = f"peak {used.ru_maxrss / 1024:.0f} MB, {spent:.0f} CPU s so far"
    print(f"{stage}: {time.perf_counter() - start:.1f} s, {peak}; {figures}", flush=True)


if __name__ == "__main__":
    main()
