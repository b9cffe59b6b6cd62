"""A release that tells next to nothing new: what was published goes on, as readers expect it.

Persons whose open values are all as likely get groups with one record of each of them, whatever their last
group was: an even row that stays possible stays, since none has more entropy. Of the other groups of the newest
release those who are still there stay together; `refill` says how many newcomers or counterfeits of which values
join them, or who is withheld. Persons of whom readers are certain are neutral wherever they stand. Newcomers left
over get groups of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from showthrough.anonymizers.table import Table
from showthrough.errors import InputError
from showthrough.policy.judging import SLACK
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.refill import Refill, in_proportion, solved
from showthrough.republishing.repairs import values_of_groups
from showthrough.republishing.standing import EVEN, Standing
from showthrough.republishing.staying import staying
from showthrough.republishing.strategies import by_signature
from showthrough.table.arrays import Flags, Ints

EKED = 3  # times m persons that a group may take in to satisfy the criteria
WHOLE = 1e-5  # sums of probabilities that are so near to whole numbers are counts that readers know
DEAR = 0.5  # share of an old group that fillers and withheld records may cost before it is given up


@dataclass(eq=False)
class Carrying:
    """What the groups are made of; ``m`` values for new ones, nobody beyond ``limit``."""

    table: Table
    past: Past
    standing: Standing
    m: int
    limit: float
    seed: int
    thrift: bool = True  # whether records are withheld where that costs less than counterfeits
    failing: Callable[[Proposal], Flags] | None = None  # which groups of a proposal violate a criterion
    late: Callable[[], bool] = lambda: False  # whether there is no time left to search
    parted: bool = False  # whether old groups also go on in proportion, or in parts
    plans: dict[int, list[tuple[Ints, Refill | None]]] = field(default_factory=dict)

    def proposal(self) -> Proposal:
        """Old groups, then what is even together with newcomers, then those who are certain."""
        old, s, held = self._old_groups(), self.standing, self._withheld()
        parts = [old, staying(self.past, s, (old.group < 0) & ~held, self.failing)]
        taken = (old.group >= 0) | (parts[1].group >= 0)
        new, certain = s.person < 0, s.of_rows(s.certain_person)
        loose = new | (s.of_rows(s.even_person) & ~certain)
        part = self._by_support(np.flatnonzero(loose & ~taken & ~held), certain)
        made = self._eked_out(_joined([*parts, *([] if part is None else [part])]), certain)
        rest = self._by_support(np.flatnonzero(certain & (made.group < 0)), certain)
        return made if rest is None else _joined([made, rest])

    def _eked_out(self, proposal: Proposal, certain: Flags) -> Proposal:
        """Groups that violate a criterion take in persons of whom readers are certain, with values that they lack."""
        for _ in range(EKED * self.m):
            free = np.flatnonzero(certain & (proposal.group < 0))
            if self.failing is None or not free.size or not (proposal.group >= 0).any():
                break
            groups = np.flatnonzero(self.failing(proposal))
            if not groups.size:
                break
            group, values = proposal.group.copy(), values_of_groups(self.past, proposal)
            by_value = {v: free[self.past.value[free] == v].tolist() for v in np.unique(self.past.value[free]).tolist()}
            for g in groups.tolist():
                lacking = [v for v, rows in by_value.items() if rows and v not in values[g]]
                wanted = max(lacking, key=lambda v: len(by_value[v]), default=None)
                if wanted is not None:
                    group[by_value[wanted].pop()] = g
            if (group == proposal.group).all():
                break
            proposal = replace(proposal, group=group)
        return proposal

    @property
    def uneven(self) -> Flags:
        """[groups] of the newest release: with somebody in the table whose open values are not all as likely."""
        s = self.standing
        here = (s.member >= 0) & (s.row >= 0) & ~s.even_person
        found = np.zeros(s.groups, dtype=bool)
        found[s.member[here]] = True
        return found

    def _withheld(self) -> Flags:
        """[rows] of old groups that are given up, and of records that a plan leaves out."""
        found = np.zeros(self.table.rows, dtype=bool)
        for g in np.flatnonzero(self.uneven).tolist():
            for persons, plan in self._plan(g):
                rows = self._rows(persons)
                found[rows if plan is None else rows[plan.out]] = True
        return found

    def _rows(self, persons: Ints) -> Ints:
        """The records of persons that are still in the table."""
        row = self.standing.row[persons]
        return row[row >= 0]

    def _plan(self, group: int) -> list[tuple[Ints, Refill | None]]:
        """How an old group goes on, or parts of it; None: not at all."""
        if group not in self.plans:
            persons, (values, count) = self.standing.of_group(group), self.standing.counts(group)
            whole = self._planned(persons, values, count, self.limit)
            alone = whole is not None or not self.parted
            self.plans[group] = [(persons, whole)] if alone else self._parts(persons, values, count)
        return self.plans[group]

    def _parts(self, persons: Ints, values: Ints, count: Ints) -> list[tuple[Ints, Refill | None]]:
        """An old group that cannot go on, in parts of persons of whom readers believe the same and know the counts."""
        rows = self.standing.dense(persons, values)
        kind = np.unique(rows.round(7), axis=0, return_inverse=True)[1].reshape(-1)
        found: list[tuple[Ints, Refill | None]] = []
        for one in np.unique(kind).tolist():
            mine, sums = persons[kind == one], rows[kind == one].sum(axis=0)
            if (rows[kind == one].max(axis=1) > 1 - EVEN).all():
                continue  # of whom readers are certain: neutral anywhere
            whole = np.round(sums).astype(np.int64)
            known = persons.size == int(count.sum()) and bool((np.abs(sums - whole) < WHOLE).all())
            plan = self._planned(mine, values, whole, self.limit) if known and self._rows(mine).size else None
            found.append((mine, plan))
        return found

    def _planned(self, persons: Ints, values: Ints, count: Ints, limit: float) -> Refill | None:
        """How persons with these counts of values among them go on in one group; None: not at all."""
        s = self.standing
        here, gone = persons[s.row[persons] >= 0], persons[(s.row[persons] < 0)]
        rows, other = s.dense(here, values), s.dense(gone, values)
        unnamed = int(count.sum()) - persons.size
        many = np.ones(gone.size)
        if unnamed > 0:
            rest = np.maximum(count - rows.sum(axis=0) - other.sum(axis=0), 0.0)
            other, many = np.vstack([other, rest / max(rest.sum(), 1e-12)]), np.append(many, float(unnamed))
        bound, gone_bound = self._bounds(here, limit), self._bounds(gone, limit)
        gone_bound = np.append(gone_bound, np.ones(many.size - gone.size))
        value = np.searchsorted(values, self.past.value[s.row[here]])
        fill = np.maximum(count - np.bincount(value, minlength=values.size), 0)
        sure = np.append(s.certain_person[gone], np.zeros(many.size - gone.size, dtype=bool))
        fill = np.maximum(fill - np.round(other[sure].sum(axis=0)).astype(np.int64), 0)
        start = Refill(rows, value, other, many, bound, gone_bound, fill, limit, np.zeros(here.size, dtype=bool))
        if self.late():
            return replace(start, limit=1.0)
        most = max(1, int(DEAR * here.size))
        for free, firsts in ((limit, (np.zeros_like(fill), fill)), (1.0, (fill,))):
            begun = [replace(start, fill=first, limit=free) for first in firsts]
            begun += in_proportion(replace(start, limit=free)) if self.parted and free < 1.0 else []
            ways = [solved(one, most=one.price + most, slack=SLACK / 2) for one in begun]
            if any(way is not None for way in ways):
                return min((way for way in ways if way is not None), key=lambda way: way.price)
        return None

    def _bounds(self, persons: Ints, limit: float) -> np.ndarray:
        """[persons] the limit, or 1 for those who are over it already."""
        return np.where(self.standing.top[persons] > self.limit + SLACK, 1.0, limit)

    def _old_groups(self) -> Proposal:
        """The uneven groups that go on, newcomers among their fillers as far as there are some with these values."""
        generator, s = np.random.default_rng(self.seed), self.standing
        group = np.full(self.table.rows, -1, dtype=np.int32)
        wanted: list[tuple[int, int, bool]] = []
        number = 0
        for g in np.flatnonzero(self.uneven).tolist():
            for persons, plan in self._plan(g):
                if plan is None:
                    continue
                group[self._rows(persons)[~plan.out]] = number
                values = np.repeat(s.counts(g)[0], plan.fill).tolist()
                wanted += [(number, v, plan.limit < 1.0) for v in values]
                number += 1
        places = np.array(wanted, dtype=np.int64).reshape(-1, 3)
        filler = self._newcomers(np.where(places[:, 2] > 0, places[:, 1], -1), generator)
        filled = filler >= 0
        group[filler[filled]] = places[filled, 0]
        return Proposal(group, places[~filled, 0].astype(np.int32), places[~filled, 1].astype(np.int32))

    def _newcomers(self, wanted: Ints, generator: np.random.Generator) -> Ints:
        """A newcomer for each of the wanted values, drawn at random, or −1."""
        rows = generator.permutation(np.flatnonzero(self.standing.person < 0))
        found = np.full(wanted.size, -1, dtype=np.int64)
        for value in np.unique(wanted[wanted >= 0]).tolist():
            mine = rows[self.past.value[rows] == value]
            places = generator.permutation(np.flatnonzero(wanted == value))[: mine.size]
            found[places] = mine[: places.size]
        return found

    def _by_support(self, rows: Ints, certain: Flags) -> Proposal | None:
        """m-invariance by open values; those who are certain count as new."""
        if not rows.size:
            return None
        support, sets = self.standing.supports
        past = replace(self.past, signature=np.where(certain, -1, support).astype(np.int32), signatures=sets)
        found = self._placed(past, rows)
        if found is None or not self.thrift:
            return found
        fewer = rows[~_dear(past, found)[rows]]
        again = self._placed(past, fewer) if 0 < fewer.size < rows.size else None
        return again if again is not None and again.price < found.price else found

    def _placed(self, past: Past, rows: Ints) -> Proposal | None:
        try:
            part = by_signature(self.table, past, self.m, hold_back=True, seed=self.seed, rows=rows, short=True)
        except InputError:
            return None
        group = np.full(self.table.rows, -1, dtype=np.int32)
        group[rows] = part.group
        return replace(part, group=group)


def _dear(past: Past, found: Proposal) -> Flags:
    """[rows] records whose values are so frequent among their open values that withholding them saves counterfeits.

    Of a bucket with n(v) records of each of its values, r groups withhold Σ max(n(v) − r, 0) records and add
    Σ max(r − n(v), 0) counterfeits: fewest where r is the median.
    """
    dear = np.zeros(found.group.size, dtype=bool)
    shown = np.flatnonzero(found.group >= 0)
    bucket = np.full(int(found.group.max(initial=-1)) + 1, -1, dtype=np.int64)
    old = shown[past.signature[shown] >= 0]
    bucket[found.group[old]] = past.signature[old]
    mine = bucket[found.group[shown]]
    for one in np.unique(mine[mine >= 0]).tolist():
        rows = shown[mine == one]
        count = np.array([int((past.value[rows] == v).sum()) for v in past.signatures[one]])
        median = int(np.sort(count)[count.size // 2])
        for v, n in zip(past.signatures[one], count.tolist(), strict=True):
            if n > median:
                dear[rows[past.value[rows] == v][median:]] = True
    return dear


def _joined(parts: list[Proposal]) -> Proposal:
    """Proposals for different rows as one."""
    group, base = np.full(parts[0].group.size, -1, dtype=np.int32), 0
    fakes, values = [], []
    for part in parts:
        own = part.numbered()
        group = np.where(own.group >= 0, own.group + base, group).astype(np.int32)
        fakes.append(own.counterfeit_group + np.int32(base))
        values.append(own.counterfeit_value)
        base = 1 + max(int(group.max(initial=-1)), *(int(f.max(initial=-1)) for f in fakes))
    return Proposal(group, np.concatenate(fakes), np.concatenate(values)).numbered()
