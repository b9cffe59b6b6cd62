"""Persons whose open values are all as likely, and who stay with members of their last group instead of mixing.

An old group of which as many stay with each of their open values tells nothing by going on, and its cells are as
narrow as they were. What is left over of each set of open values lacks the same records as before: as many of each
value have gone. Persons of whom readers are certain stay too, as far as the criteria allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.standing import Standing
from showthrough.table.arrays import Codes, Flags, Ints


def staying(past: Past, standing: Standing, free: Flags, failing: Callable[[Proposal], Flags] | None) -> Proposal:
    """Groups of the free rows that stay: even ones in balance, and with them those who are certain."""
    even = free & standing.of_rows(standing.even_person & ~standing.certain_person)
    sure = free & standing.of_rows(standing.certain_person)
    last = np.where(standing.person >= 0, standing.member[standing.person], -1)
    group = np.full(standing.person.size, -1, dtype=np.int32)
    for number, rows in enumerate(_balanced(past, standing, last, np.flatnonzero(even & (last >= 0)))):
        group[rows] = number
    number_of = np.full(standing.groups + 1, -1, dtype=np.int32)
    number_of[last[group >= 0]] = group[group >= 0]
    with_sure = np.where(sure & (last >= 0), number_of[last], group).astype(np.int32)
    if failing is not None and (with_sure != group).any():
        worse = np.flatnonzero(failing(Proposal(with_sure)))
        with_sure[np.isin(with_sure, worse) & sure] = -1
    return Proposal(with_sure)


def _balanced(past: Past, standing: Standing, last: Ints, rows: Ints) -> Iterator[Ints]:
    """For each old group the rows that stay: as many with each of their open values, for every set of these."""
    support, sets = standing.supports
    order = rows[np.lexsort((past.value[rows], support[rows], last[rows]))]
    for mine in np.split(order, np.flatnonzero(np.diff(last[order])) + 1):
        kept = [one for one in np.unique(support[mine]).tolist() for one in _even_share(past, mine, support, sets, one)]
        if kept:
            yield np.array(kept, dtype=np.int64)


def _even_share(past: Past, mine: Ints, support: Codes, sets: tuple[tuple[int, ...], ...], one: int) -> list[int]:
    own = mine[support[mine] == one]
    by_value = [own[past.value[own] == v].tolist() for v in sets[one]]
    many = min(map(len, by_value))
    return [row for rows in by_value for row in rows[:many]]
