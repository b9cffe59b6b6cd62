"""What some of the releases tell: each set is asked once, and only as long as there is time for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from showthrough.auditing.bands import Bands
from showthrough.auditing.whole_audit import Audit
from showthrough.inference.attribution import PartTold
from showthrough.inference.earlier import told_before
from showthrough.inference.posterior import Told
from showthrough.progress import Progress
from showthrough.table.arrays import Flags

LEAST_SECONDS = 10.0
Some = tuple[int, ...]  # releases, by their places


class AskedOfSets(Protocol):
    """Tells what sets of releases tell."""

    @property
    def everything(self) -> Some:
        """All releases."""

    def told(self, some: Some) -> PartTold | None:
        """What these releases tell of everybody."""

    def bands(self, some: Some) -> Bands | None:
        """How many persons are in each band, of those who are in these releases."""


@dataclass(frozen=True, eq=False)
class ToldSets:
    """Answers from sets of releases that were asked before; ``inside`` [releases, persons] says who is in which."""

    known: Mapping[Some, PartTold]
    inside: Flags

    @property
    def everything(self) -> Some:
        """All releases."""
        return tuple(range(len(self.inside)))

    def told(self, some: Some) -> PartTold | None:
        """What these releases tell of everybody, if somebody asked."""
        return self.known.get(some)

    def bands(self, some: Some) -> Bands | None:
        """How many persons are in each band, of those who are in these releases."""
        told, inside = self.told(some), np.asarray(self.inside[list(some)].any(axis=0))
        return None if told is None else Bands.of(told.largest, told.certain, inside)


@dataclass(eq=False)
class Further:
    """Answers from sets of releases; None where the time did not suffice, or somebody has no certified answer.

    ``names`` are all releases of the history, where the audit is of a piece of it that some of them have nobody in.
    """

    audit: Audit
    seconds: float
    progress: Told = None
    names: tuple[str, ...] = ()
    _known: dict[Some, PartTold | None] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    @classmethod
    def within(cls, audit: Audit, seconds: float | Further | None, progress: Told = None) -> Further:
        """With a budget that is in proportion, or so many seconds; what was asked before is not asked again."""
        if isinstance(seconds, Further):
            return seconds
        return cls(audit, budget(audit) if seconds is None else seconds, progress)

    @property
    def everything(self) -> Some:
        """All releases."""
        return tuple(range(len(self.names or self.audit.releases)))

    def left(self) -> float:
        """Seconds that may still be spent."""
        return self.seconds - (time.monotonic() - self._began)

    def told(self, some: Some) -> PartTold | None:
        """What these releases tell of everybody."""
        here = self._here(some)
        if here not in self._known:
            self._known[here] = self._ask(here)
        return self._known[here]

    def bands(self, some: Some) -> Bands | None:
        """How many persons are in each band, of those who are in these releases."""
        told = self.told(some)
        return None if told is None else Bands.of(told.largest, told.certain, self._inside(self._here(some)))

    def proven(self) -> int:
        """How many are certain: by all releases, or by those before the newest; what is proven stays proven."""
        found, before = self.audit.posterior.certain(), self.told(self.everything[:-1])
        known = found if before is None or self.audit.posterior.contradictions else found | before.certain
        return int(known.sum())

    def _here(self, some: Some) -> Some:
        """The same releases by their places in the audit."""
        if not self.names:
            return some
        own = self.audit.posterior.names
        return tuple(own.index(self.names[r]) for r in some if self.names[r] in own)

    def _inside(self, here: Some) -> Flags:
        """[n] who is in one of these releases."""
        alone = self.audit.alone
        if alone is None or len(here) == len(self.audit.releases):
            return np.ones(self.audit.joint.persons, dtype=bool)
        return np.asarray(~np.isnan(alone.largest[list(here)]).all(axis=0))

    def _ask(self, here: Some) -> PartTold | None:
        post, alone, everything = self.audit.posterior, self.audit.alone, tuple(range(len(self.audit.releases)))
        if here == everything:
            return PartTold(post.largest(), post.certain(), post.certificate.status.certain)
        if not here:
            persons = self.audit.joint.persons
            return PartTold(np.full(persons, np.nan), np.zeros(persons, dtype=bool), True)
        if len(here) == 1 and alone is not None:
            largest = alone.largest[here[0]]
            return PartTold(largest, np.asarray(largest == 1), True)
        if here == everything[:-1] and (before := self.audit.known_before) is not None:
            found = told_before(post, before)
            return found if found.settled else None
        told = Progress.of(self.progress)
        if told.satisfied or self.left() < taken(self.audit) * len(here) / len(everything) / 2:
            return None
        told.stage(f"history of {' and '.join(post.names[r] for r in here)}")
        found = post.views(seconds=max(0.0, self.left()), progress=told).told(here)
        return found if found.settled else None


def budget(audit: Audit, most: float = float("inf"), share: float = 1.0) -> float:
    """Seconds for further inferences: as long as the first one took, but some at least, and no more than asked for.

    ``share`` is what an audit of a piece has of the least.
    """
    return min(most, max(share * LEAST_SECONDS, taken(audit)))


def taken(audit: Audit) -> float:
    """Seconds that the inference took."""
    return float(sum(audit.posterior.certificate.seconds.values()))
