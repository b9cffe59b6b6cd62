"""Two yearly releases of a made-up national register, as large as is asked for, in parts that workers write.

Persons live in small towns. Each year puts the persons of a town who are there into groups anew, and publishes who
is in which group and which diseases a group holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from showthrough.storage.scratch import put

TOWN, GROUP = 20, 5  # persons
THERE = 0.9  # of a town in a year
YEARS = ("2024", "2025")
ID, SENSITIVE, IN_GROUP = "id", "disease", "group"
DISEASES = ("Asthma", "Cancer", "Dementia", "Diabetes", "Flu", "Gout", "HIV", "Migraine", "Pneumonia", "Stroke")
_FREQUENT = np.array([12, 6, 3, 14, 25, 4, 1, 16, 13, 6]) / 100


@dataclass(frozen=True)
class RegisterPart:
    """Some of the towns, written as one file of each year."""

    number: int
    towns: int
    first: int  # number of its first town
    seed: int


def register_parts(persons: int, parts: int, seed: int) -> list[RegisterPart]:
    """About so many persons, in so many parts at most."""
    towns = -(-persons // TOWN)
    ends = [towns * k // parts for k in range(parts + 1)]
    return [RegisterPart(k, end - begin, begin, seed) for k, (begin, end) in enumerate(pairwise(ends)) if end > begin]


def write_part(part: RegisterPart, folder: str) -> tuple[int, int]:
    """Write both years of a part under the folder; how many different persons they hold, and bytes."""
    rng = np.random.default_rng([part.seed, part.number])
    towns = part.first + np.repeat(np.arange(part.towns), TOWN)
    ids = part.first * TOWN + np.arange(part.towns * TOWN)
    diseases = rng.choice(len(DISEASES), size=len(ids), p=_FREQUENT)
    seen, size = np.zeros(len(ids), bool), 0
    for year in YEARS:
        place = rng.random((part.towns, TOWN)).argsort(axis=1).ravel()
        there = rng.random(len(ids)) < THERE
        groups = towns * (TOWN // GROUP) + place // GROUP
        seen |= there
        path = Path(folder) / year / f"part-{part.number:05d}.parquet"
        frame = published_year(ids[there], groups[there], diseases[there])
        put(path, frame.write_parquet)
        size += path.stat().st_size
    return int(seen.sum()), size


def published_year(ids: np.ndarray, groups: np.ndarray, diseases: np.ndarray) -> pl.DataFrame:
    """Who is in which group, and beside them the diseases of the group in their own order."""
    persons, values = np.lexsort((ids, groups)), np.lexsort((diseases, groups))
    names = pl.Series(DISEASES, dtype=pl.String).gather(diseases[values])
    return pl.DataFrame({ID: ids[persons], IN_GROUP: groups[persons], SENSITIVE: names})
