"""What was published of the persons of a table before: their last group and its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.made import UNTIED
from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.errors import ChangedValueError, InputError
from showthrough.policy.phrases import have, people
from showthrough.release.ranged import refuse_ranges
from showthrough.release.release import Release
from showthrough.table.arrays import Codes, Ints
from showthrough.table.codes import positions
from showthrough.table.frames import one_kind, scalar
from showthrough.table.frozen import Frozen

CHANGED = ("refuse", "split")  # what to do with a person whose value is none that was published


@dataclass(frozen=True, eq=False)
class Past:
    """The history seen from the rows of a new table; values are codes of ``values``, the table's first.

    A person whose value is not among those of the last group is new under the same id (the paper's
    rule), or refused.
    """

    history: tuple[Release, ...]
    values: pl.Series  # every value of table and history
    value: Codes  # [rows] code of each row's value
    signature: Codes  # [rows] position in ``signatures``, −1: never published
    signatures: tuple[tuple[int, ...], ...]
    last_group: Codes  # [rows] group in the newest release, −1: not in it
    newest: Release | None
    found: int = 0  # rows whose person is in a release of the history
    changed: int = 0  # persons whose value is none of the last group's
    moved: int = 0  # persons whose value is missing in any group that held them
    choice: str = "refuse"  # what to do with changed values, as `infer` takes it
    known: Mapping[str, Any] = field(default_factory=Frozen)  # what the reader knows, as `infer` takes it

    @classmethod
    def of(
        cls,
        table: Table,
        history: Sequence[Release],
        *,
        changed: str = "refuse",
        known: Mapping[str, Any] | None = None,
    ) -> Past:
        """Look every person up, newest release first; ``known`` is what the reader knows, as `infer` takes it."""
        if changed not in CHANGED:
            raise InputError(f"changed is one of {', '.join(CHANGED)}, not {changed!r}.")
        if history and table.id is None:
            raise InputError("Persons are found in earlier releases by their ids: name the id column.")
        if history and table.sensitive is None:
            raise InputError("Re-publishing is about values: name the sensitive column.")
        for release in history:
            refuse_ranges(release, "re-publishing")
        values, codes = _values(table, history)
        value = codes[0][table.value].astype(np.int32)
        signature, last = np.full(table.rows, -1, dtype=np.int64), np.full(table.rows, -1, dtype=np.int64)
        number_of: dict[tuple[int, ...], int] = {}
        other = np.zeros(table.rows, dtype=bool)  # persons whose value is missing in a group that held them
        before = np.zeros(table.rows, dtype=bool)
        for back, (release, own) in enumerate(zip(history[::-1], codes[:0:-1], strict=True)):
            group = _groups(table, release)
            before |= group >= 0
            if back == 0:
                last = group.copy()
            sets = _values_of_groups(release, own)
            number = np.array([number_of.setdefault(s, len(number_of)) for s in sets], dtype=np.int64)
            here = np.where(group >= 0, number[group], -1)
            other[_strange(value, here, tuple(number_of))] = True
            signature = np.where(signature < 0, here, signature)
        given = tuple(number_of)
        strange = _strange(value, signature, given)
        if (persons := int(other.sum())) and changed == "refuse":
            raise ChangedValueError(
                f"{people(persons)} {have(persons)} a value that is not among those of a group that held them in an "
                'earlier release: the value changed. changed="split" publishes them as new persons.',
                parameters=("changed",),
            )
        signature[strange] = -1
        last[strange] = -1
        return cls(
            tuple(history),
            values,
            value,
            signature.astype(np.int32),
            given,
            last.astype(np.int32),
            history[-1] if history else None,
            int(before.sum()),
            strange.size,
            persons,
            changed,
            Frozen(known or {}),
        )

    @cached_property
    def in_order(self) -> tuple[Ints, pl.Series]:
        """[values] the rank of each value, and the values by rank."""
        order = self.values.arg_sort().to_numpy().astype(np.int64)
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size)
        return rank, self.values.gather(order)

    def remark(self) -> Remark | None:
        """How many of the table earlier releases hold; that it is nobody may be ids that are written otherwise."""
        if not self.history:
            return None
        if self.found:
            words = "{found} of {persons:person|persons} of the table are in earlier releases."
            return Remark.of("found", words, found=self.found, persons=self.value.size)
        words = (
            "Inconclusive: nobody of the table is in an earlier release by id, so nothing ties it to what is out there "
            "already. If the persons are the same, write their ids in the same way."
        )
        return Remark.of(UNTIED, words, found=0, persons=self.value.size)

    def part(self, rows: Ints) -> tuple[Codes, Codes]:
        """Values and signatures of some rows."""
        return self.value[rows], self.signature[rows]


def _values(table: Table, history: Sequence[Release]) -> tuple[pl.Series, list[Ints]]:
    """Every value once, and for the table and each release the code of its values (the releases by tally row)."""
    columns = [table.values, *(r.tally["value"] for r in history)]
    names = ["the table", *(r.name or f"release {k}" for k, r in enumerate(history, start=1))]
    same = one_kind([c.alias("value") for c in columns], "values", names)
    every = pl.concat(same).unique(maintain_order=True)
    return every, [positions(c, every).astype(np.int64) for c in same]


def _groups(table: Table, release: Release) -> Ints:
    """The group (by position among its labels) of each row's person, or −1."""
    link = release.groups()
    ids = scalar(table.frame[table.id or ""], "ids")
    mine, theirs = one_kind([ids, link["id"]], "ids", ["the table", release.name or "a release"])
    found = positions(mine, theirs)
    group = positions(link["group"], release.labels).astype(np.int64)
    return np.where(found >= 0, group[found], -1)


def _values_of_groups(release: Release, value: Ints) -> list[tuple[int, ...]]:
    """The values of each group, ascending."""
    group = positions(release.tally["group"], release.labels)
    order = np.lexsort((value, group))
    split = np.searchsorted(group[order], np.arange(1, release.labels.len()))
    return [tuple(part.tolist()) for part in np.split(value[order], split)]


def _strange(value: Codes, signature: Ints, signatures: Sequence[tuple[int, ...]]) -> Ints:
    """Rows whose value is not in their signature."""
    if not signatures:
        return np.empty(0, dtype=np.int64)
    span = int(max(value.max(initial=0), max(max(s, default=0) for s in signatures))) + 1
    allowed = np.unique(np.concatenate([np.array(s, dtype=np.int64) + k * span for k, s in enumerate(signatures)]))
    published = np.flatnonzero(signature >= 0)
    return published[~np.isin(signature[published] * span + value[published], allowed)]
