"""A history in numbers: persons, groups and values of all releases as codes.

Legend: n persons, R releases, G groups of all releases together (numbered release by release),
rows = pairs (group, value) with a published count above zero, sorted by group, then value. Persons
with an id come first; after them stand the *unnamed* members of groups, who take part in the counts
and are never reported: one column, with a weight, for all who fit the same groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InputError
from showthrough.register.changed import Changed
from showthrough.register.reader import Reader
from showthrough.register.ties import Ties
from showthrough.register.tying import tie
from showthrough.register.unfilled import Unfilled, strange
from showthrough.release.release import Release
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.codes import codes_of, positions
from showthrough.table.frames import listed_values, one_kind
from showthrough.table.ragged import starts

Reasons = npt.NDArray[np.int8]

ABSENT = -1
_FEW = 1000  # entries that are looked at one by one


@dataclass(frozen=True)
class Statements:
    """What somebody knows of sums over persons: lower ≤ Σ coefficient · P(value | person) ≤ upper."""

    lower: Ints  # [statements]
    upper: Ints
    names: tuple[str, ...]
    statement: Ints  # [entries]
    person: Ints  # [entries] column of the history; one with a weight counts with it
    value: Codes  # [entries]
    coefficient: Ints  # [entries]


@dataclass(frozen=True)
class History:
    """The releases in order, with every id, group and value replaced by a code."""

    releases: tuple[Any, ...]  # a draft has something in place of its release
    names: tuple[str, ...]
    ids: pl.Series
    values: pl.Series
    group_of: Codes  # [R, n] group of each person in each release, ABSENT, or G + k: one of candidate set k
    labels: tuple[pl.Series, ...]  # per release: the published names of its groups
    first_group: Ints  # [R + 1] where the groups of each release begin
    row_group: Codes
    row_value: Codes
    row_count: Ints
    split_release: Codes | None = None  # [n] the release that names a person who is part of an id, or ABSENT
    split_why: Reasons | None = None  # [n] why it is only a part, as in splitting.py
    changed: Changed = field(default_factory=Changed)  # whose value changed, and what to do about others
    set_start: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # where each candidate set begins
    set_group: Codes = field(default_factory=lambda: np.empty(0, dtype=np.int32))  # ABSENT: maybe not in the release
    reader: Reader = field(default_factory=lambda: Reader())  # what is known beside the releases
    locatability: tuple[pl.DataFrame | None, ...] = ()  # per release, if persons were located by quasi-identifiers
    unfilled: tuple[Unfilled, ...] = ()  # rows of releases that nobody of the register fits
    weight: Ints | None = None  # [n] persons behind each column: unnamed members are one column; None: one each
    row_upper: Ints | None = None  # [rows] the greatest count of each row; None: row_count is exact
    statements: Statements | None = None
    prior_of: Ints | None = None  # [n] the row of ``prior`` of each person
    prior: Reals | None = None  # [classes, values] weights of belief, 0 or more; None: all alike

    @property
    def named(self) -> int:
        """Persons with an id."""
        return self.ids.len()

    @cached_property
    def group_rows(self) -> Ints:
        """[G + 1] where the rows of each group begin."""
        return starts(np.bincount(self.row_group, minlength=int(self.first_group[-1])))

    def release_of(self, group: int) -> int:
        """The release a group belongs to."""
        return int(np.searchsorted(self.first_group, group, side="right")) - 1

    def group_label(self, group: int) -> Any:
        """The name of a group as published."""
        release = self.release_of(group)
        return self.labels[release][group - int(self.first_group[release])]

    def group_name(self, group: int) -> str:
        """A group as a reader finds it: its label, and its cells where groups are made of cells."""
        release = self.release_of(group)
        published = self.releases[release]
        return str(published.form.group_name(published, group - int(self.first_group[release])))

    def groups_of(self, release: int, person: int) -> list[int]:
        """The groups in which a person can be in a release; ABSENT if it may be in none."""
        code, known = int(self.group_of[release, person]), int(self.first_group[-1])
        if code < known:
            return [code]
        span = slice(self.set_start[code - known], self.set_start[code - known + 1])
        return [int(g) for g in self.set_group[span]]

    def who_fits(self, group: int) -> Ints:
        """The persons who can be in a group."""
        own = np.unique(np.searchsorted(self.set_start, np.flatnonzero(self.set_group == group), side="right") - 1)
        codes = np.append(own + int(self.first_group[-1]), group)
        return np.flatnonzero(np.isin(self.group_of[self.release_of(group)], codes))

    def values_in(self, group: int) -> list[Any]:
        """The values published of a group, once each."""
        span = slice(self.group_rows[group], self.group_rows[group + 1])
        return [self.values[int(v)] for v in self.row_value[span]]


def encode(releases: Sequence[Release], *, changed: Changed | str = "refuse", reader: Reader | None = None) -> History:
    """Lay the releases on top of each other: one code per person, group and value."""
    if not releases:
        raise InputError("There is nothing to infer from: give at least one release.")
    for release in releases:
        if not isinstance(release, Release):
            raise InputError(f"Expected releases, got {type(release).__name__}: see read_release.")
    reader = reader or Reader()
    names = reader.names_for(releases)
    ties = [tie(release, name, reader) for release, name in zip(releases, names, strict=True)]
    member_ids = one_kind([own.ids for own in ties], "ids", names)
    told = [r.tally["value"] for r in releases]
    further = [listed_values(reader.domain, "domain")] if reader.domain else []
    tally_values = one_kind([*told, *further], "values", [*names, "the declared domain"][: len(told) + len(further)])
    ids, id_codes = codes_of(member_ids)
    values, value_codes = codes_of(tally_values, ordered=True)
    refuse_blanks(ids, "ids")
    refuse_blanks(values, "values")
    labels = [release.labels for release in releases]
    first_group = starts(np.array([own.len() for own in labels]))
    group_of, sets, weight = seat(ties, id_codes, first_group, ids.len())
    row_group = np.concatenate(
        [positions(r.tally["group"], own) + first for r, own, first in zip(releases, labels, first_group, strict=False)]
    )
    row_value = np.concatenate(value_codes[: len(releases)])
    row_count = np.concatenate([r.tally["n"].to_numpy() for r in releases])
    order = _sorting(row_group.astype(np.int64) * values.len() + row_value)
    return History(
        releases=tuple(releases),
        names=tuple(names),
        ids=ids,
        values=values,
        group_of=group_of,
        labels=tuple(labels),
        first_group=first_group,
        row_group=row_group[order].astype(np.int32),
        row_value=row_value[order].astype(np.int32),
        row_count=row_count[order].astype(np.int64),
        changed=Changed.of(changed),
        set_start=sets[0],
        set_group=sets[1],
        reader=reader,
        locatability=tuple(own.locatability for own in ties),
        unfilled=_unfilled(releases, names, ties, reader),
        weight=weight,
    )


def _unfilled(
    releases: Sequence[Release], names: Sequence[str], ties: Sequence[Ties], reader: Reader
) -> tuple[Unfilled, ...]:
    """Rows that nobody of the register fits by cells, and by what other releases say."""
    by_cells = [own.unfilled for own in ties if own.unfilled is not None]
    given_way = reader.leeway.strangers
    members = dict(zip(names, (r.members for r in releases), strict=True))
    return (*by_cells, *(strange(name, sum(own), members[name]) for name, own in given_way.items() if sum(own)))


def seat(
    ties: Sequence[Ties], id_codes: Sequence[Codes], first_group: Ints, named: int
) -> tuple[Codes, tuple[Ints, Codes], Ints | None]:
    """The group of each person in each release, or the number of a candidate set; the sets (start, groups); weights.

    Unnamed members of a pool follow the named persons as one column, however many they are.
    """
    pools = [(r, pool) for r, own in enumerate(ties) for pool in own.pools]
    group_of = np.full((len(ties), named + len(pools)), ABSENT, dtype=np.int32)
    sets = CandidateSets(int(first_group[-1]))
    for r, (own, codes) in enumerate(zip(ties, id_codes, strict=True)):
        offset = int(first_group[r])
        if own.plain:
            group_of[r, codes] = own.group + offset
        else:
            group_of[r, codes] = sets.code(own.start, own.group + offset, own.outside)
    for column, (r, pool) in enumerate(pools, start=named):
        group_of[r, column] = sets.code_of(pool.groups + int(first_group[r]))
    weight = None
    if pools:
        weight = np.append(np.ones(named, dtype=np.int64), [pool.members for _, pool in pools]).astype(np.int64)
    return group_of, sets.arrays(), weight


class CandidateSets:
    """Collects sets of groups and gives each distinct one a number above all groups."""

    def __init__(self, groups: int) -> None:
        self._groups = groups
        self._known: dict[bytes, int] = {}
        self._sets: list[Codes] = []

    def code(self, start: Ints, group: Ints, outside: Flags) -> Ints:
        """The code of each candidate list: the group itself if it is the only one, else a set's number."""
        length = np.diff(start)
        code = np.full(length.size, ABSENT, dtype=np.int64)
        one = (length == 1) & ~outside
        code[one] = group[start[:-1][one]]
        several = (length + outside > 1) & (length > 0)
        for size in np.unique(length[several]):
            for maybe in (False, True):
                mine = np.flatnonzero(several & (length == size) & (outside == maybe))
                if mine.size:
                    lists = group[start[mine][:, None] + np.arange(size)]
                    distinct, which = np.unique(lists, axis=0, return_inverse=True)
                    numbers = np.array([self._number(own, maybe) for own in distinct])
                    code[mine] = numbers[which.ravel()]
        return code

    def code_of(self, groups: Ints) -> int:
        """The code of one list of groups."""
        return int(groups[0]) if groups.size == 1 else self._number(groups, maybe=False)

    def arrays(self) -> tuple[Ints, Codes]:
        """Where each set begins, and the groups of all sets."""
        start = starts(np.array([own.size for own in self._sets], dtype=np.int64))
        return start, np.concatenate([np.empty(0, dtype=np.int32), *self._sets])

    def _number(self, groups: Ints, maybe: bool) -> int:
        own = np.concatenate([[ABSENT] if maybe else [], groups]).astype(np.int32)
        key = own.tobytes()
        if key not in self._known:
            self._known[key] = self._groups + len(self._sets)
            self._sets.append(own)
        return self._known[key]


def refuse_blanks(entries: pl.Series, what: str) -> None:
    """Entries that differ only in blanks around them would be taken for different persons or values."""
    if entries.dtype != pl.String:
        return
    if entries.len() <= _FEW and not any(e[:1].isspace() or e[-1:].isspace() for e in entries.to_list()):
        return
    trimmed = entries.str.strip_chars()
    if (entries != trimmed).any() and trimmed.n_unique() < entries.len():
        raise InputError(
            f"Some {what} differ only in blanks around them, within a release or between releases: trim them, or they "
            "count as different."
        )


def _sorting(key: Ints) -> Ints | slice:
    """How to put a key in order: not at all where it is."""
    return slice(None) if (key[1:] > key[:-1]).all() else np.argsort(key)
