"""m-invariance beside Anatomy on the same table in the same run, and what a series of releases costs.

    python -m benchmarks.republishing [--rows 1000000] [--repeats 3]

Values have the frequencies of Adult's occupations. The second release of an m-invariant series shares
80 % of its persons with the first; "by columns" cuts buckets by seven quasi-identifiers with the sizes
of Adult's. "many" has 100 000 different signatures over 2 000 values. Prints one JSON object; times are
wall seconds, medians, taken in turn so that a busy machine slows all alike.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.histories import OCCUPATIONS
from showthrough.anonymizers.anatomy import anatomy
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.republishing.m_invariance import m_invariant

SIZES = (74, 7, 16, 7, 5, 2, 41)


def occupations(rows: int, random: np.random.Generator) -> np.ndarray:
    """So many values."""
    return random.choice(OCCUPATIONS.size, size=rows, p=OCCUPATIONS / OCCUPATIONS.sum()).astype(np.int32)


def seconds(run: Callable[[], Any]) -> float:
    """Of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def beside(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each, and the median ratio to Anatomy in the same turn."""
    taken = [{name: seconds(run) for name, run in runs.items()} for _ in range(repeats)]
    found = {f"{name}_seconds": statistics.median(t[name] for t in taken) for name in runs}
    for name in list(runs)[1:]:
        found[f"{name}_times_anatomy"] = statistics.median(t[name] / t["anatomy"] for t in taken)
    return found


def second_release(rows: int, m: int, repeats: int) -> dict[str, Any]:
    """Anatomy, and m-invariance with and without quasi-identifiers, on the table of the second release."""
    random = np.random.default_rng(m)
    step = rows // 5
    value = occupations(rows + step, random)
    first = m_invariant(value[:rows], m, signature=np.full(rows, -1))
    signature = np.concatenate([first.group_signature[first.group[step:]], np.full(step, -1)])
    table = value[step:]
    columns = [QuasiColumn.numeric(f"q{k}", random.integers(0, size, rows)) for k, size in enumerate(SIZES)]
    options: dict[str, Any] = {"signature": signature, "signatures": first.signatures}
    runs: dict[str, Callable[[], Any]] = {
        "anatomy": lambda: anatomy(table, m),
        "m_invariance": lambda: m_invariant(table, m, **options),
        "m_invariance_by_columns": lambda: m_invariant(table, m, columns=columns, **options),
    }
    made = m_invariant(table, m, **options)
    return {"rows": rows, "m": m, "counterfeits": made.counterfeits, "groups": made.groups} | beside(runs, repeats)


def many_signatures(
    rows: int, m: int, repeats: int, *, signatures: int = 100_000, values: int = 2000
) -> dict[str, Any]:
    """The same where nearly everybody belongs to a small bucket."""
    random = np.random.default_rng(m)
    drawn = np.unique(np.sort(random.integers(0, values, (2 * signatures, m)), axis=1), axis=0)
    drawn = random.permutation(drawn[(np.diff(drawn, axis=1) > 0).all(axis=1)])[:signatures]
    known = rows * 4 // 5
    signature = np.concatenate([random.integers(0, len(drawn), known), np.full(rows - known, -1)])
    value = random.integers(0, values, rows)
    value[:known] = drawn[signature[:known], random.integers(0, m, known)]
    texts = [tuple(row) for row in drawn.tolist()]

    def run() -> Any:
        return m_invariant(value, m, signature=signature, signatures=texts)

    runs: dict[str, Callable[[], Any]] = {"anatomy": lambda: anatomy(value, m), "m_invariance": run}
    made = run()
    found = {"rows": rows, "m": m, "signatures": len(made.signatures), "counterfeits": made.counterfeits}
    return found | beside(runs, repeats)


def series(rows: int, m: int, *, releases: int = 10, overlap: float = 0.8) -> dict[str, Any]:
    """Counterfeits and records held back in each release of a series; a tenth of those who come were there before."""
    random = np.random.default_rng(m)
    value = occupations(4 * rows, random)
    remembered = np.full(len(value), -1, dtype=np.int64)
    there, unseen, gone = np.arange(rows), rows, np.zeros(0, dtype=np.int64)
    signatures: tuple[tuple[int, ...], ...] = ()
    fake, held = [], []
    for k in range(releases):
        made = m_invariant(value[there], m, signature=remembered[there], signatures=signatures, seed=k, hold_back=True)
        signatures = made.signatures
        shown = made.group >= 0
        remembered[there[shown]] = made.group_signature[made.group[shown]]
        fake.append(made.counterfeits)
        held.append(len(made.held))
        stay = random.random(rows) < overlap
        come = rows - int(stay.sum())
        back = random.permutation(gone)[: come // 10]
        gone = np.concatenate([np.setdiff1d(gone, back), there[~stay]])
        there = np.concatenate([there[stay], back, np.arange(unseen, unseen + come - len(back))])
        unseen += come - len(back)
    return {"rows": rows, "m": m, "counterfeits": fake, "held": held, "signatures": len(signatures)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    report = {
        "second_release": [second_release(options.rows, m, options.repeats) for m in (2, 5)],
        "many": many_signatures(options.rows, 4, options.repeats),
        "series": [series(7200, m) for m in (2, 3, 5, 7)],
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
