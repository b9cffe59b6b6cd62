"""Tables of counts laid on top of each other: the cells of their common refinement, and every count as a sum over them.

Columns that several tables have are cut into the parts that some cell tells apart (`overlay.py`). Combinations of parts
that every table puts into the same groups are one *piece*. A column that one table alone has tells the groups of that
table apart within a piece; then *seats* say how the persons of the piece are shared out. So the number of unknowns
grows with the sum over the tables and not with the product of all columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import scipy.sparse as sp

from showthrough.errors import InputError
from showthrough.register.overlay import column_parts, covering, listed_cells
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints
from showthrough.table.ragged import alike, owners, starts

MOST = 3_000_000
"""Combinations of cells that are looked at, at most."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The common refinement: for every piece the groups of each table that its persons can be in."""

    example: tuple[str, ...]  # of each piece, in words
    inside: Flags  # [tables, pieces] whether the table counts persons of the piece
    start: tuple[Ints, ...]  # per table: [pieces + 1]
    group: tuple[Ints, ...]  # per table: the groups (leaves), by piece

    @property
    def size(self) -> int:
        """How many pieces there are."""
        return int(self.inside.shape[1])


class Overlay:
    """Which groups of which table count which combination of parts."""

    def __init__(self, tables: Sequence[Release], names: Sequence[str], *, others: bool) -> None:
        self.tables, self.names = tables, names
        every = [c for r in tables for c in dict.fromkeys(r.roles.quasi)]
        self.columns = [c for c in dict.fromkeys(every) if every.count(c) > 1]
        self.points: list[list[str | None]] = []
        self.others = others
        for column in self.columns:
            own = [(r, n) for r, n in zip(tables, names, strict=True) if column in r.roles.quasi]
            points: list[str | None] = list(column_parts(own, column))
            self.points.append([*points, None] if others and points != [None] else points)
        self.shape = tuple(len(own) for own in self.points)
        size = int(np.prod(self.shape, dtype=np.float64)) if self.shape else 1
        if size > MOST:
            raise InputError(
                f"The tables have {size} combinations of cells in common, and {MOST} at most are looked at: compare "
                "fewer tables, or tables with fewer columns."
            )
        self.size = size

    def pieces(self) -> Pieces:
        """The combinations that the tables tell apart."""
        fits = [self._fitting(table, name) for table, name in zip(self.tables, self.names, strict=True)]
        offset, groups, atoms = 0, [], []
        for table, (atom, group, inside) in zip(self.tables, fits, strict=True):
            groups += [group + offset, np.full(int(inside.sum()), offset + table.labels.len())]
            atoms += [atom, np.flatnonzero(inside)]
            offset += table.labels.len() + 1  # and one that says that the table covers the combination
        atom, group = np.concatenate(atoms), np.concatenate(groups)
        order = np.lexsort([group, atom])
        start = starts(np.bincount(atom, minlength=self.size))
        first, _ = alike(start, group[order])
        first = first[np.diff(start)[first] > 0]  # nobody counts what no table covers
        rank = np.full(self.size, -1, dtype=np.int64)
        rank[first] = np.arange(first.size)
        own = []
        for atom, group, _ in fits:
            kept = rank[atom] >= 0
            piece, place = rank[atom[kept]], group[kept]
            order = np.lexsort([place, piece])
            own.append((starts(np.bincount(piece, minlength=first.size)), place[order]))
        inside = np.stack([covered[first] for _, _, covered in fits])
        words = tuple(self._example(int(atom)) for atom in first)
        return Pieces(words, inside, tuple(s for s, _ in own), tuple(g for _, g in own))

    def _fitting(self, table: Release, name: str) -> tuple[Ints, Ints, Flags]:
        """Pairs of a combination and a group that its persons can be in, and which combinations the table covers."""
        reach: list[list[Ints]] = []  # per column, per group: the parts
        covered: list[Flags] = []
        groups = table.labels.len()
        for column, points in zip(self.columns, self.points, strict=True):
            if column not in table.roles.quasi or points[0] is None:
                reach.append([np.arange(len(points))] * groups)
                covered.append(np.ones(len(points), dtype=bool))
                continue
            known = pl.Series("value", [p for p in points if p is not None], dtype=pl.String)
            cells = listed_cells(table, name, column, known)
            held = covering(cells, known)
            if self.others:  # what no cell names, but those that say anything
                held = np.concatenate([held, cells.any[:, None]], axis=1)
            parts = [np.flatnonzero(row) for row in held]
            reach.append([parts[code] for code in cells.codes[:groups]])
            covered.append(np.asarray(held.any(axis=0)))
        atoms = [self._combined([own[g] for own in reach]) for g in range(groups)]
        group = np.repeat(np.arange(groups), [own.size for own in atoms])
        inside = np.zeros(self.size, dtype=bool)
        inside[self._combined([np.flatnonzero(own) for own in covered])] = True
        return np.concatenate([np.empty(0, dtype=np.int64), *atoms]), group, inside

    def _combined(self, parts: list[Ints]) -> Ints:
        found = np.zeros(1, dtype=np.int64)
        for own, length in zip(parts, self.shape, strict=True):
            found = (found[:, None] * length + own[None, :]).ravel()
        return found

    def _example(self, atom: int) -> str:
        places = np.unravel_index(atom, self.shape) if self.shape else ()
        told = [(c, own[int(k)]) for c, own, k in zip(self.columns, self.points, places, strict=True)]
        return ", ".join(f"{c} such as {p}" if p is not None else f"another {c}" for c, p in told) or "everybody"


