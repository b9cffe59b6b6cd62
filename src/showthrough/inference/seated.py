"""Passes where persons fit several groups, or where statements or a prior speak.

Given the value, the groups of different releases are independent, so a pass needs only sums over the
candidates of each variable and release: Z_r = Σ exp mu, q_r = exp mu / Z_r, x ∝ prior · exp(Σ ν·a) · Π_r Z_r.
For a direction v: t_r = Σ q_r·v, τ = Σ_r t_r + Σ a·v, and the logarithm of a candidate's mass changes by
v − t_r + τ − τ̄, where τ̄ is the mean of τ over the values of the signature. Legend as in `passes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from showthrough.table.arrays import Reals, sum_by

if TYPE_CHECKING:
    from showthrough.inference.reduce import Reduced

T = TypeVar("T")


class Seated:
    """Whole arrays, release by release."""

    def __init__(self, problem: Reduced) -> None:
        self.rows = problem.rows
        self.sure = np.ascontiguousarray(problem.rows.sure, dtype=np.int64)
        self.size, self.variables = problem.rows.size, problem.rows.variables
        self.first = problem.start[:-1]
        self.signature = problem.signature
        self.weight: Reals = problem.weight[self.signature]
        self.prior = problem.log_prior
        self.owner = [own.owner for own in self.rows.seats]
        self.row = [own.row.astype(np.int64) for own in self.rows.seats]
        self.places = [self.rows.places(own) for own in self.rows.seats]

    def _per_signature(self, variables: Reals) -> Reals:
        return sum_by(self.signature, variables, self.first.size)

    def _stated(self, rows: Reals) -> Reals | float:
        stated = self.rows.stated
        if not stated.row.size:
            return 0.0
        return sum_by(stated.variable, stated.coefficient * rows.take(stated.row), self.variables)

    def spread(self, rows: Reals) -> Reals:
        """[v] the weights of the rows of each variable; of candidates the largest."""
        extended = np.append(rows, 0.0)
        z = np.add.reduce(extended.take(self.sure), axis=0) + self._stated(extended)
        for own in self.rows.seats:
            z += np.maximum.reduceat(extended.take(own.row), own.start[:-1])
        return np.asarray(z)

    def mass(self, x: Reals) -> Reals:
        found = x.copy()
        for owner, places in zip(self.owner, self.places, strict=True):
            found[places] *= x.take(owner)
        return found

    def gather(self, mass: Reals) -> Reals:
        total = np.zeros(self.size + 1)
        persons = self.weight * mass[: self.variables]
        for row in self.sure:
            total += sum_by(row, persons, total.size)
        for k in range(len(self.row)):
            total += self._of_seats(k, mass)
        stated = self.rows.stated
        if stated.row.size:
            total += sum_by(stated.row, stated.coefficient * persons.take(stated.variable), total.size)
        return total[:-1]

    def _of_seats(self, k: int, mass: Reals) -> Reals:
        return sum_by(self.row[k], self.weight.take(self.owner[k]) * mass[self.places[k]], self.size + 1)

    def gather_release(self, release: int, mass: Reals) -> Reals:
        count = self.sure.shape[0]
        if release < count:
            return sum_by(self.sure[release], self.weight * mass[: self.variables], self.size + 1)[:-1]
        return self._of_seats(release - count, mass)[:-1]

    def softmax(self, mu: Reals) -> tuple[Reals, Reals]:
        extended = np.append(mu, 0.0)
        z = np.add.reduce(extended.take(self.sure), axis=0) + self._stated(extended)
        if self.prior is not None:
            z += self.prior
        x = np.empty(self.rows.terms)
        for own, owner, row, places in zip(self.rows.seats, self.owner, self.row, self.places, strict=True):
            e = extended.take(row)
            top = np.maximum.reduceat(e, own.start[:-1])
            e -= top.take(owner)
            np.exp(e, out=e)
            total = sum_by(owner, e, self.variables)
            np.divide(e, total.take(owner), out=x[places])
            z += np.log(total) + top
        top = np.maximum.reduceat(z, self.first)
        z -= top.take(self.signature)
        np.exp(z, out=z)
        total = self._per_signature(z)
        np.divide(z, total.take(self.signature), out=x[: self.variables])
        return x, np.log(total) + top

    def tangent(self, x: Reals, d: Reals) -> Reals:
        extended = np.append(d, 0.0)
        tau = np.add.reduce(extended.take(self.sure), axis=0) + self._stated(extended)
        found = np.empty(self.rows.terms)
        for owner, row, places in zip(self.owner, self.row, self.places, strict=True):
            moved = extended.take(row)
            mean = sum_by(owner, x[places] * moved, self.variables)
            np.subtract(moved, mean.take(owner), out=found[places])
            tau += mean
        own = x[: self.variables]
        tau -= self._per_signature(own * tau).take(self.signature)
        for owner, places in zip(self.owner, self.places, strict=True):
            found[places] += tau.take(owner)
        found[: self.variables] = tau
        return found

    def hessian(self, x: Reals, d: Reals) -> Reals:
        moved = self.tangent(x, d)
        moved *= self.mass(x)
        return self.gather(moved)

    def diagonal(self, x: Reals) -> Reals:
        mass = self.mass(x)
        mass *= 1 - mass
        found = self.gather(mass)
        stated = self.rows.stated
        if stated.row.size:
            own = self.weight.take(stated.variable) * mass.take(stated.variable)
            more = own * (stated.coefficient.astype(np.float64) ** 2 - stated.coefficient)
            found += sum_by(stated.row, more, self.size)
        return found

    def share(self, work: Callable[[T], None], items: Iterable[T]) -> None:
        for item in items:
            work(item)
