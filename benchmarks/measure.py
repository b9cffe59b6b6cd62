"""One measurement in a process of its own, so that its peak memory is its own: prints one JSON line."""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.histories import history_guided, independent


def one_pass(post: st.Posterior) -> float:
    """Median seconds of one evaluation of F with gradient, or one Hessian product, over all variables, on one thread."""
    from showthrough.inference.newton import Kernel
    from showthrough.inference.passes import sweeps_over
    from showthrough.inference.reduce import reduce

    reduced = reduce(post._solved.problem, np.ones(post._solved.problem.variables, dtype=bool))
    kernel, mu, taken = Kernel(reduced, sweeps_over(reduced, threads=1)), post._solved.mu[reduced.row_of], []
    for _ in range(3):
        start = time.perf_counter()
        point = kernel.at(mu)
        middle = time.perf_counter()
        kernel.hessian(point.x, mu)
        taken += [middle - start, time.perf_counter() - middle]
    return statistics.median(taken)


def join(releases: list[st.Release]) -> float:
    """Median seconds that Polars needs to join two releases on id."""
    first, second = releases[0].records, releases[1].records
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        first.join(second, on="id", how="full")
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    """Make a history, infer, and print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["independent", "history-guided"])
    parser.add_argument("persons", type=int)
    parser.add_argument("l", type=int)
    parser.add_argument("--releases", type=int, default=2)
    options = parser.parse_args()
    if options.kind == "independent":
        releases = independent(options.persons, options.l, releases=options.releases)
    else:
        releases = history_guided(options.persons, options.l)
    found = {"kind": options.kind, "persons": options.persons, "l": options.l, "releases": options.releases}
    if options.kind == "history-guided":
        found["join_seconds"] = join(releases)
    start = time.perf_counter()
    post = st.infer(releases)
    found["seconds"] = time.perf_counter() - start
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    certificate = post.certificate
    found |= {
        "status": str(certificate.status),
        "variables": certificate.variables,
        "passes": certificate.passes,
        "proven_zeros": certificate.proven_zeros,
        "suspected_zeros": certificate.suspected_zeros,
        "gap": certificate.gap,
        "residual": certificate.residual,
    }
    if options.kind == "independent":
        found["pass_seconds"] = one_pass(post)
    found["polars"] = pl.__version__
    print(json.dumps(found))


if __name__ == "__main__":
    main()
