"""The intersection attack: beside the joins by Polars, and beside AnonyPyx's attackers on the same files.

    python -m benchmarks.intersection [--persons 1000000] [--releases 5] [--data DATA] [--peers PYTHON]

First so many persons in so many Anatomy releases (14 values, l = 8): the attack on releases in memory beside Polars
joining the groups of everybody. Then pairs of generalized releases with 5 000 persons in both, located by a register.
With DATA (the folder with adult/adult_kdd08.csv.gz) two Mondrian releases of Adult are attacked by us and by AnonyPyx
(PYTHON is an interpreter with pip install anonypyx; without it a line says so): the same candidate sets, CPU seconds of
both, and the persons whom only the joint view exposes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.histories import NAMES, OCCUPATIONS, anatomy

SEED = 3
RUNS = 3
SECONDS = 300


def fastest(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of some runs."""
    taken = []
    for _ in range(RUNS):
        start = clock()
        work()
        taken.append(clock() - start)
    return min(taken)


def beside_joins(persons: int, releases: int) -> None:
    """The attack on Anatomy releases beside the joins."""
    rng = np.random.default_rng(SEED)
    values = rng.choice(OCCUPATIONS.size, persons, p=OCCUPATIONS / OCCUPATIONS.sum())
    frames = []
    for _ in range(releases):
        rows = pl.DataFrame({"id": np.arange(persons), "group": anatomy(values, 8, rng), "value": NAMES.gather(values)})
        frames.append(rows[rng.permutation(persons)])
    made = [
        st.Release.bucketized(rows, id="id", sensitive="value", group="group", quasi=[], name=f"D{k}")
        for k, rows in enumerate(frames, start=1)
    ]

    def joins() -> pl.DataFrame:
        every = frames[0].select("id", pl.col("group").alias("g0"))
        for k, rows in enumerate(frames[1:], start=1):
            every = every.join(rows.select("id", pl.col("group").alias(f"g{k}")), on="id", how="inner")
        return every

    joined, attacked = fastest(joins), fastest(lambda: st.attacks.intersection(made))
    print(
        f"{persons:,} persons x {releases} releases: attack {attacked:.2f} s, Polars' joins {joined:.2f} s, "
        f"ratio {attacked / joined:.1f}"
    )


def pair_of_adult(data: Path, size: int, both: int, seed: int) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """The register of everybody, and two tables that share so many persons, each with the groups of Mondrian."""
    table = pl.read_csv(data / "adult" / "adult_kdd08.csv.gz", infer_schema=False).with_row_index("id")
    table = table.with_columns(pl.col("id").cast(pl.String), pl.col("age").cast(pl.Int64))
    quasi = [c for c in table.columns if c not in ("id", "occupation")]
    drawn = np.random.default_rng(seed).permutation(table.height)
    parts = [drawn[:size], np.concatenate([drawn[:both], drawn[size : 2 * size - both]])]
    tables = []
    for k, rows in enumerate(parts):
        own = table[np.sort(rows)]
        made = st.anonymize(
            own, method="mondrian", id="id", sensitive="occupation", quasi=quasi, criteria=[st.KAnonymity(5)], seed=k
        )
        tables.append(own.join(made.groups(), on="id", maintain_order="left"))
    inside = [pl.col("id").is_in(own["id"].implode()).alias(f"in_D{k}") for k, own in enumerate(tables, start=1)]
    known = table.select("id", *quasi, *inside).with_columns(pl.col("age").cast(pl.String))
    return known.filter(pl.col("in_D1") | pl.col("in_D2")), tables


def as_release(table: pl.DataFrame, name: str) -> st.Release:
    """Each group by the range of ages and the sets of other values that occur in it."""
    quasi = [c for c in table.columns if c not in ("id", "occupation", "group")]
    span = pl.format("[{}, {}]", pl.col("age").min(), pl.col("age").max()).alias("age")
    others = [c for c in quasi if c != "age"]
    listed = [pl.col(c).unique().sort().str.join(", ") for c in others]
    cells = table.group_by("group").agg(span, *listed)
    cells = cells.with_columns([("{" + pl.col(c) + "}").alias(c) for c in others])
    rows = table.select("group", "occupation").join(cells, on="group", maintain_order="left")
    return st.Release.generalized(rows, sensitive="occupation", quasi=quasi, group="group", name=name)


