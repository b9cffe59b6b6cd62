"""Releases as read by somebody who knows who is in which group, and what the table costs in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from showthrough.anonymizers.table import Table
from showthrough.inference.earlier import required
from showthrough.inference.infer import infer
from showthrough.inference.posterior import Posterior
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal


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


def joint(releases: Sequence[Release], *, changed: str = "refuse", progress: Progress | None = None) -> Posterior:
    """The posterior of all of them, everybody tied by id."""
    return required(infer([tied(r) for r in releases], changed=changed, contradictions="refuse", progress=progress))
