"""What fits: feasibility, bounds and the face, by linear programs in persons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from tests.oracles.factored.case import Case, Key, Row, Seat, Statement

ZERO = 1e-7
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class Linear:
    """Variables in persons, and the equalities and inequalities over them."""

    keys: list[Key]
    A: csr_array
    b: np.ndarray
    activity: csr_array  # [rows and statements, variables]
    lower: np.ndarray
    upper: np.ndarray
    most: np.ndarray  # [variables]

    @cached_property
    def inequalities(self) -> tuple[csr_array, np.ndarray]:
        """All finite bounds of rows as M x ≤ right."""
        above, below = np.isfinite(self.upper), np.isfinite(self.lower)
        dense = self.activity.toarray()
        right = np.concatenate([self.upper[above], -self.lower[below]])
        return csr_array(np.vstack([dense[above], -dense[below]])), right

    def extreme(self, cost: np.ndarray) -> np.ndarray | None:
        """A point of least cost; None if nothing fits."""
        return self._solved(cost, self.A, *self.inequalities, self.most)

    def spread(self) -> np.ndarray | None:
        """A point where many variables are above 0: each counts up to one hundredth."""
        n = len(self.keys)
        M, right = self.inequalities
        beside = hstack([-eye_array(n), eye_array(n)])
        found = self._solved(
            np.repeat([0.0, -1.0], n),
            hstack([self.A, csr_array(self.A.shape)]),
            vstack([hstack([M, csr_array(M.shape)]), beside]),
            np.concatenate([right, np.zeros(n)]),
            np.concatenate([self.most, np.full(n, 0.01)]),
        )
        return None if found is None else found[:n]

    def _solved(
        self, cost: np.ndarray, A: csr_array, M: csr_array, right: np.ndarray, most: np.ndarray
    ) -> np.ndarray | None:
        found = linprog(
            cost,
            A_ub=M if right.size else None,
            b_ub=right if right.size else None,
            A_eq=A,
            b_eq=self.b,
            bounds=np.column_stack([np.zeros_like(most), most]),
            method="highs",
            options=_PRECISE,
        )
        assert found.status in (0, 2), found.message
        return None if found.status == 2 else found.x


def linear(case: Case, *, prior: bool = False) -> Linear:
    """The linear program; with ``prior``, what it excludes is fixed at 0."""
    pairs = case.pairs()
    seats: list[Seat] = [(p, r, g, s) for p, s in pairs for r in range(case.releases()) for g in case.seats(p, r, s)]
    keys: list[Key] = [*pairs, *seats]
    number = {key: k for k, key in enumerate(keys)}
    entries: list[tuple[int, int, float]] = []
    right: list[float] = []
    for p in case.fits:
        entries += [(len(right), number[p, s], 1.0) for s in case.values]
        right.append(float(case.persons_of(p)))
    for p, s in pairs:
        for r in range(case.releases()):
            entries.append((len(right), number[p, s], -1.0))
            entries += [(len(right), number[p, r, g, s], 1.0) for g in case.seats(p, r, s)]
            right.append(0.0)
    bounded = case.bounded()
    weighed = [(i, number[key], float(a)) for i, row in enumerate(bounded) for key, a in terms(case, row) if a]
    most = [float(case.persons_of(key[0])) * (not prior or case.likely((key[0], key[-1])) > 0) for key in keys]
    return Linear(
        keys,
        _matrix(entries, len(right), len(keys)),
        np.array(right),
        _matrix(weighed, len(bounded), len(keys)),
        np.array([row.lower for row in bounded], dtype=float),
        np.array([row.upper for row in bounded], dtype=float),
        np.array(most),
    )


def terms(case: Case, row: Row | Statement) -> Iterator[tuple[Key, int]]:
    """The variables of a row with their coefficients."""
    if isinstance(row, Statement):
        yield from row.terms.items()
        return
    for p in case.fits:
        if row.group in case.fits[p][row.release]:
            yield (p, row.release, row.group, row.value), 1


def _matrix(entries: list[tuple[int, int, float]], rows: int, columns: int) -> csr_array:
    i, j, a = zip(*entries, strict=True) if entries else ((), (), ())
    return csr_array(
        (np.array(a, dtype=float), (np.array(i, dtype=int), np.array(j, dtype=int))), shape=(rows, columns)
    )


def feasible(case: Case, *, prior: bool = False) -> bool:
    """Whether any probabilities fit."""
    lp = linear(case, prior=prior)
    return lp.extreme(np.zeros(len(lp.keys))) is not None


def bounds(case: Case, keys: Sequence[Key] | None = None, *, prior: bool = False) -> dict[Key, tuple[float, float]]:
    """Smallest and largest x and y (of the keys that are asked for), as shares of the persons behind a name."""
    lp = linear(case, prior=prior)
    wanted = lp.keys if keys is None else keys
    number = {key: k for k, key in enumerate(lp.keys)}
    found: dict[Key, tuple[float, float]] = {}
    for key in wanted:
        cost = np.zeros(len(lp.keys))
        if key not in number:  # a seat whose group does not publish the value
            found[key] = (0.0, 0.0)
            continue
        cost[number[key]] = 1.0
        low, high = lp.extreme(cost), lp.extreme(-cost)
        assert low is not None, "infeasible"
        assert high is not None, "infeasible"
        persons = case.persons_of(key[0])
        found[key] = (float(cost @ low) / persons, float(cost @ high) / persons)
    return found


@dataclass(frozen=True)
class Face:
    """What every feasible point has in common; ``inside`` is a point with nothing else in common."""

    zeros: frozenset[Key]
    tight: dict[int, str]  # ranges (number among rows, then statements) that always end "lower" or "upper"
    inside: dict[Key, float]  # in persons

    def alive(self, key: Key) -> bool:
        return key in self.inside and key not in self.zeros


def face(case: Case, *, prior: bool = False) -> Face:
    """By linear programs: variables that are 0, and ranges that are at one end, in all feasible points."""
    lp = linear(case, prior=prior)
    first = lp.spread()
    assert first is not None, "infeasible"
    points = [first]
    slacks = [(i, side) for i in range(lp.lower.size) if lp.lower[i] < lp.upper[i] for side in ("lower", "upper")]
    slacks = [(i, side) for i, side in slacks if np.isfinite(getattr(lp, side)[i])]

    def greatest(cost: np.ndarray, base: float) -> float:
        """The largest base + cost·x; every point found settles others too."""
        seen = max((base + float(cost @ point) for point in points), default=0.0)
        if seen > ZERO:
            return seen
        point = lp.extreme(-cost)
        assert point is not None, "infeasible"
        points.append(point)
        return base + float(cost @ point)

    unit = np.eye(len(lp.keys))
    zeros = [key for k, key in enumerate(lp.keys) if greatest(unit[k], 0.0) <= ZERO]
    activity = lp.activity.toarray()
    tight = {}
    for i, side in slacks:
        cost, base = (activity[i], -lp.lower[i]) if side == "lower" else (-activity[i], lp.upper[i])
        if greatest(cost, base) <= ZERO:
            tight[i] = side
    mean = np.mean(points, axis=0)
    return Face(frozenset(zeros), tight, dict(zip(lp.keys, mean.tolist(), strict=True)))
