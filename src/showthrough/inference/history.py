"""A history in numbers: persons, groups and values of all releases as codes.

Legend: n persons, R releases, G groups of all releases together (numbered release by release),
rows = pairs (group, value) with a published count above zero, sorted by group, then value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import ChangedValueError, InputError
from showthrough.inference.arrays import Codes, Ints
from showthrough.release.release import Release
from showthrough.table.frames import one_kind

ABSENT = -1


@dataclass(frozen=True)
class History:
    """The releases in order, with every id, group and value replaced by a code."""

    releases: tuple[Release, ...]
    names: tuple[str, ...]
    ids: pl.Series
    values: pl.Series
    group_of: Codes  # [R, n] group of each person in each release, or ABSENT
    labels: tuple[pl.Series, ...]  # per release: the published names of its groups
    first_group: Ints  # [R + 1] where the groups of each release begin
    row_group: Codes
    row_value: Codes
    row_count: Ints
    split_release: Codes | None = None  # [n] release of a person that was split off, or ABSENT
    changed: str = "refuse"  # what the caller chose to do with ids whose groups share no value

    @property
    def persons(self) -> int:
        return int(self.group_of.shape[1])

    @cached_property
    def group_rows(self) -> Ints:
        """[G + 1] where the rows of each group begin."""
        sizes = np.bincount(self.row_group, minlength=int(self.first_group[-1]))
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def release_of(self, group: int) -> int:
        """The release a group belongs to."""
        return int(np.searchsorted(self.first_group, group, side="right")) - 1

    def group_label(self, group: int) -> Any:
        """The name of a group as published."""
        release = self.release_of(group)
        return self.labels[release][group - int(self.first_group[release])]

    def values_in(self, group: int) -> list[Any]:
        """The values published of a group, once each."""
        span = slice(self.group_rows[group], self.group_rows[group + 1])
        return [self.values[int(v)] for v in self.row_value[span]]


def encode(releases: Sequence[Release], *, changed: str = "refuse") -> History:
    """Lay the releases on top of each other: one code per person, group and value."""
    if not releases:
        raise InputError("There is nothing to infer from: give at least one release.")
    for release in releases:
        if not isinstance(release, Release):
            raise InputError(f"Expected releases, got {type(release).__name__}: see read_release.")
    names = _names(releases)
    member_ids = one_kind([r.records[r.roles.id] for r in releases], "ids", names)
    tally_values = one_kind([r.tally["value"] for r in releases], "values", names)
    refuse_blanks(member_ids, "ids")
    refuse_blanks(tally_values, "values")
    ids, id_codes = _codes(member_ids)
    values, value_codes = _codes(tally_values, ordered=True)

    group_of = np.full((len(releases), ids.len()), ABSENT, dtype=np.int32)
    labels, first_group, rows = [], [0], []
    for r, release in enumerate(releases):
        own = release.tally["group"].unique(maintain_order=True)
        member_group = positions(release.records[release.roles.group], own) + first_group[-1]
        group_of[r, id_codes[r]] = member_group
        row_group = positions(release.tally["group"], own) + first_group[-1]
        rows.append((row_group, value_codes[r], release.tally["n"].to_numpy()))
        labels.append(own)
        first_group.append(first_group[-1] + own.len())
    row_group = np.concatenate([g for g, _, _ in rows])
    row_value = np.concatenate([v for _, v, _ in rows])
    order = np.lexsort((row_value, row_group))
    return History(
        releases=tuple(releases),
        names=tuple(names),
        ids=ids,
        values=values,
        group_of=group_of,
        labels=tuple(labels),
        first_group=np.array(first_group, dtype=np.int64),
        row_group=row_group[order].astype(np.int32),
        row_value=row_value[order].astype(np.int32),
        row_count=np.concatenate([c for _, _, c in rows])[order].astype(np.int64),
        changed=changed,
    )


def split_persons(history: History, changed: Ints) -> History:
    """One person per release for each person whose value must have changed.

    "If the same person appears multiple times in different releases with different SA values, we
    treat them as different persons" (Wang, Zhu, Du, Teng, section 2).
    """
    split = np.zeros(history.persons, dtype=bool)
    split[changed] = True
    release, person = np.nonzero(history.group_of[:, changed] != ABSENT)
    parts = np.full((len(history.releases), person.size), ABSENT, dtype=np.int32)
    parts[release, np.arange(person.size)] = history.group_of[release, changed[person]]
    kept = np.flatnonzero(~split)
    return replace(
        history,
        ids=history.ids.gather(np.concatenate([kept, changed[person]])),
        group_of=np.concatenate([history.group_of[:, kept], parts], axis=1),
        split_release=np.concatenate([np.full(kept.size, ABSENT), release]).astype(np.int32),
    )


def changed_value_error(history: History, persons: Ints) -> ChangedValueError:
    """Say whose groups share no value, and what the caller can choose."""
    first = int(persons[0])
    groups = [int(g) for g in history.group_of[:, first] if g != ABSENT]
    where = [
        f"group {history.group_label(g)} of {history.names[history.release_of(g)]} with "
        + ", ".join(str(v) for v in history.values_in(g)[:12])
        for g in groups
    ]
    also = f" {len(persons)} persons are concerned in all." if len(persons) > 1 else ""
    rest = (
        f" is in {'; and in '.join(where)}: no value is in all of these groups, so the releases contradict "
        f"each other unless the value of this person changed.{also} Use --changed split (in Python "
        'changed="split") to treat such an id as one person per release.'
    )
    return ChangedValueError(f"Person {history.ids[first]}{rest}", shareable=f"One person{rest}")


def _names(releases: Sequence[Release]) -> list[str]:
    names = [r.name or f"release {k}" for k, r in enumerate(releases, start=1)]
    while len(set(names)) < len(names):
        names = [n if names.count(n) == 1 else f"{n} ({k})" for k, n in enumerate(names, start=1)]
    return names


def refuse_blanks(columns: Sequence[pl.Series], what: str) -> None:
    """Entries that differ only in blanks around them would be taken for different persons or values."""
    if columns[0].dtype != pl.String:
        return
    every = pl.concat([c.rename("entry") for c in columns]).unique()
    trimmed = every.str.strip_chars()
    if (every != trimmed).any() and trimmed.n_unique() < every.len():
        raise InputError(
            f"Some {what} differ only in blanks around them, within a release or between releases: trim them, or they "
            "count as different."
        )


def _codes(columns: Sequence[pl.Series], *, ordered: bool = False) -> tuple[pl.Series, list[Codes]]:
    """All distinct entries (in order of appearance, or sorted) and each column as codes."""
    every = pl.concat([c.rename("entry") for c in columns]).unique(maintain_order=True)
    every = every.sort() if ordered else every
    return every, [positions(c, every) for c in columns]


def positions(column: pl.Series, entries: pl.Series) -> Codes:
    """The position of each element of ``column`` among the distinct ``entries``."""
    index = pl.DataFrame({"entry": entries, "code": np.arange(entries.len(), dtype=np.int32)})
    found = pl.DataFrame({"entry": column}).join(index, on="entry", how="left", maintain_order="left")
    return found["code"].fill_null(ABSENT).to_numpy()
