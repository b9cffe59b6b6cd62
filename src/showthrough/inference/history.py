"""A history in numbers: persons, groups and values of all releases as codes.

Legend: n persons, R releases, G groups of all releases together (numbered release by release),
rows = pairs (group, value) with a published count above zero, sorted by group, then value. Persons
with an id come first; after them stand the *unnamed* members of groups, who take part in the counts
and are never reported: one column, with a weight, for all who fit the same groups. Where counts are ranges
there may be fewer of them than the weight says: such a column is *spare*, and each of its members may have the
code `History.nobody` instead of a value. A row may count several values together (a *cover*): its code is above
`nobody`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InputError
from showthrough.inference.noisy_tables import NoisyLayer, NoisyTable, layered, noisy_tables, quiet
from showthrough.inference.row_values import Listing, Together, listing, overlapping, published_values, row_values
from showthrough.inference.statements import Statements, coded, spoken_of
from showthrough.register.changed import Changed
from showthrough.register.informing import informed
from showthrough.register.reader import Reader
from showthrough.register.ties import Ties
from showthrough.register.tying import tied
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
    spare: Flags | None = None  # [n] columns whose members may not exist; None: everybody does
    covers: tuple[Together, ...] = ()  # what the codes above ``nobody`` count together
    statements: Statements | None = None
    prior_of: Ints | None = None  # [n] the row of ``prior`` of each person
    prior: Reals | None = None  # [classes, values] weights of belief, 0 or more; None: all alike
    noise: tuple[NoisyTable, ...] = ()  # what noisy releases say
    strangers: int = 0  # columns at the end of whom statements alone speak

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """The places of the releases themselves; behind each stand its margins."""
        return tuple(k for k, r in enumerate(self.releases) if getattr(r, "part_of", None) is None)

    def layers_of(self, releases: Sequence[int]) -> list[int]:
        """The places of some releases, by their numbers among the heads, and of their margins."""
        ends = [*self.heads[1:], len(self.releases)]
        return [k for r in releases for k in range(self.heads[r], ends[r])]

    @property
    def named(self) -> int:
        """Persons with an id."""
        return self.ids.len()

    @property
    def nobody(self) -> int:
        """The code of a spare member who does not exist."""
        return self.values.len()

    @cached_property
    def group_rows(self) -> Ints:
        """[G + 1] where the rows of each group begin."""
        return starts(np.bincount(self.row_group, minlength=int(self.first_group[-1])))

    def informed(self) -> History:
        """The same with what its reader knows."""
        found = coded(self.reader.informed, self.ids, self.values, self.group_of.shape[1])
        if found.statements is None and found.prior is None:
            return self
        nowhere = np.full((self.group_of.shape[0], found.strangers), ABSENT, dtype=np.int32)
        ones = np.ones(found.strangers, dtype=np.int64)
        return replace(
            self,
            group_of=np.append(self.group_of, nowhere, axis=1),
            weight=None if self.weight is None else np.append(self.weight, ones),
            spare=None if self.spare is None else np.append(self.spare, ones == 0),
            statements=found.statements,
            prior_of=found.prior_of,
            prior=found.prior,
            strangers=found.strangers,
        )

    def uninformed(self) -> History:
        """The same without what its reader knows."""
        kept = self.group_of.shape[1] - self.strangers
        if self.statements is None and self.prior is None:
            return self
        return replace(
            self,
            group_of=self.group_of[:, :kept],
            weight=None if self.weight is None else self.weight[:kept],
            spare=None if self.spare is None else self.spare[:kept],
            statements=None,
            prior_of=None,
            prior=None,
            strangers=0,
        )

    @cached_property
    def inside(self) -> Flags:
        """[R, named] who can be in each release, or be counted in it with noise."""
        found: Flags = self.group_of[:, : self.named] != ABSENT
        for layer in self.noisy_layers:
            for release in {table.release for table in layer.tables}:
                found[release] |= layer.code[: self.named] != ABSENT
        return found

    @cached_property
    def noisy_layers(self) -> tuple[NoisyLayer, ...]:
        """Noisy tables, together where they count the same persons in the same cells."""
        return layered(self.noise, self.ids, self.split_release, self.group_of.shape[1])

    @cached_property
    def several(self) -> Flags:
        """[rows] whether a row counts several values together."""
        return np.asarray(self.row_value > self.nobody)

    @cached_property
    def entries(self) -> Listing:
        """What is published of groups, sorted by group, value and row."""
        if self.covers:
            return listing(self.row_group, self.row_value, self.group_rows.size - 1, self.nobody, self.covers)
        rows = np.arange(self.row_value.size, dtype=np.int32)
        return Listing(self.group_rows, self.row_group, self.row_value, rows)

    def value_name(self, code: int) -> Any:
        """A value, or what several together are called, as published."""
        return self.values[code] if code < self.nobody else self.covers[code - self.nobody - 1].label

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
        entries = self.entries
        span = slice(entries.start[group], entries.start[group + 1])
        return [self.values[int(v)] for v in np.unique(entries.value[span])]


def encode(releases: Sequence[Release], *, changed: Changed | str = "refuse", reader: Reader | None = None) -> History:
    """Lay the releases on top of each other: one code per person, group and value."""
    if not releases:
        raise InputError("There is nothing to infer from: give at least one release.")
    for release in releases:
        if not isinstance(release, Release):
            raise InputError(f"Expected releases, got {type(release).__name__}: see read_release.")
    reader = informed(reader or Reader(), releases)
    names = reader.names_for(releases)
    ties = tied(releases, names, reader)
    noise = noisy_tables(releases, ties)
    member_ids = one_kind([own.ids for own in ties], "ids", names)
    sources = [(name, published_values(r)) for name, r in zip(names, releases, strict=True)]
    sources += [("the declared domain", listed_values(reader.domain, "domain"))] if reader.domain else []
    sources += [("other values", r.elsewhere) for r in releases if r.elsewhere is not None]
    tally_values = one_kind([values for _, values in sources], "values", [source for source, _ in sources])
    if reader.informed is not None:  # a part of a history may not publish what is known
        tally_values.append(spoken_of(reader.informed, tally_values[0].dtype))
    ids, id_codes = codes_of(member_ids)
    values, value_codes = codes_of(tally_values, ordered=True)
    refuse_blanks(ids, "ids")
    refuse_blanks(values, "values")
    published = [quiet(r) for r in releases]
    value_codes = [own[: r.tally.height] if r.noise else own for r, own in zip(published, value_codes, strict=False)]
    labels = [release.labels for release in published]
    first_group = starts(np.array([own.len() for own in labels]))
    seats = seat(ties, id_codes, first_group, ids.len(), [overlapping(r) for r in published])
    row_group = np.concatenate(
        [positions(r.tally["group"], own) + at for r, own, at in zip(published, labels, first_group, strict=False)]
    )
    row_value, covers = row_values(published, value_codes, values.len())
    row_count = np.concatenate([r.tally["n"].to_numpy() for r in published])
    order = _sorting(row_group.astype(np.int64) * (values.len() + 1 + len(covers)) + row_value)
    row_upper = None
    if any(r.upper is not None for r in published):
        most = [r.tally["n"] if r.upper is None else r.upper for r in published]
        row_upper = np.concatenate([own.to_numpy() for own in most])[order].astype(np.int64)
    return History(
        releases=tuple(releases),
        names=tuple(names),
        ids=ids,
        values=values,
        group_of=seats.group_of,
        labels=tuple(labels),
        first_group=first_group,
        row_group=row_group[order].astype(np.int32),
        row_value=row_value[order].astype(np.int32),
        row_count=row_count[order].astype(np.int64),
        changed=Changed.of(changed),
        set_start=seats.set_start,
        set_group=seats.set_group,
        reader=reader,
        locatability=tuple(own.locatability for own in ties),
        unfilled=_unfilled(releases, names, ties, reader),
        weight=seats.weight,
        row_upper=row_upper,
        spare=seats.spare,
        covers=covers,
        noise=noise,
    ).informed()


def _unfilled(
    releases: Sequence[Release], names: Sequence[str], ties: Sequence[Ties], reader: Reader
) -> tuple[Unfilled, ...]:
    """Rows that nobody of the register fits by cells, and by what other releases say."""
    by_cells = [own.unfilled for own in ties if own.unfilled is not None]
    given_way = reader.leeway.strangers
    members = dict(zip(names, (r.members for r in releases), strict=True))
    return (*by_cells, *(strange(name, sum(own), members[name]) for name, own in given_way.items() if sum(own)))


@dataclass(frozen=True)
class Seating:
    """Where everybody can be, with the sets that are spoken of; the persons behind columns, and whether they exist."""

    group_of: Codes
    set_start: Ints
    set_group: Codes
    weight: Ints | None
    spare: Flags | None


def seat(
    ties: Sequence[Ties], id_codes: Sequence[Codes], first_group: Ints, named: int, overlaps: Sequence[Ints] = ()
) -> Seating:
    """The group of each person in each release, or the number of a candidate set.

    Unnamed members of a pool follow the named persons as one column, however many they are; the pools of a margin
    are those of its table. Groups with several rows for one value (``overlaps``) are sets of their own: there the rows
    are the candidates.
    """
    first = [0] * len(ties)  # the column of each release's first pool
    columns = named
    for r, own in enumerate(ties):
        first[r] = columns if own.like is None else first[own.like]
        columns += len(own.pools) if own.like is None else 0
    group_of = np.full((len(ties), columns), ABSENT, dtype=np.int32)
    weight, spare = np.ones(columns, dtype=np.int64), np.zeros(columns, dtype=bool)
    sets = CandidateSets(int(first_group[-1]))
    for r, (own, codes) in enumerate(zip(ties, id_codes, strict=True)):
        offset = int(first_group[r])
        if own.plain:
            group_of[r, codes] = own.group + offset
        else:
            group_of[r, codes] = sets.code(own.start, own.group + offset, own.outside)
        for column, pool in enumerate(own.pools, start=first[r]):
            weight[column], spare[column] = pool.members, pool.spare
            if pool.groups.size:
                group_of[r, column] = sets.code_of(pool.groups + offset, maybe=pool.outside)
        for group in overlaps[r] + offset if overlaps else ():
            group_of[r, group_of[r] == group] = sets.set_of(group)
    known = weight if columns > named else None
    return Seating(group_of, *sets.arrays(), known, spare if spare.any() else None)


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
                    first, which = _distinct(lists)
                    numbers = np.array([self._number(lists[k], maybe) for k in first.tolist()])
                    code[mine] = numbers[which]
        return code

    def code_of(self, groups: Ints, *, maybe: bool = False) -> int:
        """The code of one list of groups; ``maybe`` says that being outside is possible, too."""
        return int(groups[0]) if groups.size == 1 and not maybe else self._number(groups, maybe=maybe)

    def set_of(self, group: int) -> int:
        """The code of a set of one group."""
        return self._number(np.array([group]), maybe=False)

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


def _distinct(lists: Ints) -> tuple[Ints, Ints]:
    """Where each distinct row of a table stands first, and which of them each row is.

    Rows are told apart by a random sum, which wraps around; equal sums of different rows are seen, and then they are
    sorted.
    """
    factors = np.random.default_rng(0).integers(-(2**62), 2**62, lists.shape[1]) | 1
    _, first, which = np.unique(lists.astype(np.int64) @ factors, return_index=True, return_inverse=True)
    if (lists != lists[first[which]]).any():
        _, first, which = np.unique(lists, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()


def refuse_blanks(entries: pl.Series, what: str) -> None:
    """Listing that differ only in blanks around them would be taken for different persons or values."""
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
