"""Time and quality of the anonymizers: python -m benchmarks.anonymizers [--quick] [--peers PYTHON] [--arx [--grid]]

Needs the data files (SHOWTHROUGH_DATA, or ../shared/data beside the clone). PYTHON is an interpreter
that has the peers (pip install anonypy anonypyx); without it their rows say so. CPU seconds, this
process only; every result is checked against the requirement before its row is printed. The losses
of ARX 3.9.2 stand beside ours as constants: it is a Java program and does not run here. ``--arx`` compares local
recoding with it task by task (``arx_rows.py``), ``--grid`` runs more criteria on more tables.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.arx_rows import compare
from showthrough.anonymizers.anatomy import anatomy
from showthrough.anonymizers.full_domain import full_domain
from showthrough.anonymizers.group_loss import cost, merge_alike
from showthrough.anonymizers.local_recoding import local_recoding
from showthrough.anonymizers.mdav import Feature, mdav
from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.near_rows import NumericProximity, ValueProximity
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.xcolor import xcolor
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import EntropyLDiversity
from showthrough.criteria.t_closeness import TCloseness
from showthrough.republishing.anonymize import anonymize

DATA = Path(os.environ.get("SHOWTHROUGH_DATA", Path(__file__).parents[2] / "shared" / "data"))
Table = tuple[list[QuasiColumn], np.ndarray]


def table(name: str, *, shown: str, age: str = "range") -> Table:
    """The quasi-identifiers and sensitive codes of Adult or IPUMS."""
    path = {"adult": "adult/adult_kdd08.csv.gz", "ipums": "ipums/ipums_la_97_kdd08.csv"}[name]
    frame = pl.read_csv(DATA / path, infer_schema_length=0)
    columns = []
    for column in frame.columns[:-1]:
        with (DATA / name / "hierarchies" / f"{column}.csv").open() as file:
            hierarchy = list(csv.reader(file))
        if column == "age":
            made = QuasiColumn.numeric(column, frame[column].cast(pl.Float64).to_numpy())
            columns.append(made.with_hierarchy(hierarchy) if age == "label" else made)
        else:
            made = QuasiColumn.categorical(column, frame[column].to_list())
            columns.append(made.with_hierarchy(hierarchy) if shown == "label" else made)
    sensitive = np.unique(frame[frame.columns[-1]].to_numpy(), return_inverse=True)[1].astype(np.int32)
    return columns, sensitive


def mixed(source: Table, rows: int) -> Table:
    """Rows that join the first three columns of one random row with the rest of another (seed 1)."""
    columns, sensitive = source
    generator = np.random.default_rng(1)
    one, other = generator.integers(0, len(sensitive), rows), generator.integers(0, len(sensitive), rows)
    return [replace(c, codes=c.codes[one if j < 3 else other]) for j, c in enumerate(columns)], sensitive[other]


def entropy_at_least(l: float) -> Callable[[GroupCounts], np.ndarray]:
    """Entropy l-diversity."""

    def allowed(counts: GroupCounts) -> np.ndarray:
        owner = np.repeat(np.arange(len(counts.start) - 1), np.diff(counts.start))
        share = counts.count / np.bincount(owner, weights=counts.count)[owner]
        return np.bincount(owner, weights=-share * np.log(share)) >= np.log(l) - 1e-12

    return allowed


def closeness_at_most(t: float) -> Callable[[GroupCounts], np.ndarray]:
    """t-closeness with equal distances against all rows."""

    def allowed(counts: GroupCounts) -> np.ndarray:
        owner = np.repeat(np.arange(len(counts.start) - 1), np.diff(counts.start))
        share = counts.count / np.bincount(owner, weights=counts.count)[owner]
        whole = counts.total / counts.total.sum()
        return np.bincount(owner, weights=np.maximum(share - whole[counts.value], 0.0)) <= t + 1e-12

    return allowed


def timed(run: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds and the answer."""
    start = time.process_time()
    answer = run()
    return time.process_time() - start, answer


