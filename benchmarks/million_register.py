"""A generalized and a bucketized release of a million persons with a register of as many, beside two bucketized ones.

    python -m benchmarks.million_register [--persons 1000000] [--l 8]

The generalized release has cells by Mondrian (`benchmarks.linking`), disjoint or with a tenth of them overlapping and
twenty groups suppressed; its persons are located by six exact quasi-identifiers. The other release of each pair is
Anatomy's, with ids. Values have the frequencies of Adult's occupations. Every pair runs in a process of its own, and the
time of `infer` counts (tables are in memory, as for the bucketized pair).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.histories import NAMES, OCCUPATIONS, anatomy
from benchmarks.linking import COLUMNS, RELEASES, _cell, _label, register

PAIRS = ("bucketized", "global", "mondrian", "overlapping")
SEED = 11


def releases(kind: str, persons: int, l: int) -> tuple[list[st.Release], pl.DataFrame | None]:
    """The pair, and the register if persons are located."""
    rng = np.random.default_rng(SEED)
    values = rng.choice(OCCUPATIONS.size, persons, p=OCCUPATIONS / OCCUPATIONS.sum())
    pair = [_buckets(values, l, name, rng) for name in (("D1", "D2") if kind == "bucketized" else ("D2",))]
    if kind == "bucketized":
        return pair, None
    people = register(persons)
    node, low, high = RELEASES[kind](people, persons // 10)
    exact: dict[str, np.ndarray] = {"id": np.arange(persons)}
    cells: dict[str, np.ndarray] = {}
    for a, (name, size) in enumerate(COLUMNS.items()):
        exact[name] = np.array([_label(name, v) for v in range(size)])[people[:, a]]
        spans, which = np.unique(low[:, a] * size + high[:, a], return_inverse=True)
        cells[name] = np.array([_cell(name, size, *divmod(int(p), size)) for p in spans], dtype=object)[which][node]
    rows = pl.DataFrame({**cells, "value": NAMES.gather(values)})[rng.permutation(persons)]
    located = st.Release.generalized(rows, sensitive="value", quasi=list(COLUMNS), name="D1")
    return [located, *pair], pl.DataFrame(exact)


def _buckets(values: np.ndarray, l: int, name: str, rng: np.random.Generator) -> st.Release:
    rows = pl.DataFrame({"id": np.arange(values.size), "group": anatomy(values, l, rng), "value": NAMES.gather(values)})
    return st.Release.bucketized(rows, id="id", sensitive="value", group="group", quasi=[], name=name)


def measure(kind: str, persons: int, l: int) -> dict[str, object]:
    """One pair: time, memory and what the answer is worth."""
    pair, people = releases(kind, persons, l)
    given = {} if people is None else {"register": people}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start, cpu = time.perf_counter(), time.process_time()
    post = st.infer(pair, seconds=3600, **given)
    return {
        "pair": kind,
        "persons": persons,
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "made_gb": before,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "status": str(post.certificate.status),
        "persons_by_state": dict(post.certificate.persons_by_state),
        "variables": post.certificate.variables,
        "gap": post.certificate.gap,
    }


def main() -> None:
    """Each pair in a process of its own, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=1_000_000)
    parser.add_argument("--l", type=int, default=8)
    parser.add_argument("--pair", choices=PAIRS)
    options = parser.parse_args()
    if options.pair:
        print(json.dumps(measure(options.pair, options.persons, options.l)))
        return
    base = 0.0
    print("| pair | CPU | ratio | peak memory (of it before `infer`) | variables | status |\n|---|---|---|---|---|---|")
    for kind in PAIRS:
        order = [sys.executable, "-m", "benchmarks.million_register", "--pair", kind]
        order += ["--persons", str(options.persons), "--l", str(options.l)]
        done = subprocess.run(order, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"| {kind} | failed: {done.stderr.strip().splitlines()[-1:]} |", flush=True)
            continue
        found = json.loads(done.stdout)
        base = base or found["cpu"]
        print(
            f"| {kind} | {found['cpu']:.1f} s | {found['cpu'] / base:.2f} × | {found['peak_gb']:.2f} GB "
            f"({found['made_gb']:.2f}) | {found['variables']:,} | {found['status']} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
