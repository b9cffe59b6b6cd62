"""All levels at once beside one Polars group-by and beside pyCANON, on the same rows in the same run.

    python -m benchmarks.criteria DATA [--rows 995346] [--no-peer]

DATA is the folder that holds ``adult/adult_kdd08.csv.gz``. pyCANON comes from PyPI and is left out
with a word if it is not installed. Prints one JSON object; times are wall seconds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import showthrough as st
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.levels import levels
from showthrough.criteria.negation import after_negations
from showthrough.criteria.published import of_release


def median(run: Callable[[], Any], repeats: int = 7) -> float:
    """The median time of several runs."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def mix(frame: pl.DataFrame, rows: int, seed: int = 1) -> pl.DataFrame:
    """Age, work class and education of one random row beside the rest of another."""
    random = np.random.default_rng(seed)
    first, second = random.integers(0, frame.height, rows), random.integers(0, frame.height, rows)
    return pl.concat(
        [frame[first].select(frame.columns[:3]), frame[second].select(frame.columns[3:])], how="horizontal"
    )


def interleaved(frame: pl.DataFrame, repeats: int = 7) -> dict[str, Any]:
    """Group-by and levels in turn, so that a busy machine slows both alike."""
    *quasi, sensitive = frame.columns
    group, level = [], []
    for _ in range(repeats):
        group.append(median(lambda: frame.group_by(quasi).len(), 1))
        level.append(median(lambda: levels(frame, sensitive=sensitive, quasi=quasi), 1))
    counted = of_release(frame, sensitive, quasi)
    return {
        "rows": frame.height,
        "groups": counted.counts.groups,
        "group_by_seconds": statistics.median(group),
        "levels_seconds": statistics.median(level),
        "levels_per_group_by": statistics.median(b / a for a, b in zip(group, level, strict=True)),
        "negations_seconds": median(lambda: after_negations(counted, 3), 3),
    }


def pycanon(frame: pl.DataFrame, seconds: float) -> dict[str, Any] | str:
    """The t-closeness of pyCANON alone, once."""
    if importlib.util.find_spec("pycanon") is None:
        return "pyCANON is not installed: pip install pycanon"
    import pandas
    from pycanon import anonymity

    *quasi, sensitive = frame.columns
    rows = pandas.DataFrame(frame.to_dict(as_series=False))
    start = time.perf_counter()
    t = anonymity.t_closeness(rows, quasi, [sensitive])
    taken = time.perf_counter() - start
    return {"t": float(t), "t_closeness_seconds": taken, "times_our_levels": taken / seconds}


def worst_knowledge(frame: pl.DataFrame, repeats: int = 7) -> dict[str, Any]:
    """Worst cases of a Mondrian release beside its check of k-anonymity, in turn, from the release on."""
    *quasi, sensitive = frame.columns
    criteria = [st.KAnonymity(20), st.EntropyLDiversity(4)]
    release = st.anonymize(frame, sensitive=sensitive, quasi=quasi, criteria=criteria, seed=1)
    asked: dict[str, Any] = {f"(0.9,{k})-safety": st.CKSafety(0.9, k) for k in (0, 1, 2, 4)}
    asked |= {f"skyline {point}": st.SkylinePrivacy(0.9, point) for point in ((1, 1, 1), (2, 3, 2))}
    plain: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(repeats):
        plain.append(median(lambda: st.KAnonymity(20).check(release), 1))
        for name, criterion in asked.items():
            taken[name].append(median(lambda c=criterion: c.check(release), 1))
    return {
        "rows": frame.height,
        "groups": release.labels.len(),
        "k_anonymity_seconds": statistics.median(plain),
        "per_k_anonymity": {
            name: statistics.median(b / a for a, b in zip(plain, times, strict=True)) for name, times in taken.items()
        },
        "level": {name: criterion.check(release).level for name, criterion in asked.items()},
    }


def numbers(rows: int) -> dict[str, Any]:
    """Dissimilarity of so many different numbers, in groups of 10 and in one group."""
    random = np.random.default_rng(2)
    found = {"values": rows}
    for name, groups in (("groups_of_10", rows // 10), ("one_group", 1)):
        frame = pl.DataFrame({"g": random.integers(0, groups, rows), "x": random.random(rows)})
        counted = of_release(frame, "x", ["g"])
        found[f"{name}_seconds"] = median(lambda c=counted: Dissimilarity(0.001, 0.5, 2).level(c.counts), 3)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=995_346)
    parser.add_argument("--no-peer", action="store_true", help="leave pyCANON out")
    options = parser.parse_args()
    adult = pl.read_csv(options.data / "adult" / "adult_kdd08.csv.gz", infer_schema=False)
    ours = interleaved(adult)
    report: dict[str, Any] = {"adult": ours}
    if not options.no_peer:
        report["pycanon"] = pycanon(adult, ours["levels_seconds"])
    report["worst_knowledge"] = worst_knowledge(adult)
    report["mix"] = interleaved(mix(adult, options.rows))
    report["dissimilarity"] = numbers(1_000_000)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