def show(task: str, seconds: float, text: str) -> None:
    """One line."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {task} | {seconds:.2f} | {text} | {peak:.0f} |", flush=True)


def grouping(task: str, columns: list[QuasiColumn], requirement: Requirement, run: Callable[[], object]) -> None:
    """Time, check and measure one grouping."""
    seconds, found = timed(run)
    group = found.group  # type: ignore[attr-defined]
    kept = np.flatnonzero(group >= 0)
    assert requirement.part(kept).met(group[kept], int(group.max()) + 1).all(), f"{task}: the requirement fails"
    measured = cost(columns, merge_alike(columns, group), k=requirement.k)
    quality = f"{measured.groups} groups, C_avg {measured.average_group:.3f}, GCP {measured.gcp:.4f}"
    if any(c.shown == "label" and c.values is not None for c in columns):  # numbers under labels, read the other way
        leaves = cost([replace(c, values=None) if c.shown == "label" else c for c in columns], group, k=requirement.k)
        quality += f" ({leaves.gcp:.4f} by leaves)"
    show(task, seconds, f"{quality}, {measured.suppressed} suppressed")


def peers(interpreter: str | None, columns: list[QuasiColumn]) -> None:
    """The peers' Mondrian, in their own environment."""
    for name in ("anonypy", "anonypyx"):
        if interpreter is None:
            print(f"| {name}, Mondrian | – | not run: give --peers with an interpreter that has it | – |")
            continue
        script = Path(__file__).with_name("anonymizer_peers.py")
        command = [interpreter, str(script), name, str(DATA / "adult/adult_kdd08.csv.gz"), "5"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"| {name}, Mondrian | – | not run: {done.stderr.strip().splitlines()[-1]} | – |")
            continue
        found = json.loads(done.stdout)
        measured = cost(columns, np.array(found["group"]), k=5)
        quality = f"{measured.groups} groups, C_avg {measured.average_group:.3f}, GCP {measured.gcp:.4f}"
        print(
            f"| {name}, Mondrian, sets | {found['seconds']:.2f} | {quality}, {measured.suppressed} suppressed | – |",
            flush=True,
        )


def recodings(quick: bool) -> None:
    """Local recoding beside ARX's best."""
    k5 = Requirement(5)
    for shown, age, mark in (
        ("label", "range", "ARX 0.0310 with tight ranges"),
        ("label", "label", "ARX 0.0356, C_avg 1.909"),
        ("set", "range", "ARX's classes as sets 0.0205"),
    ):
        columns, sensitive = table("adult", shown=shown, age=age)
        grouping(f"local recoding, {shown}, age {age} ({mark})", columns, k5, lambda c=columns: local_recoding(c, k5))
    columns, sensitive = table("adult", shown="label")
    diverse = Requirement(5, sensitive, entropy_at_least(3))
    grouping(
        "local recoding, entropy l = 3 (ARX 0.0688, 175)", columns, diverse, lambda: local_recoding(columns, diverse)
    )
    if quick:
        return
    close = Requirement(5, sensitive, closeness_at_most(0.4))
    grouping("local recoding, t = 0.4 (ARX 0.171, 540)", columns, close, lambda: local_recoding(columns, close))
    for age, mark in (("range", "ARX 0.0284 with tight ranges"), ("label", "ARX 0.0322, C_avg 1.764")):
        ipums, _ = table("ipums", shown="label", age=age)
        grouping(f"IPUMS, local recoding, age {age} ({mark})", ipums, k5, lambda c=ipums: local_recoding(c, k5))


