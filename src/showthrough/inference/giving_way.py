"""Statements that gave way: which the answer misses, and by how many persons."""

from __future__ import annotations

import numpy as np
import polars as pl

from showthrough.inference.certificate import STATES, Status
from showthrough.inference.solved import Solved
from showthrough.table.arrays import sum_by

_ROUNDING = 1e-6  # persons


def gave_way(solved: Solved) -> pl.DataFrame:
    """The statements that the answer misses: statement, by (persons)."""
    informed = solved.history.reader.informed
    own = () if informed is None else informed.assertions
    number, problem = len(own), solved.problem
    said, published = problem.rows.stated, problem.rows.size - len(problem.statements)
    at = np.flatnonzero(said.row < published + number)  # behind these stand totals
    variable, row = said.variable[at], said.row[at] - published
    mass = solved.pairs.p[variable] * problem.weight[problem.signature[variable]]
    total = sum_by(row, mass * said.coefficient[at], number)
    each, least, most = (
        np.array([getattr(one, name) for one in own], dtype=np.float64) for name in ("coefficient", "least", "most")
    )
    told, known = solved.history.statements, np.zeros(number, dtype=bool)
    if told is not None:
        mine = told.statement < number
        eased = (solved.state == STATES.index(Status.RELAXED))[solved.of_person[told.person[mine]]]
        known[told.statement[mine][eased]] = True
    off = np.maximum(least - total, total - most) / each
    missed = np.flatnonzero(known & (off > _ROUNDING))
    names = pl.Series("statement", [own[k].name for k in missed.tolist()], dtype=pl.String)
    return pl.DataFrame([names, pl.Series("by", off[missed], dtype=pl.Float64)])
