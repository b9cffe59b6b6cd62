"""Noisy tables beside other releases, from a hundred to 100 000 persons:
python -m benchmarks.noisy_histories [--persons 100 1000 10000 100000] [--cases 60] [--seed 0]

Every case draws a truth, groups of it in releases of some kind, cells that a register tells, and tables of noisy counts
of the value by the cells: one to fifty tables, of one law or mixed, narrow or wide, near the truth or far from everything,
over the same cells or over two columns apart. Printed is a line for each number of persons: processor seconds (median and
worst), persons by state, the largest miss of a count, and the slowest and the worst case.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl

import showthrough as st

LAWS = ("geometric", "laplace", "gaussian", "mixed")
KINDS = ("nothing", "groups", "two groupings", "cells", "ranges")
SCALES = (0.05, 0.5, 4.0, 40.0, 1e4)
TABLES = (1, 2, 10, 50)
FAR = (0.0, 0.0, 0.0, 1e3, 1e6)


@dataclass(frozen=True)
class Case:
    """What one history is made of."""

    persons: int
    kind: str
    law: str
    scale: float
    tables: int
    far: float
    cells: int
    values: int
    size: int  # of groups
    apart: bool  # whether every other table counts by another column
    seed: int

    @classmethod
    def drawn(cls, rng: np.random.Generator, persons: int) -> Case:
        """A case at random."""
        kind = str(rng.choice(KINDS))
        return cls(
            persons,
            kind,
            str(rng.choice(LAWS)),
            float(rng.choice(SCALES)),
            int(rng.choice(TABLES)),
            float(rng.choice(FAR)),
            cells=int(rng.choice([2, 16, max(2, persons // 100)])),
            values=int(rng.choice([2, 4, 10])),
            size=20 if kind == "two groupings" else int(rng.choice([2, 5, 20])),
            apart=bool(rng.random() < 0.3),
            seed=int(rng.integers(1 << 30)),
        )


class Made:
    """A history: releases and a register."""

    def __init__(self, case: Case) -> None:
        self.case, self.rng, n = case, np.random.default_rng(case.seed), case.persons
        self.cell = {c: self.rng.integers(0, case.cells, n) for c in ("age", "town")}
        near = (self.cell["age"] * 7 + self.rng.integers(0, 3, n)) % case.values
        self.value = np.where(self.rng.random(n) < 0.5, near, self.rng.integers(0, case.values, n))
        self.releases = [*self._others(), *(self._table(k) for k in range(case.tables))]
        names = {c: [f"{c}{k}" for k in own] for c, own in self.cell.items()}
        self.register = pl.DataFrame({"id": [str(k) for k in range(n)], **names})

    def _others(self) -> list[st.Release]:
        case, n = self.case, self.case.persons
        told = [f"v{v}" for v in self.value]
        if case.kind in ("groups", "two groupings"):
            found = []
            for k in range(1 if case.kind == "groups" else 2):
                group = np.empty(n, dtype=np.int64)
                group[self.rng.permutation(n)] = np.arange(n) // case.size
                frame = pl.DataFrame({"id": [str(i) for i in range(n)], "value": told, "g": group})
                found.append(st.Release.bucketized(frame, id="id", sensitive="value", group="g", name=f"D{k + 1}"))
            return found
        if case.kind == "nothing":
            return []
        town = [f"town{t}" for t in self.cell["town"]]
        if case.kind == "cells":
            frame = pl.DataFrame({"town": town, "value": told})
            return [st.Release.generalized(frame, sensitive="value", quasi=["town"], name="G")]
        count = pl.DataFrame({"town": town, "value": told}).group_by("town", "value", maintain_order=True).len("n")
        shown = [str(k) if k >= 10 else "<10" for k in count["n"]]
        frame = count.select("town", "value").with_columns(pl.Series("count", shown))
        return [st.Release.counted(frame, sensitive="value", quasi=["town"], suppressed={"<10": (1, 9)}, name="T")]

    def _table(self, k: int) -> st.Release:
        case, rng = self.case, self.rng
        law = LAWS[k % 3] if case.law == "mixed" else case.law
        column = "town" if case.apart and k % 2 else "age"
        count = np.zeros((case.cells, case.values))
        np.add.at(count, (self.cell[column], self.value), 1)
        if law == "geometric":
            p = -np.expm1(-1 / case.scale)
            count += rng.geometric(p, count.shape) - rng.geometric(p, count.shape)
        else:
            count += (rng.laplace if law == "laplace" else rng.normal)(0, case.scale, count.shape)
        count += case.far * rng.choice([-1, 1], count.shape)
        rows = [(f"{column}{c}", f"v{v}", count[c, v]) for c in range(case.cells) for v in range(case.values)]
        frame = pl.DataFrame(rows, schema=[column, "value", "count"], orient="row")
        if law == "geometric":
            frame = frame.with_columns(pl.col("count").round().cast(pl.Int64))
        claim = {"epsilon": 1e9, "delta": 0.5} if law == "gaussian" else {}
        told = {"mechanism": law, "scale": case.scale, "neighbours": "replace-one", "name": f"N{k}", **claim}
        return st.Release.noisy(frame, sensitive="value", quasi=[column], **told)


@dataclass(frozen=True)
class Outcome:
    """What an inference took and gave."""

    case: Case
    seconds: float
    states: Counter[str]
    missed: float


def run(case: Case, seconds: float) -> Outcome:
    """Infer one history; warnings are errors."""
    made = Made(case)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        post = st.infer(made.releases, register=made.register, seconds=seconds)
    took = time.process_time() - begun
    evidence = post.certificate.evidence
    return Outcome(case, took, Counter(post.certificate.persons_by_state), evidence.residual if evidence else 0.0)


def main() -> None:
    """Draw cases for each number of persons, and print the worst."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--persons", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--each", action="store_true", help="print every case")
    options = parser.parse_args()
    for persons in options.persons:
        rng = np.random.default_rng([options.seed, persons])
        found = []
        for _ in range(options.cases):
            found.append(run(Case.drawn(rng, persons), options.seconds))
            if options.each:
                print(
                    f"{found[-1].seconds:8.2f} s {found[-1].missed:.1e} {dict(found[-1].states)} {found[-1].case}",
                    flush=True,
                )
        states = sum((own.states for own in found), Counter())
        slowest, worst = max(found, key=lambda own: own.seconds), max(found, key=lambda own: own.missed)
        whole = [own for own in found if not own.states["uncertified"]]
        print(
            f"{persons} persons: median {np.median([own.seconds for own in found]):.2f} s, worst {slowest.seconds:.2f} s; "
            f"{len(whole)} of {len(found)} histories certified, {dict(states)}; missed by at most {worst.missed:.1e}\n"
            f"  slowest {slowest.case}\n  worst {worst.case}",
            flush=True,
        )


if __name__ == "__main__":
    main()
