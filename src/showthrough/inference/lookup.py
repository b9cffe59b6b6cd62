"""What groups and candidate sets publish, looked up for many (group or set, value) at once.

A *code* is a group, ``known`` + k for candidate set k, or ABSENT, outside which any value is possible.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from showthrough.inference.history import ABSENT, History
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import items_of, owners, ranges, starts

_DENSE = 1 << 26
UNPUBLISHED = -1


class Lookup:
    """The lists of values of all codes, and the rows behind them.

    ``length`` and ``begin`` are indexed by code, ABSENT (−1) being the last entry; values of code c are
    ``listed[begin[c]:begin[c] + length[c]]``.
    """

    def __init__(self, history: History) -> None:
        self.span, self.rows = history.values.len(), history.row_count.size
        self.known = int(history.first_group[-1])
        self._find = _row_finder(history, self.span)
        self._set_start, self._set_group = history.set_start, history.set_group
        everything = np.arange(self.span, dtype=np.int32)
        entries = history.entries
        self._entries = entries.row.size
        lists, begin, length = [entries.value], [entries.start[:-1]], [np.diff(entries.start)]
        self._set_key, self._set_first, self._set_row = self._tabulate(history)
        size = np.bincount(self._set_key // self.span, minlength=self._sets) if self._sets else np.empty(0, np.int64)
        first = self._entries + starts(size)[:-1]
        free = self._free
        lists.append((self._set_key % self.span).astype(np.int32))
        last = self._entries + self._set_key.size
        begin.append(np.where(free, last, first))
        length.append(np.where(free, self.span, size))
        self.listed: Codes = np.concatenate([*lists, everything])
        self.begin: Ints = np.concatenate([*begin, [last]]).astype(np.int64)
        self.length: Ints = np.concatenate([*length, [self.span]]).astype(np.int64)

    @property
    def _sets(self) -> int:
        return self._set_start.size - 1

    def _tabulate(self, history: History) -> tuple[Ints, Ints, Codes]:
        """For each (set, value) that one of its groups publishes: the key, where its rows begin, and the rows."""
        number = owners(self._set_start)
        self._free = np.zeros(self._sets, dtype=bool)
        self._free[number[self._set_group == ABSENT]] = True
        here = self._set_group != ABSENT
        number, group = number[here], self._set_group[here]
        entries = history.entries
        at, size = items_of(entries.start, group)
        key = entries.value[at] + np.repeat(number, size) * self.span
        order = np.argsort(key, kind="stable")
        keys, first = np.unique(key[order], return_index=True)
        return keys, np.append(first, key.size), entries.row[at[order]].astype(np.int32)

    def row(self, code: Codes, value: Codes) -> Codes:
        """The row of each (group, value); one past the last outside."""
        return self._find(code, value).astype(np.int32, copy=False)

    def possible(self, code: Codes, value: Codes) -> Flags:
        """Whether some group of the code publishes the value."""
        single = code < self.known
        if single.all():
            return np.asarray(self._find(code, value) != UNPUBLISHED)
        found = np.ones(code.size, dtype=bool)
        found[single] = self._find(code[single], value[single]) != UNPUBLISHED
        several = np.flatnonzero(~single)
        number = code[several].astype(np.int64) - self.known
        found[several] = self._free[number] | (self._at(number, value[several]) >= 0)
        return found

    def candidates(self, code: Codes, value: Codes) -> tuple[Ints, Codes]:
        """For each (code, value) the rows of the groups that publish it; one past the last: perhaps outside.

        Who does not exist is outside.
        """
        nobody = value == self.span
        if nobody.any():
            code, value = np.where(nobody, ABSENT, code), np.where(nobody, 0, value)
        single = code < self.known
        number = np.where(single, 0, code.astype(np.int64) - self.known)
        at = self._at(number, value)
        listed = ~single & (at >= 0)
        at = np.maximum(at, 0)
        size = np.where(listed, (self._set_first[at + 1] - self._set_first[at]) if self._set_key.size else 0, 0)
        maybe = ~single & self._free[number]
        length = size + maybe + single
        start = starts(length)
        row = np.full(int(start[-1]), self.rows, dtype=np.int32)
        row[start[:-1][single]] = self._find(code[single], value[single])
        some = np.flatnonzero(size)
        # who may be outside has that first
        to = ranges(start[:-1][some] + maybe[some], size[some])
        row[to] = self._set_row[ranges(self._set_first[at[some]], size[some])]
        return start, row

    def _at(self, number: Ints, value: Codes) -> Ints:
        """Where (set, value) stands in the table, or −1."""
        wanted = number * self.span + value
        if not self._set_key.size:
            return np.full(wanted.size, -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._set_key, wanted), self._set_key.size - 1)
        return np.where(self._set_key[at] == wanted, at, -1)


def _row_finder(history: History, span: int) -> Callable[[Codes, Codes], npt.NDArray[np.integer]]:
    """A function from (group, value) to the row; one past the last row for ABSENT, −1 for what is not published."""
    rows, groups = history.row_count.size, int(history.first_group[-1])
    entries = history.entries
    key = entries.group.astype(np.int64) * span + entries.value
    if (groups + 1) * span <= _DENSE:
        table = np.full((groups + 1) * span, UNPUBLISHED, dtype=np.int32)
        table[key] = entries.row
        table[groups * span :] = rows  # where the negative keys of ABSENT lead
        return lambda group, value: table.take(group.astype(np.int64) * span + value)

    def search(group: Codes, value: Codes) -> Ints:
        wanted = group.astype(np.int64) * span + value
        at = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        return np.where(group == ABSENT, rows, np.where(key[at] == wanted, entries.row[at], UNPUBLISHED))

    return search
