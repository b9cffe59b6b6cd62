"""What remains open: the variables of signatures with a choice, and what is left of the counts for them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.problem import Problem
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by

_ROUNDS = 20  # of spreading from row to row before components are counted out
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

        No spread is less certain, and as it excludes nothing, nothing there is forced. Who is in no row is
        even too. Sums are of whole numbers: shares are counted in a common part of one person, and who has a
        number of choices for which double precision has none counts as uneven.
        """
        choices = np.bincount(self.signature, minlength=self.problem.signatures)[self.signature]
        whole = _common_multiple(np.unique(choices).tolist(), _EXACT // (1 + int(self.weight.sum() + self.left.sum())))
        missed = self._per_row(self.weight * (whole / choices)) != np.append(self.left * whole, 0)
        missed[self.row[:, whole % choices != 0]] = True
        part = self
        for _ in range(_ROUNDS):  # what is not even spreads over rows and signatures
            missed[-1] = False  # the row of those who are absent
            lost = np.zeros(self.problem.signatures, dtype=bool)
            lost[part.signature[missed.take(part.row).any(axis=0)]] = True
            spoiled = lost.take(part.signature)
            if not spoiled.any():
                break
            missed[part.row[:, spoiled]] = True
            part = part.only(~spoiled)
        else:
            missed[-1] = False
            part = part.only(~part._connected_to(missed))
        found = np.zeros(self.variable.size, dtype=bool)
        found[np.searchsorted(self.variable, part.variable)] = True
        return found

    def _connected_to(self, rows: Flags) -> Flags:
        """The variables of components with one of some rows."""
        signatures, absent = self.problem.signatures, self.problem.rows
        # an absence becomes a loop, so that the edges stay sorted by signature
        heads = np.where(self.row == absent, self.signature, self.row.astype(np.int64) + signatures)
        tails = np.repeat(self.signature, self.row.shape[0])
        components, label = graphs.components(signatures + absent, tails, heads.T.ravel())
        hit = np.zeros(components, dtype=bool)
        hit[label[signatures + np.flatnonzero(rows[:-1])]] = True
        return np.asarray(hit[label[self.signature]])

    def _per_row(self, figure: Reals) -> Reals:
        total = sum_by(self.row[0], figure, self.problem.rows + 1)
        for row in self.row[1:]:
            total += sum_by(row, figure, total.size)
        return total


def choices_of(problem: Problem, alive: Flags) -> Ints:
    """[m] how many variables are alive for each signature."""
    return np.bincount(problem.signature.take(np.flatnonzero(alive)), minlength=problem.signatures)


def _common_multiple(numbers: list[int], most: int) -> int:
    """The least common multiple of as many numbers, smallest first, as keep it below ``most``."""
    whole = 1
    for number in numbers:
        larger = math.lcm(whole, number)
        whole = larger if larger < most else whole
    return whole


def _taken(problem: Problem, variable: Ints, left: Ints) -> Remaining:
    signature = problem.signature.take(variable)
    weight = problem.weight.take(signature).astype(np.float64)
    return Remaining(problem, variable, signature, problem.row.take(variable, axis=1), weight, left)
