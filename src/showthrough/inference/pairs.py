"""The answer as it is asked for: one entry per signature and value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from showthrough.inference.face import Face
from showthrough.table.arrays import Codes, Flags, Ints, Reals


@dataclass(frozen=True)
class Pairs:
    """The pairs (signature, value), sorted, with their probabilities and whether they are possible."""

    signature: Ints
    value: Codes
    start: Ints  # [m + 1] where the pairs of each signature begin
    p: Reals
    alive: Flags

    @classmethod
    def of(cls, face: Face, x: Reals) -> Pairs:
        """The variables of an answer over terms."""
        problem = face.problem
        found = cls(problem.signature, problem.value, problem.start, x[: problem.variables], face.possible)
        if problem.rows.plain:
            return found
        sure = found.alive & (found.left() == 1)[found.signature]
        p = np.where(sure, 1.0, np.minimum(found.p, 1.0))
        return cls(problem.signature, problem.value, problem.start, p, face.possible)

    def left(self) -> Ints:
        """[m] how many values are left for each signature."""
        return np.bincount(self.signature.take(np.flatnonzero(self.alive)), minlength=self.start.size - 1)

    @cached_property
    def best(self) -> Ints:
        """[m] the pair with the largest probability of each signature, the first of several."""
        top = np.maximum.reduceat(self.p, self.start[:-1])
        hit = np.flatnonzero(self.p == top[self.signature])
        return hit[np.searchsorted(self.signature[hit], np.arange(self.start.size - 1))]
