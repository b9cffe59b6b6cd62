"""The problem: one variable for each signature and each value that its persons can have.

Persons of whom everything known is the same (groups in every release, prior, statements about them) are
interchangeable: they share a *signature* and their answer. The Zero constraints of Wang, Zhu, Du, Teng
(section 3.4) are built in: a variable exists only for values that some group of the person publishes in
every release (the maximum common subset, MCS, where the groups are known). The Relation constraints are
the `Rows`, pairs (group, value) with their published count, and statements; the One constraints are
implicit in the signatures.

Legend: m signatures, v variables, R releases; variables are sorted by signature and value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from showthrough.errors import ContradictionError
from showthrough.inference.history import ABSENT, History
from showthrough.inference.lookup import UNPUBLISHED, Lookup
from showthrough.inference.places import Places
from showthrough.inference.rows import NOTHING_STATED, Rows, Seats, Stated
from showthrough.inference.splitting import ADVICE, BY_RULE, TOLERATED, changed_value_error, split_persons, split_told
from showthrough.inference.statements import Statements
from showthrough.numerals import number_of
from showthrough.register.changed import REFUSE, TOLERATE
from showthrough.said import private
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.codes import distinct
from showthrough.table.ragged import owners, ranges, starts

_LARGEST_KEY = 2**62
STATEMENT = -1  # the release, group and value of a row that a statement makes


@dataclass(frozen=True)
class Problem:
    """Signatures, variables and rows; all that is known."""

    weight: Ints  # [m] persons per signature
    places: Places
    start: Ints  # [m + 1] where the variables of each signature begin
    value: Codes  # [v]
    rows: Rows
    row_value: Codes  # [rows]; the first rows are published, those of statements follow
    row_group: Codes
    row_release: Codes
    log_prior: Reals | None = None  # [v]; −inf where the prior says never
    statements: tuple[str, ...] = ()  # what the last rows are called
    several: Flags | None = None  # [rows] which count several values together; None: none does

    @property
    def signatures(self) -> int:
        return self.weight.size

    @property
    def variables(self) -> int:
        return self.value.size

    @property
    def terms(self) -> int:
        return self.rows.terms

    @property
    def count(self) -> Ints:
        """[rows] the published counts; of ranges the least."""
        return self.rows.lower

    @property
    def unsure(self) -> Flags:
        """[m] who fits several groups of some release, or is perhaps in none."""
        return self.places.unsure

    @cached_property
    def values(self) -> int:
        """One more than the largest code of a value."""
        return int(self.row_value.max(initial=-1)) + 1

    @cached_property
    def signature(self) -> Ints:
        """[v] the signature of each variable."""
        return owners(self.start)

    @property
    def plain(self) -> bool:
        """Whether everybody's groups are known and nothing but exact counts of single values is."""
        return self.rows.plain and self.log_prior is None and self.several is None

    def statement(self, row: int) -> str:
        """What the statement behind a row is called."""
        return self.statements[row - self.rows.size + len(self.statements)]


def collapse(history: History) -> tuple[Problem, Ints]:
    """The problem per signature, and the signature of each person (to undo the collapse)."""
    codes, of_person, weight = _signatures(history)
    spare = None
    if history.spare is not None:
        spare = np.zeros(weight.size, dtype=bool)
        spare[of_person] = history.spare
    places = Places(codes, int(history.first_group[-1]), history.set_start, history.set_group, spare)
    lookup = Lookup(history)
    signature, value, sure = _with_nobody(places, lookup, *_variables(places, lookup))
    start = starts(np.bincount(signature, minlength=weight.size))
    seats = _seats(places, lookup, signature, value)
    releases = tuple(r for r in range(places.releases) if r not in {own.release for own in seats})
    stated, lower, upper = _statements(history, of_person, start, value)
    said = lower.size - history.row_count.size
    row_release = np.repeat(np.arange(len(history.releases), dtype=np.int32), np.diff(history.first_group))[
        history.row_group
    ]
    rows = Rows(lower, upper, sure, releases, seats, stated)
    if said:  # somebody outside a release stands in the row after the last
        rows = _outside_at(rows, history.row_count.size, rows.size)
    none = np.full(said, STATEMENT, dtype=np.int32)
    problem = Problem(
        weight=weight,
        places=places,
        start=start,
        value=value,
        rows=rows,
        row_value=np.append(history.row_value, none) if said else history.row_value,
        row_group=np.append(history.row_group, none) if said else history.row_group,
        row_release=np.append(row_release, none) if said else row_release,
        log_prior=_log_prior(history, of_person, signature, value),
        statements=() if history.statements is None else history.statements.names,
        several=np.append(history.several, np.zeros(said, dtype=bool)) if history.covers else None,
    )
    return problem, of_person


