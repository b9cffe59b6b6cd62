"""The variables of a part: one for each signature and each value that all its groups publish.

Legend as in `problem`: m signatures, v variables, R releases. Signatures are sorted by their groups, so that
neighbours in memory share rows; rows are numbered within the part, and ``touched`` are their numbers in the component.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from showthrough.inference.cluster.giant_part import GiantPart, GiantRows, mapped_array, read_array, write_array
from showthrough.inference.history import ABSENT
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import ranges, starts

_CHUNK = 1 << 16  # signatures at a time
_DENSE = 1 << 26  # pairs of group and value that a table holds
WORKING = ("order", "weights", "start", "value", "row", "touched", "room", "certain")  # what a part is laid out in
_ROWS = ("row_group", "row_value", "row_count")


@dataclass(frozen=True, eq=False)
class LaidPart:
    """What the driver learns of a part at once.

    Its rows, how many persons could be in them and how many surely are, it reads: that is too much for a reply.
    """

    signatures: int
    variables: int
    empty: int  # signatures whose groups share no value


def publish(folder: Path, rows: GiantRows) -> None:
    """Put the published rows where all workers can read them."""
    for name in _ROWS:
        write_array(folder / f"{name}.npy", getattr(rows, name))
    write_array(folder / "span.npy", np.array([int(rows.row_value.max(initial=-1)) + 1]))


def lay_out(part: GiantPart, folder: str) -> LaidPart:
    """Write the variables of a part, of which nothing is excluded yet."""
    group_of, weight = part.read("group_of"), part.read("weight")
    order = np.lexsort(group_of[::-1]).astype(np.int32)
    group_of, weight = group_of.take(order, axis=1), weight.take(order)
    found = _Finder(folder, group_of)
    pieces = [found.variables(slice(a, a + _CHUNK)) for a in range(0, order.size, _CHUNK)]
    start = starts(np.concatenate([length for length, _, _ in pieces] or [np.empty(0, dtype=np.int64)]))
    value = np.concatenate([value for _, value, _ in pieces] or [np.empty(0, dtype=np.int32)])
    row = np.concatenate([row for _, _, row in pieces], axis=1) if pieces else np.empty((len(group_of), 0), np.int32)
    del pieces
    touched, row = numbered(row, found.rows)
    alive = np.ones(value.size, dtype=bool)
    part.write(order=order, weights=weight, start=start, value=value, row=row, touched=touched)
    part.write(**{"alive-0": alive})
    room, certain = crowds(start, row, weight, alive, touched.size)
    part.write(room=room, certain=certain)
    return LaidPart(order.size, value.size, int((np.diff(start) == 0).sum()))


def sharing_nothing(folder: str, group_of: Codes) -> Flags:
    """[signatures] whether no value is published in all groups."""
    found, size = _Finder(folder, group_of), group_of.shape[1]
    pieces = [found.variables(slice(a, a + _CHUNK))[0] == 0 for a in range(0, size, _CHUNK)]
    return np.concatenate([*pieces, np.empty(0, dtype=bool)])


def numbered(row: Codes, absent: int) -> tuple[Codes, Codes]:
    """The rows that are used, and all of them by their place among these; who is absent has one past the last."""
    used = np.zeros(absent + 1, dtype=bool)
    for own in row:
        used[own] = True
    touched = np.flatnonzero(used[:-1]).astype(np.int32)
    place = np.full(absent + 1, touched.size, dtype=np.int32)
    place[touched] = np.arange(touched.size, dtype=np.int32)
    return touched, place.take(row)


def crowds(start: Ints, row: Codes, weight: Ints, alive: Flags, rows: int) -> tuple[Ints, Ints]:
    """[rows] persons who could be in each row, and persons who surely are: they have no other value left."""
    length = np.diff(start)
    owner = np.repeat(np.arange(length.size, dtype=np.int32), length)
    choices = np.bincount(owner[alive], minlength=length.size)
    open_ones = alive & (choices > 1).take(owner)
    return tuple(  # type: ignore[return-value]
        persons_in(row, at, weight.take(owner.take(at)), rows)
        for at in (np.flatnonzero(open_ones), np.flatnonzero(alive & ~open_ones))
    )


def persons_in(row: Codes, at: Ints, persons: Ints, rows: int) -> Ints:
    """[rows] persons that some variables put in each row."""
    total = np.zeros(rows + 1)
    for own in row:
        total += np.bincount(own.take(at), weights=persons, minlength=rows + 1)
    return total[:-1].astype(np.int64)


class _Finder:
    """Finds the rows of the groups of a part."""

    def __init__(self, folder: str, group_of: Codes) -> None:
        of_row, value = (mapped_array(Path(folder) / f"{name}.npy") for name in _ROWS[:2])
        self.rows, self.span = of_row.size, int(read_array(Path(folder) / "span.npy")[0])
        known = np.unique(group_of)
        known = known[known != ABSENT]
        first, last = (np.searchsorted(of_row, known, side=side) for side in ("left", "right"))
        self.known, self.groups = known, known.size
        self.length = np.append(last - first, self.span)  # outside a release any value is possible
        self.begin = np.append(starts(last - first)[:-1], int((last - first).sum()))
        self.row = ranges(first, last - first).astype(np.int32)
        self.listed = np.append(value[self.row], np.arange(self.span, dtype=np.int32))
        self.code = np.where(group_of == ABSENT, known.size, np.searchsorted(known, group_of)).astype(np.int32)
        self._table, self._key = None, None
        key = np.repeat(np.arange(known.size), last - first) * np.int64(self.span) + value[self.row]
        if (known.size + 1) * self.span <= _DENSE:
            self._table = np.full((known.size + 1) * self.span, -1, dtype=np.int32)
            self._table[key] = self.row
            self._table[known.size * self.span :] = self.rows
        else:
            self._key = key

    def variables(self, part: slice) -> tuple[Ints, Codes, Codes]:
        """Of some signatures: how many variables each has, their values and their rows."""
        code = self.code[:, part]
        base = code[0]
        for own in code[1:]:
            base = np.where(self.length[own] < self.length[base], own, base)
        length = self.length[base]
        owner = np.repeat(np.arange(base.size, dtype=np.int32), length)
        value = self.listed.take(ranges(self.begin[base], length))
        row = np.empty((code.shape[0], owner.size), dtype=np.int32)
        possible = np.ones(owner.size, dtype=bool)
        for k, own in enumerate(code):
            row[k] = self._find(own.take(owner), value)
            possible &= row[k] >= 0
        kept = np.flatnonzero(possible)
        return np.bincount(owner.take(kept), minlength=base.size), value.take(kept), row.take(kept, axis=1)

    def _find(self, code: Codes, value: Codes) -> Codes:
        """The row of each group and value: −1 where it is not published, one past the last outside."""
        wanted = code.astype(np.int64) * self.span + value
        if self._table is not None:
            return np.asarray(self._table.take(wanted))
        assert self._key is not None
        at = np.minimum(np.searchsorted(self._key, wanted), self._key.size - 1)
        found = np.where(self._key[at] == wanted, self.row[at], -1)
        return np.where(code == self.groups, self.rows, found).astype(np.int32)
