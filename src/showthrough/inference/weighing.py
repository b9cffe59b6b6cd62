"""The one exact argument behind every fact: weigh the rows, compare two totals.

Give every row (group, value) a whole weight d. In any assignment that fits the releases the
weights add up to Σ count·d. A person contributes the score of its value (the sum of d over the
person's rows of that value), so never more than its best score. If the best scores of all persons
add up to just Σ count·d, everybody *must* have a value of best score: all others are impossible.
If they add up to less, no assignment fits: the releases contradict each other. Cuts of a flow are
the weighings with d = +1 and −1; in linear programming such a d is a direction of recession.
"""

from __future__ import annotations

import numpy as np

from showthrough.inference.problem import Problem
from showthrough.table.arrays import Flags, Ints

_LOWEST = np.iinfo(np.int64).min


def scores(problem: Problem, weights: Ints) -> Ints:
    """[v] the score of each variable."""
    extended = np.append(weights, 0)
    total = np.zeros(problem.variables, dtype=np.int64)
    for row in problem.row:
        total += extended[row]
    return total


def best_scores(problem: Problem, alive: Flags, score: Ints) -> Ints:
    """[m] the best score among the values that are still possible for each signature."""
    masked = np.where(alive, score, _LOWEST)
    return np.maximum.reduceat(masked, problem.start[:-1])


def surplus(problem: Problem, best: Ints, weights: Ints) -> int:
    """Best scores minus counts: 0 proves zeros, below 0 proves a contradiction, above proves nothing."""
    return _exact_dot(problem.weight, best) - _exact_dot(problem.count, weights)


def proven_zeros(problem: Problem, alive: Flags, weights: Ints) -> Flags | None:
    """The variables that the weighing proves impossible, or None if it proves nothing."""
    score = scores(problem, weights)
    best = best_scores(problem, alive, score)
    if surplus(problem, best, weights) != 0:
        return None
    return alive & (score < best[problem.signature])


def _exact_dot(a: Ints, b: Ints) -> int:
    """Σ a·b in whole numbers of any size."""
    used = np.flatnonzero(b)
    a, b = a[used], b[used]
    if used.size and float(np.abs(a).max()) * float(np.abs(b).max()) * used.size >= 2.0**62:
        return sum(int(p) * int(q) for p, q in zip(a, b, strict=True))
    return int(a @ b)
