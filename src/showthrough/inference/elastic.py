"""Statements that contradict the releases give way by as little as they can, then maximum entropy is asked again.

A program finds the least total, in persons, by which statements must be missed. Its prices tell which of them can be
missed in any answer with that total, and on which side; these become ranges on that side, and one more row keeps the
total. So of all answers that miss as little the one with the most entropy is found, by the same solver and with the
same certificate. What is published does not give way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from showthrough.inference.clock import Clock
from showthrough.inference.history import History
from showthrough.inference.problem import STATEMENT, Part, Problem, select
from showthrough.inference.program import Program, program
from showthrough.inference.reduce import Reduced, reduce
from showthrough.inference.remaining import Remaining, choices_of
from showthrough.inference.statements import Statements
from showthrough.inference.support import least_slack
from showthrough.table.arrays import Flags, Ints, Reals

_DEARER = 1000.0  # a published count against statements
_ROUNDING = 1e-6  # persons
_SAME = 1e-7  # prices
_PARTS = 1000  # of a person, for the total
_LARGEST = 200_000  # terms of a component that a program is asked about


@dataclass
class _Gave:
    """What is found component by component: new ends of statements, and rows that keep the totals."""

    lower: Ints  # [statements]
    upper: Ints
    most: Ints  # what all the persons of whom a statement speaks can add up to
    totals: list[tuple[Ints, Ints, float]] = field(default_factory=list)  # statements, signs, the most of the sum


def eased(history: History, problem: Problem, contradictory: Flags, clock: Clock) -> History | None:
    """The history with statements that give way on contradictory islands; None if they alone cannot mend them."""
    said = history.statements
    if said is None:
        return None
    published = problem.rows.size - len(problem.statements)
    most = np.zeros(said.lower.size, dtype=np.int64)
    np.add.at(most, said.statement, np.abs(said.coefficient))
    gave = _Gave(said.lower.copy(), said.upper.copy(), most)
    nobody = ~problem.rows.served()[published:]  # none of its values is left to anybody
    gave.lower[nobody] = np.minimum(gave.lower[nobody], 0)
    if not contradictory.any():
        return replace(history, statements=_rewritten(said, _each(said), gave))
    part = select(problem, contradictory)
    everything = np.ones(part.problem.terms, dtype=bool)
    reduced = reduce(part.problem, everything)
    if np.bincount(reduced.term_component, minlength=1).max(initial=0) > _LARGEST:
        return None
    if not _decided(part, reduced, gave, problem):
        return None
    each = _each(said)
    for component in range(reduced.components):
        lp = program(reduced, component)
        rows = part.rows[lp.row_of]
        if not (rows >= published).any():
            continue
        if not _component(lp, rows - published, each, gave, clock):
            return None
    return replace(history, statements=_rewritten(said, each, gave))


def _each(said: Statements) -> Ints:
    """[statements] what a person counts in each."""
    each = np.ones(said.lower.size, dtype=np.int64)
    np.maximum.at(each, said.statement, np.abs(said.coefficient))
    return each


def _decided(part: Part, reduced: Reduced, gave: _Gave, problem: Problem) -> bool:
    """Widen statements about persons of whom one value is left; False if something published is missed there."""
    everything = np.ones(part.problem.terms, dtype=bool)
    left = Remaining.of(part.problem, everything, choices_of(part.problem, everything)).left
    most = Remaining.of(part.problem, everything, choices_of(part.problem, everything)).most
    decided = np.setdiff1d(np.arange(left.size), reduced.row_of)
    rows, lacks, over = part.rows[decided], np.maximum(left[decided], 0), np.maximum(-most[decided], 0)
    missed = (lacks > 0) | (over > 0)
    if (problem.row_release[rows[missed]] != STATEMENT).any():
        return False
    own = rows - (problem.rows.size - len(problem.statements))
    said = own >= 0
    gave.lower[own[said]] -= lacks[said]
    gave.upper[own[said]] += over[said]
    return True


def _component(lp: Program, statement: Ints, each: Ints, gave: _Gave, clock: Clock) -> bool:
    """Find the least total of a component, and which statements can have a part in it."""
    stated = statement >= 0
    prices = np.where(stated, 1.0 / each[np.maximum(statement, 0)], _DEARER)
    found = least_slack(lp, clock, prices=prices)
    if found is None:
        return False
    size = lp.row_of.size
    lacks, over = found.x[-2 * size : -size], found.x[-size:]
    if (lacks + over)[~stated].max(initial=0.0) > _ROUNDING:
        return False  # the releases contradict each other
    total = float(((lacks + over) * prices)[stated].sum())
    if total <= _ROUNDING:
        return True
    dual = np.asarray(found.eqlin.marginals)[lp.relation]
    short, long = stated & (dual > prices - _SAME), stated & (dual < -prices + _SAME)
    less, more = statement[short], statement[long]
    most = total + float((gave.upper[more] / each[more]).sum() - (gave.lower[less] / each[less]).sum())
    gave.upper[less], gave.lower[more] = gave.lower[less], gave.upper[more]
    gave.lower[less] = np.minimum(gave.lower[less], 0)
    gave.upper[more] = np.maximum(gave.upper[more], gave.most[more])
    if less.size + more.size > 1:
        gave.totals.append((np.concatenate([less, more]), np.repeat([-1, 1], [less.size, more.size]), most))
    else:  # one statement alone: it gives way by the total
        whole = ceil(total * float(each[statement[short | long]][0]) - _ROUNDING)
        gave.lower[less] = gave.upper[less] - whole
        gave.upper[more] = gave.lower[more] + whole
    return True


def _rewritten(said: Statements, each: Ints, gave: _Gave) -> Statements:
    """The statements with their new ends, and one more for each total."""
    lower, upper, names = list(gave.lower.tolist()), list(gave.upper.tolist()), list(said.names)
    entries = [(said.statement, said.person, said.value, said.coefficient)]
    for number, (own, sign, most) in enumerate(gave.totals):
        signs = np.zeros(said.lower.size, dtype=np.int64)
        signs[own] = sign
        at = np.flatnonzero(signs[said.statement])
        figure = signs[said.statement[at]] * (said.coefficient[at] // each[said.statement[at]]) * _PARTS
        key, pair = np.unique(np.stack([said.person[at], said.value[at]]), axis=1, return_inverse=True)
        summed = np.zeros(key.shape[1], dtype=np.int64)
        np.add.at(summed, pair.ravel(), figure)
        kept = np.flatnonzero(summed)
        entries.append((np.full(kept.size, len(names)), key[0, kept], key[1, kept].astype(np.int32), summed[kept]))
        lower.append(-int(np.abs(summed).sum()) * 2 - 1)
        upper.append(ceil(most * _PARTS - _ROUNDING))
        names.append(f"as little as {number + 1}. contradictory statements can be missed by")
    statement, person, value, coefficient = (np.concatenate(part) for part in zip(*entries, strict=True))
    ends: list[Reals | Ints] = [np.array(part, dtype=np.int64) for part in (lower, upper)]
    return Statements(ends[0], ends[1], tuple(names), statement, person, value.astype(np.int32), coefficient)  # type: ignore[arg-type]
