"""Partition-based and noisy releases of Adult side by side: python -m benchmarks.noise_composition [DATA] [--rows 3000] [--plot]

DATA (or SHOWTHROUGH_DATA) is the folder with adult/adult_kdd08.csv.gz. Anatomy releases of the same persons are made independently
of each other; so are tables of noisy counts of occupation by sex and age (in decades), read with a register of everybody's
quasi-identifiers. ε is the one with which a noisy table answers random counting queries (occupation, sex and a range of decades)
with the same mean error as one Anatomy release. After 1, 2, 5 and 10 releases of each: in how many persons a reader can be certain, or
at least 90 % or 50 % sure, the mean of everybody's largest posterior, and the ε of all noisy releases together. A reader who knows the
shares of occupations before is given as row 0. Noise is OpenDP's where it is installed. --plot writes results/composition.svg.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.definetti import adult
from benchmarks.noisy_intervals import noise

RESULTS = Path(__file__).parent / "results"
STEPS = (1, 2, 5, 10)


def anatomy(table: pl.DataFrame, l: int, seed: int) -> st.Release:
    """One release with ids, made without looking at others."""
    return st.anonymize(
        table, method="anatomy", id="pid", sensitive="occupation", quasi=["sex", "decade"],
        criteria=[st.FrequencyLDiversity(l)], publish_ids=True, seed=seed, name=f"A{seed + 1}",
    )  # fmt: skip


def counts(table: pl.DataFrame) -> pl.DataFrame:
    """The true counts of all cells and values of the domain."""
    cells = table.select("sex").unique().join(table.select("decade").unique(), how="cross")
    whole = cells.join(table.select("occupation").unique(), how="cross").sort("sex", "decade", "occupation")
    return whole.join(
        table.group_by("sex", "decade", "occupation").len("n"), on=["sex", "decade", "occupation"], how="left"
    ).with_columns(pl.col("n").fill_null(0).cast(pl.Int64))


def noisy(true: pl.DataFrame, scale: float, number: int, rng: np.random.Generator) -> st.Release:
    """One table with geometric noise."""
    drawn = true["n"].to_numpy() + noise(rng, "geometric", scale, true.height)
    frame = true.drop("n").with_columns(pl.Series("count", drawn))
    return st.Release.noisy(
        frame,
        sensitive="occupation",
        quasi=["sex", "decade"],
        mechanism="geometric",
        scale=scale,
        neighbours="replace-one",
        name=f"N{number}",
    )


def queries(table: pl.DataFrame, rng: np.random.Generator, many: int = 400) -> list[tuple[str, str, list[str]]]:
    """Occupation, sex, and neighbouring decades."""
    jobs, sexes, decades = (sorted(table[c].unique()) for c in ("occupation", "sex", "decade"))
    found = []
    for _ in range(many):
        low, high = np.sort(rng.integers(0, len(decades), 2))
        found.append((str(rng.choice(jobs)), str(rng.choice(sexes)), decades[low : high + 1]))
    return found


def cell_estimates(release: st.Release, table: pl.DataFrame) -> pl.DataFrame:
    """What an Anatomy release makes of each cell and value: persons of the cell by the shares of their groups."""
    shares = (
        release.counts().with_columns(p=pl.col("n") / pl.col("n").sum().over("group")).select("group", "value", "p")
    )
    where = release.groups().join(table.select(pl.col("pid").alias("id"), "sex", "decade"), on="id")
    return (
        where.join(shares, on="group").group_by("sex", "decade", occupation="value").agg(pl.col("p").sum().alias("n"))
    )


def error(estimate: pl.DataFrame, true: pl.DataFrame, asked: list[tuple[str, str, list[str]]]) -> float:
    """The mean absolute error of counting queries."""
    keys = ["sex", "decade", "occupation"]
    off = true.join(estimate.select(*keys, pl.col("n").alias("told")), on=keys, how="left").with_columns(
        off=pl.col("told").fill_null(0.0) - pl.col("n")
    )
    at = {key: own for *key, own in off.select(*keys, "off").iter_rows() for key in [tuple(key)]}
    return float(np.mean([abs(sum(at[sex, d, job] for d in decades)) for job, sex, decades in asked]))


def matched(
    true: pl.DataFrame, asked: list[tuple[str, str, list[str]]], goal: float, rng: np.random.Generator
) -> float:
    """The scale of noise with the error of the goal: the error grows with the scale."""
    low, high = 0.1, 1000.0
    for _ in range(12):
        scale = (low * high) ** 0.5
        tables = [
            true.with_columns(n=true["n"] + pl.Series(noise(rng, "geometric", scale, true.height))) for _ in range(5)
        ]
        mean = float(np.mean([error(one, true, asked) for one in tables]))
        low, high = (scale, high) if mean < goal else (low, scale)
    return (low * high) ** 0.5


def figures(kind: str, releases: int, largest: np.ndarray, certain: int, epsilon: float | None) -> dict[str, object]:
    """One row of the table."""
    known = largest[~np.isnan(largest)]
    return {
        "kind": kind,
        "releases": releases,
        "certain %": 100 * certain / largest.size,
        "≥ 90 % sure %": 100 * float((known >= 0.9).sum()) / largest.size,
        "≥ 50 % sure %": 100 * float((known >= 0.5).sum()) / largest.size,
        "mean largest p": float(known.mean()),
        "total ε": epsilon,
    }


def experiment(table: pl.DataFrame, l: int, seed: int) -> pl.DataFrame:
    """All rows."""
    rng = np.random.default_rng(seed)
    true, asked = counts(table), queries(table, rng)
    partitions = [anatomy(table, l, k) for k in range(max(STEPS))]
    goal = error(cell_estimates(partitions[0], table), true, asked)
    scale = matched(true, asked, goal, rng)
    tables = [noisy(true, scale, k + 1, rng) for k in range(max(STEPS))]
    print(
        f"{table.height} persons, Anatomy l = {l}: mean query error {goal:.2f}; noise of scale {scale:.2f}, ε = {2 / scale:.3f} each"
    )
    shares = table["occupation"].value_counts(normalize=True)
    prior = pl.DataFrame({"value": shares["occupation"], "p": shares["proportion"].round(6)})
    believed = table.select(pl.col("pid").alias("id")).join(prior, how="cross")
    register = table.select(pl.col("pid").alias("id"), "sex", "decade")
    rows = [figures("nothing", 0, np.full(table.height, float(shares["proportion"].max())), 0, None)]
    for many in STEPS:
        post = st.infer(partitions[:many])
        rows.append(figures("Anatomy", many, post.largest(), int(post.certain().sum()), None))
        post = st.infer(tables[:many], register=register, prior=believed)
        rows.append(figures("noisy", many, post.largest(), int(post.certain().sum()), many * 2 / scale))
        print(rows[-2], rows[-1], sep="\n", flush=True)
    return pl.DataFrame(rows)


def plot(rows: pl.DataFrame) -> None:
    """The share of persons about whom a reader is at least 90 % sure, and the mean largest posterior."""
    import vl_convert

    long = rows.filter(pl.col("releases") > 0).unpivot(
        ["≥ 90 % sure %", "certain %"], index=["kind", "releases"], variable_name="measure"
    )
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 520,
        "height": 320,
        "title": "Persons exposed by independent releases of Adult, at the same query error",
        "data": {"values": long.to_dicts()},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "releases", "type": "quantitative", "axis": {"values": list(STEPS)}},
            "y": {"field": "value", "type": "quantitative", "title": "% of persons", "scale": {"domain": [0, 100]}},
            "color": {"field": "kind", "type": "nominal", "title": None},
            "strokeDash": {"field": "measure", "type": "nominal", "title": None},
        },
    }
    (RESULTS / "composition.svg").write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=os.environ.get("SHOWTHROUGH_DATA"))
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--l", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", action="store_true")
    given = parser.parse_args()
    table = adult(Path(given.data)).sample(given.rows, seed=given.seed)
    table = table.select("pid", "sex", (pl.col("age") // 10 * 10).cast(pl.String).alias("decade"), "occupation")
    rows = experiment(table, given.l, given.seed)
    with pl.Config(tbl_cols=-1, tbl_rows=-1, tbl_width_chars=160):
        print(rows)
    if given.plot:
        rows.write_csv(RESULTS / "composition.csv")
        plot(rows)


if __name__ == "__main__":
    main()
