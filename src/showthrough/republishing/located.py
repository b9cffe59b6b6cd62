"""Generalized releases as read by somebody who locates persons by quasi-identifiers instead of knowing their groups.

m-invariance promises 1/m to readers who know everybody's group. Readers who only know where somebody
fits are told less, but their posterior is another one: where extents overlap, a person may fit groups that
share values, and those become likelier than 1/m. Merging the groups that such a person fits ends that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from showthrough.anonymizers.table import Table
from showthrough.errors import InputError, NotConvergedError
from showthrough.inference.arrays import Flags, Ints
from showthrough.inference.posterior import Posterior
from showthrough.inference.run import infer
from showthrough.policy.policy import SLACK
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.republishing.proposal import Proposal

ROUNDS = 30


@dataclass(frozen=True, eq=False)
class Located:
    """Persons of the table whose likeliest value exceeds a limit for readers who locate them."""

    limit: float
    over: int
    persons: int
    reason: str = ""  # why it could not be found out
    posterior: Posterior | None = None

    def __str__(self) -> str:
        if self.reason:
            return f"Located by quasi-identifiers: not known, since {self.reason}"
        return (
            f"Located by quasi-identifiers instead of ids, {self.over} of {self.persons} persons of the table have a "
            f"value likelier than {self.limit:.4g}."
        )


def located(table: Table, releases: Sequence[Release], limit: float, *, changed: str = "refuse") -> Located:
    """Infer with the table as the register of all releases without ids."""
    register = Register.of(table.frame, id=table.id or "", quasi=table.quasi)
    try:
        post = infer(releases, register=register, changed=changed)
    except (InputError, NotConvergedError) as problem:  # moved persons contradict what was published of them
        return Located(limit, 0, table.rows, problem.shareable)
    here = post.history.ids.cast(pl.String).is_in(table.frame[table.id or ""].cast(pl.String).implode()).to_numpy()
    return Located(limit, int((_over(post, limit) & here).sum()), table.rows, posterior=post)


def without_overlaps(
    proposal: Proposal, look: Callable[[Proposal], Located], allowed: Callable[[Proposal], bool]
) -> tuple[Proposal, Located, str]:
    """Merge the groups that persons over the limit fit, until nobody is; the last word of why not, if so."""
    seen = look(proposal)
    for _ in range(ROUNDS):
        if seen.reason or not seen.over or seen.posterior is None:
            return proposal, seen, ""
        better = _merged(proposal, seen.posterior, _over(seen.posterior, seen.limit))
        if better is None:
            return proposal, seen, "Nothing is left to merge: earlier releases alone leave them over the limit."
        if not allowed(better):
            return proposal, seen, "Merging further would put persons over the limit for readers who know the groups."
        proposal, seen = better, look(better)
    return proposal, seen, f"{ROUNDS} rounds of merging did not suffice."


def _over(post: Posterior, limit: float) -> Flags:
    """[named] persons whose likeliest value exceeds the limit."""
    top = post.pairs.p[post.pairs.best]
    over: Flags = (top > limit + SLACK)[post.of_person[: post.history.named]]
    return over


def _merged(proposal: Proposal, post: Posterior, over: Flags) -> Proposal | None:
    """Join, for each person over the limit, the groups of the newest release that it fits; pairs where it is one."""
    h, groups = post.history, int(proposal.group.max(initial=-1)) + 1
    newest = len(h.releases) - 1
    first = int(h.first_group[newest])
    published = np.array([int(label) - 1 for label in h.labels[newest].to_list()], dtype=np.int64)
    parent = np.arange(groups)

    def root(g: int) -> int:
        while parent[g] != g:
            parent[g] = parent[parent[g]]
            g = int(parent[g])
        return g

    for person in np.flatnonzero(over).tolist():
        fits = [int(published[g - first]) for g in h.groups_of(newest, person) if g >= first]
        if len(fits) == 1:  # the group alone tells too much: take the next one in
            fits.append((fits[0] + 1) % groups)
        for other in fits[1:]:
            parent[root(other)] = root(fits[0])
    target: Ints = np.array([root(g) for g in range(groups)])
    if np.unique(target).size == groups:
        return None
    group = np.where(proposal.group >= 0, target[proposal.group], -1).astype(np.int32)
    fakes = target[proposal.counterfeit_group].astype(np.int32)
    return replace(proposal, group=group, counterfeit_group=fakes).numbered()
