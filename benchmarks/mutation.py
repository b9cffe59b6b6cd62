"""Which small faults do the tests not notice?

    python -m benchmarks.mutation policy republishing/search.py --sample 40 --seed 1

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

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src") / "showthrough"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "results")
KILLED, LATE, SURVIVED = "killed", "killed by the clock", "SURVIVED"

# The tests of each module, the quickest first; of several entries that fit, the longest counts. Algorithms that stand on
# their own are left to their own tests.
TESTS: dict[str, tuple[str, ...]] = {
    "inference": ("tests/inference", "tests/auditing", "tests/register/test_register.py"),
    "inference/closing.py": (
        "tests/inference/test_figure1.py",
        "tests/inference/test_remaining.py",
        "tests/inference/test_seats.py",
        "tests/inference/test_contradictions.py",
        "tests/inference/test_rows_against_oracle.py",
    ),
    "inference/draft.py": ("tests/republishing/test_drafts.py",),
    "inference/increment.py": ("tests/inference/test_increments.py", "tests/republishing/test_drafts.py"),
    "inference/rows.py": (
        "tests/inference/test_rows.py",
        "tests/inference/test_seats.py",
        "tests/inference/test_reduce.py",
        "tests/inference/test_rows_against_oracle.py",
    ),
    "inference/weighing.py": (
        "tests/inference/test_figure1.py",
        "tests/inference/test_seats.py",
        "tests/inference/test_proofs_of_rows.py",
    ),
    "inference/graphs.py": ("tests/inference/test_graphs.py", "tests/inference"),
    "inference/newton.py": ("tests/inference/test_figure1.py", "tests/inference/test_passes.py", "tests/inference"),
    "inference/proof_check.py": (
        "tests/inference/test_proof_check_rows.py",
        "tests/inference/test_forgery.py",
        "tests/inference/test_proofs.py",
        "tests/inference/test_proof_check_size.py",
        "tests/inference/test_proof_check_random.py",
    ),
    "policy": ("tests/policy", "tests/republishing/test_guarded.py"),
    "republishing": ("tests/republishing",),
    "republishing/m_invariance.py": ("tests/republishing/test_m_invariance.py",),
    "republishing/split.py": ("tests/republishing/test_m_invariance.py",),
    "republishing/history_guided.py": ("tests/republishing/test_history_guided.py",),
    "republishing/drafts.py": ("tests/republishing/test_drafts.py",),
    "republishing/past.py": ("tests/republishing/test_past.py",),
    "republishing/compare.py": ("tests/republishing/test_compare.py", "tests/cli/test_republish.py"),
    "republishing/together.py": ("tests/republishing/test_together.py",),
}


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


def fitting_tests(path: str) -> tuple[str, ...]:
    """The tests of a file of the package; its own room's where the table has none."""
    inside = Path(path).relative_to(PACKAGE).as_posix()
    fitting = [entry for entry in TESTS if inside == entry or inside.startswith(f"{entry}/")]
    return TESTS[max(fitting, key=len)] if fitting else (f"tests/{inside.partition('/')[0]}",)


def chosen(modules: Sequence[str], sample: int, seed: int) -> list[Mutant]:
    """A sample of the mutants of some rooms and files."""
    files: list[Path] = []
    for module in modules:
        at = ROOT / PACKAGE / module
        files += sorted(at.rglob("*.py")) if at.is_dir() else [at]
    every = [
        mutant
        for file in files
        for mutant in mutants(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    ]
    print(f"{len(every)} mutants of {len(files)} files", flush=True)
    return every if not sample or sample >= len(every) else random.Random(seed).sample(every, sample)


def limits(tree: Tree, picked: Sequence[Mutant], most: float) -> dict[tuple[str, ...], float]:
    """Seconds for each set of tests: three times what it takes without a mutant, which must pass."""
    found = {}
    for tests in sorted({fitting_tests(mutant.path) for mutant in picked}):
        began = time.monotonic()
        word = tree.test(tests, most)
        if word != SURVIVED:
            sys.exit(f"Without any change {' '.join(tests)} end as: {word}.")
        found[tests] = min(most, 10 + 3 * (time.monotonic() - began))
        print(f"{' '.join(tests)}: at most {found[tests]:.0f} s", flush=True)
    return found


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
    """Survivors as patches, then the score of each file and of all."""
    for outcome in outcomes:
        if outcome.word == SURVIVED:
            print(f"\n{outcome.mutant.diff()}", end="")
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
        "modules", nargs="+", help="rooms or files below src/showthrough: policy, republishing/search.py"
    )
    options.add_argument("--sample", type=int, default=0, help="how many mutants are tried (0: all)")
    options.add_argument("--seed", type=int, default=0, help="of the sample")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options.add_argument("--limit", type=float, default=900.0, help="seconds for the tests of one mutant, at most")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended before its time."))
    picked = chosen(given.modules, given.sample, given.seed)
    report(run(picked, workers=given.workers, most=given.limit))


if __name__ == "__main__":
    main()
