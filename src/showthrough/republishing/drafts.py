"""Proposals as drafts: from codes to codes, judged by the posterior and by the criteria without being published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.table import Table
from showthrough.criteria.counts import Counted, GroupCounts
from showthrough.inference.draft import Draft
from showthrough.inference.earlier import required
from showthrough.inference.infer import first_draft
from showthrough.inference.posterior import Posterior
from showthrough.progress import Progress
from showthrough.register.reader import Reader
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.tied import joint, reader_of, tied_proposal
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.codes import positions
from showthrough.table.frames import one_kind, scalar


@dataclass(frozen=True, eq=False)
class Drafts:
    """Everybody of a table looked up once in the posterior of the past; then any grouping of them can be judged."""

    table: Table
    past: Past
    before: Posterior | None
    progress: Progress = field(default_factory=Progress)

    @cached_property
    def _ids(self) -> pl.Series:
        """[rows] the ids of the table, of the kind that the past has."""
        ids = scalar(self.table.frame[self.table.id or ""], "ids")
        return ids if self.before is None else one_kind([self.before.ids, ids], "ids", ["the history", "the table"])[1]

    @cached_property
    def _person(self) -> Ints:
        """[rows] everybody's place in the past, or −1."""
        if self.before is None:
            return np.full(self.table.rows, -1, dtype=np.int64)
        return positions(self._ids, self.before.ids).astype(np.int64)

    @cached_property
    def _reader(self) -> Reader | None:
        """What the reader knows before the first release; None: nothing."""
        return reader_of(self.past.known, self.past.values) if self.past.known else None

    @property
    def by_codes(self) -> bool:
        """Whether ids keep their kind and nobody is split: otherwise a draft has to be read like a release."""
        return self.past.choice != "split" and (self.before is None or self._ids.dtype == self.before.ids.dtype)

    def of(self, proposal: Proposal) -> Draft:
        """The proposal with persons and values as codes."""
        found = proposal.numbered()
        rows = np.flatnonzero(found.group >= 0)
        person, new = self._person[rows], np.flatnonzero(self._person[rows] < 0)
        first = 0 if self.before is None else self.before.ids.len()
        person[new] = first + np.arange(new.size)
        row_group, row_value, row_count = _tally(self.past, found)
        fakes = np.bincount(found.counterfeit_group, minlength=int(row_group.max(initial=-1)) + 1)
        return Draft(
            person,
            found.group[rows],
            self._ids.gather(rows[new]),
            self.past.values,
            row_group,
            row_value,
            row_count,
            fakes.astype(np.int64),
        )

    def posterior(self, proposal: Proposal) -> Posterior:
        """What readers who know everybody's group would learn from the past and the proposal."""
        if not self.by_codes:
            release = tied_proposal(self.table, self.past, proposal)
            if self.before is None:
                return joint([release], changed=self.past.choice, known=self.past.known, progress=self.progress)
            return required(self.before.extend(release, progress=self.progress))
        draft = self.of(proposal)
        if self.before is None:
            return required(first_draft(draft, self._reader, progress=self.progress))
        return required(self.before.considering(draft, progress=self.progress))

    def satisfies(self, proposal: Proposal, criteria: Sequence[Any]) -> bool:
        """Whether the criteria hold for the release that the proposal makes."""
        counted = counts_of(self.past, proposal)
        return all(criterion.check(counted).holds for criterion in criteria)

    def failing(self, proposal: Proposal, criteria: Sequence[Any]) -> Flags:
        """[groups] where a criterion does not hold."""
        counted = counts_of(self.past, proposal)
        found = np.zeros(counted.counts.groups, dtype=bool)
        for criterion in criteria:
            ready = criterion.fitted(counted)
            found |= ~ready.met(ready.level(counted.counts))
        return found


def counts_of(past: Past, proposal: Proposal) -> Counted:
    """What the criteria look at: values per group as they would be published, and how many members are real."""
    found = proposal.numbered()
    rows = np.flatnonzero(found.group >= 0)
    rank, labels = past.in_order
    group = np.concatenate([found.group[rows], found.counterfeit_group]).astype(np.int64)
    value = rank[np.concatenate([past.value[rows], found.counterfeit_value])]
    used, value = np.unique(value, return_inverse=True)
    shown = labels if used.size == labels.len() else labels.gather(used)
    counts = GroupCounts.from_rows(group, value, values=used.size).named(shown)
    real = np.bincount(found.group[rows], minlength=counts.groups) if found.counterfeits else None
    return Counted(counts, lambda asked: pl.DataFrame({"group": asked + 1}), real=real)


def _tally(past: Past, found: Proposal) -> tuple[Codes, Codes, Ints]:
    """Group, value and count of everything that is published, sorted."""
    rows, span = np.flatnonzero(found.group >= 0), past.values.len()
    group = np.concatenate([found.group[rows], found.counterfeit_group]).astype(np.int64)
    value = np.concatenate([past.value[rows], found.counterfeit_value])
    key, count = np.unique(group * span + value, return_counts=True)
    return (key // span).astype(np.int32), (key % span).astype(np.int32), count.astype(np.int64)
