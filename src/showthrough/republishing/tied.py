"""Releases as read by somebody who knows who is in which group, and what the table costs in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.table import Table
from showthrough.errors import ContradictionError
from showthrough.inference.earlier import required
from showthrough.inference.infer import infer
from showthrough.inference.posterior import Posterior
from showthrough.inference.splitting import ADVICE, CHOICES_OF_CHANGED
from showthrough.progress import Progress
from showthrough.register.informing import informed
from showthrough.register.locating import names_of
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal

_SPLIT = 'changed="split" treats such an id as one person per release.'
_SINCE = (
    "Nothing is published beside releases that contradict each other: give as history= only those since values "
    'changed. An audit of all of them with changed="tolerate" says how many persons that concerns.'
)


def tied(release: Release) -> Release:
    """The release, if everybody in it is tied to a group: by the ids that it publishes, or by the private link."""
    release.groups()  # refused where nobody knows
    return release


def tied_proposal(table: Table, past: Past, proposal: Proposal, *, name: str = "") -> Release:
    """A proposal with everybody tied to a group by id, without quasi-identifiers; groups numbered as in it."""
    rows = np.flatnonzero(proposal.group >= 0)
    ids = table.frame[table.id or ""].gather(rows)
    gap = pl.Series(ids.name, [None] * proposal.counterfeits, dtype=ids.dtype)
    code = np.concatenate([past.value[rows], proposal.counterfeit_value]).astype(np.int64)
    group = np.concatenate([proposal.group[rows], proposal.counterfeit_group]).astype(np.int64)
    frame = pl.DataFrame({"id": pl.concat([ids, gap]), "group": group, "value": past.values.gather(code)})
    fakes = np.bincount(proposal.counterfeit_group)
    return Release.bucketized(
        frame,
        id="id",
        sensitive="value",
        group="group",
        name=name,
        counterfeits={int(g): int(fakes[g]) for g in np.flatnonzero(fakes)} or None,
    )


def joint(
    releases: Sequence[Release],
    *,
    changed: str = "refuse",
    known: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Posterior:
    """The posterior of all of them, everybody tied by id or link; ``known`` is what the reader knows beside them.

    What is known comes with a register, which tells who it speaks of; links still tell the groups.
    """
    every = [tied(r) for r in releases]
    given: dict[str, Any] = {"changed": changed, "contradictions": "refuse", "progress": progress}
    if known:
        named = zip(names_of(every), every, strict=True)
        given |= {**known, "membership": {name: r.link for name, r in named if r.roles.id is None}}
    try:
        return required(infer(every, **given))
    except ContradictionError as error:
        raise advised(error) from None


def advised(error: ContradictionError) -> ContradictionError:
    """A contradiction with what a publisher can do: to publish takes less than to read does."""
    text = error.said.replace(CHOICES_OF_CHANGED, _SPLIT)
    if ADVICE in text:
        text = text.replace(ADVICE, _SINCE)
    parameters = tuple(dict.fromkeys([*error.parameters, "changed", "history"]))
    return type(error)(text, parameters=parameters, contradiction=error.contradiction)


def reader_of(known: Mapping[str, Any], values: pl.Series) -> Reader:
    """Somebody who knows this before any release; values are those that may be published."""
    return informed(Reader.of((), **known, domain=values.to_list()), ())
