"""Run an experiment of a paper again: all its figures, or one."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from showthrough.errors import FieldError, FileError
from showthrough.experiments import EXPERIMENTS
from showthrough.experiments.experiment import Experiment, timed
from showthrough.experiments.study_data import StudyData
from showthrough.progress import Progress
from showthrough.report import html
from showthrough.report.charts import drawing
from showthrough.report.origin import Origin
from showthrough.report.reproduction import ReproductionContent
from showthrough.report.reproduction_page import chart_file, reproduction_page
from showthrough.report.reproduction_terminal import chart_files, reproduction_markdown
from showthrough.storage.system import unwritable
from showthrough.table.entries import Entries, between


@dataclass(frozen=True)
class ReproduceRequest(Entries):
    """Which experiment, which of its figures (all without), where its tables are; ``quick`` needs none."""

    experiment: str
    figure: str | None = None
    quick: bool = False
    data: str | None = None
    seed: int = 0

    def check(self) -> None:
        """The experiment is there, and has such a figure."""
        between("seed", self.seed, 0)
        if self.experiment not in EXPERIMENTS:
            raise FieldError("experiment", f"is one of {', '.join(EXPERIMENTS)}, not {self.experiment!r}.")
        known = [name for name in self.found.figures if name]
        if self.figure is not None and self.figure not in known:
            has = f"has the figures {', '.join(known)}" if known else "has no numbered figures"
            raise FieldError("figure", f"{self.figure!r} is unknown: {self.experiment} {has}.")

    @property
    def found(self) -> Experiment:
        """The experiment."""
        return EXPERIMENTS[self.experiment]


@dataclass(frozen=True, eq=False)
class ReproduceResult:
    """What came out, and the files that show it."""

    content: ReproductionContent

    def files(self) -> dict[str, bytes]:
        """Tables, charts, the page and its Markdown, by their names; no charts and page where libraries are missing."""
        found: dict[str, bytes] = {}
        for one in self.content.figures:
            for at, table in enumerate(one.tables):
                found[f"{one.name}.csv" if at == 0 else f"{one.name}-{table.name}.csv"] = table.csv()
            if drawing.available():
                names = chart_files(one.name, len(one.charts))
                found |= {name: chart_file(chart) for name, chart in zip(names, one.charts, strict=True)}
        found[f"{self.content.name}.md"] = reproduction_markdown(self.content)
        if html.installed():
            found[f"{self.content.name}.html"] = reproduction_page(self.content)
        return found


def run_reproduce(
    request: ReproduceRequest, progress: Progress | Callable[[str], None] | None = None
) -> ReproduceResult:
    """Read the tables, and run the figures one after the other."""
    tell, experiment = Progress.of(progress), request.found
    wanted = [request.figure] if request.figure is not None else list(experiment.figures)
    data = StudyData.synthetic() if request.quick else StudyData.found(request.data)
    kinds = [experiment.figures[name] for name in wanted]
    names = list(dict.fromkeys(name for kind in kinds for name in kind.reads))
    read = data.files(names)
    runs = [timed(kind.quick() if request.quick else kind(), data, tell, request.seed) for kind in kinds]
    return ReproduceResult(
        ReproductionContent(
            experiment=experiment.name,
            paper=experiment.paper,
            says=experiment.says,
            figures=tuple(found for found, _ in runs),
            effort=tuple(effort for _, effort in runs),
            data=data.said(names),
            seed=request.seed,
            quick=request.quick,
            machine=_machine(),
            made=Origin.now(read),
        )
    )


def check_folder(folder: Path) -> None:
    """Say before the work that its files cannot be written; nothing is made yet."""
    place = next(above for above in (folder, *folder.absolute().parents) if os.path.lexists(above))
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise FileError(f"{folder} cannot be written: {place.name or place} is no folder, or not ours to write in.")


def make_folder(folder: Path) -> None:
    """The folder for the files, once there are some."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(folder, problem) from None


def _machine() -> str:
    """What kind of machine this is, without its name."""
    cores = os.cpu_count() or 1
    return f"{cores} cores ({platform.machine()}), {platform.system()}, Python {platform.python_version()}"
