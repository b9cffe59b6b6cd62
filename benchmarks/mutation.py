"""Which small faults do the tests not notice?

    python -m benchmarks.reached tests/inference tests/policy tests/republishing --out reached.json
    python -m benchmarks.mutation inference policy republishing --each 3 --seed 1 --reached reached.json
    python -m benchmarks.mutation inference/flow.py:120 --reached reached.json

A mutant (`mutants.py` lists the changes) is written into a copy of the tree, and the tests that reach its function run
until the first one fails: then it is killed. Those of its own room come first, the quickest first, as many as pass in
`--seconds`. A mutant that takes many times as long is killed by the clock. What survives is printed as a patch: either
a test is missing, or the change makes no difference. `--log FILE` keeps what was found: a run that is stopped goes on.

Why no tool from the shelf: mutmut 3.8 does not run with pytest 9.2 (`Function` has no `_nodeid`), leaves out functions
with decorators (properties, caches), and forks a process that has started Polars' threads, which may hang; cosmic-ray
has one test command for a whole session, and it is the tests that fit each mutant that make this bearable.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import queue
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.mutants import Mutant, mutants
from benchmarks.reached import PACKAGE, ROOT, Reach
from benchmarks.trial import LATE, SURVIVED, UNREACHED, Tree, Verdict


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    path: str
    line: int
    change: str  # a fingerprint of the patch
    word: str
    test: str  # that failed
    seconds: float
    left_out: int  # tests that reach it and were not run


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


def affordable(tests: Sequence[str], seconds: dict[str, float], most: float) -> list[str]:
    """The first of the tests that together take no longer than that; one at least."""
    picked: list[str] = []
    total = 0.0
    for test in tests:
        if not picked or total + seconds[test] <= most:
            picked.append(test)
            total += seconds[test]
    return picked


def fingerprint(mutant: Mutant) -> str:
    """Tells mutants apart, and outlives changes elsewhere in the file."""
    old = mutant.original.splitlines()
    patch = [line for line in mutant.diff().splitlines()[3:] if line[:1] in "+-"]
    nth = sum(line == old[mutant.line - 1] for line in old[: mutant.line - 1])
    return hashlib.sha256("\n".join([mutant.path, str(nth), *patch]).encode()).hexdigest()[:16]


class Judge:
    """Judges mutants with the tests that reach them."""

    def __init__(self, reach: Reach, most: float, log: Path | None) -> None:
        self.reach = reach
        self.most = most
        self.log = log
        lines = log.read_text(encoding="utf-8").splitlines() if log and log.exists() else []
        self.known = {outcome["change"]: Outcome(**outcome) for outcome in map(json.loads, lines)}

    def judge(self, tree: Tree, mutant: Mutant) -> Outcome:
        """What becomes of a mutant, or became of it in an earlier run."""
        change = fingerprint(mutant)
        if change in self.known:
            return self.known[change]
        began = time.monotonic()
        every = self.reach.tests(mutant.path, mutant.original, mutant.line)
        tests = affordable(every, self.reach.seconds, self.most)
        limit = 30 + 4 * sum(self.reach.seconds[test] for test in tests)
        verdict = tree.judge(mutant, tests, limit) if tests else Verdict(UNREACHED)
        seconds, left_out = round(time.monotonic() - began, 1), len(every) - len(tests)
        outcome = Outcome(mutant.path, mutant.line, change, verdict.word, verdict.test, seconds, left_out)
        self._tell(outcome, mutant)
        return outcome

    def _tell(self, outcome: Outcome, mutant: Mutant) -> None:
        where = f"{mutant.path}:{mutant.line} {mutant.kind}"
        print(f"{outcome.word:20} {outcome.seconds:6.1f} s  {where}  {outcome.test}", flush=True)
        if outcome.word in (SURVIVED, UNREACHED):
            print(f"{outcome.left_out} tests that reach it were not run\n{mutant.diff()}", flush=True)
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(asdict(outcome)) + "\n")


def run(picked: Sequence[Mutant], judge: Callable[[Tree, Mutant], Outcome], *, workers: int) -> list[Outcome]:
    """Judge the mutants, each worker in a tree of its own."""
    with tempfile.TemporaryDirectory() as work:
        trees: queue.Queue[Tree] = queue.Queue()
        every = [Tree(Path(work) / f"tree{number}") for number in range(workers)]
        for tree in every:
            trees.put(tree)

        def judged(mutant: Mutant) -> Outcome:
            tree = trees.get()
            try:
                return judge(tree, mutant)
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(workers) as pool:
            try:
                return list(pool.map(judged, picked))
            except BaseException:  # interrupted: no run outlives this one
                pool.shutdown(wait=False, cancel_futures=True)
                for tree in every:
                    tree.stop()
                raise


def report(outcomes: Sequence[Outcome]) -> None:
    """The score of each file and of all."""
    every = Counter(outcome.path for outcome in outcomes)
    alive = Counter(outcome.path for outcome in outcomes if outcome.word in (SURVIVED, UNREACHED))
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
    options.add_argument("--reached", type=Path, nargs="+", required=True, help="what benchmarks.reached wrote")
    options.add_argument("--each", type=int, default=0, help="how many mutants of each file are tried (0: all)")
    options.add_argument("--sample", type=int, default=0, help="how many of these, in all, are tried (0: all)")
    options.add_argument("--seed", type=int, default=0, help="of the sample")
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--seconds", type=float, default=60.0, help="of tests, without a fault, for one mutant")
    options.add_argument("--log", type=Path, help="outcomes are kept here, and those that it has are not run again")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended before its time."))
    picked = chosen(given.modules, each=given.each, sample=given.sample, seed=given.seed)
    judge = Judge(Reach(given.reached), given.seconds, given.log)
    report(run(picked, judge.judge, workers=given.workers))


if __name__ == "__main__":
    main()