def whole(quick: bool) -> None:
    """`st.anonymize` from frame to checked release, as a user calls it."""
    frame = pl.read_csv(DATA / "adult/adult_kdd08.csv.gz", infer_schema_length=0)
    trees = {c: DATA / "adult" / "hierarchies" / f"{c}.csv" for c in frame.columns[:-1]}
    asked = {"k = 5": [KAnonymity(5)], "entropy l = 3": [KAnonymity(5), EntropyLDiversity(3)]}
    if not quick:
        asked["t = 0.4"] = [KAnonymity(5), TCloseness(0.4)]
    for name, criteria in asked.items():
        seconds, found = timed(
            lambda c=criteria: anonymize(
                frame, method="local-recoding", sensitive=frame.columns[-1], criteria=c, hierarchies=trees,
                shown={"age": "range"},
            )
        )  # fmt: skip
        made = found.made.utility
        text = (
            f"{made.groups} groups, C_avg {made.c_avg:.3f}, GCP {made.gcp_hierarchy:.4f}, {made.suppressed} suppressed"
        )
        show(f"st.anonymize, local recoding, {name}", seconds, text)


def others(quick: bool) -> None:
    """Anatomy, MDAV, XColor and the lattice."""
    columns, sensitive = table("adult", shown="label", age="label")
    k5 = Requirement(5)
    seconds, found = timed(lambda: full_domain(columns, k5, suppression_limit=1508))
    text = f"{found.groups} groups, levels {found.levels}, GCP {found.loss:.4f}, {found.suppressed} suppressed"
    show("full domain, 5 % (ARX 0.2124, 399 classes, 1458)", seconds, f"{text}, {found.checked} of {found.nodes} nodes")
    for rows, l in ((30_162, 5), (1_000_000, 5)):
        values = np.resize(sensitive, rows)
        seconds, found = timed(lambda v=values, l=l: anatomy(v, l))
        show(f"Anatomy, {rows} rows, l = {l}", seconds, f"{found.groups} groups")
    sets, _ = table("adult", shown="set")
    features = [Feature("age", sets[0].values[sets[0].codes])]
    features += [Feature(c.name, c.codes, "nominal") for c in sets[1:]]
    if not quick:
        seconds, found = timed(lambda: mdav(features, 5))
        show("MDAV, 30162 rows, k = 5", seconds, f"{found.groups} groups, loss {found.loss:.2f} %")
    order = np.lexsort([c.rank[c.codes] for c in sorted(columns, key=lambda c: -c.size)])
    numbers = np.random.default_rng(0).normal(size=30_162)
    for name, proximity in (("14 values", ValueProximity(sensitive)), ("numbers", NumericProximity(numbers, 0.005))):
        seconds, found = timed(lambda p=proximity: xcolor(p, 5, 0.5, order=order))
        text = f"{found.edges} edges, {found.swaps} swaps, {len(found.violations)} violations, guaranteed {found.guaranteed}"
        show(f"XColor, {name}, k = 5, δ = 0.5", seconds, text)


def main() -> None:
    """All rows of the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers")
    parser.add_argument("--arx", action="store_true")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--only")
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"No data files under {DATA}: set SHOWTHROUGH_DATA.")
    if options.arx or options.grid:
        seeds = [int(seed) for seed in options.seeds.split(",")]
        compare(DATA, seeds, whole=options.grid, only=options.only, results=options.results)
        return
    print("| task | CPU s | result | peak MB |\n|---|---|---|---|")
    k5 = Requirement(5)
    for shown in ("set", "label"):
        columns, _ = table("adult", shown=shown)
        for relaxed in (False, True):
            kind = "relaxed" if relaxed else "strict"
            grouping(f"Mondrian, {kind}, {shown}", columns, k5, lambda c=columns, r=relaxed: mondrian(c, k5, relaxed=r))
    sets, _ = table("adult", shown="set")
    peers(options.peers, sets)
    recodings(options.quick)
    whole(options.quick)
    others(options.quick)
    if not options.quick:
        million, _ = mixed(table("adult", shown="set"), 1_000_000)
        grouping("Mondrian, 1 000 000 mixed rows, set", million, k5, lambda: mondrian(million, k5))
        grouping(
            "local recoding, 1 000 000 mixed rows, set", million, k5, lambda: local_recoding(million, k5, passes=3)
        )


if __name__ == "__main__":
    main()
