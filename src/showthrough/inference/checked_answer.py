"""The form of an answer: whether it lists all that the history allows, once each, and nothing else.

Legend: m signatures, v entries (signature, value), e shares (entry, candidate group) of one release,
G groups. The code of a person in a release is its group, ABSENT, or G + k for candidate set k. A
group publishes some values; a candidate set publishes those of any of its groups, and whoever may be
absent can have any value. An entry exists if every release publishes its value; its shares in a
release are the candidates that do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from showthrough.errors import InternalError
from showthrough.inference.history import ABSENT, History
from showthrough.table.arrays import Codes, Flags, Ints, Reals

Finder = Callable[[Ints, Codes], Ints | Codes]

_INCOMPLETE = "An answer does not list each value that somebody can have once, and no others."
_UNSEATED = "An answer does not list each group in which somebody can have a value once, and no others."
_MALFORMED = "The parts of an answer fit neither each other nor the history."
_BITS = 62  # values whose sets fit a whole number
_TABLE = 16  # a table of all (group, value) may be this many times longer than what is published


@dataclass(frozen=True)
class SeatShares:
    """Where persons with a value are in one release: their candidate groups, entry by entry."""

    start: Ints  # [v + 1] where the shares of each entry begin
    group: Codes  # [e] ABSENT: not in the release
    y: Reals  # [e] joint probability of value and group
    possible: Flags  # [e] False where a proof says zero


@dataclass(frozen=True)
class Answer:
    """What is to be checked: a distribution per signature, and a multiplier per row and statement."""

    of_person: Ints  # [n] signature of each person
    start: Ints  # [m + 1] where the entries of each signature begin
    value: Codes  # [v]
    p: Reals  # [v]
    possible: Flags  # [v] False where a proof says zero
    mu: Reals  # [rows of the history]
    seats: tuple[SeatShares | None, ...]  # per release; None: everybody's group there is known
    nu: Reals  # [statements of the history]


@dataclass(frozen=True)
class Terms:
    """The terms of all statements, signature by signature, without those of values that nobody there can have."""

    signature: Ints
    statement: Ints
    entry: Ints
    coefficient: Reals


@dataclass(frozen=True)
class Signatures:
    """What all persons of a signature have in common."""

    codes: Codes  # [R, m]
    persons: Reals  # [m] the weight of all together
    prior: Ints | None  # [m] row of the prior
    terms: Terms | None
    spare: Flags | None = None  # [m] whose members may not exist


def signatures_of(history: History, answer: Answer) -> Signatures:
    """The signatures of an answer; persons who share one must agree in all that the history knows of them."""
    _refuse_malformed(history, answer)
    signatures, known = answer.start.size - 1, int(history.first_group[-1])
    codes = np.full((history.group_of.shape[0], signatures), ABSENT, dtype=np.int32)
    for code, of_person, seats in zip(codes, history.group_of, answer.seats, strict=True):
        code[answer.of_person] = of_person
        if not np.array_equal(code[answer.of_person], of_person):
            raise InternalError("Persons with different groups share a signature.")
        if seats is None and history.set_group.size and (code >= known).any():
            raise InternalError(_UNSEATED)
    prior = None
    if history.prior_of is not None:
        prior = np.zeros(signatures, dtype=np.int64)
        prior[answer.of_person] = history.prior_of
        if not np.array_equal(prior[answer.of_person], history.prior_of):
            raise InternalError("Persons with different priors share a signature.")
    persons = np.bincount(answer.of_person, weights=history.weight, minlength=signatures).astype(np.float64)
    spare = None
    if history.spare is not None:
        spare = np.zeros(signatures, dtype=bool)
        spare[answer.of_person] = history.spare
        if not np.array_equal(spare[answer.of_person], history.spare):
            raise InternalError("Persons who exist share a signature with some who may not.")
    return Signatures(codes, persons, prior, _terms(history, answer), spare)


def _terms(history: History, answer: Answer) -> Terms | None:
    """The terms of statements per signature: each must be a term of all persons of the signature."""
    told = history.statements
    if told is None:
        return None
    span, people = history.nobody + 1, answer.of_person.size
    key, which = np.unique((told.statement * people + told.person) * span + told.value, return_inverse=True)
    total = np.bincount(which, weights=told.coefficient, minlength=key.size)
    key, total = key[total != 0], total[total != 0]
    rest, value = np.divmod(key, span)
    statement, person = np.divmod(rest, people)
    signature = answer.of_person[person]
    order = np.lexsort((total, value, statement, signature))
    signature, statement, value, total = signature[order], statement[order], value[order], total[order]
    alike = np.ones(order.size, dtype=bool)
    for own in (signature, statement, value, total):
        alike[1:] &= own[1:] == own[:-1]
    first = np.flatnonzero(~alike | (np.arange(order.size) == 0))
    shared_by = np.diff(first, append=order.size)
    if not np.array_equal(shared_by, np.bincount(answer.of_person)[signature[first]]):
        raise InternalError("Persons with different statements share a signature.")
    entry = np.repeat(np.arange(answer.start.size - 1), np.diff(answer.start)) * span + answer.value
    sorting = np.argsort(entry, kind="stable")
    wanted = signature[first] * span + value[first]
    at = np.minimum(np.searchsorted(entry, wanted, sorter=sorting), max(entry.size - 1, 0))
    listed = entry[sorting[at]] == wanted if entry.size else np.zeros(wanted.size, dtype=bool)
    first, at = first[listed], at[listed]
    return Terms(signature[first], statement[first], sorting[at], total[first])


def _refuse_malformed(history: History, answer: Answer) -> None:
    """Arrays must be as long as they say, and signatures, values and groups exist."""
    releases, people = history.group_of.shape
    statements = 0 if history.statements is None else history.statements.lower.size
    entries, signatures = answer.value.size, answer.start.size - 1
    fits = (
        answer.of_person.size == people
        and answer.p.size == answer.possible.size == entries
        and answer.mu.size == history.row_count.size
        and answer.nu.size == statements
        and len(answer.seats) == releases
        and _bounds(answer.start, signatures, entries)
        and (not people or 0 <= answer.of_person.min() <= answer.of_person.max() < signatures)
    )
    for seats in answer.seats:
        if fits and seats is not None:
            size = seats.group.size
            fits = seats.y.size == seats.possible.size == size and _bounds(seats.start, entries, size)
    if not fits:
        raise InternalError(_MALFORMED)
    last = history.nobody - (history.spare is None)
    if entries and not 0 <= answer.value.min() <= answer.value.max() <= last:
        raise InternalError("An answer tells of a value that does not exist.")


def _bounds(start: Ints, parts: int, size: int) -> bool:
    """Whether so many parts of a list begin where they are said to."""
    return bool(start.size == parts + 1 > 0 and start[0] == 0 and start[-1] == size and (start[1:] >= start[:-1]).all())


class Published:
    """What is published of each group and each candidate set, made to be looked up for many entries at once."""

    def __init__(self, history: History) -> None:
        self._span, self._groups, self.rows = history.values.len(), int(history.first_group[-1]), history.row_count.size
        entries = history.entries
        place = _finder(entries.group, entries.value, self._groups, self._span)
        if history.covers:
            row = np.append(entries.row, [self.rows, self.rows + 1])
            self.find: Finder = lambda own, wanted: row[place(own, wanted)]
        else:
            self.find = place
        self._sets = _SetRows(history) if history.set_group.size else None
        # by code, first the groups, then the sets; ABSENT is the last
        owner, value = entries.group.astype(np.int64), entries.value
        if self._sets is not None:
            owner, value = np.append(owner, self._sets.set + self._groups), np.append(value, self._sets.value)
        codes = self._groups + history.set_start.size - 1
        self._size = np.append(np.bincount(owner, minlength=codes), self._span)
        self._begin = np.cumsum(self._size) - self._size
        self._value = np.append(value, np.arange(self._span, dtype=np.int32))
        self._bits = None  # sets of values as bits
        if self._span <= _BITS and self._size.all():
            self._bits = np.bitwise_or.reduceat(np.left_shift(1, self._value.astype(np.int64)), self._begin)

    def refuse_incomplete(self, codes: Codes, owner: Ints, value: Codes, spare: Flags | None) -> None:
        """The values that all releases publish must be listed once each; `rows_of` and `shares_of` allow no others.

        ``codes`` are those of some signatures, ``owner`` and ``value`` their entries; whose members may not exist has
        one more entry.
        """
        listed = owner * (self._span + 1) + value
        if (listed[1:] < listed[:-1]).any():
            listed = np.sort(listed)
        once = (listed[1:] != listed[:-1]).all()
        number = np.bincount(owner, minlength=codes.shape[1])
        if spare is not None:
            none = np.bincount(owner[value == self._span], minlength=codes.shape[1])
            if not np.array_equal(none, spare):
                raise InternalError(_INCOMPLETE)
            number = number - none
        if not once or not np.array_equal(number, self._common(codes.astype(np.int64))):
            raise InternalError(_INCOMPLETE)

    def rows_of(self, group: Ints, value: Codes) -> Ints | Codes:
        """[entries] the row of each entry in a release where all groups are known; one past the last if absent."""
        row = self.find(group, value)
        if (row > self.rows).any():
            raise InternalError(_INCOMPLETE)
        return row

    def shares_of(self, seats: SeatShares, entries: slice, code: Ints, value: Codes) -> Codes:
        """[shares] the row of each share of some entries, which must be the candidates that publish the value."""
        start = seats.start[entries.start : entries.stop + 1]
        group = seats.group[start[0] : start[-1]]
        length, wanted, row = self._candidates(code, value)
        if not length.all():
            raise InternalError(_INCOMPLETE)
        if not np.array_equal(np.diff(start), length):
            raise InternalError(_UNSEATED)
        if np.array_equal(group, wanted):
            return row
        order = np.lexsort((group, np.repeat(np.arange(length.size), length)))
        if not np.array_equal(group[order], wanted):
            raise InternalError(_UNSEATED)
        placed = np.empty_like(row)
        placed[order] = row
        return placed

    def _candidates(self, code: Ints, value: Codes) -> tuple[Ints, Codes, Codes]:
        """[entries] how many candidates publish the value; and all of them, ascending, with their rows."""
        several = code >= self._groups
        row = self.find(np.where(several, ABSENT, code), value).astype(np.int32)
        if self._sets is None or not several.any():
            return (row <= self.rows).astype(np.int64), code.astype(np.int32), row
        sets, which = self._sets, np.where(several, code - self._groups, 0)
        at = sets.find(which, value)
        maybe = several & sets.maybe[which]
        length = np.where(several, sets.length[at] + maybe, row <= self.rows)
        entry = np.repeat(np.arange(code.size), length)
        offset = np.arange(entry.size) - np.repeat(np.cumsum(length) - length + maybe, length)
        listed = np.where(offset < 0, sets.row.size - 1, sets.begin[at][entry] + offset)
        one = np.flatnonzero(~several[entry])
        listed[one] = sets.row.size - 1
        wanted, rows = sets.group[listed], sets.row[listed]
        wanted[one], rows[one] = code[entry[one]], row[entry[one]]
        return length, wanted, rows

    def _common(self, codes: Ints) -> Ints:
        """[signatures] how many values all releases publish of them."""
        if self._sets is not None:  # whoever may be absent can have any value
            anything = np.append(np.arange(self._size.size - 1), ABSENT)
            anything[self._groups + np.flatnonzero(self._sets.maybe)] = ABSENT
            codes = anything[codes]
        if self._bits is not None:
            shared = np.bitwise_and.reduce(self._bits.take(codes), axis=0)
            return np.asarray(np.bitwise_count(shared), dtype=np.int64)
        shortest = codes[0]
        for own in codes[1:]:
            shortest = np.where(self._size.take(own) < self._size.take(shortest), own, shortest)
        length = self._size.take(shortest)
        signature = np.repeat(np.arange(length.size), length)
        at = np.arange(signature.size) + np.repeat(self._begin.take(shortest) - (np.cumsum(length) - length), length)
        value = self._value.take(at)
        common = np.ones(signature.size, dtype=bool)
        for own in codes:
            common &= self._publishes(own.take(signature), value)
        return np.bincount(signature[common], minlength=length.size)

    def _publishes(self, code: Ints, value: Codes) -> Flags:
        several = code >= self._groups
        found = self.find(np.where(several, ABSENT, code), value) <= self.rows
        if self._sets is not None:
            at = self._sets.find(np.where(several, code - self._groups, 0), value)
            found &= ~several | (self._sets.length[at] > 0)
        return np.asarray(found)


class _SetRows:
    """The rows of all groups of each candidate set, by set and value."""

    def __init__(self, history: History) -> None:
        groups, span = int(history.first_group[-1]), history.values.len()
        number = np.repeat(np.arange(history.set_start.size - 1), np.diff(history.set_start))
        self.maybe = np.zeros(history.set_start.size - 1, dtype=bool)  # whether the set holds ABSENT
        self.maybe[number[history.set_group == ABSENT]] = True
        there = history.set_group != ABSENT
        pair = number[there] * groups + history.set_group[there]
        if not (pair[1:] > pair[:-1]).all():
            pair = np.unique(pair)
        number, group = np.divmod(pair, groups)
        entries = history.entries
        size = np.diff(entries.start)[group]
        member = np.repeat(np.arange(group.size), size)
        at = np.arange(member.size) + (entries.start[group] - (np.cumsum(size) - size))[member]
        key = number[member] * span + entries.value[at]
        order = np.argsort(key, kind="stable")  # groups stay ascending
        key, row = key[order], entries.row[at[order]].astype(np.int32)
        self.row = np.append(row, np.int32(history.row_count.size))  # the last is for those who are absent
        self.group = np.append(history.row_group[row], np.int32(ABSENT))
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: key.size])
        self.set, value = np.divmod(key[first], span)
        self.value = value.astype(np.int32)
        # by place, then nothing for what `find` says of the absent and of what is not published
        self.begin = np.append(first, [0, 0])
        self.length = np.append(np.diff(first, append=key.size), [0, 0])
        self.find = _finder(self.set, self.value, self.maybe.size, span)


def _finder(owner: Ints | Codes, value: Codes, owners: int, span: int) -> Finder:
    """A function from (owner, value) to its place in a sorted list; one past the last for ABSENT, two if not there."""
    key = owner.astype(np.int64) * span + value
    if owners * span <= _TABLE * key.size:
        table = np.full((owners + 1) * span, key.size + 1, dtype=np.int32)
        table[key] = np.arange(key.size)
        table[owners * span :] = key.size
        return lambda own, wanted: table.take(np.where(own == ABSENT, owners, own) * span + wanted)

    def search(own: Ints, wanted: Codes) -> Ints:
        sought = own * span + wanted
        at = np.minimum(np.searchsorted(key, sought), max(key.size - 1, 0))
        hit = key[at] == sought if key.size else np.zeros(sought.size, dtype=bool)
        return np.where(own == ABSENT, key.size, np.where(hit, at, key.size + 1))

    return search
