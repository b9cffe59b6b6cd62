"""A guard against readers who locate persons by quasi-identifiers, instead of knowing everybody's group.

There are up to three starts, nearest to the limits first: the last groups with newcomers where they fit, the same with
newcomers in groups of their own, and the groups of the method. Where one does not
keep the policy, records first go to other groups that they fit, which costs nothing; then changes are tried round by
round, and the one that leaves the fewest persons over a limit is kept: who
is over it is withheld, groups with somebody over it join their neighbours, counterfeits are added and records withheld
where they have the most influence (`steering.py`). Who is over it although withheld has a value that others who fit the
same earlier groups turned out not to have: a few of these are withheld or grouped together, and more where that does
not help. A full inference of a large history takes as long as many rough ones, so there rounds are judged roughly, and
what they come to by a full inference, as everything is that is kept.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.inference import graphs
from showthrough.inference.posterior import Posterior
from showthrough.policy.phrases import are, people
from showthrough.republishing.filled import filled
from showthrough.republishing.kept_cells import kept_cells
from showthrough.republishing.people import People
from showthrough.republishing.proposal import Proposal, started
from showthrough.republishing.refusing import nearest
from showthrough.republishing.repairs import without
from showthrough.republishing.search import SMALL, Search
from showthrough.republishing.sorted_out import SortedOut
from showthrough.republishing.steering import Seen, Steering
from showthrough.republishing.taken_back import TakenBack
from showthrough.table.arrays import Flags
from showthrough.table.codes import positions

MANY = 100  # rounds at a time
CYCLES = 12  # full inferences of what rounds came to
IDLE = 3  # of these, in which nothing becomes better
LAST = 2.0  # times what a full inference took, for another
LOST = 0.1  # persons over a limit that one lost record more is worth; a counterfeit counts as one
WORSE = 1.5  # times as many persons over a limit: after that, neighbours are not joined any more
ASTRAY = 2  # persons more than in the best attempt, from which rounds still go on
STALE = 6  # rounds in which nothing becomes better, after which another start is taken
SOON = 4  # of these, where they are rough: a full inference follows
FEW = 3  # neighbours of a person at a time; twice as many after each round that did not help
FINEST = 50  # a part of what was taken, within which it is found out how much of it is needed
SINGLY = 12  # persons over a limit up to which single changes are tried
TRIALS = 12  # of those, at a time
STILL = 1e-6  # a probability that moved by less did not
PASSES, FINER = 250, 2  # passes of a rough inference; twice as many, so often, where nothing helps

ChangedProposal = tuple[Proposal, Remark]


def by_location(search: Search, base: Proposal | None) -> None:
    """Fill the search with proposals that keep the policy, or come near."""
    guard = search.guard
    for name, start in _starts(search, base):
        if search.late or search.found:
            break
        guard.progress.stage(f"guarding {name} against readers who locate persons")
        search.tried[name] = None
        began = time.monotonic()
        over = search.over(start)
        if not over.any():
            search.keep(start, (started(name, start),))
        else:
            _Improving(search, time.monotonic() - began).run(name, start, over)
    if not search.found and not search.late and not guard.best_effort:
        _in_one_group(search)


def _starts(search: Search, base: Proposal | None) -> list[tuple[str, Proposal]]:
    """What is begun with: whatever puts the fewest persons over a limit first, roughly where full answers are slow."""
    guard, criteria = search.guard, tuple(search.guard.criteria)
    kept = kept_cells(guard.table, guard.past, search.drafts, criteria)
    apart = None if kept is None else kept_cells(guard.table, guard.past, search.drafts, criteria, guard.grouped)
    if apart is not None and kept is not None and np.array_equal(apart.group, kept.group):
        apart = None  # there were slots for all newcomers
    named = (("the last groups", kept), ("the last groups and newcomers of their own", apart), ("the method", base))
    found = [(name, one.numbered()) for name, one in named if one is not None] or _with_counterfeits(search)
    search.rough = PASSES if guard.table.rows > SMALL else 0
    try:
        told = [search.over(one).sum() for _, one in found if len(found) > 1 and not search.late]
    finally:
        search.rough, search.asked = 0, None
    order = sorted(range(len(told)), key=told.__getitem__)
    return [found[k] for k in order] + found[len(told) :]


def _with_counterfeits(search: Search) -> list[tuple[str, Proposal]]:
    """Starts where no grouping of the table satisfies the criteria: values of nobody make up for that."""
    guard = search.guard
    kept = kept_cells(guard.table, guard.past, search.drafts, ())
    whole = Proposal(np.zeros(guard.table.rows, dtype=np.int32))
    named = (("the last groups with counterfeits", kept), ("one group with counterfeits", whole))
    full = [(name, filled(guard.past, one, search.failing)) for name, one in named if one is not None]
    return [(name, one) for name, one in full if search.satisfies(one)]


def _in_one_group(search: Search) -> None:
    """The table as one group, which tells least; what finer groups left is said with it."""
    name, whole = "one group", Proposal(np.zeros(search.guard.table.rows, dtype=np.int32))
    search.tried[name] = None
    words = "finer groups leave {over:person|persons} over a limit (best_effort=True publishes them)"
    finer = nearest(search)
    steps = [] if finer is None else [Remark.of("finer", words, over=finer)]
    if not search.over(whole).any():
        search.keep(whole, (started(name, whole), *steps))


@dataclass(eq=False)
class _Improving:
    """Changes of a start, round by round, as long as fewer persons are over a limit."""

    search: Search
    seconds: float  # that a full inference takes
    merging: bool = True  # whether groups that join their neighbours have not made it much worse yet
    steering: Steering | None = None  # of the last proposal that was asked for
    judged: set[tuple[int, bytes]] = field(default_factory=set)  # passes, and proposals by their hashes

    @property
    def slow(self) -> bool:
        """Whether rounds are judged roughly; by the size, so that no release depends on how quick a machine is."""
        return self.search.guard.table.rows > SMALL

    @property
    def ending(self) -> bool:
        """Whether there is just time for a last full inference."""
        return time.monotonic() + LAST * self.seconds > self.search.deadline

    def run(self, name: str, start: Proposal, over: People) -> None:
        """Keep what leaves nobody over a limit, if that is found."""
        proposal = start
        words = "{over:person|persons} would be over a limit"
        steps = [started(name, proposal), Remark.of("over", words, over=over.sum())]
        fewest, idle, self.search.suspects = over.sum(), 0, pl.Series(dtype=pl.String)
        for _ in range(CYCLES):
            found = self._rounds(proposal, over, steps, idle)
            if found is not proposal:
                proposal, began = found, time.monotonic()
                over = self.search.over(proposal)
                self.seconds = max(self.seconds, time.monotonic() - began)
                self.search.suspects = over.ids.filter(pl.Series(over.over))
            if not over.any():
                self._keep(start, proposal, steps)
                return
            idle = 0 if over.sum() < fewest else idle + 1
            fewest = min(fewest, over.sum())
            if not self.slow or idle > IDLE or self.ending:
                return

    def _keep(self, start: Proposal, proposal: Proposal, steps: list[Remark]) -> None:
        """Keep what leaves nobody over a limit, and the same with less taken if that is found."""
        search, lean = self.search, not self.slow
        search.keep(proposal, tuple(steps), lean=lean)
        found = self._taken_back(start, proposal)
        if found is not None and not search.over(found[0]).any():
            search.keep(found[0], (*steps, found[1]), lean=lean)

    def _taken_back(self, start: Proposal, proposal: Proposal) -> ChangedProposal | None:
        """As many records back and as few counterfeits as leave nobody over a limit, roughly where that is slow."""
        search, after = self.search, self.search.posterior(proposal)
        if after is None or not proposal.price or self.ending:
            return None
        at = positions(self._ids, after.ids.cast(pl.String))
        back = TakenBack.of(start, proposal, search.guard.past, np.where(at >= 0, after.largest()[at], 1.0))
        search.rough, search.asked = PASSES << FINER if self.slow else 0, None
        most, least, best = back.steps + 1, 0, None
        try:
            while most - least > 1 + back.steps // FINEST and not self.ending:
                number = (least + most) // 2
                tried = back.first(number)
                if search.satisfies(tried) and not search.over(tried).any():
                    least, best = number, tried
                else:
                    most = number
        finally:
            search.rough, search.asked = 0, None
        if best is None:
            return None
        words = "took back {records:withheld record|withheld records} and {counterfeits:counterfeit|counterfeits}"
        figures = {"records": proposal.held - best.held, "counterfeits": proposal.counterfeits - best.counterfeits}
        return best, Remark.of("taken back", words, **figures)

    def _rounds(self, proposal: Proposal, over: People, steps: list[Remark], idle: int) -> Proposal:
        """The best proposal of rounds of changes, as long as they help; a round may lead a little astray.

        After ``idle`` times that it did not help, it begins with more at a time.
        """
        search, stale, best = self.search, idle, (over.sum(), proposal, len(steps))
        most = idle + SOON if self.slow else STALE
        try:
            for _ in range(MANY):
                passes = PASSES << min(stale, FINER) if self.slow else 0
                if passes != search.rough:  # another look at the best: who is over a limit may be so only roughly
                    search.rough, search.asked, proposal = passes, None, best[1]
                    over = search.over(proposal)
                    del steps[best[2] :]
                    best = over.sum(), proposal, len(steps)
                proposal, over = self._sorted(proposal, over, steps)
                if over.sum() < best[0]:
                    best = over.sum(), proposal, len(steps)
                if not over.any():
                    break
                persons = over.sum()
                self._tell(over)
                ways = (way for way in self._ways(proposal, over, stale) if self._new(way[0]) and not self.ending)
                judged = [(search.over(way[0]), *way) for way in ways]
                self.merging &= not any(o.sum() > WORSE * persons for o, _, step in judged if step.kind == "merged")
                helping = [one for one in judged if one[0].sum() < best[0]]
                table = search.guard.table
                worth = [one[0].sum() + LOST * one[1].loss(table) for one in helping or judged]
                better = (helping or judged)[int(np.argmin(worth))] if worth else None
                stale = 0 if helping else stale + 1
                if stale > most or (self.ending and not judged):
                    break
                if better is not None and better[0].sum() <= best[0] + ASTRAY:
                    over, proposal = better[:2]
                    steps.append(better[2])
                if over.sum() < best[0] or (over.sum() == best[0] and proposal.price < best[1].price):
                    best = over.sum(), proposal, len(steps)
                if not over.any():
                    break
        finally:
            search.rough = 0
            search.asked = None
        del steps[best[2] :]
        return best[1]

    def _new(self, proposal: Proposal) -> bool:
        """Whether a proposal was not judged yet, as rough as it is judged now."""
        parts = (proposal.group, proposal.counterfeit_group, proposal.counterfeit_value)
        known = self.search.rough, sha256(b"|".join(part.tobytes() for part in parts)).digest()
        new = known not in self.judged
        self.judged.add(known)
        return new

    def _tell(self, over: People) -> None:
        persons = over.sum()
        self.search.guard.progress.stage(f"{people(persons)} {are(persons)} over a limit for readers who locate them")

    def _sorted(self, proposal: Proposal, over: People, steps: list[Remark]) -> tuple[Proposal, People]:
        """Many changes at a time, of which those stay that come out well."""
        limit = self.search.guard.policy.max_posterior
        alone = partial(self._aimed, few=True)
        sorting = SortedOut(self.search, limit, self._steering, alone, self._telling, lambda: self.ending, self._tell)
        found = sorting.run(proposal, over)
        if found is proposal:
            return proposal, over
        words = "sorted out many small changes: {held:record|records} withheld, {counterfeits:counterfeit|counterfeits}"
        steps.append(Remark.of("sorted", words, held=found.held, counterfeits=found.counterfeits))
        return found, self.search.over(found)

    def _ways(self, proposal: Proposal, over: People, stale: int) -> Iterator[ChangedProposal]:
        """What may be done next that withholds little; merging neighbours where it was not tried of the same yet."""
        search, hold = self.search, self.search.guard.hold_back
        after = search.posterior(proposal)
        found: list[ChangedProposal | None] = []
        inside = hold and bool((search.rows_of(over) & (proposal.group >= 0)).any())
        if inside and not stale:
            found.append(search.withheld(proposal, over))
        found.append(self._steered(proposal, over, stale))
        if after is not None and (stale or not inside):
            telling = self._telling(proposal, after, over, FEW << stale)
            if hold:
                found.append(self._without(proposal, over, telling))
            if stale > 1:
                found.append(self._together(proposal, telling))
        if stale and over.sum() <= SINGLY:
            found += self._singles(proposal, over, stale)
        if self.merging and not stale:
            found.append(search.merged(proposal, over))
        yield from (way for way in found if way is not None and not way[0].cost[0])

    def _singles(self, proposal: Proposal, over: People, stale: int) -> Iterator[ChangedProposal]:
        """One change at a time, by what they promise to the few who are left; other ones after rounds without help."""
        steering, hold = self._aimed(proposal, over, few=True), self.search.guard.hold_back
        if steering is None:
            return
        for found in steering.singles(hold_back=hold, first=(stale - 1) * TRIALS, number=TRIALS):
            words = "changed {changed:record or counterfeit|records or counterfeits} by itself"
            yield found, Remark.of("single", words, changed=1)

    def _steering(self, proposal: Proposal, over: People) -> Steering | None:
        """What changes of a proposal promise; None where nothing is known of what readers believe of it."""
        known = self.steering
        if known is None or known.proposal is not proposal or known.passes != self.search.rough:
            self.steering = self._aimed(proposal, over)
        return self.steering

    def _aimed(self, proposal: Proposal, over: People, *, few: bool = False) -> Steering | None:
        """The same for all who are over a limit or near it, or for the few who are over it."""
        search, guard = self.search, self.search.guard
        after = search.posterior(proposal)
        if after is None:
            return None
        surer = after.ids.cast(pl.String).is_in(over.ids.filter(pl.Series(over.over)).implode()).to_numpy()
        limit = guard.policy.max_posterior or float(after.largest()[surer].min(initial=1.0))
        concerned = ~after.ids.cast(pl.String).is_in(pl.Series(sorted(search.exposed), dtype=pl.String).implode())
        aim = concerned.to_numpy() & surer if few else concerned.to_numpy()
        seen = Seen(after, surer, aim, limit, search.rough)
        return Steering.of(search.drafts, tuple(guard.criteria), proposal, seen)

    def _steered(self, proposal: Proposal, over: People, stale: int) -> ChangedProposal | None:
        """Counterfeits and withheld records by their influence; a part of them where all of them did not help."""
        steering, hold = self._steering(proposal, over), self.search.guard.hold_back
        found = None if steering is None else steering.paid(hold_back=hold, share=0.5**stale)
        if found is None:
            return None
        words = "added {counterfeits:counterfeit|counterfeits} and withheld {records:record|records}"
        figures = {"counterfeits": found.counterfeits - proposal.counterfeits, "records": found.held - proposal.held}
        return found, Remark.of("steered", words, **figures)

    def _without(self, proposal: Proposal, over: People, telling: pl.DataFrame) -> ChangedProposal | None:
        """Without the records of persons over a limit and of some who tell of them."""
        search, inside = self.search, proposal.group >= 0
        rows = (search.rows_of(over) | self._rows(telling["mate"])) & inside
        if not rows.any() or not (inside & ~rows).any():
            return None
        words = "withheld {records:record|records} of them and their neighbours"
        return without(search.guard.past, proposal, rows), Remark.of("withheld", words, records=rows.sum())

    def _together(self, proposal: Proposal, telling: pl.DataFrame) -> ChangedProposal | None:
        """The groups of those who tell of somebody as one group: what told them apart is not told any more."""
        groups = int(proposal.group.max(initial=-1)) + 1
        here = pl.DataFrame({"mate": self._ids, "group": proposal.group.astype(np.int64)}).filter(pl.col("group") >= 0)
        ties = telling.join(here, on="mate").select("group", first=pl.col("group").first().over("id"))
        _, target = graphs.components(groups, ties["first"].to_numpy(), ties["group"].to_numpy())
        joined = groups - int(np.unique(target).size)
        if not joined or joined == groups - 1:
            return None
        group = np.where(proposal.group >= 0, target[proposal.group], -1).astype(np.int32)
        fakes = target[proposal.counterfeit_group].astype(np.int32)
        found = replace(proposal, group=group, counterfeit_group=fakes).numbered()
        return found, Remark.of("merged", "merged {groups:group|groups} with others that tell of them", groups=joined)

    def _telling(self, proposal: Proposal, after: Posterior, over: People, few: int) -> pl.DataFrame:
        """(id, mate): who fits an earlier group with somebody over a limit, and moved most the other way.

        What the one has become likelier to have, the other has become less likely to, or the other way round.
        """
        if self.search.before is None:
            return pl.DataFrame({"id": [], "mate": []}, schema={"id": pl.String, "mate": pl.String})
        moved = _moved(self.search.before, after)
        mine = moved.filter(pl.col("id").is_in(over.ids.filter(pl.Series(over.over)).implode()))
        here = self._ids.filter(pl.Series(proposal.group >= 0))
        theirs = moved.filter(pl.col("id").is_in(here.implode())).rename({"id": "mate", "by": "by_mate"})
        fitting = [after.groups_of(name).drop_nulls("group") for name in after.names[:-1]]
        links = [own.select(pl.col("id").cast(pl.String), "group") for own in fitting]
        concerned = mine.select("id").unique(maintain_order=True)
        mates = [concerned.join(own, on="id").join(own.rename({"id": "mate"}), on="group") for own in links]
        pairs = pl.concat([pair.select("id", "mate") for pair in mates]).unique(maintain_order=True)
        opposed = pairs.join(mine, on="id").join(theirs, on=["mate", "value"])
        opposed = opposed.group_by("id", "mate", maintain_order=True).agg(way=-(pl.col("by") * pl.col("by_mate")).sum())
        opposed = opposed.filter(pl.col("way") > 0).sort("way", "id", "mate", descending=[True, False, False])
        return opposed.group_by("id", maintain_order=True).head(few).select("id", "mate")

    @property
    def _ids(self) -> pl.Series:
        """[rows] the ids of the table, as text."""
        table = self.search.guard.table
        return table.frame[table.id or ""].cast(pl.String)

    def _rows(self, ids: pl.Series) -> Flags:
        found: Flags = self._ids.is_in(ids.implode()).to_numpy()
        return found


def _moved(before: Posterior, after: Posterior) -> pl.DataFrame:
    """(id, value, by): how much likelier everything has become, where it has."""
    then, now = (p.to_frame().select(pl.col("id", "value").cast(pl.String), pl.col("p")) for p in (before, after))
    both = then.join(now, on=["id", "value"], how="full", coalesce=True, suffix="_now")
    by = pl.col("p_now").fill_null(0.0) - pl.col("p").fill_null(0.0)
    known = both.filter(pl.col("id").is_in(then["id"].unique().implode()))
    return known.select("id", "value", by=by).filter(pl.col("by").abs() > STILL)
