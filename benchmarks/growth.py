"""How time, passes and memory grow with the number of persons: python -m benchmarks.growth [--quick]

Each size runs in a process of its own. Writes benchmarks/results/growth.csv.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

RESULTS = Path(__file__).parent / "results"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def measure(*arguments: object) -> dict[str, object]:
    """Run benchmarks.measure and read its line."""
    command = [sys.executable, "-m", "benchmarks.measure", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Two releases of growing size, five releases, and a history that keeps its groups."""
    quick = "--quick" in sys.argv
    rows = []
    for n in SIZES[:3] if quick else SIZES:
        rows.append(measure("independent", n, 8))
        print(_line(rows[-1]), flush=True)
    persons = np.log([float(str(r["persons"])) for r in rows])
    passes = np.log([float(str(r["passes"])) for r in rows])
    print(f"passes grow with exponent {np.polyfit(persons, passes, 1)[0]:.3f}")
    rows.append(measure("independent", 20_000 if quick else 200_000, 8, "--releases", 5))
    print(_line(rows[-1]), flush=True)
    rows.append(measure("history-guided", 1_000_000 if quick else 10_000_000, 5))
    print(_line(rows[-1]), flush=True)
    if not quick:
        RESULTS.mkdir(exist_ok=True)
        pl.DataFrame(rows, infer_schema_length=None).write_csv(RESULTS / "growth.csv")


def _line(row: dict[str, object]) -> str:
    seconds = float(str(row["seconds"]))
    floor = float(str(row.get("pass_seconds") or row["join_seconds"]))
    of = "one pass" if "pass_seconds" in row else "a Polars join"
    return (
        f"{row['kind']}, {row['releases']} releases of {row['persons']:,}, l = {row['l']}: "
        f"{row['variables']:,} variables, "
        f"{seconds:.1f} s = {seconds / floor:.0f} x {of} ({floor:.3f} s), {row['passes']} passes, "
        f"{float(str(row['peak_mb'])):.0f} MB, {row['status']}, gap {float(str(row['gap'])):.0e}"
    )


if __name__ == "__main__":
    main()
