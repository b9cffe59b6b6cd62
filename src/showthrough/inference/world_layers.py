"""A component as a line of decisions, so that worlds can be counted from one end to the other.

Signatures stand one after the other. Each is a run of decisions: how many of its persons have its first value, how many
of those left the second, and so on; after each value, release by release where it has several candidates, how many of
them sit in the first candidate, the second, and so on. Decisions never run over combinations of candidates. What is
known between two decisions is a *state*: how many persons are left to decide about, and what is left of the rows that
some decision before and some after it touches. Equal states are one, so the order of signatures matters: several are
drawn up (from each end of the component, and by eliminating rows of least degree), and the one that keeps the fewest
possible states open is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import exp, lcm, log

import numpy as np

from showthrough.inference.reduce import Reduced
from showthrough.table.arrays import Ints

State = tuple[int, ...]  # persons left, of them with the value, of these to be seated; then what is left of rows

LEFT, VALUED, SEATED = range(3)  # the first three numbers of a state
_POOLS = 3
_WRITTEN = 10**6  # denominators of probabilities that were written as decimals
_COMPARED = 400  # signatures, or rows, up to which several orders are drawn up


@dataclass(frozen=True)
class Touch:
    """A row that a decision takes from."""

    slot: int  # where it stands in a state
    times: int
    later: int  # persons of later signatures who may be counted in it
    again: bool  # whether a later decision of the same signature touches it
    closes: bool  # whether none touches it after this one
    spare: int  # what may be left in the end
    signed: bool  # a statement, which may run below what is left on the way


@dataclass(frozen=True)
class Layer:
    """One decision: how many of a pool of persons."""

    signature: int
    variable: int  # of the reduced problem if it is about a value, else −1
    first_seat: bool  # the pool is everybody with the value
    last_seat: bool  # the last candidate of a release: takes all who are left
    last_value: bool
    done: bool  # nothing more is asked about the persons with the value
    opens: tuple[tuple[int, int], ...]  # slots of rows that are touched for the first time, and their counts
    touches: tuple[Touch, ...]
    rooms: tuple[tuple[int, ...], ...]  # per release of a value: slots that must hold its persons
    rows: tuple[int, ...]  # the rows of the touches, of the reduced problem

    def steps(self, state: State) -> Iterator[tuple[int, int, State]]:
        """Every number that fits: (number, size of the pool, state after it)."""
        now = list(state)
        for slot, count in self.opens:
            now[slot] = count
        value = self.variable >= 0
        pool = now[LEFT] if value else now[VALUED] if self.first_seat else now[SEATED]
        low, high = 0, pool
        for t in self.touches:
            if not t.signed and t.times == 1:
                high = min(high, now[t.slot])
                if not t.again:
                    low = max(low, now[t.slot] - t.spare - t.later)
        for slots in self.rooms:
            high = min(high, sum(now[slot] for slot in slots))
        if self.last_value if value else self.last_seat:
            low = max(low, pool)
        for n in range(low, high + 1):
            after = self._after(now, n, pool, value=value)
            if after is not None:
                yield n, pool, after

    def _after(self, now: list[int], n: int, pool: int, *, value: bool) -> State | None:
        after = now.copy()
        if value:
            after[LEFT] = pool - n
            after[VALUED] = 0 if self.done else n
        else:
            after[SEATED] = pool - n
            if self.first_seat and self.done:
                after[VALUED] = 0
        waiting = after[LEFT] + after[VALUED] + after[SEATED]
        for t in self.touches:
            left = after[t.slot] - t.times * n
            if not t.signed and (left < 0 or left - t.spare > t.later + (waiting if t.again else 0)):
                return None
            if t.closes:
                if not 0 <= left <= t.spare:
                    return None
                left = 0
            after[t.slot] = left
        return tuple(after)


@dataclass(frozen=True)
class Line:
    """All decisions of a component, and the state before the first."""

    layers: tuple[Layer, ...]
    start: dict[int, int]  # the first layer of each signature, with its persons
    width: int  # numbers in a state
    weight: dict[int, int]  # persons per signature
    belief: dict[int, int]  # variable → what a person with the value weighs, by the prior; 1 for those not listed

    @property
    def first(self) -> State:
        return (0,) * self.width

    def entering(self, at: int, state: State) -> State:
        """The state with the persons of a signature whose decisions begin here."""
        if at not in self.start:
            return state
        return (self.start[at], *state[1:])


Branching = tuple[int, int, list[tuple[int, int]], dict[str, bool], list[list[int]]]


def line(reduced: Reduced, component: int, *, believed: bool = False) -> Line:
    """The decisions of a component in an order that leaves few rows open at a time.

    Worlds are all alike, or, if ``believed``, as likely as the prior says.
    """
    signatures = np.flatnonzero(reduced.signature_component == component).tolist()
    decided = {s: _decisions(reduced, s) for s in signatures}
    rows_of = {s: sorted({r for _, _, taken, _, _ in own for r, _ in taken}) for s, own in decided.items()}
    weight = {s: int(reduced.weight[s]) for s in signatures}
    order = best_order(rows_of, {r: int(reduced.rows.upper[r]) for rows in rows_of.values() for r in rows})
    decisions = [d for s in order for d in decided[s]]
    layers = _layers(reduced, decisions, order, rows_of, weight)
    start, at = {}, 0
    for s in order:
        start[at] = weight[s]
        at += len(decided[s])
    width = 1 + max([_POOLS - 1, *(t.slot for layer in layers for t in layer.touches)])
    return Line(tuple(layers), start, width, weight, _beliefs(reduced, signatures) if believed else {})


def _beliefs(reduced: Reduced, signatures: list[int]) -> dict[int, int]:
    """The prior of each value as whole numbers, in proportion for each signature."""
    if reduced.log_prior is None:
        return {}
    found: dict[int, int] = {}
    for s in signatures:
        span = range(int(reduced.start[s]), int(reduced.start[s + 1]))
        parts = [_fraction(exp(reduced.log_prior[v])) for v in span]
        scale = lcm(*(part.denominator for part in parts))
        found.update((v, int(part * scale)) for v, part in zip(span, parts, strict=True))
    return found


def _fraction(p: float) -> Fraction:
    """A probability as people wrote it: a decimal with few digits."""
    near = Fraction(p).limit_denominator(_WRITTEN)
    return near if abs(near - Fraction(p)) <= Fraction(p) / 10**12 else Fraction(p)


def _decisions(reduced: Reduced, signature: int) -> list[Branching]:
    """The decisions of one signature: (signature, variable, rows, what they are, rooms)."""
    rows, found = reduced.rows, []
    span = range(int(reduced.start[signature]), int(reduced.start[signature + 1]))
    for v in span:
        own = [(int(r), 1) for r in rows.sure[:, v] if r != rows.size]
        at = np.flatnonzero(rows.stated.variable == v)
        own += [(int(rows.stated.row[k]), int(rows.stated.coefficient[k])) for k in at]
        several = []
        for seats in rows.seats:
            candidates = seats.row[seats.start[v] : seats.start[v + 1]].tolist()
            if len(candidates) == 1:
                own += [(r, 1) for r in candidates if r != rows.size]
            else:
                several.append(candidates)
        flags = {"last_value": v == span[-1], "done": not several, "first_seat": False, "last_seat": False}
        rooms = [c for c in several if rows.size not in c]
        found.append((signature, v, _merged(own), flags, rooms))
        for k, candidates in enumerate(several):
            for j, row in enumerate(candidates):
                flags = {
                    "first_seat": j == 0,
                    "last_seat": j == len(candidates) - 1,
                    "done": k == len(several) - 1,
                    "last_value": False,
                }
                found.append((signature, -1, [(row, 1)] if row != rows.size else [], flags, []))
    return found


def _merged(taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Every row once."""
    times: dict[int, int] = {}
    for row, n in taken:
        times[row] = times.get(row, 0) + n
    return list(times.items())