@dataclass(frozen=True)
class Part:
    """Some signatures of a problem as a problem of their own."""

    problem: Problem
    variables: Ints  # their variables in the whole
    rows: Ints  # their rows in the whole
    terms: Ints  # their variables and candidates in the whole


def select(problem: Problem, signatures: Flags) -> Part:
    """Take out signatures that share no row with the others."""
    variables = np.flatnonzero(np.repeat(signatures, np.diff(problem.start)))
    rows, candidates = problem.rows.over(variables)
    rows, kept = rows.numbered()
    published = problem.rows.size - len(problem.statements)
    part = Problem(
        weight=problem.weight[signatures],
        places=problem.places.select(signatures),
        start=starts(np.diff(problem.start)[signatures]),
        value=problem.value[variables],
        rows=rows,
        row_value=problem.row_value[kept],
        row_group=problem.row_group[kept],
        row_release=problem.row_release[kept],
        log_prior=None if problem.log_prior is None else problem.log_prior[variables],
        statements=tuple(problem.statements[r - published] for r in kept[kept >= published].tolist()),
        several=None if problem.several is None else problem.several[kept],
    )
    return Part(part, variables, kept, np.concatenate([variables, problem.variables + candidates]))


def unstated(problem: Problem) -> Problem:
    """The same without its statements: what the releases say alone, over the same terms."""
    published = problem.rows.size - len(problem.statements)
    lower = problem.rows.lower[:published]
    upper = lower if np.array_equal(lower, problem.rows.upper[:published]) else problem.rows.upper[:published]
    rows = _outside_at(replace(problem.rows, stated=NOTHING_STATED), problem.rows.size, published)
    kept = slice(published)
    return replace(
        problem,
        rows=replace(rows, lower=lower, upper=upper),
        row_value=problem.row_value[kept],
        row_group=problem.row_group[kept],
        row_release=problem.row_release[kept],
        statements=(),
        several=None if problem.several is None else problem.several[kept],
    )


def build(history: History) -> tuple[History, Problem, Ints]:
    """Collapse the history, those split who are told as changed; an empty MCS is refused or split, as was chosen."""
    history = split_told(history)
    problem, of_person = collapse(history)
    empty: Ints = np.flatnonzero(np.diff(problem.start)[of_person] == 0).astype(np.int64)
    if empty.size:
        choice = history.changed.otherwise
        if choice == REFUSE:
            raise changed_value_error(history, empty)
        history = split_persons(history, empty, why=TOLERATED if choice == TOLERATE else BY_RULE)
        problem, of_person = collapse(history)
    return history, problem, of_person


def orphan_rows(problem: Problem) -> Ints:
    """Rows with a count that nobody can be in: a published value that no member of its group can have."""
    return np.flatnonzero(~problem.rows.served() & (problem.rows.lower > 0))


