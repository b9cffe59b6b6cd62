"""deFinetti on Adult: how many persons are guessed right, how calibrated the beliefs are, and how long it takes.

    python -m benchmarks.definetti [DATA] [--seeds 0 1] [--l 3 5] [--seconds 600] [--pooled]

DATA (or SHOWTHROUGH_DATA) is the folder with adult/adult_kdd08.csv.gz: 30 162 persons with seven quasi-identifiers and their
occupation. One Anatomy release for each l and seed; margins over 1/l and over the one-shot classifier have 95 % intervals
of paired differences. ``--pooled`` compares one release with two of the same persons.
"""

from __future__ import annotations

import argparse
import os
import time
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl

import showthrough as st

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]


def adult(data: Path) -> pl.DataFrame:
    """Everybody with an id."""
    table = pl.read_csv(data / "adult" / "adult_kdd08.csv.gz", infer_schema=False).with_row_index("pid")
    return table.with_columns(pl.col("pid").cast(pl.String), pl.col("age").cast(pl.Int64))


def released(table: pl.DataFrame, l: int, seed: int) -> st.Release:
    """An Anatomy release with ids."""
    return st.anonymize(
        table, method="anatomy", id="pid", sensitive="occupation", quasi=QUASI,
        criteria=[st.FrequencyLDiversity(l)], publish_ids=True, seed=seed, name=f"l{l}s{seed}",
    )  # fmt: skip


def hits(people: pl.DataFrame, belief: str, truth: pl.DataFrame) -> pl.DataFrame:
    """Per person: how likely the guess is right (ties are shared)."""
    best = pl.col(belief) >= pl.col(belief).max() - 1e-9
    right = pl.col("value") == pl.col("true")
    joined = people.join(truth, on="id")
    return joined.group_by("id").agg((right & best).sum().truediv(best.sum()).alias(belief))


def margin(people: pl.DataFrame, one: str, other: str, truth: pl.DataFrame) -> str:
    """The mean difference between two beliefs over the same persons, with its interval."""
    both = hits(people, one, truth).join(hits(people, other, truth), on="id")
    d = (both[one] - both[other]).to_numpy()
    reach = 1.96 * float(d.std(ddof=1)) / sqrt(d.size)
    return f"{100 * d.mean():+.1f} ({100 * (d.mean() - reach):+.1f} to {100 * (d.mean() + reach):+.1f}) points"


def main() -> None:
    """Attack, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=os.environ.get("SHOWTHROUGH_DATA"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--l", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--methods", nargs="+", default=["em", "gibbs"])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--pooled", action="store_true")
    given = parser.parse_args()
    table = adult(Path(given.data))
    truth = table.select(pl.col("pid").alias("id"), pl.col("occupation").alias("true"))
    scored = truth.rename({"true": "value"})
    for l in given.l:
        for seed in given.seeds:
            release = released(table, l, seed)
            for method in given.methods:
                began = time.perf_counter()
                found = st.attacks.definetti(release, seed=seed, method=method, seconds=given.seconds)
                wall = time.perf_counter() - began
                print(f"l = {l}, seed {seed}, {method}: {wall:.0f} s; {found.notes[-1]}")
                print(f"  weight of the calibrated variant {found.weight:.3f}")
                for row in found.score(scored).table.iter_rows(named=True):
                    print(
                        f"  {row['belief']:10s} {100 * row['accuracy']:.1f} % right ({100 * row['low']:.1f} to "
                        f"{100 * row['high']:.1f}), calibration error {row['calibration_error']:.3f}, most confident "
                        f"tenth {100 * row['decile']:.1f} %"
                    )
                for belief in ("p", "calibrated"):
                    print(f"  {belief}: over 1/l {margin(found.people, belief, 'release', truth)},", end=" ")
                    print(f"over one-shot {margin(found.people, belief, 'one_shot', truth)}", flush=True)
            if given.pooled:
                pooled(table, release, l, seed, scored)


def pooled(table: pl.DataFrame, release: st.Release, l: int, seed: int, truth: pl.DataFrame) -> None:
    """The persons of one release, read with and without a second release of half of them."""
    rng = np.random.default_rng(seed)
    half = table[np.sort(rng.choice(table.height, table.height // 2, replace=False))]
    second = released(half, l, seed + 1000)
    began = time.perf_counter()
    both = st.attacks.definetti([release, second], method="em")
    wall = time.perf_counter() - began
    alone = st.attacks.definetti(release, method="em")
    for name, found in (("one release", alone), ("two releases", both)):
        for row in found.score(truth, beliefs=["p", "calibrated", "release"]).table.iter_rows(named=True):
            print(
                f"  {name}, {row['belief']:10s} {100 * row['accuracy']:.1f} % right, calibration error {row['calibration_error']:.3f}"
            )
    print(f"  pooled in {wall:.0f} s", flush=True)


if __name__ == "__main__":
    main()
