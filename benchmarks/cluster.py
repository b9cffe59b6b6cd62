"""A Spark cluster beside one machine: python -m benchmarks.cluster small 1000000 [--workers 2 4] [--alone] | equal 100 [--seed 0]

``small``: two yearly releases of a made-up register in small components (`showthrough cluster demo`), written as Parquet by
the workers of a cluster on this machine. CPU time counts driver, its Java, executors and their Python, from files to
tables on storage, without the start of the session. One machine reads the same files, infers and writes the same tables in
a process of its own. ``--giant`` lays out one component instead (two Anatomy releases, l = 8, 5/6 of the persons in both).
``--alone`` asks the cluster only, where one machine cannot hold the history: its certificate stands for the comparison.

``equal``: random histories of all kinds, located ones, ranges and several releases among them, answered by the cluster in
pieces of a few persons and by this process.

Run it in the environment of Spark (requirements/spark.txt), with Java 17.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import showthrough as st
from benchmarks.histories import independent
from benchmarks.version_histories import history
from benchmarks.version_worker import known, release
from showthrough.engines.cluster_release import published
from showthrough.engines.peaks import watched
from showthrough.engines.spark import Spark, spark
from showthrough.engines.standalone import Cluster, standalone
from showthrough.errors import ShowthroughError
from showthrough.examples import registers
from showthrough.inference.cluster import cutting, giant_component, on_cluster
from showthrough.inference.cluster.giant import GiantAnswer, solve_giant

_TICK = os.sysconf("SC_CLK_TCK")
_WHO = ["id", "release", "value"]
_FACT = ["id", "value", "fact", "by"]


def roles(*, giant: bool) -> dict[str, str]:
    """The columns of what is laid out."""
    if giant:
        return {"id": "id", "sensitive": "value", "group": "group", "count": "n"}
    return {"id": registers.ID, "sensitive": registers.SENSITIVE, "group": registers.IN_GROUP}


def cpu(driver: int, guards: Sequence[int]) -> dict[str, float]:
    """CPU seconds of a driver, its Java, the Java of the cluster and its Python, with those of theirs that have ended."""
    parents, used, names = {}, {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            first, _, last = stat.read_text().rpartition(")")
            pid, words = int(stat.parent.name), last.split()
            parents[pid], names[pid] = int(words[1]), first.partition("(")[2]
            used[pid] = sum(map(int, words[11:15])) / _TICK

    def family(first: Sequence[int]) -> set[int]:
        found = set(first)
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    workers = family(guards)
    ours = family([driver]) - workers
    told = {"driver": 0.0, "its_java": 0.0, "executors": 0.0, "python": 0.0}
    for pid in ours:
        told["its_java" if names.get(pid) == "java" else "driver"] += used.get(pid, 0.0)
    for pid in workers:
        told["executors" if names.get(pid) == "java" else "python"] += used.get(pid, 0.0)
    return told


# One machine -----------------------------------------------------------------------------------


def one_machine(folder: Path, *, giant: bool) -> dict[str, Any]:
    """The same files, inferred and written by one process."""
    began, names = time.monotonic(), roles(giant=giant)
    own = {key: names[key] for key in ("id", "sensitive", "group")}
    releases = []
    for year in registers.YEARS:
        records = pl.read_parquet(folder / year / ("records" if giant else "") / "*.parquet")
        values = pl.read_parquet(folder / year / "values" / "*.parquet") if giant else None
        more = {"values": values, "count": names["count"]} if giant else {}
        releases.append(st.Release.bucketized(records, **own, **more, quasi=[], name=year))
        del records
    post = st.infer(releases, seconds=36_000)
    for name, frame in (("answer", post.to_frame()), ("people", post.best()), ("facts", post.proven())):
        frame.write_parquet(folder / f"one-{name}.parquet")
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu": used.ru_utime + used.ru_stime, "wall": time.monotonic() - began, "peak_mb": used.ru_maxrss / 1024,
        "status": str(post.certificate.status), "components": post.certificate.components,
        "variables": post.certificate.variables,
    }  # fmt: skip


# The cluster -----------------------------------------------------------------------------------


@contextlib.contextmanager
def working(workers: int, memory: str = "1g") -> Iterator[tuple[Cluster, Spark]]:
    """A cluster on this machine, and its engine."""
    with standalone(workers, memory=memory) as cluster:
        conf = {**cluster.conf, "spark.sql.shuffle.partitions": str(4 * workers)}
        root = Path(__file__).parents[1]
        conf |= {"spark.executorEnv.PYTHONPATH": f"{root}:{root / 'src'}"}
        with spark(master=cluster.master, folder=cluster.folder, conf=conf) as engine:
            yield cluster, engine


def on_workers(persons: int, workers: int, folder: Path, *, giant: bool) -> dict[str, Any]:
    """Write the releases once, and let the cluster answer them."""
    with working(workers) as (cluster, engine):
        if not (folder / registers.YEARS[0]).exists():
            _write(persons, engine, folder, giant=giant)
        names = roles(giant=giant)
        given = [
            published(folder / year / "records", values=folder / year / "values", **names, name=year)
            if giant
            else published(folder / year, **names, name=year)
            for year in registers.YEARS
        ]
        answers = _Answers()
        if giant:
            on_cluster.LARGEST = persons // 2
            giant_component.solve_giant = answers
        before, began, stages = cpu(os.getpid(), cluster.pids), time.monotonic(), _Stages()
        with watched(cluster.pids[1:]) as watch:
            post = st.infer(given, engine=engine, seconds=36_000, progress=stages)
        wall = time.monotonic() - began
        apart = {name: used - before[name] for name, used in cpu(os.getpid(), cluster.pids).items()}
        certificate = post.certificate
        found = {
            "workers": workers, "cpu": sum(apart.values()), "cpu_of": apart, "wall": wall, "pieces": len(post.pieces),
            "driver_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "worker_mb": [peak.python / 2**20 for peak in watch.peaks()],
            "executor_mb": [peak.executor / 2**20 for peak in watch.peaks()],
            "status": str(certificate.status), "passes": certificate.passes, "seconds": stages.taken(),
        }  # fmt: skip
        beside = _compared(post, folder) if (folder / "one-answer.parquet").exists() else _certified(post)
        return found | answers.moved() | beside


class _Answers:
    """Listens to what goes to and fro while a giant component is answered."""

    def __init__(self) -> None:
        self.found: list[GiantAnswer] = []

    def __call__(self, *given: Any, **options: Any) -> GiantAnswer:
        self.found.append(solve_giant(*given, **options))
        return self.found[-1]

    def moved(self) -> dict[str, float]:
        """MB by call, to the parts and back."""
        if not self.found:
            return {}
        traffic = self.found[0].traffic
        sent, received = (amount / traffic.calls / 2**20 for amount in (traffic.sent, traffic.received))
        return {"calls": traffic.calls, "sent_mb": sent, "received_mb": received}


class _Stages:
    """Seconds of each stage, by when it was told to begin."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []

    def __call__(self, name: str) -> None:
        self.told.append((name, time.monotonic()))

    def taken(self) -> dict[str, float]:
        """Stages that come again are added up."""
        found: dict[str, float] = {}
        ends = [at for _, at in self.told[1:]] + [time.monotonic()]
        for (name, begin), end in zip(self.told, ends, strict=True):
            found[name] = round(found.get(name, 0.0) + end - begin, 1)
        return found


