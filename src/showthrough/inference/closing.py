"""Closing the face: propagation from row to row, seats of single releases, then flows between pairs of releases."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import numpy.typing as npt

from showthrough.errors import InternalError
from showthrough.inference import flow
from showthrough.inference.clock import Clock
from showthrough.inference.face import Contradicted, Face, FlowStep, WeighingStep
from showthrough.inference.filling import fill_rows, filled_releases, worth_filling
from showthrough.inference.problem import Problem
from showthrough.inference.remaining import Remaining
from showthrough.inference.seating import seated_releases, take_seats
from showthrough.table.arrays import Flags, Ints
from showthrough.table.ragged import ranges

_NEXT_TO_NOTHING = 1000


def close_by_flow(face: Face, free: Remaining | None = None, clock: Clock | None = None) -> Remaining:
    """Seat everybody, and run the flows of all pairs of releases that share persons, round after round.

    Gives what is then open.

    ``free`` is what propagation left open, if that is known.

    It ends when a round changes nothing, or on large problems next to nothing: what is left is found
    from the Newton direction.
    """
    clock = clock or Clock()
    free = propagate(face) if free is None else free
    flows: dict[tuple[int, int], flow.PairFlow] = {}
    pairs = linked_pairs(face.problem) if free.variable.size else []
    seen = dict.fromkeys(pairs, -1)
    slowest = 0.0  # seconds of a flow, which takes no word until it is done: none is begun that may not end in time
    while True:
        before = int(face.alive.sum())
        if any(not clock.over and take_seats(face, own) for own in seated_releases(face)):
            free = propagate(face)
        for release in filled_releases(face) if worth_filling(face.problem.rows, free.variable.size) else ():
            if not clock.over and fill_rows(face, free, release):
                free = propagate(face)
        for number, pair in enumerate(pairs):
            clock.progress.count(number, len(pairs))
            if seen[pair] != len(face.steps) and clock.left() > slowest:
                seen[pair], began = len(face.steps), time.monotonic()
                if _flow_step(face, free, pair, flows):
                    free = propagate(face)
                slowest = max(slowest, time.monotonic() - began)
        after = int(face.alive.sum())
        if before - after <= after // _NEXT_TO_NOTHING or clock.left() <= slowest:
            return free


def linked_pairs(problem: Problem) -> list[tuple[int, int]]:
    """Pairs of releases that count single values and have a common person, those with the most first."""
    several = set() if problem.several is None else set(problem.row_release[problem.several].tolist())
    releases = [r for r in range(problem.places.releases) if r not in several]
    here = {r: problem.places.present(r) for r in releases}
    shared = {(a, b): int(problem.weight[here[a] & here[b]].sum()) for a, b in combinations(releases, 2)}
    return sorted((pair for pair, n in shared.items() if n), key=lambda pair: -shared[pair])


def propagate(face: Face) -> Remaining:
    """Rows whose count is used up by certain persons take nobody else; rows that need everybody take all.

    Gives what is then still open, without what is even.
    """
    problem = face.problem
    free = Remaining.of(problem, face.alive, face.choices)
    while True:
        rows, sign = _decided_rows(face, free)
        if not rows.size:
            if problem.rows.stated.row.size and _by_statements(face):
                free = Remaining.of(problem, face.alive, face.choices)
                continue
            break
        zero, one, terms = _asked(free, sign)
        taken = np.bincount(free.signature.take(np.flatnonzero(one)), minlength=problem.signatures)
        if (taken > 1).any():  # two rows need the same persons for different values
            both = free.variable[one & (free.signature == int(np.argmax(taken > 1)))]
            raise Contradicted(_needs_everybody(problem, sign[:-1] > 0, both))
        zero |= ~one & (taken > 0).take(free.signature)
        zeros, weights = free.variable.take(np.flatnonzero(zero)), sign.take(rows).astype(np.int64)
        step = WeighingStep(rows, weights, np.arange(rows.size))
        if free.seats:
            zeros = np.concatenate([zeros, terms])
            _refuse_used_up(face, zeros, step)
        face.exclude(zeros, step)
        if problem.plain:
            free = free.without(zero, ~zero & (face.choices == 1).take(free.signature))
        else:
            free = Remaining.of(problem, face.alive, face.choices)
    return free.only(~free.even()) if problem.plain else free


def _decided_rows(face: Face, free: Remaining) -> tuple[Ints, npt.NDArray[np.int8]]:
    """Rows that need everybody (+1) or take nobody (−1), and the sign of all rows with one more for the absent."""
    problem, room, now = face.problem, free.room(), free.tightened(face.rows)
    left, most = now.left, now.most
    published = problem.rows.size - len(problem.statements)
    spare = room - left
    if min(most[:published].min(initial=0), spare[:published].min(initial=0)) < 0:
        wrong = np.flatnonzero((most < 0) | (spare < 0))
        short = int(wrong[0])
        raise Contradicted(_one_row(problem, short, 1 if most[short] >= 0 else -1), also=wrong[1:].tolist())
    sign = np.zeros(problem.rows.size + 1, dtype=np.int8)  # 0: open or done
    if problem.rows.exact:
        np.subtract((spare == 0).view(np.int8), (left == 0).view(np.int8), out=sign[:-1])
    else:
        sign[:-1] = np.where(room > 0, (spare == 0).view(np.int8) - (most == 0).view(np.int8), 0)
    sign[published:] = 0
    return np.flatnonzero(sign).astype(np.int64, copy=False), sign


def _asked(free: Remaining, sign: npt.NDArray[np.int8]) -> tuple[Flags, Flags, Ints]:
    """Variables that are zero or one by the signs of their rows, and the candidates that are zero."""
    asked = sign.take(free.row)
    zero = asked.min(axis=0, initial=0) < 0
    one = asked.max(axis=0, initial=0) > 0
    for own in free.seats:
        here = sign.take(own.row)
        has = np.zeros(zero.size, dtype=bool)
        has[own.owner] = True
        left = np.zeros(zero.size, dtype=bool)
        left[own.owner[here >= 0]] = True
        zero |= has & ~left
        one[own.owner[here > 0]] = True
    one &= ~zero
    terms = []
    for own in free.seats:
        here = sign.take(own.row)
        needed = np.bincount(own.owner[here > 0], minlength=zero.size)
        if (needed > 1).any():  # two rows of one release need the same persons
            both = own.owner == int(np.argmax(needed > 1))
            weights = np.zeros(free.problem.rows.size, dtype=np.int64)
            weights[own.row[both & (here > 0)]] = 1
            raise Contradicted(weights)
        terms.append(own.term[(here < 0) | ((needed > 0).take(own.owner) & (here <= 0))])
    return zero, one, np.concatenate(terms) if terms else np.empty(0, dtype=np.int64)


def _by_statements(face: Face) -> bool:
    """Weigh each statement alone, for its lower and for its upper count; says whether that excluded anything."""
    problem, said = face.problem, face.problem.rows.stated
    published = problem.rows.size - len(problem.statements)
    open_ones = np.flatnonzero(face.possible[said.variable])
    variable, row = said.variable[open_ones], said.row[open_ones] - published
    signature = problem.signature[variable]
    key, pair = np.unique(row.astype(np.int64) * problem.signatures + signature, return_inverse=True)
    of_row, of_signature = np.divmod(key, problem.signatures)
    silent = np.bincount(pair, minlength=key.size) < face.choices[of_signature]  # some value is not spoken of
    found: list[tuple[int, int]] = []
    zeros = [np.empty(0, dtype=np.int64)]
    for weight, ends in ((1, face.rows.lower[published:]), (-1, -face.rows.upper[published:])):
        best = np.full(key.size, np.iinfo(np.int64).min)
        np.maximum.at(best, pair, weight * said.coefficient[open_ones])
        best = np.where(silent, np.maximum(best, 0), best)
        spare = _added(of_row, best * problem.weight[of_signature], len(problem.statements)) - ends
        if (spare < 0).any():
            wrong = np.flatnonzero(spare < 0)
            raise Contradicted(_one_row(problem, published + int(wrong[0]), weight))
        own = _below(
            face, (variable, pair, weight * said.coefficient[open_ones]), (of_row, of_signature, best), spare == 0
        )
        found += [(published + r, weight) for r in np.unique(own[1]).tolist()]
        zeros.append(own[0])
    if not found:
        return False
    rows, weights = (np.array(part, dtype=np.int64) for part in zip(*found, strict=True))
    face.exclude(np.unique(np.concatenate(zeros)), WeighingStep(rows, weights, np.arange(rows.size)))
    return True


def _added(at: Ints, figure: Ints, size: int) -> Ints:
    """What the figures at each place add up to, in whole numbers."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, at, figure)
    return total


