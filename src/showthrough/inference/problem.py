"""The problem: one variable for each signature, each value and each way to be seated.

Persons with the same groups in every release are interchangeable: they share a *signature* and
their answer. A *seat* is one group (or absence) per release. Where the groups of a person are known
the signature has one seat; where a person fits several groups it has one seat for each combination,
and the variables are the joint probabilities of value and seat. The Zero constraints of Wang, Zhu,
Du, Teng (section 3.4) are built in: a variable exists only for values common to all groups of the
seat (the maximum common subset, MCS). The Relation constraints are the *rows*, pairs (group, value)
with their published count; the One constraints are implicit in the signatures.

Legend: m signatures, v variables, R releases; variables are sorted by signature, value and seat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from showthrough.errors import ContradictionError, InputError
from showthrough.inference import graphs
from showthrough.inference.history import ABSENT, History, changed_value_error, split_persons
from showthrough.table.arrays import Codes, Flags, Ints

_DENSE_LOOKUP = 1 << 26
MOST_SEATS = 20_000_000
_LARGEST_KEY = 2**62
_UNPUBLISHED = -1


@dataclass(frozen=True)
class Problem:
    """Signatures, variables and rows; all facts that the releases publish."""

    weight: Ints  # [m] persons per signature
    groups: Codes  # [R, seats] group of the seat in each release, or ABSENT; seats sorted by signature
    start: Ints  # [m + 1] where the variables of each signature begin
    value: Codes  # [v]
    row: Codes  # [R, v] row of the variable in each release; ``rows`` (one past the last) where absent
    count: Ints  # [rows] published counts
    row_value: Codes
    row_group: Codes
    row_release: Codes
    seat_owner: Ints | None = None  # [seats] the signature of each seat; None: one seat each
    seat_of: Ints | None = None  # [v] the seat of each variable; None: that of its signature

    @property
    def signatures(self) -> int:
        return self.weight.size

    @property
    def variables(self) -> int:
        return self.value.size

    @property
    def rows(self) -> int:
        return self.count.size

    @cached_property
    def values(self) -> int:
        """One more than the largest code of a value."""
        return int(self.row_value.max()) + 1

    @cached_property
    def signature(self) -> Ints:
        """[v] the signature of each variable."""
        return np.repeat(np.arange(self.signatures), np.diff(self.start))

    @property
    def plain(self) -> bool:
        """Whether everybody's groups are known: one seat per signature."""
        return self.seat_owner is None

    @cached_property
    def owner(self) -> Ints:
        """[seats] the signature of each seat."""
        return np.arange(self.signatures) if self.seat_owner is None else self.seat_owner

    @property
    def seat(self) -> Ints:
        """[v] the seat of each variable."""
        return self.signature if self.seat_of is None else self.seat_of

    @cached_property
    def first_seat(self) -> Ints:
        """[m + 1] where the seats of each signature begin."""
        return np.searchsorted(self.owner, np.arange(self.signatures + 1))

    @cached_property
    def unsure(self) -> Flags:
        """[m] whether a signature has several seats."""
        return np.diff(self.first_seat) > 1

    @cached_property
    def block(self) -> Ints:
        """[groups] sets of groups of one release in which every signature surely is, or surely is not.

        A constant on all rows of a block changes no comparison. −1: somebody may be outside the release.
        """
        groups = int(max(self.groups.max(initial=-1), self.row_group.max(initial=-1))) + 1
        if self.plain:
            return np.arange(groups)
        beside = np.flatnonzero(np.diff(self.owner) == 0)
        one, other = self.groups[:, beside].ravel(), self.groups[:, beside + 1].ravel()
        tail, head = np.where(one == ABSENT, other, one), np.where(other == ABSENT, one, other)
        there = tail != ABSENT
        _, label = graphs.components(groups, tail[there].astype(np.int64), head[there].astype(np.int64))
        loose = np.zeros(groups, dtype=bool)
        unsure = (one == ABSENT) != (other == ABSENT)
        loose[label[tail[unsure]]] = True
        return np.where(loose[label], -1, label)

    @cached_property
    def pair_start(self) -> Ints:
        """[pairs + 1] where the variables of each pair (signature, value) begin."""
        if self.plain:
            return np.arange(self.variables + 1)
        new = np.append(True, (np.diff(self.signature) != 0) | (np.diff(self.value) != 0))
        return np.append(np.flatnonzero(new), self.variables) if self.variables else np.zeros(1, dtype=np.int64)

    @cached_property
    def pair(self) -> Ints:
        """[v] the pair of each variable."""
        return np.repeat(np.arange(self.pair_start.size - 1), np.diff(self.pair_start))


