"""Fuzz the command: ``python -m tests.fuzzing --cases 50000 --seed 7``; one case again with ``--only NUMBER``."""

from __future__ import annotations

import argparse
import functools
import sys
import time

from tests.fuzzing.running import in_workers


def fuzz() -> int:
    """Findings one by one, then a count; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--processes", action="store_true", help="a process for every case")
    parser.add_argument("--only", type=int, help="run this case alone")
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.cases) if asked.only is None else [asked.only]
    began = time.monotonic()
    tell = functools.partial(print, flush=True)
    found = in_workers(asked.seed, list(numbers), workers=asked.workers, separate=asked.processes, tell=tell)
    codes = ", ".join(f"{code}: {n}" for code, n in sorted(found.codes.items()))
    print(  # noqa: T201
        f"{found.cases} cases, seed {asked.seed}: {len(found.findings)} findings in {time.monotonic() - began:.0f} s; "
        f"exit codes {codes}; errors made at {len(found.places)} places of the source"
    )
    return 1 if found.findings else 0


if __name__ == "__main__":
    sys.exit(fuzz())
