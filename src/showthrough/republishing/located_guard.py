"""A guard against readers who locate persons by quasi-identifiers, instead of knowing everybody's group.

There are two starts: the last groups with newcomers where they fit, and the groups of the method. Where one does not
keep the policy, groups with somebody over a limit join their neighbours, or whoever is over it is withheld where that
is allowed, whichever leaves fewer over it, again and again. Who is over it although withheld has a value that others
who fit the same earlier groups turned out not to have: a few of these are withheld then, and more where that does not
help. Every attempt is judged by a full inference of the history with what would be published.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.policy.phrases import are, people
from showthrough.republishing.kept_cells import kept_cells
from showthrough.republishing.people import People
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.refusing import nearest
from showthrough.republishing.repairs import without
from showthrough.republishing.search import ROUNDS, Search, started
from showthrough.table.arrays import Flags

STALE = 5  # rounds in which nothing becomes better, after which another start is taken
FEW = 3  # neighbours of a person, withheld at a time; twice as many after each round that did not help
ENOUGH = 0.75  # of the persons over a limit: where withholding leaves no more, merging is not looked at


def by_location(search: Search, base: Proposal | None) -> None:
    """Fill the search with proposals that keep the policy, or come near."""
    guard = search.guard
    kept = kept_cells(guard.table, guard.past, search.drafts, tuple(guard.criteria))
    for name, start in (("the last groups", kept), ("the method", base)):
        if start is None or search.late:
            continue
        guard.progress.stage(f"guarding {name} against readers who locate persons")
        over = _tried(search, name, start.numbered())
        if over.any() and not search.found:
            _improved(search, name, start.numbered(), over)
    if not search.found and not search.late and not guard.best_effort:
        _in_one_group(search)


def _in_one_group(search: Search) -> None:
    """The table as one group, which tells least; what finer groups left is said with it."""
    name, whole = "one group", Proposal(np.zeros(search.guard.table.rows, dtype=np.int32))
    search.tried[name] = None
    words = "finer groups leave {over:person|persons} over a limit (best_effort=True publishes them)"
    finer = nearest(search)
    steps = [] if finer is None else [Remark.of("finer", words, over=finer)]
    if not search.over(whole).any():
        search.keep(whole, (started(name, whole), *steps))


def _tried(search: Search, name: str, start: Proposal) -> People:
    """Who is over a limit with a start, which is kept if nobody is."""
    search.tried[name] = None
    over = search.over(start)
    if not over.any():
        search.keep(start, (started(name, start),))
    return over


def _improved(search: Search, name: str, proposal: Proposal, over: People) -> None:
    """Withhold records or merge groups, whichever leaves fewer persons over a limit, as long as that helps."""
    steps = [started(name, proposal), Remark.of("over", "{over:person|persons} would be over a limit", over=over.sum())]
    stale = 0
    for _ in range(ROUNDS):
        persons = over.sum()
        search.guard.progress.stage(f"{people(persons)} {are(persons)} over a limit for readers who locate them")
        judged: list[tuple[People, Proposal, Remark]] = []
        for found in _ways(search, proposal, over, stale):
            judged.append((search.over(found[0]), *found))
            if judged[-1][0].sum() <= ENOUGH * persons:
                break
        better = min(judged, key=lambda one: one[0].sum(), default=None)
        helps = better is not None and better[0].sum() < persons
        stale = 0 if helps else stale + 1
        if stale > STALE:
            return
        if better is None or better[0].sum() > persons:
            continue
        over, proposal = better[:2]
        steps.append(better[2])
        if not over.any():
            search.keep(proposal, tuple(steps))
            return


def _ways(search: Search, proposal: Proposal, over: People, stale: int) -> Iterator[tuple[Proposal, Remark]]:
    """What may be done next that withholds little; merging where it was not tried of the same yet."""
    if not search.late:
        found = _withheld(search, proposal, over, FEW << stale)
        if found is not None and not found[0].cost[0]:
            yield found
    if not search.late and not stale:
        found = search.merged(proposal, over)
        if found is not None:
            yield found


def _withheld(search: Search, proposal: Proposal, over: People, few: int) -> tuple[Proposal, Remark] | None:
    """Without the records of persons over a limit; if that does not help, without some who tell of them."""
    inside = proposal.group >= 0
    own = search.rows_of(over) & inside
    if not search.guard.hold_back or (own.any() and few == FEW):
        return search.withheld(proposal, over)
    rows = (own | _telling(search, proposal, over, few)) & inside
    if not rows.any() or not (inside & ~rows).any():
        return None
    words = "withheld {records:record|records} of them and their neighbours"
    return without(search.guard.past, proposal, rows), Remark.of("withheld", words, records=rows.sum())


def _telling(search: Search, proposal: Proposal, over: People, few: int) -> Flags:
    """[rows] who fits an earlier group with somebody over a limit, and lost most of that person's likeliest value."""
    after = search.posterior(proposal)
    table = search.guard.table
    here = table.frame[table.id or ""].cast(pl.String)
    if after is None or search.before is None:
        return np.zeros(here.len(), dtype=bool)
    now, then = (
        p.to_frame().select(pl.col("id", "value").cast(pl.String), pl.col("p")) for p in (after, search.before)
    )
    concerned = now.filter(pl.col("id").is_in(over.ids.filter(pl.Series(over.over)).implode()))
    likeliest = concerned.sort("p", "value").group_by("id", maintain_order=True).last().select("id", "value")
    fitting = [after.groups_of(name).drop_nulls("group") for name in after.names[:-1]]
    links = [own.select(pl.col("id").cast(pl.String), "group") for own in fitting]
    mates = pl.concat(
        [
            likeliest.join(own, on="id").join(own, on="group", suffix="_mate").select("id", "value", "id_mate")
            for own in links
        ]
    ).unique(maintain_order=True)
    mates = mates.filter(pl.col("id_mate").is_in(here.filter(pl.Series(proposal.group >= 0)).implode()))
    mates = mates.join(then, left_on=["id_mate", "value"], right_on=["id", "value"])
    mates = mates.join(now, left_on=["id_mate", "value"], right_on=["id", "value"], how="left", suffix="_now")
    mates = mates.with_columns(lost=pl.col("p") - pl.col("p_now").fill_null(0.0)).filter(pl.col("lost") > 0)
    first = mates.sort("lost", "id_mate", descending=[True, False]).group_by("id", maintain_order=True).head(few)
    return here.is_in(first["id_mate"].implode()).to_numpy()