def _layers(
    reduced: Reduced,
    decisions: list[Branching],
    order: list[int],
    rows_of: dict[int, list[int]],
    weight: dict[int, int],
) -> list[Layer]:
    """Slots are given when a row is touched first, and free again when it is touched last."""
    place = {s: k for k, s in enumerate(order)}
    last = {r: at for at, (_, _, taken, _, _) in enumerate(decisions) for r, _ in taken}
    later: dict[int, list[tuple[int, int]]] = {}
    for s in order:
        for r in rows_of[s]:
            later.setdefault(r, []).append((place[s], weight[s]))
    last_of = {(s, r): at for at, (s, _, taken, _, _) in enumerate(decisions) for r, _ in taken}
    rest = {(k, r): sum(w for j, w in own if j > k) for r, own in later.items() for k, _ in own}
    stated = set(reduced.rows.stated.row.tolist())
    slot: dict[int, int] = {}
    free: list[int] = []
    layers = []
    for at, (s, variable, taken, flags, rooms) in enumerate(decisions):
        opens = []
        for r in dict.fromkeys([*(r for r, _ in taken), *(r for room in rooms for r in room)]):
            if r not in slot:
                slot[r] = free.pop() if free else _POOLS + len(set(slot.values()))
                opens.append((slot[r], int(reduced.rows.upper[r])))
        touches = tuple(
            Touch(
                slot=slot[r],
                times=times,
                later=rest[place[s], r],
                again=last_of[s, r] > at,
                closes=last[r] == at,
                spare=int(reduced.rows.upper[r] - reduced.rows.lower[r]),
                signed=r in stated,
            )
            for r, times in taken
        )
        room = tuple(tuple(slot[r] for r in own) for own in rooms)
        layers.append(
            Layer(
                s, variable, opens=tuple(opens), touches=touches, rooms=room, rows=tuple(r for r, _ in taken), **flags
            )
        )
        for r, _ in taken:
            if last[r] == at:
                free.append(slot.pop(r))
    return layers


