"""Certain and impossible over assignments of whole values.

A component that is small enough is counted (`worlds`). Larger ones go to integer programs: every
world that is found shows many pairs to be possible, so one program asks for a world with as many
open pairs as it can; a pair that no world shows is then asked for alone, and is impossible if there
is none. What the time budget does not reach stays undecided.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from showthrough.errors import ContradictionError, InputError, InternalError
from showthrough.inference import worlds
from showthrough.inference.arrays import Flags, Ints, Reals
from showthrough.inference.face import Face
from showthrough.inference.reduce import Reduced, reduce, shares, unweighed

COUNTED = 20_000  # steps of counting that are worth trying before an integer program


@dataclass(frozen=True)
class Integral:
    """What whole values add to the facts: variables nobody can have, and variables left open."""

    impossible: Flags  # [v]
    undecided: Flags  # [v]


def decide(face: Face, *, seconds: float, tick: Callable[[], None] = lambda: None) -> Integral:
    """Decide every variable that is not proven zero, component by component, smallest first."""
    problem = face.problem
    impossible = np.zeros(problem.variables, dtype=bool)
    undecided = np.zeros(problem.variables, dtype=bool)
    reduced = reduce(problem, face.alive)
    deadline = time.monotonic() + seconds
    size = worlds.size_of(reduced) if reduced.components else np.empty(0, dtype=np.int64)
    signatures = np.bincount(reduced.signature_component, minlength=reduced.components)
    unsure = np.zeros(reduced.components, dtype=bool)
    unsure[reduced.signature_component[problem.unsure[problem.signature[reduced.variable_of[reduced.start[:-1]]]]]] = (
        True
    )
    for component in np.argsort(size, kind="stable"):
        if signatures[component] == 1 and not unsure[component]:
            continue  # one signature alone holds its counts: every value is possible
        tick()
        variables, open_ones, none = _decide_component(reduced, int(component), deadline)
        impossible[variables[none]] = True
        undecided[variables[open_ones]] = True
    return Integral(impossible, undecided)


def world_shares(face: Face, signatures: Ints, *, most_states: int, refuse: bool) -> Reals:
    """[v] the share of worlds in which a person has the value; NaN where it was not counted."""
    problem = face.problem
    share = np.where(face.alive, np.nan, 0.0)
    even = (face.choices() == 1) | unweighed(problem, face.alive)
    share = np.where(even[problem.signature], shares(problem, face.alive), share)
    reduced = reduce(problem, face.alive)
    if not reduced.components:
        return share
    asked = np.zeros(problem.signatures, dtype=bool)
    asked[signatures] = True
    mine = asked[problem.signature[reduced.variable_of[reduced.start[:-1]]]]
    for component in np.unique(reduced.signature_component[mine]):
        try:
            found = worlds.count(reduced, int(component), most_states=most_states)
        except worlds.TooManyStates:
            if refuse:
                raise InputError(
                    f"The component of a person you asked for takes more than {most_states} steps to count: "
                    "raise most_states, or use bounds() and proven(integral=True)."
                ) from None
            continue
        if not found.total:
            raise _no_world()
        for variable, part in found.share.items():
            share[variable] = float(part)
    return share


def _decide_component(reduced: Reduced, component: int, deadline: float) -> tuple[Ints, Flags, Flags]:
    """Variables of the component (in the full problem), which of them are undecided, which impossible."""
    try:
        if time.monotonic() < deadline:
            found = worlds.count(reduced, component, most_states=COUNTED, deadline=deadline)
            if not found.total:
                raise _no_world()
            variables = np.array(sorted(found.share), dtype=np.int64)
            none = np.array([found.share[int(v)] == 0 for v in variables])
            return variables, np.zeros(variables.size, dtype=bool), none
    except worlds.TooManyStates:
        pass
    return _by_programs(reduced, component, deadline)


def _by_programs(reduced: Reduced, component: int, deadline: float) -> tuple[Ints, Flags, Flags]:
    from showthrough.inference import support

    lp = support.program(reduced, component)
    v = lp.A.shape[1]
    seen, none, undecided = np.zeros(v, dtype=bool), np.zeros(v, dtype=bool), np.zeros(v, dtype=bool)
    wanted: int | None = None
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            undecided = ~seen & ~none
            break
        world = support.whole_world(lp, prefer=~seen & ~none & ~undecided, need=wanted, seconds=left)
        if isinstance(world, np.ndarray):
            if (lp.A @ world != lp.b).any():
                raise InternalError("An integer program gave a world that does not fit.")
            seen |= world > 0
        elif wanted is None and world == "none":
            raise _no_world()
        elif wanted is not None and world == "none":
            none[wanted] = True
        elif wanted is None:
            undecided = ~seen & ~none
            break
        else:
            undecided[wanted] = True
        rest = np.flatnonzero(~seen & ~none & ~undecided)
        if not rest.size:
            break
        wanted = int(rest[0])
    return lp.variable_of, undecided, none


def _no_world() -> ContradictionError:
    return ContradictionError(
        "The releases contradict each other: probabilities fit them, but no assignment of whole values to persons does."
    )