def located_pairs(data: Path) -> None:
    """5 000 persons in both of two generalized releases."""
    for seed in range(3):
        known, tables = pair_of_adult(data, 10_000, 5_000, seed)
        releases = [as_release(own, f"D{k}") for k, own in enumerate(tables, start=1)]
        found = st.attacks.intersection(releases, register=known)
        seconds = fastest(lambda r=releases, k=known: st.attacks.intersection(r, register=k))
        print(f"{found.people.height} persons in both of two releases of 10 000 (Adult): {seconds:.2f} s")


def beside_the_peer(data: Path, interpreter: str | None) -> None:
    """Candidate sets, CPU seconds, and what only the joint view tells."""
    known, tables = pair_of_adult(data, 2_000, 1_000, 0)
    releases = [as_release(own, f"D{k}") for k, own in enumerate(tables, start=1)]
    found = st.attacks.intersection(releases, register=known)
    ours = fastest(lambda: st.attacks.intersection(releases, register=known), time.process_time)
    joint = st.attacks.intersection(releases, register=known, beyond=True).people
    only = joint.filter(pl.col("certain") & (pl.col("posterior") > 1)).height
    fewer = joint.filter(pl.col("left") < pl.col("posterior")).height
    surer = joint.filter((pl.col("joint") > 0.5) & (pl.col("confidence") <= 0.5)).height
    print(
        f"joint view of {joint.height} persons: {only} certain whom sets leave open, {fewer} with fewer values than sets "
        f"leave, {surer} more than 50 % sure where sets leave two values or more; perfect by sets {found.perfect:.1f} %"
    )
    if interpreter is None:
        print("AnonyPyx: not run, give --peers with an interpreter that has it (pip install anonypyx)")
        return
    _compare(interpreter, "intersection", known, tables, found, ours)
    known, tables = pair_of_adult(data, 12, 12, 0)  # the trajectory attacker has to know everybody
    releases = [as_release(own, f"D{k}") for k, own in enumerate(tables, start=1)]
    found = st.attacks.intersection(releases, register=known, beyond=True)
    ours = fastest(lambda: st.attacks.intersection(releases, register=known, beyond=True), time.process_time)
    _compare(interpreter, "trajectory", known, tables, found, ours)


def _compare(
    interpreter: str,
    attacker: str,
    known: pl.DataFrame,
    tables: list[pl.DataFrame],
    found: st.attacks.Intersection,
    ours: float,
) -> None:
    """One of the peer's attackers beside ours."""
    quasi = [c for c in known.columns if c != "id" and not c.startswith("in_")]
    targets = found.people["id"]
    told = _peer(interpreter, attacker, known, tables, targets, quasi)
    if isinstance(told, str):
        print(f"AnonyPyx, {attacker}, {targets.len()} targets: not finished: {told}")
        return
    left = dict(found.candidates().group_by("id").agg(pl.col("value").sort()).iter_rows())
    theirs = dict(zip(targets, told["left"], strict=True))
    same = sum(left[who] == theirs[who] for who in theirs)
    more = "" if attacker == "intersection" else f", {_proven(found, theirs)} as maximum entropy and proofs leave them"
    print(
        f"AnonyPyx, {attacker}: {told['seconds']:.1f} CPU s for {targets.len()} targets, ours {ours:.3f} s "
        f"({told['seconds'] / ours:.0f} times); the same sets as the intersection for {same}{more}"
    )


def _proven(found: st.attacks.Intersection, theirs: dict[str, list[str]]) -> int:
    """For how many the sets are those that are not proven impossible."""
    many = dict(found.people.select("id", "left").iter_rows())
    return sum(len(own) == many[who] for who, own in theirs.items())


def _peer(
    interpreter: str,
    attacker: str,
    known: pl.DataFrame,
    tables: list[pl.DataFrame],
    targets: pl.Series,
    quasi: list[str],
) -> dict[str, Any] | str:
    with tempfile.TemporaryDirectory() as folder:
        for k, own in enumerate(tables, start=1):
            own.select(*quasi, pl.col("occupation").alias("value"), "group").write_csv(f"{folder}/table{k}.csv")
        chosen = pl.DataFrame({"id": targets}).join(known, on="id", maintain_order="left")
        chosen.select(quasi).write_csv(f"{folder}/targets.csv")
        script = Path(__file__).with_name("intersection_peer.py")
        try:
            done = subprocess.run(
                [interpreter, str(script), attacker, folder],
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"{SECONDS} s were over"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return dict(json.loads(done.stdout))


def main() -> None:
    """All parts that can run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=1_000_000)
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--peers")
    given = parser.parse_args()
    beside_joins(given.persons, given.releases)
    if given.data is None:
        print("Adult: not run, give --data")
        return
    located_pairs(given.data)
    beside_the_peer(given.data, given.peers)


if __name__ == "__main__":
    main()
