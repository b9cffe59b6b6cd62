"""The guard against readers who locate persons, on Adult: whom a third release puts over a limit, and at what price.

    python -m benchmarks.located_guard DATA [--rows 3000] [--shared 2500] [--k 10] [--l 2] [--seconds 600] [--seed 0]

DATA is the folder with adult/adult_kdd08.csv.gz. Two local recodings without a look at each other, each release with
so many persons of the one before; then a third, without a look at them, guarded (records may be held back), and by best
effort. Persons over 1/l are counted by a fresh inference with the quasi-identifiers of the newest table, beyond those
whom the first two releases put over it.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.republishing_adult import tables
from showthrough import FrequencyLDiversity, KAnonymity, Policy, Release, anonymize
from showthrough.anonymizers.table import Shape, prepare
from showthrough.errors import PolicyError
from showthrough.republishing.located_view import located_view
from showthrough.republishing.past import Past


def main() -> None:
    """Make the releases, count, print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    for name, default in (("rows", 3000), ("shared", 2500), ("k", 10), ("l", 2), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    frame = pl.read_csv(given.data / "adult" / "adult_kdd08.csv.gz", infer_schema=False).with_row_index("pid")
    frame = frame.with_columns(pl.col("pid").cast(pl.String), pl.col("age").cast(pl.Int64))
    frame = frame.sample(fraction=1.0, shuffle=True, seed=given.seed)
    quasi = [c for c in frame.columns if c not in ("pid", "occupation")]
    roles = {"id": "pid", "sensitive": "occupation", "quasi": quasi}
    criteria = [KAnonymity(given.k), FrequencyLDiversity(given.l)]
    every = tables(frame, given.rows, given.shared, 3)
    made: dict[str, Any] = {"method": "local-recoding", "criteria": criteria, "output": "generalized", **roles}
    history = [
        anonymize(t, seed=given.seed + k, name=f"R{k + 1}", **made)
        for k, t in enumerate(every[:2])
    ]  # fmt: skip
    table = prepare(every[2], shape=Shape(), **roles)  # type: ignore[arg-type]
    past = Past.of(table, history)
    began = time.process_time()
    before = located_view(table, history, 1 / given.l, past=past)
    first = {"release": "the first two", "over": before.over, "why not": before.reason}
    print(json.dumps(first | {"inference cpu": round(time.process_time() - began, 1)}), flush=True)

    def told(what: str, release: Release, cpu: float) -> None:
        began = time.process_time()
        seen = located_view(table, [*history, release], 1 / given.l, past=past).beyond(before)
        read = time.process_time() - began
        remarks = release.made.remarks
        error = next((r.figures.get("query_error") for r in remarks if "query_error" in r.figures), None)
        found = {
            "release": what, "newly over": seen.new, "why not": seen.reason, "groups": release.labels.len(),
            "withheld": release.made.suppressed, "counterfeits": release.made.counterfeits, "query error": error,
            "cpu": round(cpu, 1), "inference cpu": round(read, 1), "GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        }  # fmt: skip
        print(json.dumps(found), flush=True)

    began = time.process_time()
    told("without a look", anonymize(every[2], seed=given.seed + 2, name="R3", **made), time.process_time() - began)
    guard: dict[str, Any] = {
        "strategy": "guarded", "readers": "located", "history": history, "hold_back": True, "exposed": "accept",
        "policy": Policy(max_posterior=1 / given.l, integral="no"), "seconds": given.seconds, "name": "R3",
    }  # fmt: skip
    for what, effort in (("best effort", True), ("guarded", False)):
        began = time.process_time()
        try:
            release = anonymize(every[2], seed=given.seed + 2, best_effort=effort, **guard, **made)
        except PolicyError as problem:
            print(json.dumps({"release": what, "refused": problem.shareable}), flush=True)
            continue
        told(what, release, time.process_time() - began)


if __name__ == "__main__":
    main()
