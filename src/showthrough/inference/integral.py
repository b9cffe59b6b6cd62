"""Certain and impossible over assignments of whole values.

A component that is small enough is counted (`worlds`); for shares of worlds, what is too large is sampled
(`world_samples`). For facts larger ones go to integer programs: every
world that is found shows many pairs to be possible, so one program asks for a world with as many
open pairs as it can; a pair that no world shows is then asked for alone, and is impossible if there
is none. Values that all groups of a component publish equally often can be exchanged in any world, so
one of them speaks for all. What the time budget does not reach stays undecided.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from showthrough.errors import ContradictionError, InputError, InternalError
from showthrough.inference import world_layers, world_samples, worlds
from showthrough.inference.face import Face
from showthrough.inference.problem import Problem
from showthrough.inference.reduce import Reduced, reduce, shares, unweighed
from showthrough.table.arrays import Flags, Ints, Reals

if TYPE_CHECKING:
    from showthrough.inference.program import Program

COUNTED_FLAT = 200  # variables of a component that is counted although symmetry would settle it
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
    reduced = reduce(problem, face.alive, face.rows)
    deadline = time.monotonic() + seconds
    size = world_layers.size_of(reduced) if reduced.components else np.empty(0, dtype=np.int64)
    signatures = np.bincount(reduced.signature_component, minlength=reduced.components)
    unsure = np.zeros(reduced.components, dtype=bool)
    unsure[reduced.signature_component[problem.unsure[problem.signature[reduced.variable_of[reduced.start[:-1]]]]]] = (
        True
    )
    settled = (signatures == 1) & ~unsure  # one signature alone holds its counts: every value is possible
    settled |= _flat(problem, reduced) & (size > COUNTED_FLAT)
    settled &= problem.rows.exact and not problem.rows.stated.row.size
    for component in np.argsort(size, kind="stable"):
        if settled[component]:
            continue
        tick()
        variables, open_ones, none = _decide_component(problem, reduced, int(component), deadline)
        impossible[variables[none]] = True
        undecided[variables[open_ones]] = True
    return Integral(impossible, undecided)


@dataclass
class Shares:
    """In what share of worlds a person has each value; NaN where it was neither counted nor sampled."""

    share: Reals  # [v]
    error: Reals  # [v] half of a 95 % interval; 0 where it was counted
    sampled: Flags  # [v]
    seated: Flags  # [v] whether worlds are told apart by seats too


def world_shares(face: Face, mu: Reals, signatures: Ints, *, most_states: int, seconds: float, refuse: bool) -> Shares:
    """The share of worlds in which a person has each value: counted, or sampled where that takes too long."""
    problem = face.problem
    found = _settled_shares(face)
    reduced = reduce(problem, face.alive, face.rows)
    if not reduced.components:
        return found
    asked = np.zeros(problem.signatures, dtype=bool)
    asked[signatures] = True
    mine = asked[problem.signature[reduced.variable_of[reduced.start[:-1]]]]
    size = world_layers.size_of(reduced)
    wanted = sorted(np.unique(reduced.signature_component[mine]).tolist(), key=lambda k: (size[k], k))
    end = time.monotonic() + seconds
    for number, component in enumerate(wanted):
        now = time.monotonic()
        known = _share_of(
            reduced, component, mu[reduced.row_of], most_states, now + (end - now) / (len(wanted) - number)
        )
        if known is None and refuse:
            raise InputError(
                f"The component of a person you asked for takes more than {most_states} steps to count, and could not "
                f"be sampled in {seconds:g} seconds: raise most_states= or seconds=, or use bounds() and "
                "proven(integral=True)."
            )
        if known is not None:
            _take(found, reduced, component, *known)
    return found


def _settled_shares(face: Face) -> Shares:
    """Whoever has one value left, or of whom no row says anything."""
    problem = face.problem
    share = np.where(face.possible, np.nan, 0.0)
    even = (face.choices == 1) | unweighed(problem, face.alive)
    share = np.where(even[problem.signature], shares(problem, face.alive)[: problem.variables], share)
    none = np.zeros(problem.variables, dtype=bool)
    return Shares(share, np.zeros(problem.variables), none, none.copy())


def _share_of(
    reduced: Reduced, component: int, mu: Reals, most_states: int, deadline: float
) -> tuple[dict[int, float], dict[int, float] | None] | None:
    """The shares of a component by variable, with errors if they were sampled."""
    start = time.monotonic()
    try:
        half = start + (deadline - start) / 2
        counted = worlds.count(reduced, component, most_states=most_states, deadline=half, believed=True)
    except worlds.TooManyStates:
        sampled = world_samples.sample(reduced, component, mu, most_states=most_states, deadline=deadline)
        return None if sampled is None else (sampled.share, sampled.error)
    if not counted.total:
        raise _no_world()
    return {v: float(part) for v, part in counted.share.items()}, None


def _take(
    found: Shares, reduced: Reduced, component: int, share: dict[int, float], error: dict[int, float] | None
) -> None:
    variables = np.array(list(share), dtype=np.int64)
    found.share[variables] = list(share.values())
    found.sampled[variables] = error is not None
    found.error[variables] = 0.0 if error is None else [error[v] for v in share]
    found.seated[variables] = _seated(reduced, component)


def _seated(reduced: Reduced, component: int) -> bool:
    """Whether somebody in the component can sit in several groups of a release."""
    mine = np.repeat(reduced.signature_component == component, np.diff(reduced.start))
    return any(bool((np.diff(own.start)[mine] > 1).any()) for own in reduced.rows.seats)


def _decide_component(problem: Problem, reduced: Reduced, component: int, deadline: float) -> tuple[Ints, Flags, Flags]:
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
    return _by_programs(problem, reduced, component, deadline)


def _by_programs(problem: Problem, reduced: Reduced, component: int, deadline: float) -> tuple[Ints, Flags, Flags]:
    from showthrough.inference.program import program, whole_world

    lp = program(reduced, component)
    twins = _twins(problem, lp)
    v = lp.variables
    seen, none, undecided = np.zeros(v, dtype=bool), np.zeros(v, dtype=bool), np.zeros(v, dtype=bool)
    wanted: int | None = None
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            undecided = ~seen & ~none
            break
        world = whole_world(lp, prefer=~seen & ~none & ~undecided, need=wanted, seconds=left)
        if isinstance(world, np.ndarray):
            _refuse_misfit(lp, world)
            seen |= np.bincount(twins[world > 0], minlength=v)[twins] > 0
        elif wanted is None and world == "none":
            raise _no_world()
        elif wanted is not None and world == "none":
            none |= twins == twins[wanted]
        elif wanted is None:
            undecided = ~seen & ~none
            break
        else:
            undecided[wanted] = True
        rest = np.flatnonzero(~seen & ~none & ~undecided)
        if not rest.size:
            break
        wanted = int(rest[0])
    return lp.term_of[:v], undecided, none


def _refuse_misfit(lp: Program, world: Ints) -> None:
    """Everybody has one value, and rows without candidates hold what they may; seats then exist by the program."""
    sums = lp.A[:, : lp.variables] @ world
    known = np.ones(sums.size, dtype=bool)
    known[lp.A[:, lp.variables :].nonzero()[0]] = False
    if ((sums < lp.b) | (sums > lp.b + lp.spare))[known].any():
        raise InternalError("An integer program gave a world that does not fit.")


def _flat(problem: Problem, reduced: Reduced) -> Flags:
    """[k] components in which every group publishes all values, each equally often, and everybody can have all.

    Any permutation of the values turns a world into another world, so everything is possible as long as
    there is a world at all, and releases of a truth have that one.
    """
    flat = np.zeros(reduced.components, dtype=bool)
    if not problem.plain or not reduced.components:
        return flat
    span = int(problem.value.max(initial=0)) + 1
    length = np.diff(reduced.start)
    owner = np.repeat(reduced.signature_component, length)
    pairs = np.unique(owner * span + problem.value[reduced.variable_of])
    values = np.bincount(pairs // span, minlength=reduced.components)
    flat[:] = True
    flat[reduced.signature_component[length != values[reduced.signature_component]]] = False
    if not reduced.rows.size:  # nothing but noise is told of them
        return flat
    group = problem.row_group[reduced.row_of].astype(np.int64)
    key = reduced.row_component * (int(group.max(initial=0)) + 1) + group
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(key[order]) != 0))
    count = reduced.count[order]
    rows = np.diff(np.append(first, key.size))
    home = reduced.row_component[order][first]
    uneven = np.maximum.reduceat(count, first) != np.minimum.reduceat(count, first)
    flat[home[uneven | (rows != values[home])]] = False
    return flat


def _twins(problem: Problem, lp: Program) -> Ints:
    """[v] variables of one signature whose values are interchangeable share a number.

    Two values are interchangeable in a component if every group publishes both equally often and the
    same signatures can have them: exchanging them everywhere turns a world into a world.
    """
    own = np.arange(lp.variables)
    if not problem.plain:
        return own
    where: dict[int, list[tuple[int, int]]] = {}
    for row, count in zip(lp.row_of.tolist(), lp.b[lp.relation].tolist(), strict=True):
        where.setdefault(int(problem.row_value[row]), []).append((int(problem.row_group[row]), int(count)))
    who: dict[int, list[int]] = {}
    signature = problem.signature[lp.term_of[: lp.variables]]
    for s, value in zip(signature.tolist(), problem.value[lp.term_of[: lp.variables]].tolist(), strict=True):
        who.setdefault(int(value), []).append(s)
    kinds: dict[tuple[tuple[tuple[int, int], ...], tuple[int, ...]], int] = {}
    kind = {v: kinds.setdefault((tuple(sorted(where.get(v, []))), tuple(sorted(who[v]))), len(kinds)) for v in who}
    key = signature * (len(kinds) + 1) + np.array([kind[int(v)] for v in problem.value[lp.term_of[: lp.variables]]])
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _no_world() -> ContradictionError:
    return ContradictionError(
        "The releases contradict each other: probabilities fit them, but no assignment of whole values to persons does."
    )
