"""What readers of the past believe of everybody, as arrays: rows of probabilities, and who is in which newest group.

A release tells nothing new where every group publishes what readers expect of its members. That is so for a
group with one record of each value that a person's row holds evenly, whatever the last group was (m-invariance is
this for histories without leaks), and for an old group whose members are all there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from showthrough.anonymizers.table import Table
from showthrough.inference.posterior import Posterior
from showthrough.republishing.past import Past
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.codes import positions
from showthrough.table.ragged import items_of, starts

EVEN = 1e-7  # probabilities of a row that differ by no more are alike


@dataclass(frozen=True, eq=False)
class Standing:
    """Persons are those of the past; rows are those of the table, groups those of the newest release."""

    start: Ints  # [persons + 1] where everybody's open values begin
    value: Ints  # codes of the past's values, ascending for each person
    p: Reals
    person: Ints  # [rows] place among the persons; −1: never published
    row: Ints  # [persons] place in the table; −1: gone
    member: Ints  # [persons] group of the newest release; −1: not in it
    groups: int
    published: tuple[Ints, Ints, Ints]  # group, value and count of the newest release

    @classmethod
    def of(cls, table: Table, past: Past, before: Posterior) -> Standing:
        """Look the rows of the table up in the posterior of the past."""
        ids = before.ids.cast(pl.String)
        told = before.to_frame()
        at = positions(told["id"].cast(pl.String), ids).astype(np.int64)
        value = positions(told["value"].cast(past.values.dtype), past.values).astype(np.int64)
        order = np.lexsort((value, at))
        own = table.frame[table.id or ""].cast(pl.String)
        person = np.where(past.signature >= 0, positions(own, ids).astype(np.int64), -1)
        row = np.full(ids.len(), -1, dtype=np.int64)
        known = np.flatnonzero(person >= 0)
        row[person[known]] = known
        member, groups = np.full(ids.len(), -1, dtype=np.int64), 0
        if past.newest is not None:
            link, groups = past.newest.groups(), past.newest.labels.len()
            place = positions(link["id"].cast(pl.String), ids).astype(np.int64)
            member[place[place >= 0]] = positions(link["group"], past.newest.labels)[place >= 0]
        size = np.bincount(at, minlength=ids.len())
        p = told["p"].to_numpy()[order]
        return cls(starts(size), value[order], p, person, row, member, groups, _published(past))

    @cached_property
    def top(self) -> Reals:
        """[persons] the probability of the likeliest value."""
        return np.maximum.reduceat(self.p, self.start[:-1]) if self.p.size else np.empty(0)

    @cached_property
    def certain_person(self) -> Flags:
        """[persons] with one open value."""
        return np.asarray(np.diff(self.start) == 1)

    @cached_property
    def even_person(self) -> Flags:
        """[persons] whose open values are all as likely."""
        if not self.p.size:
            return np.zeros(0, dtype=bool)
        return np.asarray(self.top - np.minimum.reduceat(self.p, self.start[:-1]) <= EVEN)

    def of_rows(self, flags: Flags) -> Flags:
        """[rows] a flag of persons for the rows of the table; False for newcomers."""
        found = np.zeros(self.person.size, dtype=bool)
        known = self.person >= 0
        found[known] = flags[self.person[known]]
        return found

    @cached_property
    def supports(self) -> tuple[Codes, tuple[tuple[int, ...], ...]]:
        """[rows] the number of each row's set of open values (−1 for newcomers), and the sets."""
        number: dict[tuple[int, ...], int] = {}
        found = np.full(self.person.size, -1, dtype=np.int32)
        for r in np.flatnonzero(self.person >= 0).tolist():
            i = int(self.person[r])
            own = tuple(self.value[self.start[i] : self.start[i + 1]].tolist())
            found[r] = number.setdefault(own, len(number))
        return found, tuple(number)

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """The persons of every newest group, end to end, and where each group begins."""
        inside = np.flatnonzero(self.member >= 0)
        order = inside[np.argsort(self.member[inside], kind="stable")]
        return order, starts(np.bincount(self.member[inside], minlength=self.groups))

    def of_group(self, group: int) -> Ints:
        """The persons of a newest group."""
        order, start = self.members
        return order[start[group] : start[group + 1]]

    def counts(self, group: int) -> tuple[Ints, Ints]:
        """The values that a newest group publishes, and how often."""
        first, last = np.searchsorted(self.published[0], [group, group + 1])
        return self.published[1][first:last], self.published[2][first:last]

    def dense(self, persons: Ints, values: Ints) -> Reals:
        """[persons, values] their probabilities of some values (ascending)."""
        at, size = items_of(self.start, persons)
        found = np.zeros((persons.size, values.size))
        place = np.searchsorted(values, self.value[at])
        place = np.minimum(place, max(values.size - 1, 0))
        mine = values[place] == self.value[at] if values.size else np.zeros(at.size, dtype=bool)
        found[np.repeat(np.arange(persons.size), size)[mine], place[mine]] = self.p[at][mine]
        return found


def _published(past: Past) -> tuple[Ints, Ints, Ints]:
    """What the newest release counts, in codes, by group."""
    if past.newest is None:
        none = np.empty(0, dtype=np.int64)
        return none, none, none
    tally = past.newest.tally
    group = positions(tally["group"], past.newest.labels).astype(np.int64)
    value = positions(tally["value"].cast(past.values.dtype), past.values).astype(np.int64)
    order = np.lexsort((value, group))
    return group[order], value[order], tally["n"].to_numpy().astype(np.int64)[order]
