"""The one exact argument behind every fact: weigh the rows, compare two totals.

Give every row a whole weight d. In any assignment that fits, the weights add up to at least
Σ lower·d⁺ − upper·d⁻ (to Σ count·d where counts are exact). A person contributes the score of its value:
in each release the weight of the row it is counted in, at most that of its best candidate, and what
statements weigh; so never more than the best score of its values. If the best scores of all persons add
up to just the first total, everybody *must* have a value of best score, sit on a candidate of best
weight, and every weighed range is tight: all else is impossible. If they add up to less, no assignment
fits: the releases contradict each other. Cuts of a flow are the weighings with d = +1 and −1; in linear
programming such a d is a direction of recession.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference.problem import Problem
from showthrough.inference.rows import LOWEST, Rows, exact_dot
from showthrough.table.arrays import Flags, Ints


@dataclass(frozen=True)
class Weighed:
    """What a weighing gives on what is still possible: ``alive`` is over terms."""

    problem: Problem
    rows: Rows  # the problem's, perhaps with ranges that earlier weighings made tight
    alive: Flags
    weights: Ints
    score: Ints  # [v]
    best: Ints  # [m] the best score among the values that are still possible for each signature
    surplus: int  # best scores minus counts: 0 proves zeros, below 0 a contradiction, above nothing

    @property
    def proven(self) -> bool:
        return self.surplus == 0

    @property
    def overfull(self) -> bool:
        return self.surplus < 0

    def zeros(self) -> Flags:
        """[terms] what is impossible if the weighing proves anything."""
        variables = self.problem.variables
        below = self.alive[:variables] & (self.score < self.best[self.problem.signature])
        if not self.rows.seats:
            return below
        behind = self.rows.behind(self.weights, self.alive)
        left = self.alive[:variables] & ~below
        behind[variables:] &= left[self.rows.owner[variables:]]
        behind[:variables] = below
        return behind


def weigh(problem: Problem, alive: Flags, weights: Ints, rows: Rows | None = None) -> Weighed:
    """Weigh the rows on what is still possible."""
    rows = problem.rows if rows is None else rows
    score = rows.scores(weights, alive)
    masked = np.where(alive[: problem.variables], score, LOWEST)
    best = np.maximum.reduceat(masked, problem.start[:-1])
    surplus = exact_dot(problem.weight, best) - rows.reach(weights)
    return Weighed(problem, rows, alive, weights, score, best, surplus)
