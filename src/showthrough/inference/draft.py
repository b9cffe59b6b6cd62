"""A release that is not written yet: who would be in which group, in codes.

Somebody who looks for the next release tries many groupings. Each goes from codes to codes: no table, no
release, and nothing of the past is read again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from showthrough.inference.history import ABSENT, History
from showthrough.table.arrays import Codes, Ints
from showthrough.table.codes import positions
from showthrough.table.frames import one_kind


@dataclass(frozen=True, eq=False)
class Draft:
    """Groups are numbered from 0 without gaps; every group publishes something."""

    person: Ints  # [members] place among the ids of the history; newcomers are numbered behind them
    group: Codes  # [members]
    newcomers: pl.Series  # their ids, in order
    values: pl.Series  # every value that it may publish
    row_group: Codes  # [rows] ascending
    row_value: Codes  # [rows] place in ``values``, each once in a group
    row_count: Ints  # [rows] above 0
    counterfeits: Ints  # [groups] members of each group who are nobody
    name: str = "the draft"


@dataclass(frozen=True)
class Unwritten:
    """Stands where a draft's release would stand in a history."""

    name: str

    @property
    def form(self) -> Unwritten:
        """It is of no kind yet."""
        return self

    def group_name(self, release: object, at: int) -> str:  # noqa: ARG002 - as kinds are asked
        """The number of the group is all there is."""
        return str(at)


def nobody(ids: pl.Series, values: pl.Series) -> History:
    """A history before its first release, with ids and values of some kind."""
    none = np.empty(0, dtype=np.int32)
    return History(
        releases=(),
        names=(),
        ids=ids.clear(),
        values=values.sort(),
        group_of=np.empty((0, 0), dtype=np.int32),
        labels=(),
        first_group=np.zeros(1, dtype=np.int64),
        row_group=none,
        row_value=none,
        row_count=np.empty(0, dtype=np.int64),
    )


def grown(history: History, draft: Draft) -> History:
    """The history with a draft at its end; everybody's group must be known."""
    values, old_value, new_value = _joined_values(history, draft)
    history = history.uninformed()
    before, old = history.first_group[-1], history.named
    groups, pools = draft.counterfeits.size, np.flatnonzero(draft.counterfeits)
    named, unnamed = old + draft.newcomers.len(), history.group_of.shape[1] - old
    group_of = np.full((len(history.names) + 1, named + unnamed + pools.size), ABSENT, dtype=np.int32)
    group_of[:-1, :old] = history.group_of[:, :old]
    group_of[:-1, named : named + unnamed] = history.group_of[:, old:]
    group_of[-1, draft.person] = before + draft.group
    group_of[-1, named + unnamed :] = before + pools
    weight = None
    if unnamed or pools.size:
        past = np.ones(unnamed, dtype=np.int64) if history.weight is None else history.weight[old:]
        weight = np.concatenate([np.ones(named, dtype=np.int64), past, draft.counterfeits[pools]])
    order = np.lexsort((new_value, draft.row_group))
    labels = pl.Series("group", np.arange(groups, dtype=np.int64))
    return replace(
        history,
        releases=(*history.releases, Unwritten(draft.name)),
        names=(*history.names, draft.name),
        ids=pl.concat([history.ids, draft.newcomers.alias(history.ids.name).cast(history.ids.dtype)]),
        values=values,
        group_of=group_of,
        labels=(*history.labels, labels),
        first_group=np.append(history.first_group, before + groups),
        row_group=np.concatenate([history.row_group, draft.row_group[order] + np.int32(before)]).astype(np.int32),
        row_value=np.concatenate([old_value, new_value[order]]).astype(np.int32),
        row_count=np.concatenate([history.row_count, draft.row_count[order]]),
        locatability=(*history.locatability, None),
        weight=weight,
    ).informed()


def _joined_values(history: History, draft: Draft) -> tuple[pl.Series, Codes, Codes]:
    """All values sorted, and the codes of the rows of the history and of the draft among them."""
    mine, theirs = one_kind([history.values, draft.values], "values", ["the history", draft.name])
    at = positions(theirs, mine)
    if mine.dtype == history.values.dtype and (at >= 0).all():
        return history.values, history.row_value, at[draft.row_value].astype(np.int32)
    values = pl.concat([mine, theirs.alias(mine.name)]).unique().sort()
    old, new = positions(mine, values), positions(theirs, values)
    return values, old[history.row_value].astype(np.int32), new[draft.row_value].astype(np.int32)
