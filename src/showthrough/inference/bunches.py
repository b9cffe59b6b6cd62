"""Values of a person that hang on no row, taken together: nothing tells them apart, so they share what they get.

Somebody who may be outside all releases can have any value of the domain, and most of them stand in no group that it
fits. Maximum entropy gives them equal parts (or parts as the prior says), so one variable stands for all of them, with
the logarithm of their number as its prior. Where the domain is large this is nearly everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference.rows import Rows
from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.ragged import owners


@dataclass(frozen=True)
class Bunches:
    """Variables of the full problem behind one variable of a reduced one, and their parts of it."""

    owner: Ints  # of the reduced problem; ascending
    variable: Ints  # of the full problem
    part: Reals

    def at(self, place: Ints) -> Bunches:
        """The same where reduced variable k is now ``place[k]``; those below 0 are left out."""
        owner = place[self.owner]
        order = np.argsort(owner, kind="stable")
        order = order[owner[order] >= 0]
        return Bunches(owner[order], self.variable[order], self.part[order])

    def within(self, span: slice) -> Bunches:
        """Those of neighbouring variables."""
        own = slice(*np.searchsorted(self.owner, (span.start, span.stop)).tolist())
        return Bunches(self.owner[own] - span.start, self.variable[own], self.part[own])

    def spread(self, variables: Reals, full: Reals) -> None:
        """Give every variable of the full problem its part."""
        full[self.variable] = variables[self.owner] * self.part

    def behind(self, variables: Flags) -> Ints:
        """The variables of the full problem behind some reduced ones."""
        return self.variable[variables[self.owner]]


@dataclass(frozen=True)
class Merged:
    """Which variables are kept, what the first of each bunch stands for, and the priors of the kept ones."""

    kept: Ints
    bunches: Bunches
    log_prior: Reals


def merge(rows: Rows, start: Ints, variable_of: Ints, log_prior: Reals | None) -> Merged | None:
    """Take together what hangs on no row, signature by signature; None if there is nothing to gain."""
    bare = _bare(rows)
    signature = owners(start)
    at = np.flatnonzero(bare)
    if at.size < 2:
        return None
    first = np.append(True, signature[at[1:]] != signature[at[:-1]])
    if first.all():
        return None
    prior = np.zeros(bare.size) if log_prior is None else log_prior.copy()
    bunch = np.cumsum(first) - 1
    top = np.maximum.reduceat(prior[at], np.flatnonzero(first))
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        mass = np.exp(prior[at] - top[bunch])
        total = sum_by(bunch, mass, top.size)
        prior[at[first]] = top + np.log(total)
    kept = np.flatnonzero(~bare | _flags(at[first], bare.size))
    number = np.full(bare.size, -1, dtype=np.int64)
    number[kept] = np.arange(kept.size)
    bunches = Bunches(number[at[first]][bunch], variable_of[at], mass / np.maximum(total, np.finfo(float).tiny)[bunch])
    return Merged(kept, bunches, prior[kept])


def _bare(rows: Rows) -> Flags:
    """[v] variables without a row."""
    found: Flags = (rows.sure == rows.size).all(axis=0)
    for own in rows.seats:
        found[own.owner[own.row != rows.size]] = False
    found[rows.stated.variable] = False
    return found


def _flags(at: Ints, size: int) -> Flags:
    found = np.zeros(size, dtype=bool)
    found[at] = True
    return found
