"""Search tables of one population for hidden counts and small numbers that they give away together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from showthrough.attacks.arithmetic import explained
from showthrough.attacks.cell_program import CellProgram
from showthrough.attacks.questions import CELL, HIDDEN, MOST, Question, hidden, matrix, unpublished
from showthrough.attacks.refinement import PRINTED, Counts
from showthrough.errors import ContradictionError
from showthrough.inference.clock import Clock
from showthrough.numerals import number_of
from showthrough.release.release import Release
from showthrough.said import internal
from showthrough.table.arrays import Ints

CELLS: dict[str, pl.DataType | type[pl.DataType]] = {
    "found": pl.String, "table": pl.String, "cell": pl.String, "value": pl.String, "published_lower": pl.Int64,
    "published_upper": pl.Int64, "lower": pl.Int64, "upper": pl.Int64, "exact": pl.Boolean, "alone": pl.Boolean,
    "everybody": pl.Boolean, "tables": pl.List(pl.String), "because": pl.String,
}  # fmt: skip


@dataclass
class Disclosed:
    """What the tables of one population give away."""

    persons: int = 0  # whom they count, at least
    together: int = 0  # persons in small cells that all tables tell, at least
    alone: int = 0  # the same of single tables
    rows: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # the arithmetic of what no table tells alone, for two audiences
    notes: list[str] = field(default_factory=list)


class CellSearch:
    """Looks for numbers of up to ``few`` persons, as long as there is time."""

    def __init__(self, told: Sequence[Sequence[Release]], names: Sequence[str], few: int, clock: Clock) -> None:
        self._clock, self._few, self._names = clock, few, names
        self.found = Disclosed()
        self._known: dict[tuple[object, int, int], list[Ints]] = {}  # small numbers by value, persons, first unknown
        self._asked_why: list[tuple[Question, dict[str, Any]]] = []
        self._late_hidden = self._late_cells = self._late_parts = 0
        self.counts = Counts(told, names)
        self.program = CellProgram(self.counts, clock)
        try:
            self._least()
        except ContradictionError:
            self.counts = Counts(told, names, others=True)
            self.program = CellProgram(self.counts, clock)
            self._least()
            self.found.notes.append(
                "The counts fit each other only if some persons have cells that not all tables list; so it is assumed."
            )

    def run(self) -> Disclosed:
        """What seems to be one number first: hidden counts, small cells, what no table prints; then other ranges."""
        self.program.look()
        for value, number, at in self._printed():
            self._learn(value, number, at)
        fixed, open_ = self._seeming(hidden(self.counts))
        for question in fixed:
            self._hidden(question)
        alone, told = self._small_cells()
        for number, at in (*alone, *told):
            self._learn(None, number, at)
        asked = unpublished(self.counts)
        if len(asked) >= MOST:
            self.found.notes.append(f"Only the {len(asked)} smallest differences between cells were looked at.")
        singled = self._unpublished(asked)
        self._explain()
        for question in open_:
            self._hidden(question)
        self._tell_late()
        self.found.rows.sort(key=lambda row: row["found"] != HIDDEN)
        self.found.alone = self._apart(alone)
        self.found.together = max(self._apart([*alone, *singled]), self._apart([*alone, *told, *singled]))
        return self.found

    def _least(self) -> None:
        every = np.arange(self.counts.pieces.size * len(self.counts.values))
        self.found.persons, self._late_parts = self.program.least_of_all(every)

    def _printed(self) -> list[tuple[object, int, Ints]]:
        """The small numbers that tables print."""
        A = self.counts.matrix
        return [
            (row.value, row.low, A.indices[A.indptr[k] : A.indptr[k + 1]].astype(np.int64))
            for k, row in enumerate(self.counts.rows)
            if row.kind == PRINTED and row.low == row.high and 1 <= row.low <= self._few
        ]

    def _small_cells(self) -> tuple[list[tuple[int, Ints]], list[tuple[int, Ints]]]:
        """Cells of tables with few persons whatever their value: those that one table tells alone, and the others."""
        regions = [(table, np.sort(self.counts.unknowns_of(pieces))) for table, _, pieces in self.counts.regions]
        alone: list[tuple[int, Ints]] = []
        told: list[tuple[int, Ints]] = []
        if not regions:
            return alone, told
        asked = [Question(CELL, "", None, at) for _, at in regions]
        fixed, about = self.program.seems_fixed(matrix(asked, self.counts.unknowns))
        for k in np.flatnonzero(fixed & (about >= 1) & (about <= self._few)).tolist():
            (table, at), number = regions[k], int(about[k])
            if self.program.varies(at):
                continue
            self._late_cells += self._clock.over
            if self.program.between(at, [table]) == (number, number):
                alone.append((number, at))
            elif self.program.between(at) == (number, number):
                told.append((number, at))
        return alone, told

    def _seeming(self, questions: list[Question]) -> tuple[list[Question], list[Question]]:
        """Those that seem to have one answer, and the others: time may be short."""
        if not questions:
            return [], []
        fixed, _ = self.program.seems_fixed(matrix(questions, self.counts.unknowns))
        return [q for q, one in zip(questions, fixed, strict=True) if one], [
            q for q, one in zip(questions, fixed, strict=True) if not one
        ]

    def _hidden(self, question: Question) -> None:
        assert question.published is not None
        low, high = question.published
        told = self.program.narrowed(question.at, low, high)
        self._late_hidden += told is None
        if told is not None:
            low, high = told
        exact = told is not None and low == high
        self._row(question, low, high, exact=exact)
        if exact:
            self._learn(question.value, low, question.at)

    def _unpublished(self, asked: list[Question]) -> list[tuple[int, Ints]]:
        """Pieces and differences with one small number that no smaller cell tells already; those whatever the value."""
        if not asked:
            return []
        known: list[tuple[Question, int]] = []
        fixed, about = self.program.seems_fixed(matrix(asked, self.counts.unknowns))
        for k in np.flatnonzero(fixed & (about >= 1) & (about <= self._few)).tolist():
            question = asked[k]
            if self.program.varies(question.at) or self._implied(question, int(about[k])):
                continue
            told = self.program.between(question.at)
            self._late_cells += told is None and self._clock.over
            if told is None or told[0] != told[1] or not 1 <= told[0] <= self._few:
                continue
            self._learn(question.value, told[0], question.at)
            if any(self.program.between(question.at, [table]) == told for table in self.program.tables):
                continue  # a sum of what one table prints
            known.append((question, told[0]))
            self._row(question, *told, exact=True)
        self._everybody(known)
        every = (None, *self.counts.values) if len(self.counts.values) == 1 else (None,)
        return [(number, question.at) for question, number in known if question.value in every]

    def _tell_late(self) -> None:
        """What time did not suffice for, in words."""
        if self._late_parts:
            what = number_of(self._late_parts, "part")
            self.found.notes.append(
                f"{what} of the tables could not be looked at in time: its persons are not among those counted."
                if self._late_parts == 1
                else f"{what} of the tables could not be looked at in time: their persons are not among those counted."
            )
        if self._late_hidden:
            what = number_of(self._late_hidden, "hidden count")
            self.found.notes.append(f"{what} could not be looked at in time, and may be narrower than they are told.")
        if self._late_cells:
            what = "1 cell that seems" if self._late_cells == 1 else f"{self._late_cells} cells that seem"
            self.found.notes.append(f"{what} to have one small number could not be looked at in time.")

    def _learn(self, value: object, number: int, at: Ints) -> None:
        """A small number that is known."""
        if at.size:
            self._known.setdefault((value, number, int(at[0])), []).append(at)

    def _implied(self, question: Question, number: int) -> bool:
        """Whether a smaller cell with the same value holds as many: the rest is nobody."""
        same = (at for u in question.at.tolist() for at in self._known.get((question.value, number, u), ()))
        return any(np.isin(at, question.at).all() for at in same)

    def _everybody(self, known: list[tuple[Question, int]]) -> None:
        """Mark values that all persons of a cell have."""
        whole = {(q.found, q.cell): n for q, n in known if q.value is None}
        for row in self.found.rows:
            if row["found"] != HIDDEN and row["value"] is not None:
                row["everybody"] = whole.get((row["found"], row["cell"])) == row["lower"]

    def _row(self, question: Question, low: int, high: int, *, exact: bool) -> None:
        """One row of the outcome; where there is one number left the arithmetic follows."""
        published = question.published or (None, None)
        row = {
            "found": question.found, "table": question.table, "cell": question.cell,
            "value": None if question.value is None else str(question.value), "published_lower": published[0],
            "published_upper": published[1], "lower": low, "upper": high, "exact": exact,
            "alone": None, "everybody": False, "tables": None, "because": None,
        }  # fmt: skip
        self.found.rows.append(row)
        if exact:
            self._asked_why.append((question, row))

    def _explain(self) -> None:
        """The arithmetic behind the numbers that were found, as long as there is time."""
        for question, row in self._asked_why:
            if self._clock.over:
                return
            why = explained(self.program, question.at, row["lower"])
            if not self._clock.over:
                row["tables"], row["alone"] = list(why.tables), len(why.tables) == 1
                row["because"] = internal(why.said())
                if not row["alone"]:
                    self.found.reasons.append(why.said())

    def _apart(self, cells: list[tuple[int, Ints]]) -> int:
        """Persons in cells that share nobody, as they come: at least so many are in small cells."""
        taken: set[int] = set()
        total = 0
        for number, at in cells:
            pieces = set(self.counts.piece_of(at).tolist())
            if not taken & pieces:
                taken |= pieces
                total += number
        return total