def _below(
    face: Face, entries: tuple[Ints, Ints, Ints], pairs: tuple[Ints, Ints, Ints], tight: Flags
) -> tuple[Ints, Ints]:
    """Open variables that give less than the best of their signature to a statement which needs all of it.

    Entries are (variable, pair, figure), pairs (statement, signature, best figure). Gives variables and statements.
    """
    problem, (variable, pair, figure), (of_row, of_signature, best) = face.problem, entries, pairs
    needed = tight[of_row]
    less = needed[pair] & (figure < best[pair])
    quiet = np.flatnonzero(needed & (best > 0))  # whoever is not spoken of gives 0
    size = np.diff(problem.start)[of_signature[quiet]]
    every = ranges(problem.start[of_signature[quiet]], size)
    home = np.repeat(quiet, size)
    spoken = np.isin(home * np.int64(problem.variables) + every, pair * np.int64(problem.variables) + variable)
    rest = ~spoken & face.possible[every]
    found = np.concatenate([variable[less], every[rest]])
    return found, np.concatenate([of_row[pair[less]], of_row[home[rest]]])


def _refuse_used_up(face: Face, zeros: Ints, step: WeighingStep) -> None:
    """Somebody all of whose candidates stand in rows that others have used up: these rows are the contradiction.

    Where everybody's group is known this cannot be: values differ, so no row holds all of them.
    """
    problem = face.problem
    gone = np.zeros(problem.terms, dtype=bool)
    gone[face._with_followers(zeros)] = True
    kept = np.add.reduceat((face.possible & ~gone[: problem.variables]).astype(np.int64), problem.start[:-1])
    for signature in np.flatnonzero(kept == 0):
        own = np.arange(problem.start[signature], problem.start[signature + 1])
        mine = np.isin(step.rows, problem.rows.of(own[face.possible[own]]))
        weights = np.zeros(problem.rows.size, dtype=np.int64)
        weights[step.rows[mine]] = step.weights[mine]
        if face.weigh(weights).overfull:
            raise Contradicted(weights)


