"""What a worker keeps of the parts that it works on: their open problems and probabilities, only to save time.

A worker that has lost all this, or never had it, makes it again from the files and the letters of a call, bit by bit
the same. Per variable it takes about 40 bytes with two releases: rows twice, probabilities and what is summed up.

Probabilities have a name, the `Spot`: the softmax of multipliers, or such probabilities moved along a direction
and then cleared of next to nothing, or lifted to where nothing is small.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from showthrough.inference.cluster.giant_part import GiantPart, Letter
from showthrough.inference.passes import Sweeps, sweeps_over
from showthrough.inference.reduce import Reduced
from showthrough.inference.rows import Rows
from showthrough.table.arrays import Codes, Ints, Reals, sum_by

_TINY = 1e-300


@dataclass(frozen=True)
class Stay:
    """How a worker keeps parts: of which run and version, and so many at most."""

    run: str
    version: int
    most: int


@dataclass(frozen=True)
class Spot:
    """The name of probabilities of one part, with all it takes to make them.

    Without ``before`` they are the softmax of multipliers; else the ones before, moved along a direction (in both
    cases the letter), and then what is below ``floor`` made nothing, or with ``lift`` raised to it.
    """

    number: int
    letter: Letter
    before: Spot | None = None
    floor: float = 0.0
    lift: bool = False


class OpenPart:
    """The open problem of a part at work."""

    def __init__(self, part: GiantPart, stay: Stay) -> None:
        self.stay = stay
        names = ("start", "row", "weight")
        start, row, weight = (part.read(f"open-{stay.version}-{name}") for name in names)
        self.size = int(part.read(f"open-{stay.version}-rows").size)
        self.problem = plain_problem(start, row, weight, np.zeros(self.size, dtype=np.int64))
        self.sweeps: Sweeps = sweeps_over(self.problem, threads=1)
        self._number, self._shares = -1, np.empty(0)

    def softmax(self, spot: Spot) -> tuple[Reals, Reals]:
        """The softmax that a spot names, and log Σ exp per signature; kept from now on."""
        self._number, self._shares = -1, np.empty(0)  # two at a time would be too many
        self._shares, log_sum = self.sweeps.softmax(spot.letter.read())
        self._number = spot.number
        return self._shares, log_sum

    def shares(self, spot: Spot) -> Reals:
        """The probabilities that a spot names."""
        if self._number == spot.number:
            return self._shares
        if spot.before is None:
            return self.softmax(spot)[0]
        x = self.moved(spot.before, spot.letter.read())
        np.maximum(x, spot.floor if spot.lift else 0.0, out=x)
        if not spot.lift:
            x[x < spot.floor] = 0.0
        signature = self.problem.signature
        x /= np.maximum(sum_by(signature, x, self.problem.weight.size), _TINY).take(signature)
        self._number, self._shares = spot.number, x
        return x

    def moved(self, spot: Spot, direction: Reals) -> Reals:
        """Probabilities moved along a direction: a linear step, so that nothing but its sum need be known."""
        x = self.shares(spot)
        found = self.sweeps.tangent(x, direction)
        found += 1.0
        found *= x
        return found


_KEPT: OrderedDict[str, OpenPart] = OrderedDict()


def at_work(part: GiantPart, stay: Stay) -> OpenPart:
    """A part that is kept, or is read now."""
    found = _KEPT.pop(part.folder, None)
    if found is None or found.stay != stay:
        found = None  # what is out of date goes before the new one comes
        for folder in [f for f, own in _KEPT.items() if own.stay != stay]:
            del _KEPT[folder]
        while len(_KEPT) >= stay.most:
            _KEPT.popitem(last=False)
        found = OpenPart(part, stay)
    _KEPT[part.folder] = found
    return found


def let_go(part: GiantPart, _shared: object = None) -> None:
    """Keep nothing of a part."""
    _KEPT.pop(part.folder, None)


def plain_problem(start: Ints, row: Codes, weight: Reals, left: Ints) -> Reduced:
    """Signatures in the rows of releases, and nothing else, as a problem of one component."""
    none = np.empty(0, dtype=np.int64)
    return Reduced(
        weight=weight,
        start=start,
        rows=Rows(left, left, row, tuple(range(row.shape[0]))),
        signature_component=np.zeros(weight.size, dtype=np.int64),
        row_component=np.zeros(left.size, dtype=np.int64),
        row_block=np.full(left.size, -1, dtype=np.int64),
        components=1,
        variable_of=none,
        row_of=none,
        candidate_of=none,
    )
