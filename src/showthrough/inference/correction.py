"""The last step: from multipliers that are nearly right to probabilities that meet the counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.inference.gradients import System
from showthrough.inference.kernel import Kernel
from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Flags, Reals, sum_by

_MET = 2e-12  # persons; a count that is missed by less needs no further sweep
_ALIKE = 1e-13  # of a probability; what a linear step errs by at most, so that it does not matter where it began
_ENOUGH_MET = 8e-12  # persons; below this a count is met, with room to what the checker asks
_FAR = 4e-5  # relative move; the error of the final step is half its square
_CLEARLY = 1e5  # a forced zero can hide above this multiple of the residual only behind huge weights
_NOTHING = (1e-9, 1e-7, 1e-6)  # what is below where counts are missed is taken out before they are met
_SWEEPS = 6
_PROGRESS = 0.5  # of what was missed: a sweep that leaves more is the last
_LIFTED = (1e-3, 1e-5, 1e-7)  # where to look for points that show what is possible
_LONGER = (4.0, 16.0, 64.0)
_ROUNDING = 1e-14  # of a probability
CLOSED = 2e-11  # nats in a component; a tenth of what is exact
ENOUGH = 1e-6  # nats in a component; half of what is certified
CERTIFIED = 1.9e-6


@dataclass(frozen=True)
class Corrected:
    """A feasible answer, and the variables it pushes down to nothing."""

    x: Reals
    mu: Reals
    doubtful: Flags  # [terms]
    far: bool  # some variable that is not doubtful moved too far for a linear step
    direction: Reals
    passes: int
    met: Flags  # [k] whether the counts are
    good: Flags  # [k] whether this is the answer
    gap: Reals  # [k] nats
    possible: Flags  # [terms] small ones that were found to be possible, now or before

    @property
    def certified(self) -> bool:
        """Whether it meets the counts, and is as near as a certificate asks for."""
        return bool(self.met.all() and (self.gap <= CERTIFIED).all())

    def better_than(self, other: Corrected | None, gain: float = 1.0) -> bool:
        """Whether it meets the counts where another one does not, or leaves at most so much of its gap."""
        if other is None or not other.met.all():
            return True
        return bool(self.met.all() and self.gap.sum() <= gain * other.gap.sum())


def correct(
    problem: Reduced,
    mu: Reals,
    *,
    enough: float = CLOSED,
    clock: Clock | None = None,
    possible: Flags | None = None,
    factoring: bool | None = None,
) -> Corrected:
    """Finish: a last full Newton step in mu, and a primal point that meets the Relation rows.

    The primal point is mass·(1 + tangent), repeated on what is left; the One rows stay exact. It brings
    a variable that is forced to zero down to nothing: such variables, and all that are not clearly
    above what is left of the residual, are doubtful. It errs by the square of the tangent, so it is
    good only if no other variable moves far. Where masses of all sizes make the system too ill-conditioned to
    meet the counts, next to nothing is made nothing, and the rest meets them. A component is good if its gap is
    ``enough``. What is known to be ``possible`` [terms] is never doubtful. Where a linear step is not enough for an
    answer that does not depend on where it began, a second one follows. ``factoring`` says whether a factorisation is
    known to help.
    """
    if not problem.components:
        none = np.empty(0, dtype=bool)
        return Corrected(np.empty(0), mu, none, False, np.zeros(0), 0, none, none, np.empty(0), none)
    clock = clock or Clock()
    work = _Correction(problem, mu, possible)
    work.kernel.factoring = factoring
    work.meet(clock)
    direction, far = work.direction, np.abs(work.x - work.mass) > _FAR * work.mass
    doubtful = work.doubtful()
    work.clip()
    for nothing in _NOTHING:
        if not (work.missed > work.met).any():
            break
        work.clear(nothing)
        work.meet(clock)
        work.clip()
    met = work.missed <= work.met
    mu, gap = work.moved(direction, work.x)
    work.straighten(mu, gap, met & ~work.holds(doubtful), clock)
    x = work.x
    if doubtful.any() and not clock.over:
        raised, falls = work.raised(x, doubtful, clock)
        doubtful &= ~raised
        work.known |= raised
        direction = falls if doubtful.any() else direction
    good, rest = met & (gap <= enough), bool((far & ~doubtful).any())
    return Corrected(x, mu, doubtful, rest, direction, work.kernel.passes, met, good, gap, work.known)


class _Correction:
    """A point on its way to the counts, component by component."""

    def __init__(self, problem: Reduced, mu: Reals, possible: Flags | None) -> None:
        self.problem, self.mu, self.kernel = problem, mu, Kernel(problem)
        self.known = np.zeros(problem.rows.terms, dtype=bool) if possible is None else possible.copy()
        self.point = self.kernel.at(mu)
        self.given = self.point
        self.largest = np.maximum.reduceat(self.kernel.count, self.kernel.component_start)
        self.floor = 1e-15 * np.maximum(1.0, self.largest)
        self.met = np.maximum(_ENOUGH_MET, 10 * self.floor)
        self._begin(self.point.x, self.point.g)

    def _begin(self, shares: Reals, g: Reals) -> None:
        self.shares, self.mass = shares, self.kernel.mass(shares)
        self.x, self.g, self.direction = self.mass, g, np.zeros(self.problem.rows.size)
        self.missed = self.kernel.largest(g)

    def doubtful(self) -> Flags:
        """[terms] what is not clearly above the residual of its component, and not known to be possible."""
        limit = _CLEARLY * np.maximum(self.missed, self.floor)
        return np.asarray((self.x <= limit[self.problem.term_component]) & ~self.known)

    def meet(self, clock: Clock, near: float = _MET) -> None:
        """Correct every component until it meets its counts up to ``near``, or gets no nearer to them."""
        kernel, owner = self.kernel, self.problem.term_component
        system = System(kernel, self.shares, self.point.without_resting(kernel.diagonal(self.shares)))
        going = self.missed > self.floor
        for sweep in range(_SWEEPS):
            if sweep:
                unsure = np.zeros(going.size, dtype=bool)
                unsure[owner[self.doubtful()]] = True
                going &= (self.missed > self.floor) & ((self.missed > near) | unsure)
            if not going.any() or clock.over:
                return
            enough = np.clip(0.2 * near / np.maximum(self.missed, self.floor), 1e-8, 1e-2)
            right = np.where(kernel.on_rows(going), -self.g, 0.0)
            d = system.solve(right, relative=enough, clock=clock)
            moved = self.x + self.mass * kernel.tangent(self.shares, d)
            left = kernel.missed(self.point, kernel.gather(moved), self.mu)
            missed = kernel.largest(left)
            better, slow = going & (missed < self.missed), missed > _PROGRESS * self.missed
            rows, terms = kernel.on_rows(better), better[owner]
            self.x, self.g = np.where(terms, moved, self.x), np.where(rows, left, self.g)
            self.direction = self.direction + np.where(rows, d, 0.0)
            self.missed = np.where(better, missed, self.missed)
            going = better & ~slow

    def clip(self) -> None:
        """Make what is below nothing nothing; what that misses counts."""
        problem, variables = self.problem, self.problem.rows.variables
        self.x = np.where(self.x < _ROUNDING, 0.0, self.x)
        self.g = self.kernel.missed(self.given, self.kernel.gather(self.x), self.mu)
        self.missed = self.kernel.largest(self.g)
        one = np.abs(sum_by(problem.signature, self.x[:variables], problem.weight.size) - 1)
        np.maximum.at(self.missed, problem.signature_component, one)
        for seats in problem.rows.seats:
            whole = sum_by(seats.owner, self.x[problem.rows.places(seats)], variables)
            apart = np.abs(whole - self.x[:variables])
            np.maximum.at(self.missed, problem.signature_component[problem.signature], apart)

    def raised(self, x: Reals, doubtful: Flags, clock: Clock) -> tuple[Flags, Reals]:
        """[terms] doubtful ones that are clearly positive in another point that meets the counts, and so are possible.

        An honest probability may be as small as the rounding. Points where nothing is small tell it from a forced zero:
        all that is small is lifted, and the counts are met from there. A forced zero falls back, along the direction
        that comes with it.
        """
        owner = self.problem.term_component
        found, open_terms = np.zeros(doubtful.size, dtype=bool), doubtful.copy()
        direction = self.direction
        for height in _LIFTED:
            shares = self.problem.shares_of(np.maximum(x, height))
            expected = self.kernel.gather(self.kernel.mass(shares))
            self._begin(shares, self.kernel.missed(self.given, expected, self.mu))
            near = height / _CLEARLY
            self.meet(clock, near)
            direction = self.direction  # the lowest shows best what is forced: less that is honest is lifted with it
            inside = self.missed <= np.maximum(near, self.met)
            inside[owner[self.x < 0]] = False
            clear = (self.x > _CLEARLY * np.maximum(self.missed, self.floor)[owner]) & inside[owner]
            found |= open_terms & clear
            open_terms &= ~found
            if not open_terms.any() or clock.over:
                break
        return found, direction

    def clear(self, nothing: float) -> None:
        """Take out next to nothing in components that miss their counts, and begin again from what is left."""
        short = (self.missed > self.met)[self.problem.term_component]
        kept = np.where(short & (self.x < nothing), 0.0, np.maximum(self.x, 0.0))
        kept_x, missed, g = self.x, self.missed, self.g
        shares = self.problem.shares_of(kept)
        expected = self.kernel.gather(self.kernel.mass(shares))
        self._begin(shares, self.kernel.missed(self.given, expected, self.mu))
        rows, good = self.kernel.on_rows(missed <= self.met), missed <= self.met
        self.x = np.where(good[self.problem.term_component], kept_x, self.x)
        self.g, self.missed = np.where(rows, g, self.g), np.where(good, missed, self.missed)

    def moved(self, direction: Reals, x: Reals) -> tuple[Reals, Reals]:
        """The multipliers after the step and what they leave of the gap to x, by component.

        Where only forced zeros are left to fall, a longer step saves many.
        """
        kernel, best = self.kernel, self.mu + self.kernel.projected(self.mu, direction, self.given.g)
        least = self.gap(x, best)
        for length in (0.0, *_LONGER):
            if not (least > CLOSED).any():
                break
            further = self.mu + kernel.projected(self.mu, length * direction, self.given.g)
            gap = self.gap(x, further)
            better = gap < least
            best = np.where(kernel.on_rows(better), further, best)
            least = np.minimum(least, gap)
        return best, least

    def holds(self, terms: Flags) -> Flags:
        """[k] components with one of these terms."""
        return np.bincount(self.problem.term_component[terms], minlength=self.problem.components) > 0

    def straighten(self, mu: Reals, gap: Reals, some: Flags, clock: Clock) -> None:
        """Step once more from the multipliers of the first step where that one was long or fell short, and keep both.

        It is short, so that its error is next to nothing: a component then has the same answer whatever was worked
        out beside it, and however near Newton's method had come.
        """
        bent = np.divide((self.x - self.mass) ** 2, self.mass, out=np.zeros_like(self.x), where=self.mass > 0)
        some = some & (self.holds(bent > _ALIKE) | (self.missed > np.maximum(_ALIKE, 10 * self.floor)))
        if not some.any() or clock.over:
            return
        rows, terms = self.kernel.on_rows(some), self.problem.terms_in(some)
        again = _Correction(self.problem if some.all() else self.problem.restrict(some), mu[rows], None)
        again.meet(clock, _ALIKE)
        again.clip()
        there, left = again.moved(again.direction, again.x)
        self.kernel.passes += again.kernel.passes
        better = (again.missed <= np.maximum(self.missed[some], _ALIKE)) & (left <= np.maximum(gap[some], CLOSED))
        own, moved = again.kernel.on_rows(better), better[again.problem.term_component]
        self.x[terms] = np.where(moved, again.x, self.x[terms])
        mu[rows], gap[some] = np.where(own, there, mu[rows]), np.where(better, left, gap[some])

    def gap(self, x: Reals, mu: Reals) -> Reals:
        """[k] how far, in nats, masses x are from what the multipliers say."""
        problem, rows = self.problem, self.problem.rows
        says, _ = self.kernel.softmax(mu)
        variables, signature = rows.variables, problem.signature
        weight = problem.weight[signature]
        away = weight * _excess(x[:variables], says[:variables])
        for seats in rows.seats:
            places = rows.places(seats)
            apart = _excess(x[places], x[:variables][seats.owner] * says[places])
            away += weight * sum_by(seats.owner, apart, variables)
        return sum_by(problem.signature_component[signature], away, problem.components)


def _excess(p: Reals, q: Reals) -> Reals:
    """The terms p·log(p/q) − p + q of a divergence; infinite where q is 0 and p is not."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        term = p / q
        np.log(term, out=term)
        term *= p
        term -= p
        term += q
    np.copyto(term, q, where=~(p > 0))
    return np.maximum(term, 0.0, out=term)