def _needs_everybody(problem: Problem, full: Flags, variables: Ints) -> Ints:
    """+1 on a full row of each variable."""
    weights = np.zeros(problem.rows.size, dtype=np.int64)
    for variable in variables:
        own = problem.rows.of(np.array([variable]))
        weights[own[full[own]][0]] = 1
    return weights


def _one_row(problem: Problem, row: int, weight: int) -> Ints:
    weights = np.zeros(problem.rows.size, dtype=np.int64)
    weights[row] = weight
    return weights


def _flow_step(
    face: Face, free: Remaining, releases: tuple[int, int], flows: dict[tuple[int, int], flow.PairFlow]
) -> bool:
    """Exclude what the flow of a pair forces; the flow is kept for the next time."""
    problem = face.problem
    free = free.tightened(face.rows)
    pair = flow.pair_flow(free, *releases, earlier=flows.get(releases))
    flows[releases] = pair
    if not pair.feasible:
        raise Contradicted(_violated_cut(face, pair))
    found = flow.forced(face.alive, pair, free)
    zero, one = found.zero, found.one
    certain = np.zeros(problem.signatures, dtype=bool)
    owner = problem.rows.owner[one] if problem.rows.seats else np.flatnonzero(one)
    certain[problem.signature[owner]] = True
    sure = np.zeros(problem.variables, dtype=bool)
    sure[owner] = True
    zeros = zero.copy()
    zeros[: problem.variables] |= face.possible & ~sure & certain[problem.signature]
    for own in problem.rows.seats:  # a candidate that is certain leaves no other of its release
        places = problem.rows.places(own)
        chosen = np.zeros(problem.variables, dtype=bool)
        chosen[own.owner[one[places]]] = True
        zeros[places] |= face.alive[places] & ~one[places] & chosen[own.owner]
    tight = found.tight[face.rows.ranged[found.tight]] if found.tight.size else found.tight
    if not zeros.any() and not tight.size:
        return False
    cluster = problem.row_value[found.rows].astype(np.int64)
    face.exclude(np.flatnonzero(zeros), FlowStep(*releases, found.rows, found.weights, cluster, tight))
    return True


def _violated_cut(face: Face, pair: flow.PairFlow) -> Ints:
    """The overfull cut of one value: all values share the graph, so look at each alone."""
    problem = face.problem
    inside = np.zeros(pair.nodes, dtype=bool)
    inside[pair.unmet] = True
    for value in np.unique(pair.node_value[inside]):
        weights = flow.cut_weights(problem, pair, inside & (pair.node_value == value))
        weights[problem.row_value != value] = 0
        if face.weigh(weights).overfull:
            return weights
    raise InternalError("An infeasible flow has no overfull cut.")