def _write(persons: int, engine: Spark, folder: Path, *, giant: bool) -> None:
    if not giant:
        for year in registers.YEARS:
            (folder / year).mkdir()
        engine.map(registers.write_part, registers.register_parts(persons, 4 * engine.workers, 0), str(folder))
        return
    for year, one in zip(registers.YEARS, independent(persons, 8), strict=True):
        names = [one.roles.id, "group"]
        members = pl.DataFrame({"id": one.records[names[0]], "group": one.person_groups()})
        for name, frame in (("records", members), ("values", one.tally)):
            (folder / year / name).mkdir(parents=True)
            frame.write_parquet(folder / year / name / "part.parquet")


def _certified(post: Any) -> dict[str, Any]:
    """What the checker says of an answer that nobody else has."""
    told = post.certificate
    return {
        "persons": told.persons, "variables": told.variables, "gap": told.gap, "residual": told.residual,
        "facts_cluster": int(post.scan("facts").select(pl.len()).collect().item()),
    }  # fmt: skip


def _compared(post: Any, folder: Path) -> dict[str, Any]:
    """With what one machine wrote."""
    one, wide = pl.scan_parquet(folder / "one-answer.parquet"), post.scan("answer")
    both = one.join(wide, on=["id", "value"], suffix="_wide").select(
        pl.len().alias("pairs"), (pl.col("p") - pl.col("p_wide")).abs().max().alias("worst")
    )
    pairs, worst = both.collect().row(0)
    known_here, known_there = (
        int(frame.select(pl.len()).collect().item())
        for frame in (pl.scan_parquet(folder / "one-facts.parquet"), post.scan("facts"))
    )
    rows = int(one.select(pl.len()).collect().item())
    return {"worst": worst, "pairs_missing": rows - pairs, "facts_one": known_here, "facts_cluster": known_there}


