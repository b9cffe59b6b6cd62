"""Generalized releases as read by somebody who locates persons by quasi-identifiers instead of knowing their groups.

m-invariance promises 1/m to readers who know everybody's group. Readers who only know where somebody
fits are told less, but their posterior is another one: where extents overlap, a person may fit groups that
share values, and those become likelier than 1/m. Merging the groups that such a person fits ends that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.errors import ContradictionError, InputError, NotConvergedError
from showthrough.inference.earlier import required
from showthrough.inference.infer import infer, roughly
from showthrough.inference.posterior import Posterior
from showthrough.progress import Progress
from showthrough.register.locating import locate, names_of
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.republishing.figures import over
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.repairs import values_of_groups
from showthrough.republishing.tied import advised
from showthrough.table.arrays import Flags, Ints
from showthrough.table.codes import positions
from showthrough.table.frames import one_kind, scalar
from showthrough.table.ragged import owners

ROUNDS = 30
MOST = 3_000_000  # pairs (person, group that it fits) that are inferred from without being asked to
LOOKING = 120.0  # seconds for that, at most
LEAST = 30.0  # seconds that a guard has for a last look although its time is up
AGAIN = 2.0  # times what a look took, for another


@dataclass(frozen=True, eq=False)
class LocatedView:
    """Persons of the table whose likeliest value exceeds a limit for readers who locate them.

    Those whom earlier releases alone put over it cannot be helped: ``new`` are the others.
    """

    limit: float
    over: int
    persons: int
    reason: str = ""  # why it could not be found out
    posterior: Posterior | None = None
    exceeding: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))  # ids of the table, as text
    earlier: int = 0  # of these, by earlier releases alone

    @property
    def new(self) -> int:
        """How many this release puts over the limit."""
        return self.over - self.earlier

    def beyond(self, before: LocatedView | None) -> LocatedView:
        """The same, where those whom a view of earlier releases shows already are told apart."""
        if before is None or before.reason or self.reason:
            return self
        return replace(self, earlier=int(self.exceeding.is_in(before.exceeding.implode()).sum()))

    @property
    def remark(self) -> Remark:
        """For the publisher."""
        if self.reason:
            return Remark.of(
                "located",
                "Located by quasi-identifiers: not known, since {reason}",
                reason=self.reason,
                limit=self.limit,
            )
        return Remark.of(
            "located",
            "Located by quasi-identifiers instead of ids, {over} of {persons} persons of the table have a value "
            "likelier than {limit:.4g}" + (", {earlier} of them by earlier releases alone." if self.earlier else "."),
            over=self.over,
            persons=self.persons,
            limit=self.limit,
            earlier=self.earlier,
        )


def located_view(
    table: Table,
    releases: Sequence[Release],
    limit: float,
    *,
    past: Past | None = None,
    most: int | None = None,
    seconds: float = math.inf,
    progress: Progress | None = None,
) -> LocatedView:
    """Infer with the quasi-identifiers of the table instead of the groups of its persons.

    Readers know who is in a release. Of persons who are not in the table any more, they know nothing.
    Beyond ``most`` pairs of a person and a group that it fits nothing is inferred.
    """
    membership = _memberships(table, releases)
    pairs = sum(fitting.height for fitting in membership.values())
    if most is not None and pairs > most:
        reason = f"persons and the groups they fit make {pairs} pairs, more than {most}: audit it with a register."
        return LocatedView(limit, 0, table.rows, reason)
    try:
        post = _read(releases, membership, past, seconds, progress)
    except (InputError, NotConvergedError) as problem:
        return LocatedView(limit, 0, table.rows, problem.shareable)
    ids = post.ids.cast(pl.String)
    ids = ids.filter(pl.Series(over(post, limit)) & ids.is_in(table.frame[table.id or ""].cast(pl.String).implode()))
    return LocatedView(limit, ids.len(), table.rows, posterior=post, exceeding=ids)


@dataclass(eq=False)
class LocatedReader:
    """Reads releases with the quasi-identifiers of a table; what was read last is remembered.

    Past ``end`` (as `time.monotonic` tells it) there is ``least`` time for whatever has to be read still, or more where
    readings took longer.
    """

    table: Table
    past: Past
    end: float
    progress: Progress
    least: float = LEAST
    last: tuple[tuple[Release, ...], Posterior] | None = None
    near: Posterior | None = None  # what was last read roughly
    slowest: float = 0.0  # seconds that a reading took
    fitting: dict[int, pl.DataFrame] = field(default_factory=dict)  # (id, group) by place in the past

    def __call__(self, releases: Sequence[Release]) -> Posterior:
        """The posterior; an error where there is none for everybody."""
        asked = tuple(releases)
        if self.last is None or not _same(self.last[0], asked):
            began = time.monotonic()
            seconds = max(self.least, AGAIN * self.slowest, self.end - began)
            membership = self._memberships(releases)
            self.last = asked, _read(releases, membership, self.past, seconds, self.progress)
            self.slowest = max(self.slowest, time.monotonic() - began)
        return self.last[1]

    def roughly(self, releases: Sequence[Release], before: Posterior, passes: int) -> Posterior | None:
        """What is believed, roughly and quickly; ``before`` is the answer without the last of them. None: not so."""
        if self.past.choice == "split":
            return None
        known, quiet = self.past.known, self.progress.silent()
        membership = self._memberships(releases)
        beside = {"membership": membership, "changed": self.past.choice, "progress": quiet, **known}
        found = roughly(releases, before, self.near, passes=passes, **beside)
        self.near = found or self.near
        return found

    def _memberships(self, releases: Sequence[Release]) -> dict[str, pl.DataFrame]:
        """Who fits where; of earlier releases that is found out once."""
        for place, (one, other) in enumerate(zip(releases, self.past.history, strict=False)):
            if one is other and one.roles.id is None and place not in self.fitting:
                self.fitting[place] = _fitting(self.table, one)
        known = {id(self.past.history[place]): found for place, found in self.fitting.items()}
        return _memberships(self.table, releases, known)


def _same(some: Sequence[Release], others: Sequence[Release]) -> bool:
    """Whether releases show the same of the same persons; who is in one is not part of what it shows."""
    return len(some) == len(others) and all(
        one is other or (one.fingerprint() == other.fingerprint() and one.groups().equals(other.groups()))
        for one, other in zip(some, others, strict=True)
    )


def _memberships(
    table: Table, releases: Sequence[Release], known: Mapping[int, pl.DataFrame] | None = None
) -> dict[str, pl.DataFrame]:
    """(id, group) by release, of those that name nobody: who fits where; ``known`` of some, by their identity."""
    known, unnamed = known or {}, zip(names_of(releases), releases, strict=True)
    found = ((name, one, known.get(id(one))) for name, one in unnamed if one.roles.id is None)
    return {name: _fitting(table, one) if fits is None else fits for name, one, fits in found}


def _read(
    releases: Sequence[Release],
    membership: dict[str, pl.DataFrame],
    past: Past | None,
    seconds: float,
    progress: Progress | None,
) -> Posterior:
    try:
        found = infer(
            releases,
            **(past.known if past else {}),
            membership=membership,
            changed=past.choice if past else "refuse",
            contradictions="refuse",
            seconds=seconds,
            progress=progress,
        )
    except ContradictionError as error:
        raise advised(error) from None
    return required(found)


def _fitting(table: Table, release: Release) -> pl.DataFrame:
    """(id, group) for the persons of the table who are in the release: the groups they fit, and their own.

    Their own is among them even if they have moved since: readers of that time saw them there.
    """
    link = release.groups()
    ids = scalar(table.frame[table.id or ""], "ids")
    mine, theirs = one_kind([ids, link["id"]], "ids", ["the table", release.name or "a release"])
    at = positions(mine, theirs)
    inside = np.flatnonzero(at >= 0)
    own = pl.DataFrame({"id": mine.gather(inside), "group": link["group"].gather(at[inside])})
    if not inside.size:
        return own
    people = Register.of(table.frame[inside], id=table.id or "", quasi=table.quasi)
    found = locate(release, release.name, people).candidates
    person = owners(found.start)
    fits = pl.DataFrame({"id": mine.gather(inside[person]), "group": release.labels.gather(found.group)})
    return pl.concat([own, fits]).unique(maintain_order=True)


def without_overlaps(
    past: Past, proposal: Proposal, look: Callable[[Proposal], LocatedView], allowed: Callable[[Proposal], bool]
) -> tuple[Proposal, LocatedView, tuple[Remark, ...]]:
    """Merge the groups that persons over the limit fit, until nobody is; the last word of why not, if so.

    Groups with the same values go first: readers who know the groups learn nothing from their merger. Somebody near the
    limit may be put over it by a merger elsewhere, so the best that was seen is what comes out.
    """
    seen = look(proposal)
    best = proposal, seen
    for _ in range(ROUNDS):
        if seen.reason or not seen.new or seen.posterior is None:
            break
        exceeding = over(seen.posterior, seen.limit)
        kinds = [frozenset(values) for values in values_of_groups(past, proposal)]
        ways = [_merged(proposal, seen.posterior, exceeding, among) for among in (kinds, None)]
        if ways == [None, None]:
            return (*best, (_ended("Nothing is left to merge: earlier releases alone leave them over the limit."),))
        better = next((way for way in ways if way is not None and allowed(way)), None)
        if better is None:
            words = "Merging further would put persons over the limit for readers who know the groups."
            return (*best, (_ended(words),))
        proposal, seen = better, look(better)
        if not seen.reason and seen.new < best[1].new:
            best = proposal, seen
    else:
        return (*best, (_ended("{rounds} rounds of merging did not suffice."),))
    if seen.reason and best[1] is not seen:
        return (*best, (_ended("Time was over before more could be merged."),))
    return (*best, ())


def _ended(words: str) -> Remark:
    return Remark.of("merging ended", words, rounds=ROUNDS)


def _merged(
    proposal: Proposal, post: Posterior, exceeding: Flags, kinds: Sequence[frozenset[int]] | None
) -> Proposal | None:
    """Join, for each person over the limit, the groups of the newest release that it fits; pairs where it is one.

    With ``kinds`` only groups of the same kind.
    """
    groups = int(proposal.group.max(initial=-1)) + 1
    parent = np.arange(groups)
    fitting = post.groups_of(post.names[-1], people=exceeding).drop_nulls("group")
    fitting = fitting.group_by("id", maintain_order=True).agg(pl.col("group").cast(pl.Int64) - 1)

    def root(g: int) -> int:
        while parent[g] != g:
            parent[g] = parent[parent[g]]
            g = int(parent[g])
        return g

    for fits in fitting["group"].to_list():
        if len(fits) == 1:  # the group alone tells too much: take the next one in
            fits.append((fits[0] + 1) % groups)
        for one, other in combinations(fits, 2) if kinds else pairwise(fits):
            if kinds is None or kinds[one] == kinds[other]:
                parent[root(other)] = root(one)
    target: Ints = np.array([root(g) for g in range(groups)])
    if np.unique(target).size == groups:
        return None
    group = np.where(proposal.group >= 0, target[proposal.group], -1).astype(np.int32)
    fakes = target[proposal.counterfeit_group].astype(np.int32)
    return replace(proposal, group=group, counterfeit_group=fakes).numbered()
