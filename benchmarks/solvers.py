"""showthrough beside general solvers on the paper's sizes: python -m benchmarks.solvers [--quick]

Needs: pip install clarabel cvxpy ecos scs. Same input, same run; showthrough is timed from releases in
memory to the certified posterior (median of nine runs before and after each peer), the peers from their
matrices (median of three where a run takes less than ten seconds). Writes benchmarks/results/solvers.csv.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse.csgraph  # noqa: F401 - loaded, as in any process that has asked a few times

import showthrough as st
from benchmarks import peers
from benchmarks.histories import independent

Answer = tuple[np.ndarray | None, str]
RESULTS = Path(__file__).parent / "results"
FULL = [(300, 5)] + [(n, l) for l in (2, 3, 5, 8) for n in (1200, 2400, 3600, 4800, 6000, 7200)]
QUICK = [(300, 5), (1200, 5)]
TIME_LIMIT = 200.0
CLARABEL = (300, 1200, 3600, 7200)
PATIENCE = 10.0  # seconds; what takes longer runs once
SMALL, TINY = 1200, 300  # slower peers run up to these sizes


def ours(releases: list[st.Release], times: int = 9) -> list[float]:
    """Seconds of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        st.infer(releases)
        taken.append(time.perf_counter() - start)
    return taken


def theirs(run: Callable[[], Answer]) -> tuple[float, Answer]:
    """Median of three, unless one takes long, and the answer."""
    taken: list[float] = []
    while len(taken) < (3 if max(taken, default=0.0) < PATIENCE else 1):
        start = time.perf_counter()
        answer = run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), answer


def main() -> None:
    """Run every size; Clarabel everywhere up to the time limit, slower peers on small ones."""
    rows = []
    for n, l in QUICK if "--quick" in sys.argv else FULL:
        releases = independent(n, l)
        post = st.infer(releases)  # loads what it needs
        taken = ours(releases)
        task = peers.program(post._solved.problem)
        base = {"persons": n, "l": l, "variables": post._solved.problem.variables}
        rows.append(mine := base | {"solver": "showthrough", "status": str(post.certificate.status)})
        mine |= {"residual": post.certificate.residual, "error": post.certificate.error_bar}
        for name, run in contestants(task, post, n).items():
            seconds, (x, status) = theirs(run)
            rows.append(base | {"solver": name, "seconds": seconds, "status": status})
            taken += ours(releases)  # between the others, so that noise meets all alike
            if x is not None:
                rows[-1]["residual"] = float(np.abs(task.A @ x - task.b).max())
                rows[-1]["error"] = float(np.abs(x - post._solved.x).max())
        mine["seconds"] = statistics.median(taken)
        for row in [r for r in rows if (r["persons"], r["l"]) == (n, l)]:
            print({k: f"{v:.3g}" if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    if "--quick" not in sys.argv:
        RESULTS.mkdir(exist_ok=True)
        pl.DataFrame(rows, infer_schema_length=None).write_csv(RESULTS / "solvers.csv")


def contestants(task: peers.Program, post: st.Posterior, n: int):  # type: ignore[no-untyped-def]
    """The peers that are worth waiting for at this size."""
    runs = {"iterative scaling": lambda: peers.iterative_scaling(task, post._solved.problem, 3000)}
    if n in CLARABEL:
        runs["Clarabel"] = lambda: peers.clarabel_solver(task, TIME_LIMIT)
    if n <= SMALL:
        runs["SCS (cvxpy)"] = lambda: peers.cvxpy_solver(task, TIME_LIMIT / 4, "SCS")
        runs["ECOS (cvxpy)"] = lambda: peers.cvxpy_solver(task, TIME_LIMIT / 4, "ECOS")
    if n <= TINY:
        runs["SciPy trust-constr"] = lambda: peers.trust_constr(task, TIME_LIMIT / 4)
    return runs


if __name__ == "__main__":
    main()
