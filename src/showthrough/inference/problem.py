"""The problem: one variable for each signature and each value that its persons may have.

Persons with the same groups in every release are interchangeable: they share a *signature* and
their answer. The Zero constraints of Wang, Zhu, Du, Teng (section 3.4) are built in: a variable
exists only for values common to all groups of the signature (the maximum common subset, MCS). The
Relation constraints are the *rows*, pairs (group, value) with their published count; the One
constraints are implicit in the signatures.

Legend: m signatures, v variables, R releases; variables are sorted by signature, then value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from showthrough.errors import ContradictionError
from showthrough.inference.arrays import Codes, Flags, Ints
from showthrough.inference.history import ABSENT, History, changed_value_error, split_persons

_DENSE_LOOKUP = 1 << 26


@dataclass(frozen=True)
class Problem:
    """Signatures, variables and rows; all facts that the releases publish."""

    weight: Ints  # [m] persons per signature
    groups: Codes  # [R, m] group of the signature in each release, or ABSENT
    start: Ints  # [m + 1] where the variables of each signature begin
    value: Codes  # [v]
    row: Codes  # [R, v] row of the variable in each release; ``rows`` (one past the last) where absent
    count: Ints  # [rows] published counts
    row_value: Codes
    row_group: Codes
    row_release: Codes

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
    def signature(self) -> Ints:
        """[v] the signature of each variable."""
        return np.repeat(np.arange(self.signatures), np.diff(self.start))


def collapse(history: History) -> tuple[Problem, Ints]:
    """The problem per signature, and the signature of each person (to undo the collapse)."""
    groups, of_person, weight = _signatures(history.group_of)
    start, value, row = _variables(history, groups)
    problem = Problem(
        weight=weight,
        groups=groups,
        start=start,
        value=value,
        row=row,
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
    part = Problem(
        weight=problem.weight[signatures],
        groups=problem.groups[:, signatures],
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
    people = np.flatnonzero((history.group_of == group).any(axis=0))
    text = (
        f"The releases contradict each other: group {history.group_label(group)} of {name} publishes "
        f"{value} {history.row_count[row]} time(s), but each of its {people.size} persons{{who}} is, in "
        f"another release, in a group without {value}."
    )
    who = ", ".join(str(history.ids[int(p)]) for p in people[:20]) + (" …" if people.size > 20 else "")
    raise ContradictionError(text.format(who=f" ({who})"), shareable=text.format(who=""))


def _signatures(group_of: Codes) -> tuple[Codes, Ints, Ints]:
    """The distinct columns of ``group_of``, the column of each person, and how many share it."""
    code = np.zeros(group_of.shape[1], dtype=np.int64)
    for release in group_of:
        span = int(release.max()) - ABSENT + 1
        _, code = np.unique(code * span + (release - ABSENT), return_inverse=True)
    _, first, weight = np.unique(code, return_index=True, return_counts=True)
    return np.ascontiguousarray(group_of[:, first]), code, weight.astype(np.int64)


def _variables(history: History, groups: Codes) -> tuple[Ints, Codes, Codes]:
    """Intersect the values of a signature's groups, starting from the shortest list."""
    rows, span = history.row_count.size, history.values.len()
    size = np.diff(history.group_rows)
    sizes = np.where(groups == ABSENT, np.iinfo(np.int64).max, size[groups])
    base = groups[sizes.argmin(axis=0), np.arange(groups.shape[1])]
    length = size[base]
    signature = np.repeat(np.arange(base.size), length)
    offset = np.arange(signature.size) - np.repeat(np.cumsum(length) - length, length)
    value = history.row_value[np.repeat(history.group_rows[base], length) + offset]
    find = _row_finder(history, span)
    row = np.full((groups.shape[0], signature.size), rows, dtype=np.int32)
    for r, own in enumerate(groups):
        group = own[signature]
        present = group != ABSENT
        found = find(group[present], value[present])
        row[r, present] = found
        missing = np.zeros(signature.size, dtype=bool)
        missing[present] = found == rows
        if missing.any():
            keep = ~missing
            signature, value, row = signature[keep], value[keep], row[:, keep]
    start = np.concatenate([[0], np.cumsum(np.bincount(signature, minlength=base.size))])
    return start.astype(np.int64), value.astype(np.int32), row


def _row_finder(history: History, span: int) -> Callable[[Codes, Codes], npt.NDArray[np.integer]]:
    """A function from (group, value) to the row, or to one past the last row where there is none."""
    rows, groups = history.row_count.size, int(history.first_group[-1])
    key = history.row_group.astype(np.int64) * span + history.row_value
    if groups * span <= _DENSE_LOOKUP:
        table = np.full(groups * span, rows, dtype=np.int32)
        table[key] = np.arange(rows)
        return lambda group, value: table[group.astype(np.int64) * span + value]

    def search(group: Codes, value: Codes) -> Ints:
        wanted = group.astype(np.int64) * span + value
        at = np.minimum(np.searchsorted(key, wanted), rows - 1)
        return np.where(key[at] == wanted, at, rows)

    return search
