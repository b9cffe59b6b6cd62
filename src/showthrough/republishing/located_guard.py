"""A guard against readers who locate persons by quasi-identifiers, instead of knowing everybody's group.

Two starts stand side by side: the last groups with newcomers where they fit, and the groups of the method. If neither
keeps the policy, groups with somebody over a limit join their neighbours, or whoever is over it is withheld where that
is allowed, whichever leaves fewer over it, again and again. Every attempt is judged by a full inference of the history
with what would be published.
"""

from __future__ import annotations

import numpy as np

from showthrough.anonymizers.remark import Remark
from showthrough.republishing.kept_cells import kept_cells
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.search import ROUNDS, Search, started

STALE = 3  # rounds in which nothing becomes better, after which another start is taken


def by_location(search: Search, base: Proposal | None) -> None:
    """Fill the search with proposals that keep the policy, or come near."""
    guard = search.guard
    kept = kept_cells(guard.table, guard.past, search.drafts, tuple(guard.criteria))
    one_group = Proposal(np.zeros(guard.table.rows, dtype=np.int32))
    starts = [(name, one.numbered()) for name, one in (("the last groups", kept), ("the method", base)) if one]
    left: list[tuple[int, str, Proposal]] = []
    for name, start in starts:
        guard.progress.stage(f"guarding {name} against readers who locate persons")
        if not _tried(search, name, start):
            left.append((search.over(start).sum(), name, start))
    for _, name, start in sorted(left, key=lambda one: one[0]):
        if search.found or search.late:
            return
        _improved(search, name, start)
    if not search.found and not search.late:
        _tried(search, "one group", one_group)


def _tried(search: Search, name: str, start: Proposal) -> bool:
    """Keep a start if nobody is over a limit."""
    search.tried[name] = None
    if search.late or search.over(start).any():
        return False
    search.keep(start, (started(name, start),))
    return True


def _improved(search: Search, name: str, start: Proposal) -> None:
    """Merge groups or withhold records, whichever leaves fewer persons over a limit, as long as that helps."""
    proposal, over = start, search.over(start)
    fewest, stale = over.sum(), 0
    steps = [started(name, start), Remark.of("over", "{over:person|persons} would be over a limit", over=fewest)]
    for _ in range(ROUNDS):
        ways = [way for way in (search.withheld(proposal, over), search.merged(proposal, over)) if way is not None]
        judged = [(search.over(one), one, step) for one, step in ways if not one.cost[0] and not search.late]
        if not judged:
            return
        over, proposal, step = min(judged, key=lambda one: one[0].sum())
        steps.append(step)
        if not over.any():
            search.keep(proposal, tuple(steps))
            return
        stale = 0 if over.sum() < fewest else stale + 1
        fewest = min(fewest, over.sum())
        if stale == STALE:
            return
