"""How long proofs are in located histories: as the log of the search tells them, and as they are told.

    python -m benchmarks.proofs DATA [--rows 2000] [--facts 50]

DATA is the folder with adult/adult_kdd08.csv.gz. For several located histories of Adult (the register holds
everybody's quasi-identifiers and who is in which release) facts proven by counts are drawn at random; printed are the
characters, counts and CPU seconds of their proofs, median and worst, without a search (``seconds=0``) and with it, and
how many were verified.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl

import showthrough as st

HISTORIES = (("local-recoding", 2, 10, 0), ("local-recoding", 3, 5, 1), ("mondrian-relaxed", 3, 3, 0))


def main() -> None:
    """Measure every history."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--facts", type=int, default=50)
    given = parser.parse_args()
    table = pl.read_csv(given.data / "adult" / "adult_kdd08.csv.gz", infer_schema=False).with_row_index("pid")
    table = table.with_columns(pl.col("pid").cast(pl.String), pl.col("age").cast(pl.Int64))
    for method, count, k, seed in HISTORIES:
        releases, register = located(table, method, count, k, seed, given.rows)
        post = st.infer(releases, register=register)
        facts = post.proven().filter(pl.col("by") == "counts")
        drawn = facts.sample(min(given.facts, facts.height), seed=1).rows(named=True)
        print(f"{count} x {given.rows} {method} k = {k}, seed {seed}: {facts.height} facts, {len(drawn)} drawn")
        for name, seconds in (("log", 0.0), ("told", 10.0)):
            show(name, [measured(post, row, seconds, releases, register) for row in drawn])


def located(
    table: pl.DataFrame, method: str, count: int, k: int, seed: int, rows: int
) -> tuple[list[st.Release], pl.DataFrame]:
    """Releases of persons drawn at random, and a register that knows who is in which."""
    quasi = [c for c in table.columns if c not in ("pid", "occupation")]
    rng = np.random.default_rng(seed)
    releases, present = [], {}
    for r in range(count):
        chosen = np.sort(rng.choice(table.height, rows, replace=False))
        present[f"in_D{r + 1}"] = pl.Series(np.isin(np.arange(table.height), chosen).astype(int))
        made = st.anonymize(
            table[chosen], method=method, id="pid", sensitive="occupation", quasi=quasi,
            criteria=[st.KAnonymity(k)], seed=seed + r, name=f"D{r + 1}",
        )  # fmt: skip
        releases.append(made)
    return releases, table.select("pid", *quasi).rename({"pid": "id"}).with_columns(**present)


def measured(
    post: st.Posterior, row: dict[str, str], seconds: float, releases: list[st.Release], register: pl.DataFrame
) -> tuple[int, int, int, float, bool]:
    """Characters in short and at length, counts, CPU seconds, and whether the proof verifies."""
    start = time.process_time()
    proof = post.explain(row["id"], row["value"], seconds=seconds)
    cpu = time.process_time() - start
    counts = sum(len(step.rows) for step in proof.steps)
    return len(str(proof)), len(proof.full), counts, cpu, proof.verify(releases, register=register)


def show(name: str, found: list[tuple[int, int, int, float, bool]]) -> None:
    """Median and worst."""
    short, full, counts, cpu, verified = (np.array(column) for column in zip(*found, strict=True))
    print(
        f"  {name}: characters {np.median(short):.0f}, worst {short.max()}; at length {np.median(full):.0f}, worst "
        f"{full.max()}; counts {np.median(counts):.0f}, worst {counts.max()}; CPU s {np.median(cpu):.2f}, worst "
        f"{cpu.max():.2f}; {verified.sum()} of {verified.size} verified",
        flush=True,
    )


if __name__ == "__main__":
    main()
