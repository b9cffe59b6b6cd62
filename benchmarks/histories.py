"""Histories for the benchmarks, as releases in memory.

Values have the frequencies of the 14 occupations in the Adult data set (30 162 complete records).
"""

from __future__ import annotations

import heapq

import numpy as np
import polars as pl

import showthrough as st

OCCUPATIONS = np.array([4038, 4030, 3992, 3721, 3584, 3212, 2020, 1572, 1350, 989, 912, 644, 143, 9], dtype=float)
NAMES = pl.Series([f"occupation {k:02}" for k in range(OCCUPATIONS.size)])


def anatomy(values: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
    """Groups of l persons with distinct values, always from the l most frequent that are left; the rest,
    which is not l-eligible where a value is too frequent, joins groups at random (Xiao and Tao 2006).
    """
    lists = [list(rng.permutation(np.flatnonzero(values == s))) for s in range(int(values.max()) + 1)]
    heap = [(-len(members), rng.random(), s) for s, members in enumerate(lists) if members]
    heapq.heapify(heap)
    group, made = np.full(values.size, -1), 0
    while len(heap) >= l:
        for left, _, s in [heapq.heappop(heap) for _ in range(l)]:
            group[lists[s].pop()] = made
            if left + 1 < 0:
                heapq.heappush(heap, (left + 1, rng.random(), s))
        made += 1
    rest = [i for _, _, s in heap for i in lists[s]]
    group[rest] = rng.permutation(made)[: len(rest)] if len(rest) <= made else rng.integers(made, size=len(rest))
    return group


def release(ids: np.ndarray, values: np.ndarray, group: np.ndarray, name: str) -> st.Release:
    """A bucketized release from arrays."""
    frame = pl.DataFrame({"id": ids, "value": NAMES.gather(values), "group": group})
    return st.Release.bucketized(frame, id="id", sensitive="value", group="group", name=name)


def independent(n: int, l: int, *, overlap: float = 5 / 6, releases: int = 2, seed: int = 0) -> list[st.Release]:
    """Anatomy releases of n persons each, made without looking back; neighbours share ``overlap`` of them."""
    rng = np.random.default_rng(seed)
    step = n - int(n * overlap)
    everybody = rng.choice(OCCUPATIONS.size, size=n + (releases - 1) * step, p=OCCUPATIONS / OCCUPATIONS.sum())
    made = []
    for r in range(releases):
        ids = np.arange(r * step, r * step + n)
        made.append(release(ids, everybody[ids], anatomy(everybody[ids], l, rng), f"D{r + 1}"))
    return made


def history_guided(
    n: int, l: int, *, replaced: float = 1 / 6, unfilled: float = 1e-4, seed: int = 0
) -> list[st.Release]:
    """Two releases with the same groups: who leaves is replaced by a newcomer with the same value, but for a
    few slots that stay empty (the strategy of Wang, Zhu, Du, Teng, section 4.1).
    """
    rng = np.random.default_rng(seed)
    n -= n % l
    group = np.arange(n) // l
    values = (rng.integers(OCCUPATIONS.size, size=n // l)[group] + np.arange(n) % l) % OCCUPATIONS.size
    ids = np.arange(n)
    leaves = rng.random(n) < replaced
    newcomers = np.where(leaves, n + np.cumsum(leaves), ids)
    kept = ~leaves | (rng.random(n) >= unfilled)
    return [
        release(ids, values, group, "D1"),
        release(newcomers[kept], values[kept], group[kept], "D2"),
    ]