def orphan_error(history: History, problem: Problem, row: int) -> ContradictionError:
    """Say which published value contradicts the other releases."""
    if problem.row_release[row] == STATEMENT:
        return ContradictionError(
            f"A statement contradicts the releases{private(f' ({problem.statement(row)})', '')}: they leave none of "
            "its values to those of whom it speaks."
        )
    group, value = int(history.row_group[row]), history.value_name(int(history.row_value[row]))
    name = history.names[history.release_of(group)]
    people = history.who_fits(group)
    people = people[people < history.named]
    who = ", ".join(str(history.ids[int(p)]) for p in people[:20]) + (" …" if people.size > 20 else "")
    return ContradictionError(
        f"The releases contradict each other: group {private(history.group_name(group))} of {name} publishes "
        f"{private(value, 'a value')} {number_of(history.row_count[row], 'time')}, but each of the "
        f"{number_of(people.size, 'person')} who can be in it{private(f' ({who})', '')} is, in another release, in a "
        f"group without {private(value, 'it')}. {ADVICE}",
        parameters=("changed",),
    )


def _signatures(history: History) -> tuple[Codes, Ints, Ints]:
    """The distinct columns of ``group_of``, the column of each person, and how many persons share it."""
    group_of = history.group_of
    people = group_of.shape[1]
    if not people:
        return group_of, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    key, reach = np.zeros(people, dtype=np.int64), 1
    for release in (*group_of, *_told_apart(history)):
        span = int(release.max(initial=ABSENT)) - ABSENT + 1
        if reach * span > _LARGEST_KEY:
            key, reach = np.unique(key, return_inverse=True)[1], people
        key, reach = key * span + (release - ABSENT), reach * span
    order = np.argsort(key)
    ranked = key[order]
    new = np.append(True, ranked[1:] != ranked[:-1])
    of_person = np.empty(people, dtype=np.int64)
    of_person[order] = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    if history.weight is None:
        weight = np.diff(first, append=people)
    else:
        weight = np.add.reduceat(history.weight[order], first)
    return group_of.take(order.take(first), axis=1), of_person, weight


def _told_apart(history: History) -> list[Ints]:
    """What tells persons with the same groups apart: a prior, statements about them, and whether they exist."""
    found = [] if history.prior_of is None else [history.prior_of]
    if history.spare is not None:
        found.append(history.spare.astype(np.int64))
    found += [layer.code for layer in history.noisy_layers]
    if history.statements is not None:
        found.append(_profiles(history.statements, history.group_of.shape[1]))
    return found


def _profiles(said: Statements, people: int) -> Ints:
    """[people] 0 for who is not spoken of; persons of whom the same is said share a number."""
    order = np.lexsort((said.coefficient, said.value, said.statement, said.person))
    figure = np.unique(said.coefficient[order], return_inverse=True)[1]
    kind = distinct([said.statement[order], said.value[order], figure])[1]
    start = np.searchsorted(said.person[order], np.arange(people + 1))
    profile, used, left, at = np.zeros(people, dtype=np.int64), 0, np.flatnonzero(np.diff(start)), start[:-1].copy()
    while left.size:  # one more term of everybody in each round; numbers of who has no more are not given again
        first, rank = distinct([profile[left], kind[at[left]]])
        profile[left], used = used + 1 + rank, used + first.size
        at[left] += 1
        left = left[at[left] < start[left + 1]]
    return profile


def _variables(places: Places, lookup: Lookup) -> tuple[Ints, Codes, Codes]:
    """Signature and value of each variable, and its rows in the releases where everybody's group is known.

    What is possible in each release is intersected, starting from the shortest list; outside all, any value is.
    """
    codes = places.codes
    base = codes[0]
    for own in codes[1:]:
        base = np.where((base == ABSENT) | ((own != ABSENT) & (lookup.length[own] < lookup.length[base])), own, base)
    length = lookup.length[base]
    signature = np.repeat(np.arange(places.signatures), length)
    value = lookup.listed.take(ranges(lookup.begin[base], length))
    sure = [own for own in codes if places.plain or (own < places.known).all()]
    row = np.empty((len(sure), signature.size), dtype=np.int32)
    possible = np.ones(signature.size, dtype=bool)
    for k, own in enumerate(sure):
        row[k] = lookup.row(own.take(signature), value)
        possible &= row[k] != UNPUBLISHED
    for own in codes if len(sure) < codes.shape[0] else ():
        if (own >= places.known).any():
            possible &= lookup.possible(own.take(signature), value)
    kept = np.flatnonzero(possible)
    if kept.size < signature.size:
        signature, value, row = signature.take(kept), value.take(kept), row.take(kept, axis=1)
    return signature, value, row


