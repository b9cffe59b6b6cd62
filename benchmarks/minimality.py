"""Minimality on Adult: credibility by replay of Mondrian, beside what the release says alone.

    python -m benchmarks.minimality [DATA] [--rows 30162] [--k 5] [--l 4] [--seconds 300] [--seed 0]

DATA (or SHOWTHROUGH_DATA) is the folder with adult/adult_kdd08.csv.gz. The release is k-anonymous and distinct l-diverse
with seven quasi-identifiers; every replay publishes the whole table again.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import polars as pl

import showthrough as st
from benchmarks.definetti import QUASI, adult


def main() -> None:
    """Publish, replay, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=os.environ.get("SHOWTHROUGH_DATA"))
    parser.add_argument("--rows", type=int, default=30_162)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--l", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    table = adult(Path(given.data)).rename({"pid": "id"}).head(given.rows)
    arguments = {"method": "mondrian", "criteria": [st.KAnonymity(given.k), st.DistinctLDiversity(given.l)]}
    release = st.anonymize(table, id="id", sensitive="occupation", quasi=QUASI, name="M", **arguments)
    began = time.perf_counter()
    found = st.attacks.minimality(
        release, register=table.drop("occupation"), publish=arguments, seed=given.seed, seconds=given.seconds
    )
    print(f"{release}: {time.perf_counter() - began:.0f} s")
    print(found)
    truth = table.select("id", pl.col("occupation").alias("value"))
    known = found.people.filter(pl.col("p").is_not_null())
    print(
        st.attacks.Outcome("minimality", found.threat, known, found.rates, found.baseline, ("p", "release")).score(
            truth
        )
    )
    moved = known.group_by("id").agg((pl.col("p") - pl.col("release")).abs().max().alias("moved"))["moved"]
    for limit in (0.05, 0.1, 0.2):
        print(
            f"a credibility that differs by {limit} or more from the release's own: {int((moved >= limit).sum())} persons"
        )


if __name__ == "__main__":
    main()
