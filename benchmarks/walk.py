"""The walk through the package: what one audit and one guarded publish touch, in one or two versions.

    python -m benchmarks.walk SRC [OTHER_SRC]

For the audit of the worked example, the audit of two releases of 7 200 records, and the guarded publish of
60 rows beside two earlier releases (guarded too, or not): modules of the package that are loaded, files in
which anything is called, distinct functions called, calls in all, and how often the steps of `STEPS` run.
Each walk has a process of its own, watched by ``sys.setprofile``; importing is not counted as calling.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent

# What is counted: a step, and the functions ("module:name" inside the package) that have been it in any version.
# A call from one function of a step into another of the same step counts once. Where a version has none of
# them the table shows "?": then a function was renamed and its new name belongs here.
STEPS = {
    "encode the history": ("inference.history:encode",),
    "problem built": ("inference.problem:collapse", "inference.problem:build"),
    "infer": ("inference.run:infer_given", "inference.run:answer"),
    "extend": ("inference.increment:extend", "inference.increment:consider"),
    "solve": ("inference.run:solve",),
    "checker": ("inference.checker:check",),
    "releases built": ("release.release:from_source",),
    "criteria checked": ("criteria.criterion:Checked.check", "criteria.criterion:Criterion.check"),
}


def worked_example() -> Callable[[], Any]:
    """The audit of Figure 1."""
    import showthrough as st
    from showthrough.examples import figure1

    releases = list(figure1.releases())
    return lambda: st.audit(releases)


def two_releases() -> Callable[[], Any]:
    """The audit of two Anatomy releases of 7 200 records."""
    import showthrough as st
    from benchmarks.histories import independent

    releases = independent(7200, 5)
    return lambda: st.audit(releases)


def guarded_series() -> Callable[[], Any]:
    """The third release of 60 rows, guarded, beside two that were guarded too: little is to be repaired."""
    return _third_release(values=6, step=10, guarded=True)


def guarded_late() -> Callable[[], Any]:
    """The same beside two releases that were made without a look back: much is to be repaired."""
    return _third_release(values=8, step=20, guarded=False)


def _third_release(*, values: int, step: int, guarded: bool) -> Callable[[], Any]:
    import showthrough as st

    rng = np.random.default_rng(1)
    value, age = rng.integers(0, values, 60 + 2 * step), rng.integers(20, 60, 60 + 2 * step)
    common: dict[str, Any] = {
        "method": "anatomy",
        "id": "id",
        "sensitive": "value",
        "quasi": ["age"],
        "criteria": [st.DistinctLDiversity(3)],
    }
    guard: dict[str, Any] = {"strategy": "guarded", "policy": st.Policy(max_posterior=0.5), "exposed": "accept"}

    def release(r: int, history: list[st.Release], **more: Any) -> st.Release:
        rows = np.arange(60) + r * step
        names = [[f"p{k}" for k in rows], [f"v{k}" for k in value[rows]]]
        table = pl.DataFrame({"id": names[0], "age": age[rows], "value": names[1]})
        return st.anonymize(table, name=f"R{r + 1}", seed=r, history=history, hold_back=True, **common, **more)

    history: list[st.Release] = []
    for r in range(2):
        history.append(release(r, list(history), **(guard if guarded else {})))
    return lambda: release(2, history, **guard)


WALKS = {
    "audit of the worked example": worked_example,
    "audit of 2 × 7,200 records": two_releases,
    "guarded publish, 60 rows": guarded_series,
    "guarded late, 60 rows": guarded_late,
}


class Watch:
    """Counts calls of functions of the package, in all threads."""

    def __init__(self, package: Path) -> None:
        self.package = f"{package}{os.sep}"
        self.calls: Counter[CodeType] = Counter()
        self.steps: Counter[str] = Counter()
        self.step_of = {name: step for step, names in STEPS.items() for name in names}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Told of each call by the interpreter."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self.package) or code.co_name == "<module>":
            return
        self.calls[code] += 1
        step = self.step_of.get(self.name(code))
        if step is not None and not self._inside(frame.f_back, step):
            self.steps[step] += 1

    def _inside(self, frame: FrameType | None, step: str) -> bool:
        while frame is not None:
            code = frame.f_code
            if code.co_filename.startswith(self.package) and self.step_of.get(self.name(code)) == step:
                return True
            frame = frame.f_back
        return False

    def name(self, code: CodeType) -> str:
        """Module and name of a function, inside the package."""
        module = code.co_filename.removeprefix(self.package).removesuffix(".py").replace(os.sep, ".")
        return f"{module}:{code.co_qualname}"

    def figures(self) -> dict[str, int | None]:
        """What the walk touched."""
        own = [code for code in self.calls if not code.co_name.startswith("<")]
        loaded = sum(name.partition(".")[0] == "showthrough" for name in sys.modules)
        return {
            "modules loaded": loaded,
            "files walked through": len({code.co_filename for code in own}),
            "functions called": len(own),
            "calls": sum(self.calls[code] for code in own),
            **{step: self.steps[step] if any(map(_exists, names)) else None for step, names in STEPS.items()},
        }


def _exists(name: str) -> bool:
    """Whether this version of the package has a function."""
    module, _, path = name.partition(":")
    try:
        found = importlib.import_module(f"showthrough.{module}")
    except ImportError:
        return False
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is not None


def walk(name: str) -> dict[str, int | None]:
    """One walk in this process."""
    run = WALKS[name]()
    import showthrough

    watch = Watch(Path(showthrough.__file__).resolve().parent)
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return watch.figures()


def walked(source: Path, name: str) -> dict[str, int | None]:
    """One walk through the version in a folder, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source.resolve()), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.walk", str(source), "--only", name]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if run.returncode:
        raise SystemExit(f"{source}: {name} failed:\n{run.stderr}")
    found: dict[str, int | None] = json.loads(run.stdout)
    return found


def _told(figure: int | None) -> str:
    return "?" if figure is None else f"{figure:,}"


def main() -> None:
    """Walk, and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--only", choices=list(WALKS), help=argparse.SUPPRESS)  # the walk of a process of its own
    options = parser.parse_args()
    if options.only:
        print(json.dumps(walk(options.only)))
        return
    for name in WALKS:
        columns = [walked(source, name) for source in options.sources]
        print(f"{name:30}" + "".join(f"{label:>12}" for label in ("first", "second", "third")[: len(columns)]))
        for figure in columns[0]:
            print(f"  {figure:28}" + "".join(f"{_told(column[figure]):>12}" for column in columns))
        print()


if __name__ == "__main__":
    main()
