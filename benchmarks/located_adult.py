"""Generalized releases of Adult read by somebody with a register: persons fit several groups of every release.

    python -m benchmarks.located_adult DATA [--rows 10000] [--releases 3] [--method mondrian-relaxed] [--k 10]
        [--seed 0] [--present]

DATA is the folder with adult/adult_kdd08.csv.gz. Each release holds so many persons drawn at random from the
30 162; the register holds all of them with their exact quasi-identifiers, and with ``--present`` who is in
which release. Prints the status, time and memory, and the number of combinations of groups that the
candidates stand for.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
import polars as pl

import showthrough as st


def main() -> None:
    """Make the releases, infer, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--method", default="mondrian-relaxed")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--present", action="store_true")
    given = parser.parse_args()
    table = pl.read_csv(given.data / "adult" / "adult_kdd08.csv.gz", infer_schema=False).with_row_index("pid")
    table = table.with_columns(pl.col("pid").cast(pl.String), pl.col("age").cast(pl.Int64))
    quasi = [c for c in table.columns if c not in ("pid", "occupation")]
    rng = np.random.default_rng(given.seed)
    releases, present = [], {}
    for r in range(given.releases):
        chosen = np.sort(rng.choice(table.height, given.rows, replace=False))
        present[f"in_D{r + 1}"] = pl.Series(np.isin(np.arange(table.height), chosen).astype(int))
        made = st.anonymize(
            table[chosen], method=given.method, id="pid", sensitive="occupation", quasi=quasi,
            criteria=[st.KAnonymity(given.k)], seed=given.seed + r, name=f"D{r + 1}",
        )  # fmt: skip
        releases.append(made)
    register = table.select("pid", *quasi).rename({"pid": "id"})
    if given.present:
        register = register.with_columns(**present)
    before = time.process_time(), time.perf_counter()
    post = st.infer(releases, register=register, progress=lambda stage: print(f"  {stage}", flush=True))
    cpu, wall = time.process_time() - before[0], time.perf_counter() - before[1]
    c = post.certificate
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{given.releases} x {given.rows} {given.method} k = {given.k}, present {given.present}, seed {given.seed}: {c}"
    )
    print(
        f"{c.persons} persons, {c.variables} variables, {post._solved.problem.rows.candidates} candidates, "
        f"{c.proven_zeros} impossible, {c.proven_ones} certain, {c.suspected_zeros} suspected; {cpu:.1f} CPU s, "
        f"{wall:.1f} s, {memory:.2f} GB; {dict(c.seconds)}"
    )
    print(f"combinations of groups and values: {combinations(post):.3g}")


def combinations(post: st.Posterior) -> float:
    """How many variables there would be with one for each combination of groups."""
    rows = post._solved.problem.rows
    product = np.ones(rows.variables)
    for own in rows.seats:
        product *= np.diff(own.start)
    return float(product.sum())


if __name__ == "__main__":
    main()
