"""One Hessian product over all variables, four ways: python -m benchmarks.passes [persons ...]

Whole NumPy arrays, cached blocks on one thread and on all cores, and, with pip install numba, a compiled
loop that does everything in one go, on one thread and on two. Prints the least of several, in milliseconds.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np

import showthrough as st
from benchmarks.histories import independent
from showthrough.inference.passes import Blocks, Whole
from showthrough.inference.reduce import Reduced, reduce

Product = Callable[[], np.ndarray]


def least(run: Product) -> float:
    """Milliseconds of the quickest of nine."""
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return 1000 * min(taken)


def ways(problem: Reduced, x: np.ndarray, d: np.ndarray) -> dict[str, Product]:
    """All ways to the same product."""
    found: dict[str, Product] = {}
    whole, one, two = Whole(problem), Blocks(problem, threads=1), Blocks(problem, threads=2)
    found["whole arrays"] = lambda: whole.hessian(x, d)
    found["blocks, one thread"] = lambda: one.hessian(x, d)
    found["blocks, two threads"] = lambda: two.hessian(x, d)
    if importlib.util.find_spec("numba"):
        for threads in (1, 2):
            found[f"numba, {threads} thread(s)"] = compiled(problem, x, d, threads)
    return found


def compiled(problem: Reduced, x: np.ndarray, d: np.ndarray, threads: int) -> Product:
    """A loop over signatures: scores, their mean, and the sums per row, without intermediate arrays."""
    import numba

    @numba.njit(parallel=True)
    def product(scores, x, weight, start, row, cut, sums):  # type: ignore[no-untyped-def]
        for k in numba.prange(sums.shape[0]):
            sums[k] = 0.0
            z = np.empty(start.size)  # longer than any signature
            for i in range(cut[k], cut[k + 1]):
                a, b, mean = start[i], start[i + 1], 0.0
                for v in range(a, b):
                    z[v - a] = 0.0
                    for r in range(row.shape[0]):
                        z[v - a] += scores[row[r, v]]
                    mean += x[v] * z[v - a]
                for v in range(a, b):
                    for r in range(row.shape[0]):
                        sums[k, row[r, v]] += weight[i] * x[v] * (z[v - a] - mean)
        return sums

    scores, cut = np.append(d, 0.0), np.linspace(0, problem.weight.size, threads + 1).astype(np.int64)
    row, sums = np.ascontiguousarray(problem.row), np.empty((threads, problem.rows + 1))

    def run() -> np.ndarray:
        numba.set_num_threads(threads)
        return product(scores, x, problem.weight, problem.start, row, cut, sums).sum(axis=0)[:-1]

    return run


def main() -> None:
    """Compare, and see that all ways agree."""
    for persons in [int(a) for a in sys.argv[1:]] or [100_000, 1_000_000]:
        post = st.infer(independent(persons, 8))
        problem = reduce(post._solved.problem, post._solved.face.alive)
        x, d = post._solved.x[problem.variable_of], np.random.default_rng(0).normal(size=problem.rows)
        runs = ways(problem, x, d)
        right = runs["whole arrays"]()
        for name, run in runs.items():
            assert np.allclose(run(), right, atol=1e-9), name  # and whatever must be compiled is
        print(f"{persons:,} persons x 2, {x.size:,} variables: ", end="")
        print(", ".join(f"{name} {least(run):.1f} ms" for name, run in runs.items()), flush=True)


if __name__ == "__main__":
    main()