PRINTED, UNLISTED, SUM = "printed", "not listed", "sum"
"""What a count is: as printed, of something that its table does not list, or a sum of what is printed."""


@dataclass(frozen=True, eq=False)
class CountRow:
    """One count of a table: of a cell and value, or of a cell with all its values (``value`` None)."""

    table: int
    name: str
    cell: str
    value: object
    low: int
    high: int
    kind: str


class Counts:
    """All counts of some tables as rows over unknown numbers of persons: piece by value, then seats."""

    def __init__(self, told: Sequence[Sequence[Release]], names: Sequence[str], *, others: bool = False) -> None:
        """``told`` are tables, each with its margins; with ``others`` persons may have cells that no table lists."""
        self.names = tuple(names)
        overlay = Overlay([own[0] for own in told], names, others=others)
        self.pieces, self._shared = overlay.pieces(), frozenset(overlay.columns)
        shown = (v for own in told for r in own for v in r.tally["value"] if v not in r.covers)
        below = (v for own in told for r in own for under in r.covers.values() for v in under)
        self.values = list(dict.fromkeys([*shown, *below]))
        self._place = {v: k for k, v in enumerate(self.values)}
        self.rows: list[CountRow] = []
        self._entries: list[Ints] = []
        self._cells: list[list[str]] = []  # per table: what its groups are called
        self._seats: list[tuple[Ints, Ints, Ints]] = []  # per table: piece, group, first unknown
        self.unknowns = self.pieces.size * len(self.values)
        self.regions: list[tuple[int, str, Ints]] = []
        """Cells of tables as pieces: table, cell and pieces, where the cell holds all persons of its pieces."""
        self._seats += [self._seated(number) for number in range(len(told))]
        for number, own in enumerate(told):
            self._add(number, own)

    @cached_property
    def matrix(self) -> sp.csr_array:
        """[rows, unknowns]"""
        sizes = [own.size for own in self._entries]
        at = np.concatenate([np.empty(0, dtype=np.int64), *self._entries])
        data = np.ones(at.size)
        return sp.csr_array((data, at, starts(np.array(sizes, dtype=np.int64))), shape=(len(sizes), self.unknowns))

    @cached_property
    def ties(self) -> sp.csr_array:
        """[equations, unknowns] persons of a piece are its seats in each table: every row is 0."""
        rows, columns, data, height = [], [], [], 0
        many = len(self.values)
        for piece, _, first in self._seats:
            distinct, which = np.unique(piece, return_inverse=True)
            for v in range(many):
                rows += [height + np.arange(distinct.size), height + which]
                columns += [distinct * many + v, first + v]
                data += [np.ones(distinct.size), -np.ones(which.size)]
                height += distinct.size
        if not rows:
            return sp.csr_array((0, self.unknowns))
        parts = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
        return sp.csr_array(sp.coo_array(parts, shape=(height, self.unknowns)))

    @cached_property
    def low(self) -> Ints:
        """[rows] the least number of each."""
        return np.array([row.low for row in self.rows], dtype=np.int64)

    @cached_property
    def high(self) -> Ints:
        """[rows] the greatest."""
        return np.array([row.high for row in self.rows], dtype=np.int64)

    @cached_property
    def table(self) -> Ints:
        """[rows] the table of each."""
        return np.array([row.table for row in self.rows], dtype=np.int64)

    def unknowns_of(self, pieces: Ints, value: object = None) -> Ints:
        """The unknowns of some pieces with one value, or with all."""
        own = pieces * len(self.values)
        if value is not None:
            return own + self._place[value]
        return (own[:, None] + np.arange(len(self.values))[None, :]).ravel()

    def seats(self) -> Iterator[tuple[int, str, int]]:
        """Piece, cell and first unknown of every seat that is a part of its cell."""
        for number, (piece, group, first) in enumerate(self._seats):
            many = np.bincount(self.pieces.group[number], minlength=1)
            for p, g, at in zip(piece.tolist(), group.tolist(), first.tolist(), strict=True):
                if many[g] > 1:
                    yield p, self._cells[number][g], at

    def piece_of(self, unknowns: Ints) -> Ints:
        """The piece of each unknown, seats included."""
        many = len(self.values)
        seats = np.concatenate([np.arange(self.pieces.size), *(piece for piece, _, _ in self._seats)])
        return seats[unknowns // many]

    def _seated(self, number: int) -> tuple[Ints, Ints, Ints]:
        """Seats for the pieces whose persons can be in several groups of a table."""
        start, group = self.pieces.start[number], self.pieces.group[number]
        piece = owners(start)
        several = np.diff(start)[piece] > 1
        piece, group = piece[several], group[several]
        first = self.unknowns + np.arange(piece.size) * len(self.values)
        self.unknowns += piece.size * len(self.values)
        return piece, group, first

    def _first_unknowns(self, number: int) -> tuple[Ints, Ints]:
        """Group and first unknown of everything that the groups of a table count."""
        start, group = self.pieces.start[number], self.pieces.group[number]
        piece = owners(start)
        single = np.diff(start)[piece] == 1
        _, seat_group, seat = self._seats[number]
        return np.concatenate([group[single], seat_group]), np.concatenate([piece[single] * len(self.values), seat])

    def _add(self, number: int, told: Sequence[Release]) -> None:
        """The counts of a table and of its margins."""
        leaf, first = self._first_unknowns(number)
        for layer in told:
            to = np.arange(layer.labels.len()) if layer.part_of is None else layer.part_of.group
            names = [_cell(layer, g, layer.roles.quasi) for g in range(layer.labels.len())]
            if layer.part_of is None:
                self._cells.append(names)
            held = _split(to[leaf], first, len(names))
            self._add_layer(number, layer, held, names)
            self._add_regions(number, to, names)
        table = told[0]
        shared = [c for c in table.roles.quasi if c in self._shared]
        if shared and len(shared) < len(table.roles.quasi):  # cells without the columns that this table alone has
            cells = table.records.select(pl.struct(shared).rank("dense").alias("cell"))["cell"].to_numpy() - 1
            to = cells.astype(np.int64)
            names = [_cell(table, int(np.argmax(to == k)), shared) for k in range(int(to.max()) + 1)]
            size = [table.size if table.least is None else table.least, table.size]
            ends = [np.bincount(to, weights=own.to_numpy()).astype(np.int64) for own in size]
            for k, own in enumerate(_split(to[leaf], first, len(names))):
                every = np.concatenate([own + v for v in range(len(self.values))])
                self._row(
                    CountRow(number, self.names[number], names[k], None, int(ends[0][k]), int(ends[1][k]), SUM), every
                )
            self._add_regions(number, to, names)
        self._add_empty(number)

    def _add_regions(self, number: int, to: Ints, names: list[str]) -> None:
        """Cells that hold all persons of their pieces; ``to`` is the cell of each group, or −1."""
        own, piece = to[self.pieces.group[number]], owners(self.pieces.start[number])
        least, most = np.full(self.pieces.size, len(names)), np.full(self.pieces.size, -1)
        np.minimum.at(least, piece, own)
        np.maximum.at(most, piece, own)
        pair = np.unique(np.stack([own, piece]), axis=1)
        for g, pieces in enumerate(_split(pair[0], pair[1], len(names))):
            if pieces.size and (least[pieces] == most[pieces]).all():
                self.regions.append((number, names[g], pieces))

    def _add_layer(self, number: int, layer: Release, held: list[Ints], names: list[str]) -> None:
        label = {value: k for k, value in enumerate(layer.labels)}
        upper = layer.tally["n"] if layer.upper is None else layer.upper
        low, high = np.zeros(len(held), dtype=np.int64), np.zeros(len(held), dtype=np.int64)
        seen: list[set[object]] = [set() for _ in held]
        printed = None if layer.part_of is None else _printed(layer.part_of.leaves)
        for (group, value, n), most in zip(layer.tally.select("group", "value", "n").rows(), upper, strict=True):
            g = label[group]
            under = layer.covers.get(value, (value,))
            if seen[g] & set(under):
                raise InputError(
                    f"{self.names[number]} has a cell with values that overlap, so nobody knows who is counted where."
                )
            if printed is None or (names[g], str(value)) in printed:  # else it is any number that its parts allow
                at = np.concatenate([held[g] + self._place[v] for v in under])
                self._row(CountRow(number, self.names[number], names[g], value, n, most, PRINTED), at)
            low[g], high[g] = low[g] + n, high[g] + most
            seen[g] |= set(under)
        for g, own in enumerate(held):
            missing = [v for v in self.values if v not in seen[g]]
            if layer.part_of is None:
                for v in missing:
                    self._row(CountRow(number, self.names[number], names[g], v, 0, 0, UNLISTED), own + self._place[v])
            if len(seen[g]) > 1 and not layer.covers and (layer.part_of is None or not missing):
                every = np.concatenate([own + self._place[v] for v in self.values])
                self._row(CountRow(number, self.names[number], names[g], None, int(low[g]), int(high[g]), SUM), every)

    def _add_empty(self, number: int) -> None:
        """Pieces that a table covers and puts into no group: it counts nobody there."""
        nobody = np.flatnonzero(self.pieces.inside[number] & (np.diff(self.pieces.start[number]) == 0))
        if nobody.size:
            self._row(
                CountRow(number, self.names[number], "what is not listed", None, 0, 0, UNLISTED),
                self.unknowns_of(nobody),
            )

    def _row(self, count: CountRow, at: Ints) -> None:
        self.rows.append(count)
        self._entries.append(np.sort(at))


def _printed(table: Release) -> set[tuple[str, str]]:
    """Cell and value of every row of a table with totals."""
    rows, roles = table.options["rows"], table.roles
    columns = [*(roles.quasi or [roles.group]), table.sensitive]
    told = rows.select(pl.col(c).cast(pl.String).str.strip_chars().fill_null("None") for c in columns)
    return {(", ".join(row[:-1]), row[-1]) for row in told.iter_rows()}


def _split(key: Ints, items: Ints, size: int) -> list[Ints]:
    """The items of each key from 0 on, ascending."""
    order = np.lexsort([items, key])
    cut = np.searchsorted(key[order], np.arange(size + 1))
    return [items[order[cut[k] : cut[k + 1]]] for k in range(size)]


def _cell(layer: Release, group: int, columns: Sequence[str]) -> str:
    """What a cell of a table is called: its printed cells."""
    own = [str(layer.records[c][group]) for c in columns] if layer.records.width else []
    return ", ".join(own) if own else str(layer.labels[group])
