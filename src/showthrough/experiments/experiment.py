"""What an experiment is: a paper, and figures that are plain parameters with a ``run``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from showthrough.experiments.study_data import StudyData
from showthrough.progress import Progress
from showthrough.report.reproduction import Reproduced, Taken
from showthrough.table.entries import Entries


@dataclass(frozen=True)
class PaperFigure(Entries):
    """The parameters of one figure as plain data; defaults are the full size, `quick` runs in seconds.

    A subclass is a frozen dataclass in a file of its own. It says of itself what it shows (``title``), what the paper
    says of it (``claim``, one sentence) and which tables it reads (``reads``, names that `StudyData.table` knows).
    Everything random comes from the seed; progress is told in counts; times and memory stand in tables of their own
    (``ResultTable.measured``), so that all others come out the same again.
    """

    title: ClassVar[str]
    claim: ClassVar[str]
    reads: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def quick(cls) -> Self:
        """Small enough for seconds, on synthetic tables."""
        return cls()

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """Everything that the figure shows."""
        raise NotImplementedError


@dataclass(frozen=True)
class Experiment:
    """A paper's experiment: what it is about, and its figures by the paper's numbers ("" where it has none)."""

    name: str
    paper: str
    says: str
    figures: Mapping[str, type[PaperFigure]]


def timed(figure: PaperFigure, data: StudyData, progress: Progress, seed: int) -> tuple[Reproduced, Taken]:
    """A figure, and what it took."""
    wall, processor = time.perf_counter(), time.process_time()
    found = figure.run(data, progress, seed)
    return found, Taken(time.perf_counter() - wall, time.process_time() - processor, peak_mb())


def peak_mb() -> float:
    """The most memory that this process has had, in megabytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    import sys

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1 << 20 if sys.platform == "darwin" else 1 << 10)