# Random histories --------------------------------------------------------------------------------


def equal(number: int, seed: int) -> dict[str, Any]:
    """Facts that only one of both has, and how far probabilities are apart."""
    found = {"histories": 0, "refused_alike": 0, "refused_by_one": 0, "facts": 0, "more": 0, "missing": 0, "worst": 0.0}
    sizes = random.Random(seed)
    with working(2) as (_, engine):
        for k in range(number):
            data, cutting.PERSONS = history(seed + k), sizes.choice([3, 10, 50])
            releases, more = [release(r) for r in data["releases"]], known(data)
            one, wide = (_asked(releases, data["changed"], more, own) for own in ({}, {"engine": engine}))
            if one is None or wide is None:
                found["refused_alike" if one is wide else "refused_by_one"] += 1
                continue
            found["histories"] += 1
            facts = [set(map(tuple, post.proven().select(_FACT).rows())) for post in (one, wide)]
            found["facts"] += len(facts[0])
            found["more"] += len(facts[1] - facts[0])
            found["missing"] += len(facts[0] - facts[1])
            found["worst"] = max(found["worst"], _apart(one, wide))
    return found


def _asked(releases: list[Any], changed: Any, more: dict[str, Any], engine: dict[str, Any]) -> Any:
    try:
        return st.infer(releases, changed=changed, **more, **engine)
    except ShowthroughError:
        return None


def _apart(one: Any, wide: Any) -> float:
    here = one.to_frame(uncertified=True)
    if "release" not in here.columns:
        here = here.with_columns(pl.lit(None, dtype=pl.String).alias("release"))
    sure = pl.col("state").is_in(["exact", "certified"])
    both = here.filter(sure).join(wide.to_frame(), on=_WHO, nulls_equal=True, how="left", suffix="_wide")
    return float(both.select((pl.col("p") - pl.col("p_wide").fill_null(-1.0)).abs().max()).item() or 0.0)


def main() -> None:
    """Measure, and print a JSON line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["small", "equal", "one", "write"])
    parser.add_argument("number", type=int)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--giant", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.what == "one":
        print(json.dumps(one_machine(options.folder, giant=options.giant)))
        return
    if options.what == "equal":
        print(json.dumps(equal(options.number, options.seed)))
        return
    if options.what == "write":
        with working(2) as (_, engine):
            _write(options.number, engine, options.folder, giant=options.giant)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as home:
        folder, alone = Path(home), {"cpu": float("nan"), "peak_mb": float("nan")}
        _apart_from_here("write", options.number, home, giant=options.giant)
        if not options.alone:
            told_alone = _apart_from_here("one", 0, home, giant=options.giant)
            alone = json.loads(told_alone.splitlines()[-1])
            print(json.dumps(_short(alone)), flush=True)
        for workers in options.workers:
            told = on_workers(options.number, workers, folder, giant=options.giant)
            told |= {"cpu_ratio": told["cpu"] / alone["cpu"], "memory_ratio": max(told["worker_mb"]) / alone["peak_mb"]}
            print(json.dumps(_short(told)), flush=True)


def _apart_from_here(what: str, number: int, home: str, *, giant: bool) -> str:
    """A step in a process of its own, so that its memory is not that of the driver; what it prints."""
    ask = [sys.executable, "-m", "benchmarks.cluster", what, str(number), "--folder", home]
    ask += ["--giant"] if giant else []
    return subprocess.run(ask, stdout=subprocess.PIPE, text=True, check=True).stdout


def _short(told: dict[str, Any]) -> dict[str, Any]:
    def shown(given: Any) -> Any:
        if isinstance(given, list):
            return [round(one) for one in given]
        if isinstance(given, dict):
            return {name: shown(one) for name, one in given.items()}
        return round(given, 2) if isinstance(given, float) and abs(given) > 1e-3 else given

    return {name: shown(given) for name, given in told.items()}


if __name__ == "__main__":
    main()