def best_order(rows_of: dict[int, list[int]], count: dict[int, int]) -> list[int]:
    """The order of signatures, of several, in which the fewest states can be open."""
    on_row: dict[int, list[int]] = {}
    for s, rows in rows_of.items():
        for r in rows:
            on_row.setdefault(r, []).append(s)
    size = {r: log(abs(n) + 1) for r, n in count.items()}
    ends = sorted(rows_of, key=lambda s: (len(rows_of[s]), s))
    orders = [_along(rows_of, on_row, size, ends[0])]
    if 2 < len(rows_of) <= _COMPARED:
        starts = dict.fromkeys([ends[-1], ends[len(ends) // 2], orders[0][-1]])
        orders += [_along(rows_of, on_row, size, s) for s in starts]
    if len(rows_of) > 2 and len(on_row) <= _COMPARED:
        orders.append(_by_elimination(rows_of, on_row))
    return min(orders, key=lambda o: _cost(o, rows_of, on_row, size))


def _along(
    rows_of: dict[int, list[int]], on_row: dict[int, list[int]], size: dict[int, float], start: int
) -> list[int]:
    """Neighbours follow each other: next comes who opens least and closes most."""
    left = {r: len(members) for r, members in on_row.items()}
    order: list[int] = []
    waiting, near, best = set(rows_of), set(), start
    while True:
        order.append(best)
        waiting.discard(best)
        for r in rows_of[best]:
            left[r] -= 1
            near.update(on_row[r])
        near &= waiting
        if not waiting:
            return order
        best = min(
            near or waiting,
            key=lambda s: (
                sum(size[r] for r in rows_of[s] if left[r] == len(on_row[r]))
                - sum(size[r] for r in rows_of[s] if left[r] == 1),
                s,
            ),
        )


def _by_elimination(rows_of: dict[int, list[int]], on_row: dict[int, list[int]]) -> list[int]:
    """Close the row with the fewest neighbours, with all who are on it, then the next."""
    beside = {r: {q for s in members for q in rows_of[s]} - {r} for r, members in on_row.items()}
    order: dict[int, None] = {}
    while beside:
        row = min(beside, key=lambda r: (len(beside[r]), r))
        near = beside.pop(row)
        for q in near:
            beside[q] |= near
            beside[q] -= {q, row}
        order.update(dict.fromkeys(on_row[row]))
    return [*order, *(s for s in rows_of if s not in order)]


def _cost(
    order: list[int], rows_of: dict[int, list[int]], on_row: dict[int, list[int]], size: dict[int, float]
) -> float:
    """About the logarithm of how many states can be open, all along the line."""
    left = {r: len(members) for r, members in on_row.items()}
    widths, now = [], 0.0
    for s in order:
        now += sum(size[r] for r in rows_of[s] if left[r] == len(on_row[r]))
        widths.append(now)
        for r in rows_of[s]:
            left[r] -= 1
            now -= size[r] if not left[r] else 0.0
    top = max(widths)
    return top + log(sum(exp(w - top) for w in widths))


def size_of(reduced: Reduced) -> Ints:
    """[k] number of variables of each component."""
    owner = np.repeat(reduced.signature_component, np.diff(reduced.start))
    return np.bincount(owner, minlength=reduced.components).astype(np.int64)
