"""Which small faults do the tests not notice?

    python -m benchmarks.mutation policy republishing/search.py --sample 40 --seed 1
    python -m benchmarks.mutation inference policy republishing --each 4 --seed 1
    python -m benchmarks.mutation inference/flow.py:120

A mutant (`mutants.py` lists the changes) is written into a copy of the tree, and the tests of its module run until the
first one fails: then it is killed, as it is when the time is up. What survives is printed as a patch: either a test is
missing, or the change makes no difference.

Why no tool from the shelf: mutmut 3.8 does not run with pytest 9.2 (`Function` has no `_nodeid`), leaves out functions
with decorators (properties, caches), and forks a process that has started Polars' threads, which may hang; cosmic-ray
has one test command for a whole session, and it is the tests that fit each module that make this bearable.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutants import Mutant, mutants
from benchmarks.tests_of_modules import PACKAGE, fitting_tests

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "results")
KILLED, LATE, SURVIVED = "killed", "killed by the clock", "SURVIVED"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    mutant: Mutant
    word: str
    seconds: float


class Tree:
    """A copy of the working tree that mutants are written into."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.running: subprocess.Popen[bytes] | None = None
        shutil.copytree(ROOT, home, ignore=LEFT_OUT)

    def test(self, tests: Sequence[str], limit: float) -> str:
        """Run tests until the first failure."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "--hypothesis-seed=0", *tests]
        more = {"PYTHONPATH": str(self.home / "src"), "POLARS_MAX_THREADS": "1"}
        self.running = running = subprocess.Popen(
            command,
            cwd=self.home,
            env={**os.environ, **more},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return KILLED if running.wait(limit) else SURVIVED
        except subprocess.TimeoutExpired:
            return LATE
        finally:
            _end(running)

    def judge(self, mutant: Mutant, tests: Sequence[str], limit: float) -> Outcome:
        """Write a mutant, run the tests, and put the file back."""
        began = time.monotonic()
        self._write(mutant.path, mutant.source)
        try:
            return Outcome(mutant, self.test(tests, limit), time.monotonic() - began)
        finally:
            self._write(mutant.path, mutant.original)

    def _write(self, path: str, text: str) -> None:
        """Compiled files are told apart by size and second, which mutants may share: they go."""
        at = self.home / path
        at.write_text(text, encoding="utf-8", newline="")
        for compiled in (at.parent / "__pycache__").glob(f"{at.stem}.*"):
            compiled.unlink()


def _end(running: subprocess.Popen[bytes]) -> None:
    """End a run with everything it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    running.kill()
    running.wait()


def chosen(modules: Sequence[str], *, each: int, sample: int, seed: int) -> list[Mutant]:
    """A sample of the mutants of some rooms, files and lines: so many of each file, then so many of all."""
    every: list[Mutant] = []
    files = 0
    for module in modules:
        name, _, line = module.partition(":")
        at = ROOT / PACKAGE / name
        for file in sorted(at.rglob("*.py")) if at.is_dir() else [at]:
            path = file.relative_to(ROOT).as_posix()
            found = [one for one in mutants(path, file.read_text(encoding="utf-8")) if line in ("", str(one.line))]
            # a seed of its own: a file run alone has the mutants that it has among others
            every += _sample(found, each, f"{seed} {path}")
            files += 1
    print(f"{len(every)} mutants of {files} files", flush=True)
    return _sample(every, sample, str(seed))


def _sample(every: list[Mutant], number: int, seed: str) -> list[Mutant]:
    """The first of them all, shuffled: a larger sample has the smaller one in it."""
    return random.Random(seed).sample(every, len(every))[:number] if number else every


def limits(tree: Tree, picked: Sequence[Mutant], most: float) -> dict[tuple[str, ...], float]:
    """Seconds for each set of tests: three times what they take without a mutant, which they must pass."""
    sets = sorted({fitting_tests(mutant.path) for mutant in picked})
    taken = {}
    for path in sorted({path for tests in sets for path in tests}):
        began = time.monotonic()
        word = tree.test([path], most)
        if word != SURVIVED:
            sys.exit(f"Without any change {path} ends as: {word}.")
        taken[path] = time.monotonic() - began
        print(f"{path}: {taken[path]:.0f} s", flush=True)
    return {tests: min(most, 10 + 3 * sum(taken[path] for path in tests)) for tests in sets}


def run(picked: Sequence[Mutant], *, workers: int, most: float) -> list[Outcome]:
    """Judge the mutants, each worker in a tree of its own."""
    with tempfile.TemporaryDirectory() as work:
        trees: queue.Queue[Tree] = queue.Queue()
        every = [Tree(Path(work) / f"tree{number}") for number in range(workers)]
        for tree in every:
            trees.put(tree)
        first = trees.get()
        allowed = limits(first, picked, most)
        trees.put(first)

        def judge(mutant: Mutant) -> Outcome:
            tree, tests = trees.get(), fitting_tests(mutant.path)
            try:
                outcome = tree.judge(mutant, tests, allowed[tests])
            finally:
                trees.put(tree)
            print(f"{outcome.word:20} {outcome.seconds:6.1f} s  {mutant.path}:{mutant.line} {mutant.kind}", flush=True)
            if outcome.word == SURVIVED:
                print(mutant.diff(), flush=True)
            return outcome

        with ThreadPoolExecutor(workers) as pool:
            try:
                return list(pool.map(judge, picked))
            except BaseException:  # interrupted: no run outlives this one
                pool.shutdown(wait=False, cancel_futures=True)
                for tree in every:
                    if tree.running is not None:
                        _end(tree.running)
                raise


def report(outcomes: Sequence[Outcome]) -> None:
    """The score of each file and of all."""
    every = Counter(outcome.mutant.path for outcome in outcomes)
    alive = Counter(outcome.mutant.path for outcome in outcomes if outcome.word == SURVIVED)
    print("\nfile, mutants, killed, score")
    for path, number in sorted(every.items()):
        print(f"{path}, {number}, {number - alive[path]}, {1 - alive[path] / number:.0%}")
    total, left = len(outcomes), alive.total()
    late = sum(outcome.word == LATE for outcome in outcomes)
    print(f"all, {total}, {total - left} ({late} by the clock), {1 - left / max(total, 1):.1%}")


def main() -> None:
    """Take the modules, the size of the sample and its seed."""
    options = argparse.ArgumentParser(description="Which small faults do the tests not notice?")
    options.add_argument(
        "modules",
        nargs="+",
        help="rooms, files or lines below src/showthrough: policy, republishing/search.py, inference/flow.py:120",
    )
    options.add_argument("--each", type=int, default=0, help="how many mutants of each file are tried (0: all)")
    options.add_argument("--sample", type=int, default=0, help="how many of these, in all, are tried (0: all)")
    options.add_argument("--seed", type=int, default=0, help="of the sample")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options.add_argument("--limit", type=float, default=900.0, help="seconds for the tests of one mutant, at most")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended before its time."))
    picked = chosen(given.modules, each=given.each, sample=given.sample, seed=given.seed)
    report(run(picked, workers=given.workers, most=given.limit))


if __name__ == "__main__":
    main()
