"""Check the answer of a component in parts from its groups and the published counts alone.

Shares no code with the solver. Each part tells what its answer puts into each published row, what is wrong with anybody
by themselves, and how far it is from what the multipliers say (see `checker` for the argument):

    gap = Σ persons · KL(p ‖ softmax of the multipliers over what is possible).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from showthrough.engines.engine import Engine
from showthrough.inference.cluster.giant_part import (
    GiantPart,
    GiantRows,
    Letter,
    drop,
    letter,
    mapped_array,
    write_array,
)
from showthrough.table.arrays import Codes, Flags, Ints, Reals

_BATCH = 1 << 15  # signatures at a time


@dataclass(frozen=True)
class GiantFinding:
    """Figures of a component; anything that is not a number counts as infinite."""

    residual: float  # persons
    gap: float  # nats
    suspected: int
    proven_zeros: int  # of persons
    proven_ones: int


@dataclass(frozen=True, eq=False)
class PartFinding:
    """What a part tells."""

    rows: Letter
    expected: Letter
    wrong: float
    gap: float
    suspected: int
    proven_zeros: int
    proven_ones: int


def publish_checked(folder: Path, rows: GiantRows) -> None:
    """Put what is published where the parts can read it."""
    write_array(folder / "row_group.npy", rows.row_group)
    write_array(folder / "row_value.npy", rows.row_value)


def check(engine: Engine, folder: Path, parts: Sequence[GiantPart], rows: GiantRows, mu: Reals) -> GiantFinding:
    """Recompute residual and gap of an answer that lies in the parts."""
    write_array(folder / "checked-mu.npy", mu)
    found = engine.map(check_part, list(parts), str(folder))
    expected = np.zeros(rows.row_count.size)
    for one in found:
        expected[one.rows.read()] += one.expected.read()
    drop(posted for one in found for posted in (one.rows, one.expected))
    residual = max(float(np.abs(expected - rows.row_count).max(initial=0.0)), *(one.wrong for one in found))
    gap = sum(one.gap for one in found)
    return GiantFinding(
        residual if np.isfinite(residual) else float("inf"),
        gap if np.isfinite(gap) else float("inf"),
        sum(one.suspected for one in found),
        sum(one.proven_zeros for one in found),
        sum(one.proven_ones for one in found),
    )


@np.errstate(invalid="ignore", over="ignore", divide="ignore")
def check_part(part: GiantPart, folder: str) -> PartFinding:
    """Weigh the answer of a part."""
    group_of, persons = part.read("group_of"), part.read("weight")
    start, value, p, possible, suspect = (
        part.read(f"answer-{name}") for name in ("start", "value", "p", "possible", "suspect")
    )
    published = _Published(folder, group_of, value)
    wrong, gap = 0.0 if value.size == start[-1] else np.inf, 0.0
    expected, zeros, ones = np.zeros(published.size + 1), 0, 0
    for a in range(0, persons.size, _BATCH):
        b = min(a + _BATCH, persons.size)
        span = slice(int(start[a]), int(start[b]))
        own, length = persons[a:b], np.diff(start[a : b + 1])
        owner = np.repeat(np.arange(b - a), length)
        row = published.rows_of(group_of[:, a:b], owner, value[span])
        wrong = max(wrong, published.incomplete(group_of[:, a:b], owner, value[span], row))
        weighted = own[owner] * p[span]
        for at in row:
            expected += np.bincount(np.maximum(at, 0), weights=weighted, minlength=expected.size)
        total = np.bincount(owner, weights=p[span], minlength=b - a)
        stray = np.where(possible[span], -p[span], np.abs(p[span]))
        wrong = max(wrong, _largest(np.abs(total - 1)), _largest(stray))
        gap += float(own @ _divergence(p[span], possible[span], published.exponent(row), owner, length))
        left = np.bincount(owner[possible[span]], minlength=b - a)
        zeros += int(own @ (length - left))
        ones += int(own[left == 1].sum())
    rows = np.flatnonzero(expected[:-1])
    which = letter(folder, f"checked-{part.number}-rows", published.row[rows].astype(np.int32))
    told = letter(folder, f"checked-{part.number}-expected", expected[rows])
    return PartFinding(which, told, wrong, gap, int((suspect & possible).sum()), zeros, ones)


class _Published:
    """The published rows of the groups of a part, by group and value."""

    def __init__(self, folder: str, group_of: Codes, listed: Codes) -> None:
        names = ("row_group", "row_value", "checked-mu")
        group, value, mu = (mapped_array(Path(folder) / f"{name}.npy") for name in names)
        known = np.unique(group_of[group_of >= 0])
        first, last = (np.searchsorted(group, known, side=side) for side in ("left", "right"))
        length = last - first
        self.row = np.repeat(first - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        group, value = group[self.row], value[self.row]
        self._mu = np.append(mu[self.row], 0.0)
        self._span = int(max(value.max(initial=0), listed.max(initial=0))) + 1
        self._key = group.astype(np.int64) * self._span + value
        self._sizes = group, self._span
        self.size = group.size

    def rows_of(self, group_of: Codes, owner: Ints, value: Codes) -> list[Ints]:
        """In each release the row of each entry: one past the last outside, −1 where the value is not published."""
        found = []
        for own in group_of:
            group = own[owner].astype(np.int64)
            wanted = group * self._span + value
            at = np.minimum(np.searchsorted(self._key, wanted), self.size - 1)
            found.append(np.where(group < 0, self.size, np.where(self._key[at] == wanted, at, -1)))
        return found

    def incomplete(self, group_of: Codes, owner: Ints, value: Codes, row: list[Ints]) -> float:
        """Infinite where a value is listed twice or is not published, or one that all groups publish is not listed."""
        if any((at < 0).any() for at in row) or (np.diff(owner * self._span + value.astype(np.int64)) <= 0).any():
            return float("inf")
        group, span = self._sizes
        shortest = np.full(group_of.shape[1], span)
        choice = np.full(group_of.shape[1], -1)
        for own in group_of:
            size = np.searchsorted(group, own, side="right") - np.searchsorted(group, own, side="left")
            better = (own >= 0) & (size < shortest)
            shortest, choice = np.where(better, size, shortest), np.where(better, own, choice)
        first = np.searchsorted(group, choice)
        common = np.zeros(group_of.shape[1], dtype=np.int64)
        for k in range(int(shortest.max(initial=0))):
            at = np.flatnonzero(k < shortest)
            listed = np.where(choice[at] < 0, k, (self._key[np.minimum(first[at] + k, self.size - 1)]) % self._span)
            here = np.ones(at.size, dtype=bool)
            for own in group_of:
                group_here = own[at].astype(np.int64)
                wanted = group_here * self._span + listed
                spot = np.minimum(np.searchsorted(self._key, wanted), self.size - 1)
                here &= (group_here < 0) | (self._key[spot] == wanted)
            common[at] += here
        return 0.0 if np.array_equal(common, np.bincount(owner, minlength=common.size)) else float("inf")

    def exponent(self, row: list[Ints]) -> Reals:
        """What the multipliers of the rows of each entry add up to."""
        total: Reals = np.zeros(row[0].size)
        for at in row:
            total = total + self._mu[at]
        return total


def _largest(figure: Reals) -> float:
    """The largest figure, infinite where one is none."""
    most = float(figure.max(initial=0.0))
    return most if np.isfinite(most) else float("inf")


def _divergence(p: Reals, possible: Flags, exponent: Reals, owner: Ints, length: Ints) -> Reals:
    """KL(p ‖ softmax of the exponents over what is possible) of everybody; infinite where nothing is."""
    if not p.size:
        return np.full(length.size, np.inf)
    first = np.cumsum(length) - length
    some = length > 0
    z = np.where(possible, exponent, -np.inf)
    top = np.full(length.size, -np.inf)
    top[some] = np.maximum.reduceat(z, first[some])
    q = np.exp(z - top[owner])
    q /= np.bincount(owner, weights=q, minlength=length.size)[owner]
    t = (p - q) / q
    near = q * (t * t * (0.5 - t * (1 / 6 - t / 12)))
    far = np.where(p > 0, p * np.log(p / q) - p + q, q)
    term = np.where(np.abs(t) < 1e-3, near, far)
    term = np.maximum(np.where((p == 0) & (q == 0), 0.0, term), 0.0)
    found = np.bincount(owner, weights=term, minlength=length.size)
    return np.where(some, found, np.inf)
