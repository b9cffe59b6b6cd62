"""Whether the workers are like the driver: the same Python, the same package, the same numbers, the same folder.

One tiny job asks. Its function travels whole, as workers without the package could not look it up.
"""

from __future__ import annotations

import platform
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from showthrough import __version__
from showthrough.engines.spark_jobs import Jobs, TooLongError
from showthrough.engines.spark_needs import version_of
from showthrough.errors import EngineError, InputError

LIBRARIES = ("numpy", "scipy", "polars", "pyarrow")  # of which another version may give other last bits


@dataclass(frozen=True)
class Alike:
    """The question to the workers of a context, and how long to wait for them."""

    context: Any
    jobs: Jobs
    wait: float

    def check(self, folder: Path) -> None:
        """A sentence if a worker is not like the driver, or does not see the folder."""
        try:
            mark = tempfile.mkdtemp(prefix=".seen.", dir=folder)
        except OSError:
            raise InputError(f"The work folder {folder} cannot be written; folder= names another one.") from None
        try:
            told = self._asked(_question(mark))
        finally:
            Path(mark).rmdir()
        for host, sees, versions in told:
            self._compare(host, versions)
            if not sees:
                raise EngineError(
                    f"The worker on {host} does not see the work folder {folder}, or may not write in it: folder= "
                    "names one that driver and workers share."
                )

    def _compare(self, host: str, versions: dict[str, str | None]) -> None:
        if versions["showthrough"] is None:
            raise EngineError(
                f"The worker on {host} has no showthrough: install it there too, version {__version__} as here, in the "
                "Python that PYSPARK_PYTHON names."
            )
        other = {name: of for name, of in versions.items() if of != _here()[name]}
        if other:
            here = ", ".join(f"{name} {_here()[name]}" for name in other)
            there = ", ".join(f"{name} {of or '(none)'}" for name, of in other.items())
            raise EngineError(
                f"The worker on {host} is not like the driver: {there} there, {here} here. Both need the same versions."
            )

    def _asked(self, question: Callable[[int], Any]) -> list[tuple[str, bool, dict[str, str | None]]]:
        many = max(2, 2 * self.context.defaultParallelism)  # every worker should get one
        try:
            return self.jobs.bare(
                lambda: self.context.parallelize(range(many), many).map(question).collect(), wait=self.wait
            )
        except TooLongError:
            raise EngineError(
                f"No worker of {self.context.master} took work within {self.wait:g} s: are there any, and do they have "
                "the cores and the memory that are asked for (spark.executor.cores, spark.executor.memory)?"
            ) from None
        except Exception as problem:
            raise EngineError(_why(str(problem), self.context.pythonExec)) from None


def _question(mark: str) -> Callable[[int], Any]:
    """A function inside a function, which is sent as it is; what it needs is imported where it runs."""
    libraries, package = LIBRARIES, __name__.partition(".")[0]

    def answer(_: int) -> tuple[str, bool, dict[str, str | None]]:
        import importlib
        import importlib.metadata
        import os
        import platform

        def version(name: str) -> str | None:
            try:
                return importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                return None

        try:
            ours = importlib.import_module(package).__version__
        except ImportError:
            ours = None
        sees = os.path.isdir(mark) and os.access(mark, os.W_OK)
        versions = {"showthrough": ours, "Python": ".".join(platform.python_version_tuple()[:2])}
        return platform.node(), sees, {**versions, **{name: version(name) for name in libraries}}

    return answer


def _here() -> dict[str, str | None]:
    python = ".".join(platform.python_version_tuple()[:2])
    return {"showthrough": __version__, "Python": python, **{name: version_of(name) for name in LIBRARIES}}


def _why(text: str, python: str) -> str:
    """PySpark itself compares the Pythons, and says so only in words."""
    other = re.search(r"PYTHON_VERSION_MISMATCH\].*?: ?\(?'?(\d+\.\d+)", text, re.DOTALL)
    if other is not None:
        return (
            f"The workers run Python {other[1]}, the driver Python {_here()['Python']}: both need the same one, on "
            "workers the one that PYSPARK_PYTHON names."
        )
    return (
        f"The workers could not run {python}: it must be there on every worker, with showthrough {__version__}; "
        "PYSPARK_PYTHON names another one."
    )
