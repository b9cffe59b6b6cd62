"""A copy of the tree that mutants are written into, and the tests that run there.

The libraries are loaded once, in a process that each run is forked from; Polars is not among them, as it starts threads
on import, which a fork would leave behind. Hypothesis does not shrink what it finds and keeps no examples: the first
failure is all that is asked for.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from benchmarks.mutants import Mutant

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "results")
KILLED, LATE, SURVIVED, UNREACHED = "killed", "killed by the clock", "SURVIVED", "NOT REACHED"
WAITING = 40  # seconds on the clock for one of processor time, on a machine that others use too
LOADED = ["pytest", "hypothesis", "hypothesis.extra.numpy", "numpy", "scipy.optimize", "scipy.sparse.linalg"]
LOADED += ["scipy.sparse.csgraph", "scipy.special", "scipy.stats"]


@dataclass(frozen=True)
class Verdict:
    """How the tests ended, and the one that failed."""

    word: str
    test: str = ""


class Tree:
    """A copy of the working tree."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.running: ForkServerProcess | None = None
        self.stopped = False
        shutil.copytree(ROOT, home, ignore=LEFT_OUT)
        os.environ.update({"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(LOADED)

    def test(self, tests: Sequence[str], limit: float) -> Verdict:
        """Run tests until the first failure, for so many seconds of processor time; the clock ends what only waits."""
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as told:
            self.running = running = self._context.Process(target=_run, args=(self.home, tests, limit, told.name))
            running.start()
            running.join(WAITING * limit)
            code = running.exitcode
            self._end()
            failed = told.read()
        if self.stopped:
            raise InterruptedError("A run that was stopped has no verdict.")
        if code == 0:
            return Verdict(SURVIVED)
        if code in (None, -signal.SIGXCPU, -signal.SIGKILL):
            return Verdict(LATE)
        if code > 0 and not failed:
            raise RuntimeError(f"No test failed, and pytest ended with {code}: {' '.join(tests)}")
        return Verdict(KILLED, failed or f"signal {-code}")

    def judge(self, mutant: Mutant, tests: Sequence[str], limit: float) -> Verdict:
        """Write a mutant, run the tests, and put the file back."""
        self._write(mutant.path, mutant.source)
        try:
            return self.test(tests, limit)
        finally:
            self._write(mutant.path, mutant.original)

    def stop(self) -> None:
        """End the run that is under way, for good."""
        self.stopped = True
        self._end()

    def _end(self) -> None:
        """End a run with everything it started."""
        if self.running is not None and self.running.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.running.pid, signal.SIGKILL)
            self.running.kill()
            self.running.join()

    def _write(self, path: str, text: str) -> None:
        """Compiled files are told apart by size and second, which mutants may share: they go."""
        at = self.home / path
        at.write_text(text, encoding="utf-8", newline="")
        for compiled in (at.parent / "__pycache__").glob(f"{at.stem}.*"):
            compiled.unlink()


class FirstFailure:
    """A plugin of pytest that writes down which test failed."""

    def __init__(self, told: str) -> None:
        self.told = Path(told)

    def pytest_runtest_logreport(self, report: object) -> None:
        """A test has run."""
        self._tell(report)

    def pytest_collectreport(self, report: object) -> None:
        """A file has been read."""
        self._tell(report)

    def _tell(self, report: object) -> None:
        if getattr(report, "failed", False):
            self.told.write_text(str(getattr(report, "nodeid", "")), encoding="utf-8")


def _run(home: Path, tests: Sequence[str], limit: float, told: str) -> None:
    """In a process of its own: the tests of a tree, silently."""
    import resource

    import pytest
    from hypothesis import HealthCheck, Phase, settings

    os.setsid()
    seconds = int(limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.chdir(home)
    os.environ["PYTHONPATH"] = str(home / "src")
    sys.dont_write_bytecode = False  # or every run compiles the package and rewrites its tests
    sys.path[:0] = [str(home), str(home / "src")]
    slow = [HealthCheck.too_slow]  # as the machine may be
    phases = [Phase.explicit, Phase.generate]
    settings.register_profile("mutants", phases=phases, database=None, deadline=None, suppress_health_check=slow)
    settings.load_profile("mutants")
    flags = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    flags += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # Hypothesis was loaded before pytest looked
    word = int(pytest.main([*flags, *tests], plugins=[FirstFailure(told)]))
    loaded = sys.modules.get("showthrough")
    if loaded is not None and not Path(loaded.__file__ or "").is_relative_to(home):
        Path(told).write_text("", encoding="utf-8")  # another tree was tested: no verdict
        word = 99
    os._exit(word)