def _with_nobody(
    places: Places, lookup: Lookup, signature: Ints, value: Codes, sure: Codes
) -> tuple[Ints, Codes, Codes]:
    """The same with one more variable, in no row, for signatures whose members may not exist."""
    if places.spare is None:
        return signature, value, sure
    own = np.flatnonzero(places.spare)
    signature = np.concatenate([signature, own])
    order = np.argsort(signature, kind="stable")
    value = np.append(value, np.full(own.size, lookup.span, dtype=np.int32))
    outside = np.full((sure.shape[0], own.size), lookup.rows, dtype=np.int32)
    return signature[order], value[order], np.concatenate([sure, outside], axis=1)[:, order]


def _seats(places: Places, lookup: Lookup, signature: Ints, value: Codes) -> tuple[Seats, ...]:
    """The candidates of each variable in the releases where somebody fits several groups."""
    found: list[Seats] = []
    for r, own in enumerate(() if places.plain else places.codes):
        if (own >= places.known).any():
            start, row = lookup.candidates(own.take(signature), value)
            found.append(Seats(r, start, row, sum(one.row.size for one in found)))
    return tuple(found)


def _statements(history: History, of_person: Ints, start: Ints, value: Codes) -> tuple[Stated, Ints, Ints]:
    """The entries of statements over variables, and all lower and upper counts with theirs at the end."""
    lower, upper = history.row_count, history.row_count if history.row_upper is None else history.row_upper
    said = history.statements
    if said is None:
        return NOTHING_STATED, lower, upper
    first = np.full(start.size - 1, -1, dtype=np.int64)  # one person speaks for its signature
    first[of_person[::-1]] = np.arange(of_person.size)[::-1]
    own = np.flatnonzero(first[of_person[said.person]] == said.person)
    signature, wanted = of_person[said.person[own]], said.value[own]
    span = history.nobody + 1
    key = owners(start) * span + value
    at = np.minimum(np.searchsorted(key, signature * span + wanted), key.size - 1)
    there = key[at] == signature * span + wanted
    own, at = own[there], at[there]
    row = (lower.size + said.statement[own]).astype(np.int32)
    stated = Stated(at.astype(np.int64), row, said.coefficient[own].astype(np.int64))
    least, most = np.append(lower, said.lower), np.append(upper, said.upper)
    return stated, least, least if np.array_equal(least, most) else most


def _outside_at(rows: Rows, before: int, after: int) -> Rows:
    """Move those who are outside a release from behind some number of rows to behind another."""

    def outside(row: Codes) -> Codes:
        return np.where(row == before, after, row).astype(np.int32)

    seats = tuple(Seats(own.release, own.start, outside(own.row), own.offset) for own in rows.seats)
    return replace(rows, sure=outside(rows.sure), seats=seats)


def _log_prior(history: History, of_person: Ints, signature: Ints, value: Codes) -> Reals | None:
    if history.prior is None or history.prior_of is None:
        return None
    kind = np.zeros(int(of_person.max(initial=-1)) + 1, dtype=np.int64)
    kind[of_person] = history.prior_of
    with np.errstate(divide="ignore"):
        belief = np.append(history.prior, np.ones((history.prior.shape[0], 1)), axis=1)  # the last of who is nobody
        found: Reals = np.log(belief[kind[signature], value])
    return found
