"""Histories of one component, cut into parts as a cluster holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import showthrough as st
from showthrough.engines.engine import Engine
from showthrough.engines.local import local
from showthrough.inference.cluster.giant import GiantAnswer, solve_giant
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows
from showthrough.inference.history import encode
from showthrough.inference.log import Log
from showthrough.inference.problem import Problem, collapse

ANSWER = ("start", "value", "p", "possible", "suspect")
FREQUENCIES = np.array([20, 18, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2], dtype=float)


def anatomy(values: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
    """Groups of about l persons, of different values as long as there are any."""
    order = rng.permutation(values.size)
    order = order[np.argsort(values[order], kind="stable")]
    groups = max(1, values.size // l)
    found = np.empty(values.size, dtype=np.int64)
    found[order] = rng.permutation(groups)[np.arange(values.size) % groups]
    return found


def history(n: int, l: int, *, releases: int = 2, overlap: float = 5 / 6, seed: int = 0) -> list[st.Release]:
    """Releases of n persons each that are made without looking back; neighbours share a part of them."""
    rng = np.random.default_rng(seed)
    step = n - int(n * overlap)
    values = rng.choice(FREQUENCIES.size, n + (releases - 1) * step, p=FREQUENCIES / FREQUENCIES.sum())
    made = []
    for r in range(releases):
        ids = np.arange(r * step, r * step + n)
        group = anatomy(values[ids], l, rng)
        frame = pl.DataFrame({"id": ids, "value": [f"v{v:02}" for v in values[ids]], "group": group})
        made.append(st.Release.bucketized(frame, id="id", sensitive="value", group="group", name=f"D{r + 1}"))
    return made


@dataclass(frozen=True)
class Parted:
    """A history as one machine knows it, and how its signatures are cut into parts."""

    problem: Problem
    rows: GiantRows
    members: list[np.ndarray]  # [parts] signatures

    def write(self, folder: Path) -> list[GiantPart]:
        """Put the parts on storage."""
        found = []
        for k, own in enumerate(self.members):
            part = GiantPart(str(folder / f"part-{k}"), k)
            Path(part.folder).mkdir(parents=True)
            codes, weight = self.problem.places.codes[:, own], self.problem.weight[own]
            part.write(group_of=codes.astype(np.int32), weight=weight)
            found.append(part)
        return found

    def joined(self, parts: Sequence[GiantPart], name: str) -> np.ndarray:
        """An array of the answer over all variables, in the order of the problem."""
        found = np.zeros(self.problem.variables, dtype=parts[0].read(f"answer-{name}").dtype)
        for part, own in zip(parts, self.members, strict=True):
            at = [np.arange(self.problem.start[m], self.problem.start[m + 1]) for m in own]
            found[np.concatenate([*at, np.empty(0, dtype=np.int64)]).astype(np.int64)] = part.read(f"answer-{name}")
        return found


def parted(releases: Sequence[st.Release], parts: int) -> Parted:
    """Cut the signatures by the group that they are in first."""
    coded = encode(list(releases))
    problem, _ = collapse(coded)
    codes = problem.places.codes
    first = np.where(codes[0] >= 0, codes[0], codes.max(axis=0)).astype(np.int64)
    home = first * 2_654_435_761 % 2**32 % parts
    rows = GiantRows(coded.first_group, coded.row_group, coded.row_value, coded.row_count)
    return Parted(problem, rows, [np.flatnonzero(home == k) for k in range(parts)])


def solved(
    cut: Parted, folder: Path, engine: Engine | None = None, log: Log | None = None, **options: Any
) -> tuple[list[GiantPart], GiantAnswer]:
    """The parts with their answers, all by passes over parts unless told otherwise."""
    parts = cut.write(folder)
    options = {"at_hand": 0, **options}
    return parts, solve_giant(engine or local(), folder, parts, cut.rows, log or Log(), **options)
