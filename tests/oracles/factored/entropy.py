"""The answer: maximum entropy over all combinations of seats, and its conditions without combinations."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from tests.oracles.factored.case import Case, Key, Pair, Row, Seat, Statement
from tests.oracles.factored.linear import Face, face, terms
from tests.oracles.inequalities import Program, least_divergence

MOST = 20_000  # combinations


@dataclass(frozen=True)
class Answer:
    """Probabilities, and the multipliers of rows, then statements: x ∝ f · exp(Σ ν·a) · Π_r Σ_g exp μ."""

    x: dict[Pair, float]
    y: dict[Seat, float]
    multiplier: np.ndarray
    face: Face
    entropy: float  # what is maximised


def maximum_entropy(case: Case) -> Answer:
    """The answer to about 1e-10, over all combinations of seats (small cases only)."""
    shape = face(case, prior=True)
    options = [
        (p, s, seat) for p, s in case.pairs() if shape.alive((p, s)) for seat in _combinations(case, shape, p, s)
    ]
    assert len(options) <= MOST, "too many combinations for a dense oracle"
    ones = np.array([[float(q == p) for q, _, _ in options] for p in case.fits])
    persons = np.array([float(case.persons_of(p)) for p in case.fits])
    activity = np.array([[_coefficient(row, *option) for option in options] for row in case.bounded()], dtype=float)
    activity = activity.reshape(len(case.bounded()), len(options))
    ends = _ends(case, shape)
    fixed = [(i, end) for i, sign, end in ends if sign == 0]
    loose = [(i, sign, end) for i, sign, end in ends if sign]
    program = Program(
        f=np.array([case.persons_of(p) * case.likely((p, s)) for p, s, _ in options]),
        A=np.vstack([ones, activity[[i for i, _ in fixed]]]),
        b=np.concatenate([persons, [end for _, end in fixed]]),
        G=np.array([sign * activity[i] for i, sign, _ in loose]).reshape(len(loose), len(options)),
        h=np.array([sign * end for _, sign, end in loose], dtype=float),
    )
    found = least_divergence(program, np.array([_inside(shape, *option) for option in options]))
    multiplier = np.zeros(len(case.bounded()))
    for (i, _), nu in zip(fixed, found.nu[len(persons) :], strict=True):
        multiplier[i] -= nu
    for (i, sign, _), slope in zip(loose, found.slope, strict=True):
        multiplier[i] -= sign * slope
    return _collected(case, shape, dict(zip(options, found.u.tolist(), strict=True)), multiplier)


Option = tuple[Hashable, Hashable, tuple[int | None, ...]]


def _combinations(case: Case, shape: Face, p: Hashable, s: Hashable) -> Iterator[tuple[int | None, ...]]:
    """Every combination of seats that is possible with the value."""
    own = [[g for g in case.seats(p, r, s) if shape.alive((p, r, g, s))] for r in range(case.releases())]
    return product(*own)


def _coefficient(row: Row | Statement, p: Hashable, s: Hashable, seat: tuple[int | None, ...]) -> int:
    if isinstance(row, Statement):
        return row.terms.get((p, s), 0)
    return int(s == row.value and seat[row.release] == row.group)


def _ends(case: Case, shape: Face) -> list[tuple[int, int, float]]:
    """The bounds of all rows: (row, 0 or the sign of the inequality, end)."""
    found: list[tuple[int, int, float]] = []
    for i, row in enumerate(case.bounded()):
        if row.lower == row.upper or i in shape.tight:
            found.append((i, 0, row.upper if shape.tight.get(i) == "upper" else row.lower))
            continue
        found += [(i, 1, row.upper)] * math.isfinite(row.upper) + [(i, -1, row.lower)] * math.isfinite(row.lower)
    return found


def _inside(shape: Face, p: Hashable, s: Hashable, seat: tuple[int | None, ...]) -> float:
    """The point inside the face with independent seats."""
    x = shape.inside[p, s]
    return x * math.prod(shape.inside[p, r, g, s] / x for r, g in enumerate(seat))


def _collected(case: Case, shape: Face, u: Mapping[Option, float], multiplier: np.ndarray) -> Answer:
    """Combinations added up to probabilities."""
    x: dict[Pair, float] = dict.fromkeys(case.pairs(), 0.0)
    y: dict[Seat, float] = {key: 0.0 for key in shape.inside if len(key) == 4}
    for (p, s, seat), share in u.items():
        x[p, s] += share / case.persons_of(p)
        for r, g in enumerate(seat):
            y[p, r, g, s] += share / case.persons_of(p)
    return Answer(x, y, multiplier, shape, entropy(case, x, y))


def entropy(case: Case, x: Mapping[Pair, float], y: Mapping[Seat, float]) -> float:
    """What is maximised, of any point."""
    total = 0.0
    for pair, share in x.items():
        if share > 0:
            total -= case.persons_of(pair[0]) * share * math.log(share / case.likely(pair))
    for (p, _, _, s), share in y.items():
        if share > 0:
            total -= case.persons_of(p) * share * math.log(share / x[p, s])
    return total


def violation(case: Case, answer: Answer) -> float:
    """The largest violation of the conditions of the maximum, in the factored form and without combinations.

    Probabilities against those that the multipliers give; activities against their bounds; multipliers
    of ranges against their signs (positive at the lower end, negative at the upper, 0 between).
    """
    off = [0.0]
    for p in case.fits:
        shares = _from_multipliers(case, answer, p)
        off += [abs(share - answer.x[key] if len(key) == 2 else share - answer.y[key]) for key, share in shares.items()]
    for i, row in enumerate(case.bounded()):
        total = _activity(case, answer, row)
        off += [row.lower - total, total - row.upper]
        if row.lower < row.upper and i not in answer.face.tight:
            mu = float(answer.multiplier[i])
            off.append(min(abs(mu), abs(total - (row.lower if mu > 0 else row.upper))))
    return max(off)


def _from_multipliers(case: Case, answer: Answer, p: Hashable) -> dict[Key, float]:
    """x and y of one person as the multipliers make them."""
    of_row = {(row.release, row.group, row.value): answer.multiplier[i] for i, row in enumerate(case.rows)}
    logs: dict[Hashable, float] = {}
    inner: dict[Seat, float] = {}
    for s in case.values:
        if not answer.face.alive((p, s)):
            continue
        logs[s] = math.log(case.likely((p, s)))
        for k, statement in enumerate(case.statements):
            logs[s] += float(answer.multiplier[len(case.rows) + k]) * statement.terms.get((p, s), 0)
        for r in range(case.releases()):
            own = [g for g in case.seats(p, r, s) if answer.face.alive((p, r, g, s))]
            powers = [math.exp(0.0 if g is None else of_row[r, g, s]) for g in own]
            logs[s] += math.log(sum(powers))
            inner.update(((p, r, g, s), power / sum(powers)) for g, power in zip(own, powers, strict=True))
    top = max(logs.values())
    total = sum(math.exp(log - top) for log in logs.values())
    found: dict[Key, float] = {(p, s): math.exp(log - top) / total for s, log in logs.items()}
    found.update((key, share * found[p, key[-1]]) for key, share in inner.items())
    return found


def _activity(case: Case, answer: Answer, row: Row | Statement) -> float:
    shares: Mapping[Key, float] = {**answer.x, **answer.y}
    return sum(a * case.persons_of(key[0]) * shares.get(key, 0.0) for key, a in terms(case, row))
