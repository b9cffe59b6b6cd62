"""History-guided re-publishing (Wang, Zhu, Du, Teng, section 4.1): groups stay, newcomers take the free places.

Whoever left a group leaves a slot, filled by a random newcomer with the same value. The other newcomers
get groups of their own by Anatomy. While every slot is filled a group shows the same values as before
and nobody learns anything from having both releases.

An unfilled slot tells: the values that a group lost belong to those who left it. If j persons left a
group of k different values and u slots stay empty, each of the j has each lost value with probability
1/j (certainty for j = 1), and everybody still in the group has one of k − u values. Repairs:

``report``        the paper's method as it is; ``at_risk`` and ``thin`` say what it gives away.
``counterfeits``  a value of nobody fills the slot, the group's number of counterfeits is published. Exact:
                  the joint posterior is that of the single releases. A group that nobody is in any more is not
                  published, so its slots need none.
``hold``          enough members are withheld that both parts of the group, those who are gone and those who
                  remain, are l or more; where the group is too small for that, all of it. Of a group that is
                  withheld whole the new release says nothing, so nothing can be learned about anybody in it.
                  It comes back when its slots can be filled.
``dissolve``      members are bucketized anew with the other newcomers. Every record is published, at the price of
                  independent re-publishing for these members: the old and the new group often share one value
                  only, and what the members have the departed have not. On Adult (7 200 records, 1 200
                  replaced, l = 3, one run) 1 departed and 55 members are certain where ``report`` makes 46 and 1.

``hold`` and ``dissolve`` choose the groups to give up so that few suffice and all others are filled.

Newcomers left over need not be l-eligible. Too many of one value are taken out and put into old groups
without that value, one in each, where no older member is left: such a group is as good as new. Older
members cannot have the additional value, since they were published in that group without it, so only
newcomers share it; with l of them nobody exceeds 1/l in the two releases, but after more members have
come and gone somebody may (0.5575 at l = 2 was met). What finds no such group is held back.

Over many releases the publisher carries ``standing`` and ``slot_standing`` on. A slot that was published
empty is closed for ever: a newcomer who filled it later would be the only one who can have its value. A
counterfeit's slot stays open. Members withheld from a group of which a part remains form a group of their
own with the departed and return only together. Somebody who left and returns belongs in the old group, in
place of a slot of the same value there; given as a newcomer, a person has two groups to be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from showthrough.anonymizers.anatomy import anatomy, surplus
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints

Repair = Literal["report", "counterfeits", "dissolve", "hold"]


@dataclass(frozen=True)
class HistoryGuidedResult:
    """Groups of the next release: the old numbers go on, new groups follow, all below ``groups``.

    ``group`` is -1 for the rows ``held`` back. ``filled`` holds the row that took each slot, -1 for none. ``at_risk``
    are the slots whose departed persons (with ``report``) share lost values with fewer than l, ``thin`` the old groups
    left with fewer than l records; both are exact for groups in which no value occurs twice, as Anatomy makes them.
    """

    group: Codes
    groups: int
    filled: Ints
    unfilled: Ints
    at_risk: Ints
    thin: Ints
    given_up: Ints
    """Old groups that were dissolved, or whose members were held back."""
    counterfeit_group: Codes
    counterfeit_value: Codes
    placed: Ints
    """Rows of newcomers added to an old group without their value."""
    held: Ints
    standing: Codes
    """The group in which each row is to be remembered: the old group of next time, -1 for newcomers held back."""
    slot_standing: Codes
    """The group in which each slot is to be given again next time, -1 where it is closed."""


def history_guided(
    value: npt.NDArray[np.integer],
    l: int,
    *,
    old_group: npt.NDArray[np.integer],
    slot_group: npt.NDArray[np.integer],
    slot_value: npt.NDArray[np.integer],
    repair: Repair = "report",
    seed: int = 0,
) -> HistoryGuidedResult:
    """The groups of the next release, guided by those of the last one.

    ``old_group`` is the group of each row, -1 for persons never published. ``slot_group`` and
    ``slot_value`` say where the departed persons were and what they really have, as the publisher knows.
    """
    generator = np.random.default_rng(seed)
    work = _Work(np.asarray(value), np.asarray(old_group), np.asarray(slot_group), np.asarray(slot_value), l)
    work.check(repair)
    none = np.zeros(work.groups, dtype=bool)
    given_up = work.given_up(repair, generator) if repair in ("dissolve", "hold") else none
    filled = work.fill(~given_up[work.slot_group], generator)
    unfilled = np.flatnonzero(filled < 0)
    shown = work.inhabited(filled) if repair == "counterfeits" else none
    fakes, unfilled = unfilled[shown[work.slot_group[unfilled]]], unfilled[~shown[work.slot_group[unfilled]]]
    group = work.old_group.astype(np.int64)
    gone = np.flatnonzero(group >= 0)
    group[gone[given_up[group[gone]]]] = -1
    group[filled[filled >= 0]] = work.slot_group[filled >= 0]
    pool = group < 0
    if repair == "hold":
        pool &= work.old_group < 0
        kept = work.remaining(given_up, generator)
        group[kept] = work.old_group[kept]
    out = work.taken_out(np.flatnonzero(pool), generator)
    pool[out] = False
    group[pool], groups = work.bucketized(np.flatnonzero(pool), generator)
    placed, places = work.places(out[work.old_group[out] < 0], group, fakes, unfilled, generator)
    group[placed] = places
    at_risk, thin = work.exposed(group, unfilled) if repair == "report" else (unfilled[:0], unfilled[:0])
    standing, slot_standing, groups = work.remembered(group, given_up, fakes, groups, repair)
    return HistoryGuidedResult(
        group=group.astype(np.int32),
        groups=groups,
        filled=filled,
        unfilled=unfilled,
        at_risk=at_risk,
        thin=thin,
        given_up=np.flatnonzero(given_up),
        counterfeit_group=work.slot_group[fakes].astype(np.int32),
        counterfeit_value=work.slot_value[fakes].astype(np.int32),
        placed=np.sort(placed),
        held=np.flatnonzero(group < 0),
        standing=standing.astype(np.int32),
        slot_standing=slot_standing.astype(np.int32),
    )


@dataclass(frozen=True)
class _Work:
    """What was given, and the steps; rows are the records, slots the departed persons."""

    value: npt.NDArray[np.integer]
    old_group: npt.NDArray[np.integer]
    slot_group: npt.NDArray[np.integer]
    slot_value: npt.NDArray[np.integer]
    l: int

    @property
    def groups(self) -> int:
        """Old groups, empty numbers included."""
        return 1 + max(int(self.old_group.max(initial=-1)), int(self.slot_group.max(initial=-1)))

    def check(self, repair: str) -> None:
        """Refuse what makes no sense."""
        if self.l < 1:
            raise InputError(f"l must be at least 1, found {self.l}.")
        if repair not in get_args(Repair):
            raise InputError(f"repair is one of {', '.join(get_args(Repair))}, not {repair!r}.")
        if len(self.value) != len(self.old_group):
            raise InputError(f"There are {len(self.value)} values but {len(self.old_group)} old groups.")
        if len(self.slot_group) != len(self.slot_value):
            raise InputError(f"The slots have {len(self.slot_group)} groups but {len(self.slot_value)} values.")
        if int(self.old_group.min(initial=0)) < -1 or int(self.slot_group.min(initial=0)) < 0:
            raise InputError("Old groups are numbered from 0, or -1 for new persons; the group of a slot is never -1.")
        if int(self.value.min(initial=0)) < 0 or int(self.slot_value.min(initial=0)) < 0:
            raise InputError("Value codes must be 0 or more.")

    def given_up(self, repair: Repair, generator: np.random.Generator) -> Flags:
        """Groups to give up so that newcomers fill the slots of all others; those with most scarce slots first."""
        size = 1 + max(int(self.value.max(initial=-1)), int(self.slot_value.max(initial=-1)))
        supply = np.bincount(self.value[self.old_group < 0], minlength=size)
        lacking = np.bincount(self.slot_value, minlength=size) - supply
        scarce = np.bincount(self.slot_group[lacking[self.slot_value] > 0], minlength=self.groups)
        members = np.bincount(self.old_group[self.old_group >= 0], minlength=self.groups)
        price = members - self._may_remain if repair == "hold" else members
        rank = np.empty(self.groups, dtype=np.int64)
        rank[np.lexsort((generator.random(self.groups), price, -scarce))] = np.arange(self.groups)
        chosen = np.zeros(self.groups, dtype=bool)
        for v in np.flatnonzero(lacking > 0).tolist():
            slots = np.flatnonzero((self.slot_value == v) & ~chosen[self.slot_group])
            excess = len(slots) - int(supply[v])
            if excess > 0:
                slots = slots[np.argsort(rank[self.slot_group[slots]])]
                chosen[self.slot_group[slots[:excess]]] = True
        return chosen

    @cached_property
    def _may_remain(self) -> Ints:
        """For each group whose slots stay empty: members that may be published while l or more are gone.

        None where fewer than l would remain, or where a value occurs twice (the shares of the parts are then unknown).
        """
        stay = np.flatnonzero(self.old_group >= 0)
        members = np.bincount(self.old_group[stay], minlength=self.groups)
        gone = np.bincount(self.slot_group, minlength=self.groups)
        remain = members + gone - np.maximum(gone, self.l)
        owner = np.concatenate([self.old_group[stay], self.slot_group]).astype(np.int64)
        values = np.concatenate([self.value[stay], self.slot_value])
        order = np.lexsort((values, owner))
        twice = (np.diff(owner[order]) == 0) & (np.diff(values[order]) == 0)
        remain[owner[order][1:][twice]] = 0
        return np.where(remain >= self.l, remain, 0)

    def remaining(self, given_up: Flags, generator: np.random.Generator) -> Ints:
        """Rows of given-up groups that are published nevertheless, drawn at random."""
        rows = np.flatnonzero(self.old_group >= 0)
        rows = generator.permutation(rows[given_up[self.old_group[rows]]])
        rows = rows[np.argsort(self.old_group[rows], kind="stable")]
        group = self.old_group[rows]
        turn = np.arange(len(rows)) - np.searchsorted(group, group)
        return np.asarray(rows[turn < self._may_remain[group]])

    def fill(self, wanted: Flags, generator: np.random.Generator) -> Ints:
        """The newcomer of each slot, drawn at random among those with its value; -1 where none is left."""
        slots = generator.permutation(np.flatnonzero(wanted))
        rows = generator.permutation(np.flatnonzero(self.old_group < 0))
        slots = slots[np.argsort(self.slot_value[slots], kind="stable")]
        rows = rows[np.argsort(self.value[rows], kind="stable")]
        need, have = self.slot_value[slots], self.value[rows]
        turn = np.arange(len(slots)) - np.searchsorted(need, need)
        at = np.searchsorted(have, need) + turn
        there = at < np.searchsorted(have, need, side="right")
        filled = np.full(len(self.slot_group), -1, dtype=np.int64)
        filled[slots[there]] = rows[at[there]]
        return filled

    def inhabited(self, filled: Ints) -> Flags:
        """Old groups in which somebody is: of one that is gone as a whole nothing is published, so nothing is told."""
        found = np.zeros(self.groups, dtype=bool)
        found[self.old_group[self.old_group >= 0]] = True
        found[self.slot_group[filled >= 0]] = True
        return found

    def taken_out(self, pool: Ints, generator: np.random.Generator) -> Ints:
        """The fewest rows without which the pool is l-eligible; newcomers before members of dissolved groups."""
        if not len(pool):
            return pool
        drop = surplus(self.value[pool], self.l)
        rows = generator.permutation(pool)
        rows = rows[np.lexsort((self.old_group[rows] >= 0, self.value[rows]))]
        values = self.value[rows]
        return np.asarray(rows[np.arange(len(rows)) - np.searchsorted(values, values) < drop[values]])

    def bucketized(self, pool: Ints, generator: np.random.Generator) -> tuple[Ints, int]:
        """New groups for the pool, and the number of all groups."""
        if not len(pool):
            return pool, self.groups
        made = anatomy(self.value[pool], self.l, seed=int(generator.integers(2**31)))
        return made.group.astype(np.int64) + self.groups, self.groups + made.groups

    def places(
        self, rows: Ints, group: Ints, fakes: Ints, unfilled: Ints, generator: np.random.Generator
    ) -> tuple[Ints, Ints]:
        """Newcomers that fit into old groups without their value and without an older member, and the groups."""
        inside = (group >= 0) & (group < self.groups)
        newcomers = np.bincount(group[inside], minlength=self.groups)
        newcomers += np.bincount(self.slot_group[fakes], minlength=self.groups)
        roomy = (newcomers >= self.l - 1) & (newcomers > 0)  # an old number that nobody has any more is no group
        roomy[self.slot_group[unfilled]] = False
        roomy[self.old_group[self.old_group >= 0]] = False
        placed, places = [rows[:0]], [rows[:0]]
        for v in np.unique(self.value[rows]).tolist():
            free = roomy.copy()
            free[group[inside & (self.value == v)]] = False
            free[self.slot_group[fakes[self.slot_value[fakes] == v]]] = False
            those = rows[self.value[rows] == v]
            places.append(generator.permutation(np.flatnonzero(free))[: len(those)])
            placed.append(those[: len(places[-1])])
        return np.concatenate(placed), np.concatenate(places)

    def exposed(self, group: Ints, unfilled: Ints) -> tuple[Ints, Ints]:
        """Slots of departed persons that fewer than l share, and groups with fewer than l records."""
        size = np.bincount(group[(group >= 0) & (group < self.groups)], minlength=self.groups)
        gone = np.bincount(self.slot_group, minlength=self.groups)
        open_ = np.zeros(self.groups, dtype=bool)
        open_[self.slot_group[unfilled]] = True
        open_ &= size > 0  # a group that is gone as a whole tells nothing
        at_risk = np.flatnonzero((open_ & (gone < self.l))[self.slot_group])
        return at_risk, np.flatnonzero(open_ & (size < self.l))

    def remembered(
        self, group: Ints, given_up: Flags, fakes: Ints, groups: int, repair: Repair
    ) -> tuple[Ints, Ints, int]:
        """Where rows and open slots belong next time; members withheld from a group that goes on get a new number."""
        standing, slots = group.copy(), np.full(len(self.slot_group), -1, dtype=np.int64)
        slots[fakes] = self.slot_group[fakes]
        if repair != "hold" or not given_up.any():
            return standing, slots, groups
        goes_on = self._may_remain > 0
        number = np.arange(self.groups)
        withheld = np.flatnonzero((group < 0) & (self.old_group >= 0))
        apart = np.unique(self.old_group[withheld][goes_on[self.old_group[withheld]]])
        number[given_up & goes_on] = -1  # nobody is withheld: those who left share their values, and that was all
        number[apart] = groups + np.arange(len(apart))
        standing[withheld] = number[self.old_group[withheld]]
        again = given_up[self.slot_group]
        slots[again] = number[self.slot_group[again]]
        return standing, slots, groups + len(apart)
