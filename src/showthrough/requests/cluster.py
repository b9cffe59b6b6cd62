"""A cluster on this machine, and a register of millions on it: begun, worked on, measured and ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from showthrough.engines.cluster_release import published
from showthrough.engines.peaks import Peak, watched
from showthrough.engines.spark import Spark, spark
from showthrough.engines.standalone import standalone
from showthrough.errors import FieldError
from showthrough.examples import registers
from showthrough.inference.cluster.spread import SpreadPosterior
from showthrough.inference.infer import infer
from showthrough.numerals import many, number_of
from showthrough.progress import Progress
from showthrough.table.entries import Entries

FEWEST = 100  # persons
_PARTS = 4  # files for each worker


@dataclass(frozen=True)
class ClusterDemoRequest(Entries):
    """How many persons, on how many workers, each with so much memory for its executor."""

    persons: int = 2_000_000
    workers: int = 2
    memory: str = "1g"
    seed: int = 0
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        if self.persons < FEWEST:
            raise FieldError("persons", f"is a whole number of {FEWEST} or more, not {self.persons}.")
        if not 1 <= self.workers <= 64:
            raise FieldError("workers", f"is a whole number from 1 to 64, not {self.workers}.")


@dataclass(frozen=True, eq=False)
class ClusterDemoResult:
    """What came out, how long each stage took in seconds, and what every worker took of memory."""

    persons: int
    size: int  # bytes of both releases
    posterior: SpreadPosterior
    seconds: dict[str, float]
    peaks: tuple[Peak, ...]

    def lines(self, duration: Callable[[float], str]) -> list[str]:
        """The figures in words; nothing of a person."""
        took = {name: duration(seconds) for name, seconds in self.seconds.items()}
        facts, certificate = self.posterior.fact_counts(), self.posterior.certificate
        impossible = facts.impossible_by_sets + facts.impossible_by_counts
        return [
            f"A master and {number_of(len(self.peaks), 'worker')} were up after {took['cluster']}, Spark on them after "
            f"{took['Spark']} more. All of them have ended.",
            f"Two releases of {many(self.persons)} persons, written by the workers as Parquet: {took['writing']}, "
            f"{many(self.size / 1e6)} MB.",
            f"Inference: {took['inference']}, {many(certificate.components)} components in "
            f"{number_of(len(self.posterior.pieces), 'piece')}: {certificate}.",
            f"{many(facts.certain)} persons are certain; {many(impossible)} pairs of person and value are impossible.",
            *(
                f"Peak memory of worker {k}: {many(peak.python / 1e6)} MB of Python, {many(peak.executor / 1e6)} MB of "
                "its executor."
                for k, peak in enumerate(self.peaks, start=1)
            ),
        ]


def run_cluster_demo(
    request: ClusterDemoRequest, progress: Progress | Callable[[str], None] | None = None
) -> ClusterDemoResult:
    """Begin a cluster, let its workers write two releases and answer them, and end it."""
    tell, seconds = Progress.of(progress), _Stages({})
    tell.stage("starting a cluster")
    with standalone(request.workers, memory=request.memory) as cluster:
        seconds.over("cluster")
        tell.stage("starting Spark")
        conf = {**cluster.conf, "spark.sql.shuffle.partitions": str(_PARTS * request.workers)}
        with spark(master=cluster.master, folder=cluster.folder, conf=conf) as engine, engine.heeding(tell):
            seconds.over("Spark")
            with watched(cluster.pids[1:]) as watch:
                tell.stage("writing two releases")
                persons, size = _written(request, engine, cluster.folder)
                seconds.over("writing")
                posterior = _answered(cluster.folder, engine, tell, request.seconds)
                seconds.over("inference")
            tell.stage("ending the cluster")
        return ClusterDemoResult(persons, size, posterior, seconds.taken, watch.peaks())


@dataclass
class _Stages:
    """Seconds of one stage after the other."""

    taken: dict[str, float]
    began: float = 0.0

    def __post_init__(self) -> None:
        self.began = time.monotonic()

    def over(self, name: str) -> None:
        now = time.monotonic()
        self.taken[name], self.began = now - self.began, now


def _written(request: ClusterDemoRequest, engine: Spark, folder: Path) -> tuple[int, int]:
    for year in registers.YEARS:
        (folder / year).mkdir()
    parts = registers.register_parts(request.persons, _PARTS * request.workers, request.seed)
    told = engine.map(registers.write_part, parts, str(folder))
    return sum(persons for persons, _ in told), sum(size for _, size in told)


def _answered(folder: Path, engine: Spark, tell: Progress, seconds: float) -> SpreadPosterior:
    roles = {"id": registers.ID, "sensitive": registers.SENSITIVE, "group": registers.IN_GROUP}
    releases = [published(folder / year, **roles, name=year) for year in registers.YEARS]
    return infer(releases, engine=engine, seconds=seconds, progress=tell)
