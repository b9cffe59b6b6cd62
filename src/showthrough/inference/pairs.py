"""From variables to what is asked for: one entry per person and value, seats added up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from showthrough.inference.face import Face
from showthrough.table.arrays import Codes, Flags, Ints, Reals


@dataclass(frozen=True)
class Pairs:
    """The pairs (signature, value), sorted; a pair is alive as long as one of its variables is."""

    signature: Ints
    value: Codes
    start: Ints  # [m + 1] where the pairs of each signature begin
    p: Reals
    alive: Flags

    @classmethod
    def of(cls, face: Face, x: Reals) -> Pairs:
        """Add up the seats of each pair."""
        problem = face.problem
        if problem.plain:
            return cls(problem.signature, problem.value, problem.start, x, face.alive)
        first = problem.pair_start[:-1]
        signature = problem.signature[first]
        start = np.searchsorted(signature, np.arange(problem.signatures + 1))
        alive = np.logical_or.reduceat(face.alive, first)
        found = cls(signature, problem.value[first], start, added(face, x), alive)
        sure = alive & (found.left() == 1)[signature]
        return replace(found, p=np.where(sure, 1.0, np.minimum(found.p, 1.0)))

    def left(self) -> Ints:
        """[m] how many values are left for each signature."""
        return np.bincount(self.signature.take(np.flatnonzero(self.alive)), minlength=self.start.size - 1)

    @cached_property
    def best(self) -> Ints:
        """[m] the pair with the largest probability of each signature, the first of several."""
        top = np.maximum.reduceat(self.p, self.start[:-1])
        hit = np.flatnonzero(self.p == top[self.signature])
        return hit[np.searchsorted(self.signature[hit], np.arange(self.start.size - 1))]


def added(face: Face, figure: Reals) -> Reals:
    """A figure of the variables, added up over the seats of each pair."""
    return figure if face.problem.plain else np.add.reduceat(figure, face.problem.pair_start[:-1])
