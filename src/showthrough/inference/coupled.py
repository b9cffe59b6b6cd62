"""Everybody's d: by how many records worlds with and without each value differ, component by component."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.inference.coupling import arranged, smallest_distance
from showthrough.inference.posterior import Posterior
from showthrough.inference.reduce import Reduced, reduce, unweighed
from showthrough.inference.solved import Solved
from showthrough.inference.worlds import TooManyStates
from showthrough.table.arrays import Flags, Ints, Reals

MOST_STATES = 50_000
UNKNOWN = -1  # persons may not exist, or releases contradict: replacing records says nothing


@dataclass
class Coupled:
    """Per pair of the answer: d, the probability it belongs to, and whether both come from enumerated worlds."""

    changed: Ints
    p: Reals
    enumerated: Flags


@dataclass(frozen=True)
class CouplingEffort:
    """How far to go: steps and seconds of enumeration, and whose cells count (a noisy release; None: every record)."""

    most_states: int = MOST_STATES
    seconds: float = 60.0
    cells: str | None = None
    enumerate: bool = True


def coupled(post: Posterior, people: Ints, effort: CouplingEffort) -> Coupled:
    """The smallest d of every value of some persons, as far as worlds can be enumerated.

    Elsewhere, and everywhere without ``enumerate``, d is the number of persons of the component whose value is open:
    that suffices for every belief that holds the value for true with probability p.
    """
    solved = post._solved
    work = _Components(solved, effort)
    asked = np.zeros(solved.problem.signatures, dtype=bool)
    asked[solved.of_person[people]] = True
    for component in np.unique(work.reduced.signature_component[asked[work.signature]]).tolist():
        work.couple(component, asked)
    signature, found = solved.pairs.signature, work.found
    found.changed[~solved.consistent[signature] | ~(solved.answered[signature] | found.enumerated)] = UNKNOWN
    return work.found


class _Components:
    """The components of an answer, and what is known of their pairs so far."""

    def __init__(self, solved: Solved, effort: CouplingEffort) -> None:
        self.solved, self.effort = solved, effort
        self.deadline = time.monotonic() + effort.seconds if effort.enumerate else 0.0
        pairs, alive = solved.pairs, solved.face.alive
        size = pairs.value.size
        before = pairs.p if solved.unweighed is None else solved.unweighed.pairs.p
        self.found = Coupled(np.zeros(size, dtype=np.int64), before.copy(), np.ones(size, dtype=bool))
        self.free = unweighed(solved.problem, alive)
        self.found.changed[pairs.alive & self.free[pairs.signature]] = 1  # nobody else's value has to do with it
        self.reduced: Reduced = reduce(solved.problem, alive)

    @cached_property
    def signature(self) -> Ints:
        """[m of the reduced problem] the signature of the whole."""
        return self.solved.problem.signature[self.reduced.variable_of[self.reduced.start[:-1]]]

    def couple(self, component: int, asked: Flags) -> None:
        """Find d of the asked signatures of a component."""
        reduced, problem = self.reduced, self.solved.problem
        inside = reduced.signature_component == component
        own = np.flatnonzero(np.repeat(inside & asked[self.signature], np.diff(reduced.start)))
        pairs = reduced.variable_of[own]
        spare = problem.places.spare
        if spare is not None and spare[self.signature[inside]].any():
            self.found.enumerated[pairs] = False
            self.found.changed[pairs] = UNKNOWN
            return
        if not self.free[self.signature[inside]].all():
            self.found.enumerated[pairs] = False
            self.found.changed[pairs] = int(reduced.weight[inside].sum())
        elif self.effort.cells is None:  # persons alike whom no count ties together
            return
        try:
            if time.monotonic() < self.deadline:
                self._by_worlds(component, own)
        except TooManyStates:
            pass

    def _by_worlds(self, component: int, own: Ints) -> None:
        reduced, pairs = self.reduced, self.reduced.variable_of[own]
        found = arranged(reduced, component, most=self.effort.most_states, deadline=self.deadline)
        cell_of = self._cells(found.variables)
        total = sum(found.weight.values())
        if not total:
            self.found.changed[pairs] = UNKNOWN  # no assignment of whole values fits
            return
        place = {v: k for k, v in enumerate(found.variables)}
        persons = reduced.weight[reduced.signature[own]].astype(np.int64).tolist()
        changed, p = [], []
        for variable, many in zip(own.tolist(), persons, strict=True):
            hits = sum(ways * world[place[variable]] for world, ways in found.weight.items())
            p.append(hits / (total * many))
            changed.append(smallest_distance(found, variable, cell_of=cell_of))
        self.found.changed[pairs], self.found.p[pairs] = changed, p
        self.found.enumerated[pairs] = True

    def _cells(self, variables: tuple[int, ...]) -> dict[int, int] | None:
        """A number for what the tables of the noisy release count each variable as; None: every record counts.

        So it is where somebody fits several cells, too: fewer records never matter than cells.
        """
        if self.effort.cells is None:
            return None
        history, problem = self.solved.history, self.solved.problem
        release = history.names.index(self.effort.cells)
        whole = self.reduced.variable_of[list(variables)]
        rows = []
        person = np.zeros(problem.signatures, dtype=np.int64)
        person[self.solved.of_person[::-1]] = np.arange(self.solved.of_person.size)[::-1]
        told = [(layer, own) for layer in history.noisy_layers for own in layer.tables if own.release == release]
        for layer, table in told:
            code = layer.code[person][problem.signature[whole]]
            if (code >= layer.placed.cells).any():
                return None
            rows.append(np.where(code < 0, -1, code * (history.nobody + 1) + problem.value[whole]))
            listed = table.listed(history.values)
            rows[-1] = np.where(np.isin(rows[-1], listed), rows[-1], -1)
        kinds: dict[tuple[int, ...], int] = {}
        found = {}
        for variable, own in zip(variables, zip(*(row.tolist() for row in rows), strict=True), strict=True):
            if any(k >= 0 for k in own):
                found[variable] = kinds.setdefault(own, len(kinds))
        return found


def coupled_frame(post: Posterior, ids: Iterable[Any] | None, effort: CouplingEffort) -> pl.DataFrame:
    """id, value, p, enumerated, changed of every value that is not proven impossible; changed is empty if unknown.

    p is that of the releases without noise.
    """
    solved = post._solved
    people = solved.called(ids)
    found = coupled(post, people, effort)
    at = np.flatnonzero(solved.pairs.alive)
    columns = pl.DataFrame(
        [
            pl.Series("p", found.p[at]),
            pl.Series("enumerated", found.enumerated[at]),
            pl.Series("changed", found.changed[at]),
        ]
    ).with_columns(pl.when(pl.col("changed") != UNKNOWN).then("changed").alias("changed"))
    return solved.per_person(at, *columns, people=people)


def changed_of(post: Posterior, id: Any, value: Any, release: str | None, effort: CouplingEffort) -> int | None:
    """The d of one person and value; None where replacing records says nothing."""
    solved = post._solved
    part, signature = solved.locate(id, release)
    code = solved.value_code(value)
    person = solved.called([id])
    if part is not None:
        person = person[solved.parts()[person] == part]
    found = coupled(post, person, effort)
    at = [k for k in solved.span(signature) if solved.pairs.value[k] == code and solved.pairs.alive[k]]
    if not at:
        return 0
    d = int(found.changed[at[0]])
    return None if d == UNKNOWN else d
