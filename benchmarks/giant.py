"""One giant component in parts against one machine: python -m benchmarks.giant 100000 [--parts 2 4 8] [--engine processes]

Two Anatomy releases of so many persons, l = 8, that share 5/6 of them. Each engine runs in a process of its own; CPU time
counts the driver and all workers, from parts on storage to the checked answer. One machine answers the same history
first, in a process of its own: `st.infer`, which also reads and codes it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import showthrough as st
from benchmarks.histories import independent
from showthrough.engines.engine import Engine
from showthrough.engines.local import local
from showthrough.engines.processes import processes
from showthrough.inference.cluster.giant import solve_giant
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows
from showthrough.inference.history import encode
from showthrough.inference.log import Log
from showthrough.inference.problem import collapse

_MULTIPLIER = 2_654_435_761


def cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(
        u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def usage(_part: GiantPart, _shared: Any) -> tuple[int, float, float]:
    """A worker, its CPU seconds and its peak memory in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return os.getpid(), used.ru_utime + used.ru_stime, peak()


def one_machine(persons: int, folder: Path) -> dict[str, Any]:
    """`st.infer`, with its answer and the parts' arrays kept for comparison."""
    releases = independent(persons, 8)
    ready, before = peak(), cpu()
    post = st.infer(releases)
    taken, most = cpu() - before, peak()
    pairs, certificate = post._solved.pairs, post.certificate
    coded = encode(releases)
    problem, _ = collapse(coded)
    arrays = {"codes": problem.places.codes, "weight": problem.weight, "p": pairs.p, "alive": pairs.alive}
    rows = {name: getattr(coded, name) for name in ("first_group", "row_group", "row_value", "row_count")}
    for name, array in {**arrays, **rows, "start": problem.start}.items():
        np.save(folder / f"{name}.npy", array)
    return {
        "cpu": taken, "peak_mb": most, "ready_mb": ready, "status": str(certificate.status),
        "variables": certificate.variables, "passes": certificate.passes, "zeros": certificate.proven_zeros,
    }  # fmt: skip


def in_parts(folder: Path, name: str, number: int, workers: int, master: str | None) -> dict[str, Any]:
    """The same by an engine."""
    parts, members = _cut(folder, number)
    rows = GiantRows(*(np.load(folder / f"{n}.npy") for n in ("first_group", "row_group", "row_value", "row_count")))
    with ExitStack() as stack:
        engine = _engine(stack, name, workers, master)
        fresh = {pid: used for pid, used, _ in engine.map(usage, parts)}
        before, log = resource.getrusage(resource.RUSAGE_SELF), Log()
        answer = solve_giant(engine, folder, parts, rows, log, at_hand=0)
        after = resource.getrusage(resource.RUSAGE_SELF)
        driver = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        most = peak()
        there = {pid: (used, size) for pid, used, size in engine.map(usage, parts)}
    apart = os.getpid() not in there
    working = sum(used - fresh.get(pid, 0.0) for pid, (used, _) in there.items()) if apart else 0.0
    worst, more, fewer = _compared(folder, parts, members)
    return {
        "engine": name, "parts": number, "workers": len(there), "cpu": driver + working, "driver_cpu": driver,
        "driver_mb": most, "worker_mb": max(size for _, size in there.values()), "status": str(answer.status),
        "passes": answer.passes, "calls": answer.traffic.calls,
        "sent_mb_per_call": answer.traffic.sent / answer.traffic.calls / 2**20,
        "received_mb_per_call": answer.traffic.received / answer.traffic.calls / 2**20,
        "worst": worst, "facts_more": more, "facts_fewer": fewer, "zeros": answer.proven_zeros,
        "seconds": {stage: round(taken, 2) for stage, taken in log.seconds.items()},
    }  # fmt: skip


def _engine(stack: ExitStack, name: str, workers: int, master: str | None) -> Engine:
    if name == "local":
        return local()
    if name == "processes":
        return stack.enter_context(processes(workers))
    return stack.enter_context(st.engines.spark(master=master))  # type: ignore[attr-defined, no-any-return]


def _cut(folder: Path, number: int) -> tuple[list[GiantPart], list[Any]]:
    codes, weight = np.load(folder / "codes.npy"), np.load(folder / "weight.npy")
    first = np.where(codes[0] >= 0, codes[0], codes.max(axis=0)).astype(np.int64)
    home = first * _MULTIPLIER % 2**32 % number
    parts, members = [], []
    for k in range(number):
        part, own = GiantPart(str(folder / f"part-{number}-{k}"), k), np.flatnonzero(home == k)
        Path(part.folder).mkdir(exist_ok=True)
        part.write(group_of=codes[:, own], weight=weight[own])
        parts.append(part)
        members.append(own)
    return parts, members


def _compared(folder: Path, parts: list[GiantPart], members: list[Any]) -> tuple[float, int, int]:
    start, p, alive = (np.load(folder / f"{name}.npy") for name in ("start", "p", "alive"))
    worst, more, fewer = 0.0, 0, 0
    for part, own in zip(parts, members, strict=True):
        chosen = np.zeros(start.size - 1, dtype=bool)
        chosen[own] = True
        at = np.flatnonzero(np.repeat(chosen, np.diff(start)))  # members are sorted
        possible = part.read("answer-possible")
        worst = max(worst, float(np.abs(part.read("answer-p") - p[at]).max(initial=0.0)))
        more, fewer = more + int((alive[at] & ~possible).sum()), fewer + int((~alive[at] & possible).sum())
    return worst, more, fewer


def main() -> None:
    """Measure one machine, then the engines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("persons", type=int)
    parser.add_argument("--parts", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--engine", nargs="+", default=["processes"], choices=["local", "processes", "spark"])
    parser.add_argument("--workers", type=int, help="as many as parts, if it is not said")
    parser.add_argument("--master", default="local-cluster[2,1,2048]")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--step", nargs="+")
    options = parser.parse_args()
    if options.step:
        step = options.step
        if step[0] == "one":
            print(json.dumps(one_machine(options.persons, options.folder)))
        else:
            print(json.dumps(in_parts(options.folder, step[0], int(step[1]), int(step[2]), options.master)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as home:
        ask = [
            sys.executable,
            "-m",
            "benchmarks.giant",
            str(options.persons),
            "--folder",
            home,
            "--master",
            options.master,
        ]
        alone = _run([*ask, "--step", "one"])
        print(json.dumps(alone), flush=True)
        for name in options.engine:
            for number in options.parts:
                found = _run([*ask, "--step", name, str(number), str(options.workers or number)])
                found |= {
                    "cpu_ratio": found["cpu"] / alone["cpu"], "memory_ratio": found["worker_mb"] / alone["peak_mb"],
                }  # fmt: skip
                print(
                    json.dumps({k: round(v, 3) if isinstance(v, float) and v > 1e-3 else v for k, v in found.items()}),
                    flush=True,
                )


def _run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
