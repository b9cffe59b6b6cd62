"""The shortest single weighing that shows a fact: a linear program of least total weight over some rows.

The log tells how a fact was *found*, which may have taken hundreds of rows at once. Any chain of weighings can be
added up to one, so a weighing that shows the fact by itself exists on the rows of the log, and mostly a small one.
The program looks for weights d on these rows with the least Σ |d|. Where the face is complete everything that is still
possible scores the best of its person: rows of alternatives that are both possible weigh alike and become one class,
what is impossible scores no more, and what is to be shown scores at least 1 less. A contradiction is wanted without
a face: the best scores of all persons add up to at least 1 less than the counts. Weights are made whole, and nothing
is believed before the weighing has proven it in whole numbers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from showthrough.inference import graphs
from showthrough.inference.face import Face
from showthrough.inference.rows import Seats
from showthrough.inference.weighing import weigh
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import ranks

_LARGEST_SCALE = 60  # denominators that are tried to make weights whole
_LARGEST_WEIGHT = 30  # of the integer program
_MOST_ENTRIES = 2_000_000  # of a program that is worth writing down
_WHOLE = 1e-6


def shortest(face: Face, targets: Ints, rows: Ints, seconds: float) -> Ints | None:
    """The least whole weights on some of the rows that exclude all the targets at once, if the time suffices.

    Without targets: that nobody can reach.
    """
    deadline = time.monotonic() + seconds
    program = _Program(face, targets, rows)
    if not program.small:
        return None
    found: Ints | None = None
    for whole in (False, True):
        left = deadline - time.monotonic()
        if left <= 0 or (found is not None and np.abs(found).max() == 1):
            break
        weights = program.solve(whole=whole, seconds=left)
        if weights is not None and (found is None or np.abs(weights).sum() < np.abs(found).sum()):
            found = weights
    return found


@dataclass
class _Entries:
    """The entries of a sparse matrix as they are written down."""

    row: list[Ints] = field(default_factory=list)
    column: list[Ints] = field(default_factory=list)
    figure: list[Reals] = field(default_factory=list)

    def add(self, row: Ints, column: Ints, figure: float | Reals) -> None:
        self.row.append(row)
        self.column.append(column)
        self.figure.append(np.broadcast_to(np.asarray(figure, dtype=np.float64), row.shape))

    def matrix(self, shape: tuple[int, int]) -> sp.csr_array:
        parts = (np.concatenate(p) for p in (self.row, self.column, self.figure))
        row, column, figure = parts
        return sp.csr_array((figure, (row, column)), shape=shape)


class _Program:
    """The program: classes of rows, the best of every person, the best candidates of what is impossible.

    Columns: c classes, then the best score of each signature that is touched, then, where somebody has several
    candidates in a release and none is known to be possible, the best of these.
    """

    def __init__(self, face: Face, targets: Ints, rows: Ints) -> None:
        problem = face.problem
        self.problem, self.targets = problem, targets
        self.alive = face.alive if targets.size else np.zeros(problem.terms, dtype=bool)
        self.low, self.high = _signs(face, rows, free=not targets.size)
        self.of_row, self.classes = self._classes()
        weighed = self.of_row > 0  # class 0 weighs nothing
        touched = np.zeros(problem.signatures, dtype=bool)
        touched[problem.signature[problem.rows.touching(weighed[:-1])]] = True
        touched[problem.signature[targets]] = True
        self.best = ranks(touched)  # [m] the column of each touched signature
        self.signatures = np.flatnonzero(touched)
        self.chosen = touched[problem.signature]
        self.variables = np.flatnonzero(self.chosen)
        links = self.variables.size * problem.rows.sure.shape[0]
        links += sum(int(self.chosen[own.owner].sum()) for own in problem.rows.seats)
        self.small = links <= _MOST_ENTRIES

    def _classes(self) -> tuple[Ints, int]:
        """[rows + 1] the class of each row: alternatives that are both possible weigh alike; 0 weighs nothing."""
        rows = self.problem.rows
        barred = np.flatnonzero((self.low == 0) & (self.high == 0))
        tails, heads = [barred], [np.full(barred.size, rows.size)]
        for own in rows.seats:
            at = np.flatnonzero(rows.open(own, self.alive))
            pairs = np.flatnonzero(own.owner[at[1:]] == own.owner[at[:-1]])
            tails.append(own.row[at[pairs]].astype(np.int64))
            heads.append(own.row[at[pairs + 1]].astype(np.int64))
        number, label = graphs.components(rows.size + 1, np.concatenate(tails), np.concatenate(heads))
        zero = label[-1]
        return np.where(label == zero, 0, np.where(label < zero, label + 1, label)), number

    def solve(self, *, whole: bool, seconds: float) -> Ints | None:
        """Whole weights that prove what is wanted; None if none were found."""
        matrix, low, high = self._scores()
        c, columns = self.classes, matrix.shape[1]
        size = np.bincount(self.of_row[:-1], minlength=c).astype(np.float64)
        least, most = np.full(c, -np.inf), np.full(c, np.inf)
        np.maximum.at(least, self.of_row[:-1], self.low)
        np.minimum.at(most, self.of_row[:-1], self.high)
        least[0] = most[0] = 0.0
        matrix = sp.hstack([matrix[:, :c], -matrix[:, :c], matrix[:, c:]], format="csr")
        if not self.targets.size:
            matrix, low, high = self._overfull(matrix, low, high)
        reach = float(_LARGEST_WEIGHT) if whole else np.inf
        result = milp(
            np.concatenate([size, size, np.zeros(columns - c)]),
            constraints=LinearConstraint(matrix, low, high),
            bounds=Bounds(
                np.concatenate([np.zeros(2 * c), np.full(columns - c, -np.inf)]),
                np.concatenate([np.clip(most, 0, reach), np.clip(-least, 0, reach), np.full(columns - c, np.inf)]),
            ),
            integrality=np.concatenate([np.full(2 * c, int(whole)), np.zeros(columns - c)]),
            options={"time_limit": max(0.01, seconds)},
        )
        if result.x is None:
            return None
        return self._made_whole((result.x[:c] - result.x[c : 2 * c])[self.of_row[:-1]])

    def _scores(self) -> tuple[sp.csr_array, Reals, Reals]:
        """What every touched person gives at most, row by row: best − score is 0, above 0, or at least 1."""
        problem, rows, variables = self.problem, self.problem.rows, self.variables
        place = ranks(self.chosen)
        count, columns = variables.size, self.classes + self.signatures.size
        entries = _Entries()
        at = np.arange(count)
        entries.add(at, self.classes + self.best[problem.signature[variables]], 1.0)
        for row in rows.sure:
            entries.add(at, self.of_row[row[variables]], -1.0)
        said = np.flatnonzero(self.chosen[rows.stated.variable])
        coefficient = rows.stated.coefficient[said].astype(np.float64)
        entries.add(place[rows.stated.variable[said]], self.of_row[rows.stated.row[said]], -coefficient)
        more = count
        for own in rows.seats:
            more, columns = self._seated(own, entries, place, more, columns)
        low, high = np.zeros(more), np.full(more, np.inf)
        high[:count][self.alive[variables]] = 0.0
        low[place[self.targets]] = 1.0
        return entries.matrix((more, columns)), low, high

    def _seated(self, own: Seats, entries: _Entries, place: Ints, more: int, columns: int) -> tuple[int, int]:
        """The part of one release: the class of what is possible, or a column above all candidates."""
        rows, count = self.problem.rows, self.problem.variables
        at = np.flatnonzero(self.chosen[own.owner])
        owner, label = own.owner[at], self.of_row[own.row[at]]
        possible = rows.open(own, self.alive)[at]
        first = np.full(count, -1, dtype=np.int64)
        first[owner[::-1]] = label[::-1]
        first[owner[possible]] = label[possible]
        alike = np.ones(count, dtype=bool)
        alike[owner[label != first[owner]]] = False
        known = alike | self.alive[:count]
        wide = self.variables[~known[self.variables]]
        top = first.copy()
        top[wide] = columns + np.arange(wide.size)
        entries.add(place[self.variables], top[self.variables], -1.0)
        pairs = np.unique(np.stack([top[owner], label])[:, label != top[owner]], axis=1)
        number = more + np.arange(pairs.shape[1])
        entries.add(number, pairs[0], 1.0)
        entries.add(number, pairs[1], -1.0)
        return more + pairs.shape[1], columns + wide.size

    def _overfull(self, matrix: sp.csr_array, low: Reals, high: Reals) -> tuple[sp.csr_array, Reals, Reals]:
        """The counts give at least 1 more than the persons can; nothing is classed together here."""
        rows, c = self.problem.rows, self.classes
        total = np.zeros(matrix.shape[1])
        own = np.flatnonzero(self.of_row[:-1])
        total[self.of_row[own]] = rows.lower[own]
        total[c + self.of_row[own]] = -rows.upper[own].astype(np.float64)
        total[2 * c : 2 * c + self.signatures.size] = -self.problem.weight[self.signatures]
        return sp.vstack([matrix, total[None]], format="csr"), np.append(low, 1.0), np.append(high, np.inf)

    def _made_whole(self, weights: Reals) -> Ints | None:
        """The smallest multiple that is whole and proves what is wanted."""
        problem, everything = self.problem, np.ones(self.problem.terms, dtype=bool)
        for scale in range(1, _LARGEST_SCALE + 1):
            if np.abs(np.rint(weights * scale) - weights * scale).max(initial=0.0) > _WHOLE:
                continue
            found = np.rint(weights * scale).astype(np.int64)
            weighed = weigh(problem, everything, found)
            if not self.targets.size:
                if weighed.overfull:
                    return found
            elif weighed.proven and weighed.zeros()[self.targets].all():
                return found
        return None


def _signs(face: Face, rows: Ints, *, free: bool) -> tuple[Reals, Reals]:
    """[rows] the least and greatest weight: a range weighs only at the end where it is known to lie."""
    problem = face.problem
    low, high = np.zeros(problem.rows.size), np.zeros(problem.rows.size)
    low[rows], high[rows] = -np.inf, np.inf
    if not problem.rows.exact and not free:
        wide = problem.rows.ranged
        high[wide & (face.rows.upper > problem.rows.lower)] = 0.0
        low[wide & (face.rows.lower < problem.rows.upper)] = 0.0
    return low, high
