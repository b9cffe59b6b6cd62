"""What remains open: the variables of signatures with a choice, and what is left of the counts for them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from showthrough.inference.problem import Problem
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by

_ROUNDS = 20
_EXACT = 2**53  # whole numbers up to here are exact in double precision


@dataclass(frozen=True)
class Remaining:
    """Some variables with what is asked of them again and again; certain persons are taken off the counts."""

    problem: Problem
    variable: Ints
    signature: Ints
    row: Codes  # [R, their number]
    weight: Reals
    left: Ints  # [rows]

    @classmethod
    def of(cls, problem: Problem, alive: Flags, choices: Ints) -> Remaining:
        """All that is alive, where ``choices`` counts it per signature."""
        several = (choices > 1).take(problem.signature)
        certain = _taken(problem, np.flatnonzero(alive & ~several), problem.count)
        free = _taken(problem, np.flatnonzero(alive & several), problem.count)
        return replace(free, left=problem.count - certain.room())

    def only(self, keep: Flags) -> Remaining:
        """The flagged ones."""
        at = np.flatnonzero(keep)
        return Remaining(
            self.problem,
            self.variable.take(at),
            self.signature.take(at),
            self.row.take(at, axis=1),
            self.weight.take(at),
            self.left,
        )

    def without(self, zero: Flags, certain: Flags) -> Remaining:
        """The same after some were excluded and others became certain."""
        left, at = np.append(self.left, 0), np.flatnonzero(certain)
        for row in self.row:
            np.subtract.at(left, row.take(at), self.weight.take(at).astype(np.int64))
        return replace(self.only(~(zero | certain)), left=left[:-1])

    def room(self) -> Ints:
        """[rows] how many persons could have the value of the row."""
        return self._per_row(self.weight)[:-1].astype(np.int64)

    def even(self) -> Flags:
        """The variables of components where spreading everybody evenly meets all counts.

        No spread is less certain, and as it excludes nothing, nothing there is forced. Where this would
        take long to find out, they are only those who are in no row at all.
        """
        choices = np.bincount(self.signature, minlength=self.problem.signatures)[self.signature]
        whole = math.lcm(*np.unique(choices).tolist()) if choices.size else 1
        if whole * int(self.weight.sum() + self.left.sum()) >= _EXACT:  # the multiple may be beyond any float
            return self._unweighed()
        missed = self._per_row(self.weight * (whole / choices)) != np.append(self.left * whole, 0)
        part = self
        for _ in range(_ROUNDS):  # what is not even spreads over rows and signatures
            missed[-1] = False  # the row of those who are absent
            lost = np.zeros(self.problem.signatures, dtype=bool)
            lost[part.signature[missed.take(part.row).any(axis=0)]] = True
            spoiled = lost.take(part.signature)
            if not spoiled.any():
                found = np.zeros(self.variable.size, dtype=bool)
                found[np.searchsorted(self.variable, part.variable)] = True
                return found
            missed[part.row[:, spoiled]] = True
            part = part.only(~spoiled)
        return self._unweighed()

    def _unweighed(self) -> Flags:
        """The variables of signatures none of whose choices is in any row."""
        weighed = np.zeros(self.problem.signatures, dtype=bool)
        weighed[self.signature[(self.row != self.problem.rows).any(axis=0)]] = True
        return ~weighed.take(self.signature)

    def _per_row(self, figure: Reals) -> Reals:
        total = sum_by(self.row[0], figure, self.problem.rows + 1)
        for row in self.row[1:]:
            total += sum_by(row, figure, total.size)
        return total


def choices_of(problem: Problem, alive: Flags) -> Ints:
    """[m] how many variables are alive for each signature."""
    return np.bincount(problem.signature.take(np.flatnonzero(alive)), minlength=problem.signatures)


def _taken(problem: Problem, variable: Ints, left: Ints) -> Remaining:
    signature = problem.signature.take(variable)
    weight = problem.weight.take(signature).astype(np.float64)
    return Remaining(problem, variable, signature, problem.row.take(variable, axis=1), weight, left)
