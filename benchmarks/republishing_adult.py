"""Strategies for the next release on Adult: what each tells, and what it costs.

    python -m benchmarks.republishing_adult DATA [--rows 7200] [--results FILE]

DATA is the folder with adult/adult_kdd08.csv.gz. Four releases of 7 200 records with the occupation as
value, each keeps 6 000 persons of the one before (l = 2, 3, 5); then all 30 162 records against five
earlier releases of 25 000. Persons over 1/l are counted by a full inference of every prefix. Every
finished case is written to the results at once and is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from showthrough import FrequencyLDiversity, Policy, Release, anonymize, infer, utility
from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import Reading, gcp

STRATEGIES = ("independent", "m-invariance", "guarded")
SLACK = 2e-5


def tables(frame: pl.DataFrame, rows: int, overlap: int, releases: int) -> list[pl.DataFrame]:
    """Tables of so many rows that share so many persons with the table before."""
    random = np.random.default_rng(0)
    order = random.permutation(frame.height)
    here, unseen = order[:rows], order[rows:]
    found = [here]
    for _ in range(releases - 1):
        come, unseen = unseen[: rows - overlap], unseen[rows - overlap :]
        here = np.concatenate([random.choice(here, overlap, replace=False), come])
        found.append(here)
    return [frame[rows_of] for rows_of in found]


def next_release(
    table: pl.DataFrame, history: list[Release], strategy: str, l: int, base: str
) -> tuple[Release, float]:
    """One release and the seconds it took."""
    quasi = [c for c in table.columns if c not in ("pid", "occupation")]
    more: dict[str, Any] = {"policy": Policy(max_posterior=1 / l)} if strategy == "guarded" else {}
    began = time.perf_counter()
    release = anonymize(
        table, method=base, id="pid", sensitive="occupation", quasi=quasi, strategy=strategy, output="bucketized",
        criteria=[FrequencyLDiversity(l)], history=history, name=f"R{len(history) + 1}", hold_back=True, **more,
    )  # fmt: skip
    return release, time.perf_counter() - began


def figures(table: pl.DataFrame, history: list[Release], l: int) -> dict[str, Any]:
    """What the newest release costs, and whom the history up to it puts over 1/l."""
    release = history[-1]
    post = infer(history)
    top = post.largest()
    made = release.made
    lost = utility(release, table, id="pid", workload=1000)
    grouping = Grouping.of_release(table, release, id="pid")
    return {
        "persons": post.ids.len(),
        "over": int((top > 1 / l + SLACK).sum()),
        "certain": post.certificate.proven_ones,
        "largest": float(top.max()),
        "counterfeits": made.counterfeits,
        "withheld": made.suppressed,
        "gcp_of_groups": gcp(grouping, Reading("set", numeric=("age",))),
        "query_error": lost.query_error_median,
    }


def series(frame: pl.DataFrame, strategy: str, l: int, rows: int, base: str) -> list[dict[str, Any]]:
    """Four releases by one strategy."""
    history: list[Release] = []
    found = []
    for table in tables(frame, rows, rows * 5 // 6, 4):
        release, seconds = next_release(table, history, strategy, l, base)
        history.append(release)
        found.append(figures(table, history, l) | {"seconds": round(seconds, 2)})
        print(strategy, l, base, found[-1], flush=True)
    return found


def whole(frame: pl.DataFrame, l: int) -> dict[str, Any]:
    """All of Adult against five earlier releases of 25 000 records."""
    history: list[Release] = []
    random = np.random.default_rng(1)
    for _ in range(5):
        rows = random.choice(frame.height, 25_000, replace=False)
        history.append(next_release(frame[rows], history, "m-invariance", l, "anatomy")[0])
    release, seconds = next_release(frame, history, "guarded", l, "anatomy")
    history.append(release)
    return figures(frame, history, l) | {"seconds": round(seconds, 2)}


def main() -> None:
    """Run what is missing in the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=7200)
    parser.add_argument("--results", type=Path, default=Path("republishing.json"))
    options = parser.parse_args()
    frame = pl.read_csv(options.data / "adult" / "adult_kdd08.csv.gz", infer_schema=False).with_row_index("pid")
    frame = frame.with_columns(pl.col("pid").cast(pl.String), pl.col("age").cast(pl.Int64))
    done = json.loads(options.results.read_text()) if options.results.exists() else {}
    cases: dict[str, Any] = {
        f"{strategy}, l = {l}, {base}": (lambda s=strategy, k=l, b=base: series(frame, s, k, options.rows, b))
        for l in (2, 3, 5)
        for strategy in STRATEGIES
        for base in (("anatomy",) if strategy == "m-invariance" else ("anatomy", "mondrian"))
    }
    cases |= {f"whole table, l = {l}": (lambda k=l: whole(frame, k)) for l in (3, 5)}
    for name, run in cases.items():
        if name not in done:
            done[name] = run()
            options.results.write_text(json.dumps(done, indent=1))


if __name__ == "__main__":
    main()
