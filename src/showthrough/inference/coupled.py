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


def coupled(
    post: Posterior, people: Ints, *, most_states: int = MOST_STATES, seconds: float = 60.0, enumerate: bool = True
) -> Coupled:
    """The smallest d of every value of some persons, as far as worlds can be enumerated.

    Elsewhere, and everywhere without ``enumerate``, d is the number of persons of the component whose value is open:
    that suffices for every belief that holds the value for true with probability p.
    """
    solved = post._solved
    work = _Components(solved, most_states, time.monotonic() + seconds if enumerate else 0.0)
    asked = np.zeros(solved.problem.signatures, dtype=bool)
    asked[solved.of_person[people]] = True
    for component in np.unique(work.reduced.signature_component[asked[work.signature]]).tolist():
        work.couple(component, asked)
    work.found.changed[~solved.consistent[solved.pairs.signature]] = UNKNOWN
    return work.found


class _Components:
    """The components of an answer, and what is known of their pairs so far."""

    def __init__(self, solved: Solved, most_states: int, deadline: float) -> None:
        self.solved, self.most_states, self.deadline = solved, most_states, deadline
        pairs, alive = solved.pairs, solved.face.alive
        size = pairs.value.size
        self.found = Coupled(np.zeros(size, dtype=np.int64), pairs.p.copy(), np.ones(size, dtype=bool))
        free = pairs.alive & unweighed(solved.problem, alive)[pairs.signature]
        self.found.changed[free] = 1  # nobody else's value has to do with it
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
        self.found.enumerated[pairs] = False
        spare = problem.places.spare
        if spare is not None and spare[self.signature[inside]].any():
            self.found.changed[pairs] = UNKNOWN
            return
        self.found.changed[pairs] = int(reduced.weight[inside].sum())
        try:
            if time.monotonic() < self.deadline:
                self._by_worlds(component, own)
        except TooManyStates:
            pass

    def _by_worlds(self, component: int, own: Ints) -> None:
        reduced, pairs = self.reduced, self.reduced.variable_of[own]
        found = arranged(reduced, component, most=self.most_states, deadline=self.deadline)
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
            changed.append(smallest_distance(found, variable))
        self.found.changed[pairs], self.found.p[pairs] = changed, p
        self.found.enumerated[pairs] = True


def coupled_frame(
    post: Posterior,
    ids: Iterable[Any] | None,
    *,
    most_states: int = MOST_STATES,
    seconds: float,
    enumerate: bool = True,
) -> pl.DataFrame:
    """id, value, p, enumerated, changed of every value that is not proven impossible; changed is empty if unknown."""
    solved = post._solved
    people = solved.called(ids)
    found = coupled(post, people, most_states=most_states, seconds=seconds, enumerate=enumerate)
    at = np.flatnonzero(solved.pairs.alive)
    columns = pl.DataFrame(
        [
            pl.Series("p", found.p[at]),
            pl.Series("enumerated", found.enumerated[at]),
            pl.Series("changed", found.changed[at]),
        ]
    ).with_columns(pl.when(pl.col("changed") != UNKNOWN).then("changed").alias("changed"))
    return solved.per_person(at, *columns, people=people)


def changed_of(
    post: Posterior, id: Any, value: Any, *, release: str | None, most_states: int, seconds: float
) -> int | None:
    """The d of one person and value; None where replacing records says nothing."""
    solved = post._solved
    part, signature = solved.locate(id, release)
    code = solved.value_code(value)
    person = solved.called([id])
    if part is not None:
        person = person[solved.parts()[person] == part]
    found = coupled(post, person, most_states=most_states, seconds=seconds)
    at = [k for k in solved.span(signature) if solved.pairs.value[k] == code and solved.pairs.alive[k]]
    if not at:
        return 0
    d = int(found.changed[at[0]])
    return None if d == UNKNOWN else d