def collapse(history: History) -> tuple[Problem, Ints]:
    """The problem per signature, and the signature of each person (to undo the collapse)."""
    codes, of_person, weight = _signatures(history.group_of)
    groups, owner = _seats(history, codes)
    start, value, row = _variables(history, groups)
    seat_owner = seat_of = None
    if owner.size > weight.size:
        seat_of, seat_owner = np.repeat(np.arange(owner.size), np.diff(start)), owner
        order = np.lexsort((seat_of, value, owner[seat_of]))
        seat_of, value, row = seat_of[order], value[order], np.ascontiguousarray(row[:, order])
        start = np.searchsorted(owner[seat_of], np.arange(weight.size + 1)).astype(np.int64)
    problem = Problem(
        weight=weight,
        groups=groups,
        start=start,
        value=value,
        row=row,
        seat_owner=seat_owner,
        seat_of=seat_of,
        count=history.row_count,
        row_value=history.row_value,
        row_group=history.row_group,
        row_release=np.repeat(np.arange(len(history.releases), dtype=np.int32), np.diff(history.first_group))[
            history.row_group
        ],
    )
    return problem, of_person


@dataclass(frozen=True)
class Part:
    """Some signatures of a problem as a problem of their own."""

    problem: Problem
    variables: Ints  # their variables in the whole
    rows: Ints  # their rows in the whole


def select(problem: Problem, signatures: Flags) -> Part:
    """Take out signatures that share no row with the others."""
    variables = np.flatnonzero(np.repeat(signatures, np.diff(problem.start)))
    place = np.full(problem.rows + 1, -1, dtype=np.int32)
    for row in problem.row:
        place[row[variables]] = 0
    rows = np.flatnonzero(place[:-1] == 0)
    place[rows], place[-1] = np.arange(rows.size), rows.size
    seat_owner = seat_of = None
    seats = signatures
    if not problem.plain:
        seats = signatures[problem.owner]
        seat_owner = (np.cumsum(signatures) - 1)[problem.owner[seats]]
        seat_of = (np.cumsum(seats) - 1)[problem.seat[variables]]
    part = Problem(
        weight=problem.weight[signatures],
        groups=problem.groups[:, seats],
        seat_owner=seat_owner,
        seat_of=seat_of,
        start=np.concatenate([[0], np.cumsum(np.diff(problem.start)[signatures])]).astype(np.int64),
        value=problem.value[variables],
        row=place[problem.row[:, variables]],
        count=problem.count[rows],
        row_value=problem.row_value[rows],
        row_group=problem.row_group[rows],
        row_release=problem.row_release[rows],
    )
    return Part(part, variables, rows)


def build(history: History) -> tuple[History, Problem, Ints]:
    """Collapse the history; persons with an empty MCS are refused or split, as the caller chose."""
    problem, of_person = collapse(history)
    empty: Ints = np.flatnonzero(np.diff(problem.start)[of_person] == 0).astype(np.int64)
    if empty.size:
        if history.changed == "refuse":
            raise changed_value_error(history, empty)
        history = split_persons(history, empty)
        problem, of_person = collapse(history)
    return history, problem, of_person


def refuse_orphan_rows(history: History, problem: Problem) -> None:
    """A published value that no member of its group can have contradicts the other releases."""
    served = np.zeros(problem.rows + 1, dtype=bool)
    served[problem.row.ravel()] = True
    orphans = np.flatnonzero(~served[:-1])
    if not orphans.size:
        return
    row = int(orphans[0])
    group, value = int(history.row_group[row]), history.values[int(history.row_value[row])]
    name = history.names[history.release_of(group)]
    people = history.who_fits(group)
    people = people[people < history.named]
    text = (
        f"The releases contradict each other: group {history.group_name(group)} of {name} publishes "
        f"{value} {history.row_count[row]} time(s), but each of the {people.size} persons who can be in it{{who}} is, "
        f"in another release, in a group without {value}."
    )
    who = ", ".join(str(history.ids[int(p)]) for p in people[:20]) + (" …" if people.size > 20 else "")
    raise ContradictionError(text.format(who=f" ({who})"), shareable=text.format(who=""))


