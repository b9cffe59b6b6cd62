"""Counterfeits and withheld records that would bring persons under a limit, weighed up all at once.

The influence of every count on the probabilities that are over a limit, or near it, comes from one linear system
(`inference/influence.py`). So each counterfeit that could be added and each record that could be withheld, alone or
with a counterfeit of its value in its place, has an effect before anything is tried. The best by their price are taken
together, one in a group, as many as promise to be enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.inference.influence import Influence, influence
from showthrough.inference.posterior import Posterior
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.people import People
from showthrough.republishing.proposal import Proposal
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.codes import positions

NEAR = 0.004  # how far below its limit a probability begins to count
ENOUGH = 1.2  # times what is to be gained that the changes promise together
_LEAST = 1e-5  # what a change has to promise
_TRIES = 4  # choices, each without what broke a criterion before


@dataclass(frozen=True, eq=False)
class Changes:
    """Single changes of a proposal with what they promise and cost."""

    effect: Reals  # on what is over the limit: below 0 is better
    price: Ints
    row: Ints  # the record that is withheld; −1: none
    group: Ints
    value: Ints  # of the counterfeit, as the past counts values; −1: none

    def best(self, allowed: Flags, promised: float) -> Ints:
        """The best by their price, one in a group, until they promise enough."""
        worth = np.flatnonzero((self.effect < -_LEAST) & allowed)
        worth = worth[np.argsort(self.effect[worth] / self.price[worth], kind="stable")]
        _, first = np.unique(self.group[worth], return_index=True)
        worth = worth[np.sort(first)]
        reached = np.cumsum(-self.effect[worth])
        return worth[: int(np.searchsorted(reached, promised)) + 1]

    def made(self, chosen: Ints, proposal: Proposal) -> Proposal:
        """The proposal with some of the changes."""
        group, row = proposal.group.copy(), self.row[chosen]
        group[row[row >= 0]] = -1
        fakes = chosen[self.value[chosen] >= 0]
        return Proposal(
            group,
            np.append(proposal.counterfeit_group, self.group[fakes]).astype(np.int32),
            np.append(proposal.counterfeit_value, self.value[fakes]).astype(np.int32),
            proposal.remarks,
        )


def steered(
    drafts: Drafts, criteria: tuple[object, ...], proposal: Proposal, seen: tuple[Posterior, People, Flags, float],
    *, hold_back: bool, share: float,
) -> Proposal | None:  # fmt: skip
    """The proposal with the changes that promise most, or a share of them, as far as the criteria allow.

    ``seen`` are the posterior with the proposal, who is over a limit, who counts, and the limit.
    """
    post, over, concerned, limit = seen
    surer = post.ids.cast(pl.String).is_in(over.ids.filter(pl.Series(over.over)).implode()).to_numpy()
    wanted = float((post.largest()[surer] - limit).clip(1e-4).sum())
    changes = _weighed(drafts, proposal, post, influence(post, concerned, limit, NEAR), hold_back=hold_back)
    allowed = np.ones(changes.effect.size, dtype=bool)
    for _ in range(_TRIES):
        chosen = changes.best(allowed, share * ENOUGH * wanted)
        if not chosen.size:
            return None
        found = changes.made(chosen, proposal)
        left = np.unique(np.concatenate([found.group[found.group >= 0], found.counterfeit_group]))
        failing = left[drafts.failing(found, criteria)]  # criteria look at groups that somebody is left in
        if not failing.size:
            return found.inhabited()
        allowed[chosen[np.isin(changes.group[chosen], failing)]] = False
    return None


def _weighed(drafts: Drafts, proposal: Proposal, post: Posterior, seen: Influence, *, hold_back: bool) -> Changes:
    """Every counterfeit with a value that its group publishes, and every record that could be withheld."""
    past, table = drafts.past, drafts.table
    code = positions(past.values.cast(pl.String), post.values.cast(pl.String)).astype(np.int64)
    back = np.full(post.values.len(), -1, dtype=np.int64)
    back[code[code >= 0]] = np.flatnonzero(code >= 0)
    none = np.full(seen.group.size, -1, dtype=np.int64)
    numbers = seen.labels.cast(pl.Int64).to_numpy()[seen.group] - 1  # groups are published by their numbers, from 1 on
    joins = (seen.joining, np.ones_like(none), none, numbers, back[seen.value])
    rows = np.flatnonzero(proposal.group >= 0)
    if not hold_back or not rows.size:
        return Changes(*joins)
    span = post.values.len()
    key = numbers * span + seen.value
    order = np.argsort(key)
    wanted = proposal.group[rows].astype(np.int64) * span + code[past.value[rows]]
    at = order[np.searchsorted(key, wanted, sorter=order)]
    ids = table.frame[table.id or ""].cast(pl.String).gather(rows)
    leaving = seen.leaving[positions(ids, post.ids.cast(pl.String))] - seen.count[at]
    group, own = proposal.group[rows].astype(np.int64), past.value[rows].astype(np.int64)
    alone = (leaving, np.ones_like(rows), rows, group, np.full(rows.size, -1, dtype=np.int64))
    replaced = (leaving + seen.joining[at], np.full(rows.size, 2), rows, group, own)
    return Changes(*(np.concatenate(parts) for parts in zip(joins, alone, replaced, strict=True)))
