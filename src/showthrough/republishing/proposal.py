"""A proposal for the next release: groups, counterfeits and held-back rows, and the release it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.describe import tight_cells
from showthrough.anonymizers.publication import exact_pair
from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.suppression import publication_order
from showthrough.anonymizers.table import Table
from showthrough.errors import InputError
from showthrough.release.kind import Shows
from showthrough.release.kinds import KINDS
from showthrough.release.parts import Source
from showthrough.release.release import Release, from_source
from showthrough.release.roles import make_roles
from showthrough.republishing.past import Past
from showthrough.table.arrays import Codes, Ints

MOST_HELD = 0.1  # share of the records; beyond it a release is hardly one of the table


def _none() -> Codes:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Proposal:
    """Group of each row (−1: held back), and counterfeit values by group; numbered without gaps."""

    group: Codes
    counterfeit_group: Codes = field(default_factory=_none)
    counterfeit_value: Codes = field(default_factory=_none)  # codes of the past's values
    remarks: tuple[Remark, ...] = ()

    @property
    def counterfeits(self) -> int:
        """How many values of nobody are added."""
        return self.counterfeit_group.size

    @property
    def held(self) -> int:
        """How many records are held back."""
        return int((self.group < 0).sum())

    @property
    def price(self) -> int:
        """Counterfeits and records held back together."""
        return self.counterfeits + self.held

    @property
    def cost(self) -> tuple[bool, int]:
        """What is compared: whether too many records are held back to call it a release, then the price."""
        return self.held > MOST_HELD * self.group.size, self.price

    def numbered(self) -> Proposal:
        """The same with groups 0, 1, …"""
        used = np.unique(np.concatenate([self.group[self.group >= 0], self.counterfeit_group]))
        number = np.full(int(used.max(initial=-1)) + 2, -1, dtype=np.int32)
        number[used] = np.arange(used.size)
        return Proposal(number[self.group], number[self.counterfeit_group], self.counterfeit_value, self.remarks)

    def inhabited(self) -> Proposal:
        """The same without groups of counterfeits alone, which are about nobody."""
        real = np.zeros(
            1 + max(int(self.group.max(initial=-1)), int(self.counterfeit_group.max(initial=-1))), dtype=bool
        )
        real[self.group[self.group >= 0]] = True
        kept = real[self.counterfeit_group]
        return replace(
            self, counterfeit_group=self.counterfeit_group[kept], counterfeit_value=self.counterfeit_value[kept]
        ).numbered()

    def repeats(self, values: Codes) -> bool:
        """Whether some group publishes a value more than once; ``values`` are those of the rows."""
        kept = self.group >= 0
        group = np.concatenate([self.group[kept], self.counterfeit_group]).astype(np.int64)
        value = np.concatenate([values[kept], self.counterfeit_value])
        key = group * (int(value.max(initial=0)) + 1) + value
        return bool(np.unique(key).size < key.size)

    def loss(self, table: Table) -> float:
        """What readers lose, in records: NCP of the rows; a counterfeit or a record held back is one lost record."""
        from showthrough.anonymizers.group_loss import group_losses

        size, losses = group_losses(table.columns, self.numbered().group)
        kept = float(size @ losses.mean(axis=1)) if losses.size else 0.0
        return kept + self.price


def started(name: str, start: Proposal) -> Remark:
    """The word on where a search began."""
    groups = int(start.group.max(initial=-1)) + 1
    return Remark.of("start", "{start}: {groups:group|groups}", start=name, groups=groups)


def release_of(
    table: Table, past: Past, proposal: Proposal, *, kind: str, name: str, seed: int, parameters: Mapping[str, Any]
) -> Release:
    """Publish a proposal as exact records or cells, with the number of counterfeits per group."""
    found, form = proposal.numbered(), KINDS[kind]
    if not (found.group >= 0).any():
        raise InputError("Every record would be held back: nothing is left to publish.")
    order = publication_order(found.group, table.value, seed=seed)
    if form.shows is Shows.EXACT:
        extra = found.counterfeit_group.astype(np.int64) + 1, past.values.gather(found.counterfeit_value)
        source = exact_pair(table, order, found.group[order].astype(np.int64) + 1, extra)
    else:
        source = _cells(table, past, found, order)
    numbers = np.bincount(found.counterfeit_group)
    fakes = {int(g) + 1: int(numbers[g]) for g in np.flatnonzero(numbers)} or None
    source = replace(source, where=name or Source.where, counterfeits=fakes)
    trees = table.shape.hierarchies if form.shows is Shows.CELLS else None
    release = from_source(kind, source).called(name, None, parameters, trees)
    if table.id is None or release.roles.id is not None:
        return release
    link = pl.DataFrame({"id": table.frame[table.id].gather(order), "group": found.group[order].astype(np.int64) + 1})
    return release.with_link(link, id=table.id)


def _cells(table: Table, past: Past, found: Proposal, order: Ints) -> Source:
    """Every record, and every counterfeit, with the cells of its group."""
    sensitive, label = table.sensitive or "", table.group_label
    real = table.frame[sensitive].gather(order)
    fake = past.values.gather(found.counterfeit_value).cast(real.dtype)
    groups = np.concatenate([found.group[order], found.counterfeit_group]).astype(np.int64)
    cells = tight_cells(table.columns, found.group)
    columns = {c.name: pl.Series(c.name, texts).gather(groups) for c, texts in zip(table.columns, cells, strict=True)}
    columns[label] = pl.Series(label, groups + 1)
    columns[sensitive] = pl.concat([real, fake.alias(sensitive)])
    rows = pl.DataFrame(columns)
    return Source(rows, make_roles(rows.columns, sensitive=sensitive, group=label, quasi=table.quasi))