def _signatures(group_of: Codes) -> tuple[Codes, Ints, Ints]:
    """The distinct columns of ``group_of``, the column of each person, and how many share it."""
    people = group_of.shape[1]
    key, reach = np.zeros(people, dtype=np.int64), 1
    for release in group_of:
        span = int(release.max()) - ABSENT + 1
        if reach * span > _LARGEST_KEY:
            key, reach = np.unique(key, return_inverse=True)[1], people
        key, reach = key * span + (release - ABSENT), reach * span
    order = np.argsort(key)
    ranked = key[order]
    new = np.append(True, ranked[1:] != ranked[:-1])
    of_person = np.empty(people, dtype=np.int64)
    of_person[order] = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    return group_of.take(order.take(first), axis=1), of_person, np.diff(first, append=people)


def _seats(history: History, codes: Codes) -> tuple[Codes, Ints]:
    """All combinations of the groups that each signature fits, and the signature of each combination."""
    known, size = int(history.first_group[-1]), np.diff(history.set_start)
    owner = np.arange(codes.shape[1])
    if not size.size:
        return codes, owner
    width = np.where(codes >= known, size[np.maximum(codes - known, 0)], 1)
    total = float(width.astype(np.float64).prod(axis=0).sum())
    most = MOST_SEATS // codes.shape[0]  # each combination names a group of every release
    if total > most:
        told = f"{total:,.0f}" if total < 1e12 else f"{total:.2g}"
        raise InputError(
            f"Persons fit so many groups that there are {told} combinations of groups over the releases; at most "
            f"{most:,} can be weighed. Say who is in which release (presence), give more quasi-identifiers, or "
            "look at fewer releases together."
        )
    groups = codes.copy()
    for r in range(codes.shape[0]):
        several = groups[r] >= known
        chosen = np.where(several, groups[r] - known, 0)
        length = np.where(several, size[chosen], 1)
        seat = np.repeat(np.arange(groups.shape[1]), length)
        offset = np.arange(seat.size) - np.repeat(np.cumsum(length) - length, length)
        groups, owner = groups[:, seat], owner[seat]
        wide = several[seat]
        groups[r, wide] = history.set_group[history.set_start[chosen[seat[wide]]] + offset[wide]]
    return np.ascontiguousarray(groups), owner


def _variables(history: History, groups: Codes) -> tuple[Ints, Codes, Codes]:
    """Intersect the values of a seat's groups, starting from the shortest list; outside all releases any value."""
    span, seats = history.values.len(), groups.shape[1]
    size = np.append(np.diff(history.group_rows), span)  # ABSENT is the last entry: outside any value is possible
    base = groups[0]
    for own in groups[1:]:
        base = np.where((base == ABSENT) | ((own != ABSENT) & (size[own] < size[base])), own, base)
    length = size[base]
    seat = np.repeat(np.arange(seats), length)
    listed = np.append(history.row_value, np.arange(span, dtype=np.int32))
    begin = np.append(history.group_rows[:-1], history.row_value.size)[base]
    value = listed.take(np.arange(seat.size) + np.repeat(begin - (np.cumsum(length) - length), length))
    find = _row_finder(history, span)
    row = np.empty((groups.shape[0], seat.size), dtype=np.int32)
    for r, own in enumerate(groups):
        row[r] = find(own.take(seat), value)
    published = row[0] != _UNPUBLISHED
    for own in row[1:]:
        published &= own != _UNPUBLISHED
    kept = np.flatnonzero(published)
    if kept.size < seat.size:
        seat, value, row = seat.take(kept), value.take(kept), row.take(kept, axis=1)
    start = np.zeros(seats + 1, dtype=np.int64)
    np.cumsum(np.bincount(seat, minlength=seats), out=start[1:])
    return start, value, row


def _row_finder(history: History, span: int) -> Callable[[Codes, Codes], npt.NDArray[np.integer]]:
    """A function from (group, value) to the row; one past the last row for ABSENT, −1 for what is not published."""
    rows, groups = history.row_count.size, int(history.first_group[-1])
    key = history.row_group.astype(np.int64) * span + history.row_value
    if (groups + 1) * span <= _DENSE_LOOKUP:
        table = np.full((groups + 1) * span, _UNPUBLISHED, dtype=np.int32)
        table[key] = np.arange(rows, dtype=np.int32)
        table[groups * span :] = rows  # where the negative keys of ABSENT lead
        return lambda group, value: table.take(group.astype(np.int64) * span + value)

    def search(group: Codes, value: Codes) -> Ints:
        wanted = group.astype(np.int64) * span + value
        at = np.minimum(np.searchsorted(key, wanted), rows - 1)
        return np.where(group == ABSENT, rows, np.where(key[at] == wanted, at, _UNPUBLISHED))

    return search
