"""Guarded publishing: propose, look at the joint posterior, repair what would leak, look again.

A base method proposes groups. The posterior of the whole history with the proposal tells who is over
a limit of the policy. Repairs, mildest first, each judged by inference before it stays:

1. *swap*: two records with the same value change places, so that both groups keep their values and
   the members share more values with their earlier groups;
2. *merge*: groups with somebody over a limit are joined in pairs of neighbours;
3. *regroup*: the records of such groups move into groups with the values of their last group
   (m-invariance on the part that leaks), with counterfeits where values are missing;
4. *withhold*: records of persons who stay over a limit are left out.

m-invariance of the whole table stands beside it: what costs fewer counterfeits and withheld records
is published, so the guard never pays more than m-invariance. The last word has a full inference.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from showthrough.anonymizers.table import Table
from showthrough.errors import ContradictionError, InputError, PolicyError
from showthrough.inference.arrays import Flags
from showthrough.inference.posterior import Posterior
from showthrough.inference.run import infer
from showthrough.policy.policy import SLACK, Policy, Review
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.strategies import by_signature

Publish = Callable[[Proposal], Release]
Progress = Callable[[str], None]
ROUNDS = 12
LISTED = 20


@dataclass(frozen=True)
class Guard:
    """What the search works with."""

    table: Table
    past: Past
    policy: Policy
    m: int
    publish: Publish
    seed: int
    seconds: float
    hold_back: bool = True
    exposed: str = "refuse"  # or "accept": persons whom earlier releases expose do not count
    progress: Progress = lambda _: None

    def register(self) -> Register | None:
        """The table itself ties persons to releases without ids."""
        if all(r.roles.id is not None for r in self.past.history) or self.table.id is None:
            return None
        return Register.of(self.table.frame, id=self.table.id, quasi=self.table.quasi)

    def joint(self, release: Release) -> Posterior:
        """The posterior of the history with a release at its end."""
        return infer(
            [*self.past.history, release], register=self.register(), changed="split" if self.past.changed else "refuse"
        )


@dataclass(frozen=True, eq=False)
class Guarded:
    """The release that keeps the policy, with its review and the way to it."""

    release: Release
    proposal: Proposal
    review: Review
    posterior: Posterior
    steps: tuple[str, ...]
    exposed: tuple[str, ...]  # ids that earlier releases expose


def guarded(guard: Guard, base: Proposal | None) -> Guarded:
    """Find a release that keeps the policy, or say who stands in the way."""
    deadline = time.monotonic() + guard.seconds
    before = _before(guard)
    exposed = _exposed(guard, before)
    found: list[tuple[Proposal, tuple[str, ...]]] = []
    whole = _whole(guard)
    for name, start in (("m-invariance", whole), ("the proposal", base)):
        if start is None:
            continue
        guard.progress(f"guarding {name}")
        cheap = any(one[0].price == 0 for one in found)  # repairs cannot cost less than nothing
        done = _search(guard, name, start, before, exposed, deadline=time.monotonic() if cheap else deadline)
        if done is not None:
            found.append(done)
    if not found:
        raise _refusal(guard, before, exposed)
    best, steps = min(found, key=lambda one: (one[0].price, float(one[0].numbered().extents(guard.table).sum())))
    release = guard.publish(best)
    guard.progress("final inference")
    posterior = guard.joint(release)
    review = guard.policy.review(posterior, before)
    left = review.breaches.filter(~pl.col("id").is_in(pl.Series(sorted(exposed), dtype=pl.String).implode()))
    review = replace(review, breaches=left)
    if not review.holds:
        raise _refusal(guard, before, exposed, left)
    return Guarded(release, best, review, posterior, steps, tuple(sorted(exposed)))


def _before(guard: Guard) -> Posterior | None:
    if not guard.past.history:
        return None
    return infer(guard.past.history, register=guard.register(), changed="split" if guard.past.changed else "refuse")


def _exposed(guard: Guard, before: Posterior | None) -> set[str]:
    """Whom the history alone puts over a limit: nothing can be undone for them."""
    if before is None:
        return set()
    over = replace(guard.policy, max_gain=None).over_limit(before)
    ids = set(before.history.ids.filter(pl.Series(over)).cast(pl.String))
    if ids and guard.exposed == "refuse":
        frame = guard.policy.review(before, integral=False).breaches
        raise _told(
            f"Earlier releases already put {len(ids)} persons over a limit; no new release can undo that. "
            'exposed="accept" (--accept-exposed) publishes for all others.',
            frame,
        )
    return ids


def _whole(guard: Guard) -> Proposal | None:
    """m-invariance of the whole table, if it has one."""
    try:
        return by_signature(guard.table, guard.past, guard.m, hold_back=guard.hold_back, seed=guard.seed)
    except InputError:
        return None


def _search(
    guard: Guard, name: str, start: Proposal, before: Posterior | None, exposed: set[str], deadline: float
) -> tuple[Proposal, tuple[str, ...]] | None:
    """Repair a proposal until nobody is over a limit; None if that is out of reach."""
    proposal, steps = start.numbered(), [f"{name}: {start.numbered().group.max(initial=-1) + 1} groups"]
    tried: set[bytes] = set()
    swapped = merged = False
    for number in range(ROUNDS):
        over = _over(guard, proposal, before, exposed)
        if not over.any():
            return proposal, tuple(steps)
        if time.monotonic() > deadline:
            return None
        touched = _touched(guard, proposal, over)
        key = np.packbits(touched).tobytes()
        guard.progress(f"round {number + 1}: {int(over.sum())} persons over a limit")
        if not swapped:
            swapped = True
            better = swap(guard, proposal, touched)
            if better is not None:
                proposal = _kept(guard, proposal, better, before, exposed, over)
                steps.append(f"swapped members where {int(over.sum())} persons were over a limit")
                continue
        if not merged and 0 < touched.sum() < 0.1 * touched.size:
            merged = True
            better = merge(guard.table, proposal, touched)
            if better is not None:
                proposal = _kept(guard, proposal, better, before, exposed, over)
                steps.append("merged neighbouring groups")
                continue
        if key not in tried and touched.any() and name != "m-invariance":
            tried.add(key)
            better = regroup(guard, proposal, touched)
            if better is not None:
                steps.append(f"regrouped {int(touched.sum())} records by the values of their last groups")
                proposal = better
                continue
        rows = _rows_over(guard, over)
        rows &= proposal.group >= 0
        if not rows.any() or not guard.hold_back:
            return None
        steps.append(f"withheld {int(rows.sum())} records")
        proposal = without(guard, proposal, rows)
    return None


def _kept(
    guard: Guard, old: Proposal, new: Proposal, before: Posterior | None, exposed: set[str], over: _People
) -> Proposal:
    """The better of two proposals by the number of persons over a limit."""
    return new if _over(guard, new, before, exposed).sum() < over.sum() else old


@dataclass(frozen=True, eq=False)
class _People:
    """Persons of the joint posterior by id."""

    ids: pl.Series
    over: Flags

    def any(self) -> bool:
        return bool(self.over.any())

    def sum(self) -> int:
        return int(self.over.sum())

    def without(self, exposed: set[str]) -> _People:
        """The same without those for whom nothing can be undone."""
        if not exposed:
            return self
        known = self.ids.is_in(pl.Series(sorted(exposed), dtype=pl.String).implode()).to_numpy()
        return _People(self.ids, self.over & ~known)


def _over(guard: Guard, proposal: Proposal, before: Posterior | None, exposed: set[str]) -> _People:
    """Who is over a limit, beyond those whom the history exposes; a contradiction counts for everybody.

    Values that a group does not share with what was possible before are excluded at once. Where that
    alone puts somebody over a limit there is no need for the full posterior yet.
    """
    by_sets = _over_by_sets(guard, proposal, before, exposed)
    if by_sets is not None and by_sets.any():
        return by_sets
    release = guard.publish(proposal)
    try:
        post = guard.joint(release)
    except ContradictionError:
        ids = release.groups()["id"].cast(pl.String)
        return _People(ids, np.ones(ids.len(), dtype=bool))
    return _People(post.history.ids.cast(pl.String), guard.policy.over_limit(post, before)).without(exposed)


def _over_by_sets(guard: Guard, proposal: Proposal, before: Posterior | None, exposed: set[str]) -> _People | None:
    """Persons of the table with fewer common values than the limit on the posterior allows."""
    policy, table, past = guard.policy, guard.table, guard.past
    if policy.max_posterior is None:
        return None
    rows = np.flatnonzero(proposal.group >= 0)
    member = np.concatenate([proposal.group[rows], proposal.counterfeit_group])
    held = np.concatenate([past.value[rows], proposal.counterfeit_value])
    published = pl.DataFrame({"group": member.astype(np.int64), "value": held.astype(np.int64)}).unique()
    ids = table.frame[table.id or ""].cast(pl.String).gather(rows)
    mine = pl.DataFrame({"id": ids, "group": proposal.group[rows].astype(np.int64)})
    fits = mine.join(published, on="group")
    if before is not None:
        kind = past.values.dtype
        words = pl.DataFrame({"word": past.values, "value": np.arange(past.values.len())})
        frame = before.to_frame().select(pl.col("id").cast(pl.String), pl.col("value").cast(kind).alias("word"))
        open_values = frame.join(words, on="word").select("id", "value")
        known = pl.col("id").is_in(frame["id"].unique().implode())
        old = fits.filter(known).join(open_values, on=["id", "value"], how="semi")
        fits = pl.concat([fits.filter(~known), old])
    common = fits.group_by("id").agg(pl.len().alias("n"))
    counted = mine.join(common, on="id", how="left", maintain_order="left")["n"].fill_null(0).to_numpy()
    over = (policy.max_posterior + SLACK) * np.maximum(counted, 1) < 1.0
    return _People(ids, over).without(exposed)


def _rows_over(guard: Guard, over: _People) -> Flags:
    """[rows] records of the table whose person is over a limit."""
    bad = over.ids.filter(pl.Series(over.over))
    return guard.table.frame[guard.table.id or ""].cast(pl.String).is_in(bad.implode()).to_numpy()


def _touched(guard: Guard, proposal: Proposal, over: _People) -> Flags:
    """[rows] records in groups with somebody over a limit, or with a former neighbour of such a person who left."""
    table, past = guard.table, guard.past
    rows = _rows_over(guard, over)
    here = table.frame[table.id or ""].cast(pl.String)
    gone = over.ids.filter(pl.Series(over.over)).filter(~over.ids.filter(pl.Series(over.over)).is_in(here.implode()))
    if gone.len():
        for release in past.history:
            link = release.groups()
            ids = link["id"].cast(pl.String)
            shared = link["group"].filter(ids.is_in(gone.implode())).unique()
            near = ids.filter(link["group"].is_in(shared.implode()))
            rows |= here.is_in(near.implode()).to_numpy()
    groups = np.unique(proposal.group[rows & (proposal.group >= 0)])
    found: Flags = np.isin(proposal.group, groups) & (proposal.group >= 0)
    return found


def regroup(guard: Guard, proposal: Proposal, touched: Flags) -> Proposal | None:
    """Move the records of leaking groups into groups with the values of their last group."""
    rows = np.flatnonzero(touched)
    try:
        part = by_signature(guard.table, guard.past, guard.m, hold_back=False, seed=guard.seed, rows=rows)
    except InputError:
        return None
    kept = proposal.group.copy()
    kept[rows] = -1
    gone = np.isin(proposal.counterfeit_group, np.unique(proposal.group[rows]))
    base = int(proposal.group.max(initial=-1)) + 1
    group = kept.copy()
    placed = part.group >= 0
    group[rows[placed]] = part.group[placed] + base
    return Proposal(
        group,
        np.concatenate([proposal.counterfeit_group[~gone], part.counterfeit_group + base]),
        np.concatenate([proposal.counterfeit_value[~gone], part.counterfeit_value]),
        proposal.notes,
    ).numbered()


def swap(guard: Guard, proposal: Proposal, touched: Flags) -> Proposal | None:
    """Exchange records of the same value so that members share more values with their last groups."""
    past = guard.past
    rows = np.flatnonzero(touched & (past.signature >= 0))
    if not 0 < rows.size <= 5000:
        return None
    values = _values_of_groups(past, proposal)
    signature = [frozenset(s) for s in past.signatures]
    group, moved = proposal.group.copy(), False

    def shared(row: int, g: int) -> int:
        return len(signature[past.signature[row]] & values[g]) if past.signature[row] >= 0 else len(values[g])

    by_value: dict[int, list[int]] = {}
    for row in rows.tolist():
        by_value.setdefault(int(past.value[row]), []).append(row)
    for same in by_value.values():
        for k, one in enumerate(same):
            for other in same[k + 1 : k + 40]:
                a, b = int(group[one]), int(group[other])
                if a == b:
                    continue
                now = min(shared(one, a), shared(other, b)), shared(one, a) + shared(other, b)
                then = min(shared(one, b), shared(other, a)), shared(one, b) + shared(other, a)
                if then > now:
                    group[one], group[other], moved = b, a, True
    return replace(proposal, group=group) if moved else None


def _values_of_groups(past: Past, proposal: Proposal) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(int(proposal.group.max(initial=-1)) + 1)]
    for g, v in zip(proposal.group.tolist(), past.value.tolist(), strict=True):
        if g >= 0:
            found[g].add(v)
    for g, v in zip(proposal.counterfeit_group.tolist(), proposal.counterfeit_value.tolist(), strict=True):
        found[g].add(v)
    return found


def merge(table: Table, proposal: Proposal, touched: Flags) -> Proposal | None:
    """Join each leaking group with its neighbour in the order of the quasi-identifiers."""
    groups = int(proposal.group.max(initial=-1)) + 1
    kept = np.flatnonzero(proposal.group >= 0)
    place = np.lexsort([c.rank[c.codes] for c in table.columns[::-1]])
    rank = np.empty(table.rows)
    rank[place] = np.arange(table.rows)
    middle = np.bincount(proposal.group[kept], weights=rank[kept], minlength=groups) / np.maximum(
        np.bincount(proposal.group[kept], minlength=groups), 1
    )
    order = np.argsort(middle, kind="stable")
    position = np.empty(groups, dtype=np.int64)
    position[order] = np.arange(groups)
    target = np.arange(groups)
    used = np.zeros(groups, dtype=bool)
    for g in np.unique(proposal.group[touched]).tolist():
        beside = [int(order[p]) for p in (position[g] + 1, position[g] - 1) if 0 <= p < groups]
        partner = next((b for b in beside if not used[b]), None)
        if partner is not None and not used[g]:
            target[g] = partner
            used[g] = used[partner] = True
    if not used.any():
        return None
    group = np.where(proposal.group >= 0, target[proposal.group], -1).astype(np.int32)
    return replace(
        proposal, group=group, counterfeit_group=target[proposal.counterfeit_group].astype(np.int32)
    ).numbered()


def without(guard: Guard, proposal: Proposal, rows: Flags) -> Proposal:
    """Withhold records; what is left of their groups keeps its values by counterfeits, or goes with them."""
    group = proposal.group.copy()
    fakes = [proposal.counterfeit_group]
    values = [proposal.counterfeit_value]
    out = np.flatnonzero(rows)
    group[out] = -1
    left = np.bincount(group[group >= 0], minlength=int(proposal.group.max(initial=-1)) + 1)
    stay = out[left[proposal.group[out]] > 0]
    fakes.append(proposal.group[stay])
    values.append(guard.past.value[stay])
    alive = left > 0
    fake_group, fake_value = np.concatenate(fakes), np.concatenate(values)
    keep = alive[fake_group]
    return Proposal(group, fake_group[keep], fake_value[keep], proposal.notes).numbered()


def _refusal(
    guard: Guard, before: Posterior | None, exposed: set[str], left: pl.DataFrame | None = None
) -> PolicyError:
    frame = left
    if frame is None:
        frame = pl.DataFrame(schema={"id": pl.String, "value": pl.String, "limit": pl.String, "figure": pl.Float64})
    known = (
        f" {len(exposed)} persons were exposed by earlier releases already." if exposed and before is not None else ""
    )
    return _told(
        f"No release of this table was found that keeps the policy within {guard.seconds:g} s.{known} A weaker limit, "
        "more records that may be withheld (hold_back), or fewer records to publish would do.",
        frame,
    )


def _told(message: str, breaches: pl.DataFrame) -> PolicyError:
    ids = breaches["id"].unique(maintain_order=True).to_list()
    named = f" Concerned: {', '.join(ids[:LISTED])}{' …' if len(ids) > LISTED else ''}." if ids else ""
    return PolicyError(message + named, breaches=breaches, shareable=message)
