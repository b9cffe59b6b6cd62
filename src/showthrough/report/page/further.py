"""What some of the releases tell: each set is asked once, and only as long as there is time for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from showthrough.auditing.audit import Audit
from showthrough.inference.attribution import PartTold
from showthrough.inference.earlier import told_before
from showthrough.inference.posterior import Told
from showthrough.progress import Progress
from showthrough.report.page.bands import Bands
from showthrough.table.arrays import Flags

LEAST_SECONDS = 10.0
Some = tuple[int, ...]  # releases, by their places


@dataclass(eq=False)
class Further:
    """Answers from sets of releases; None where the time did not suffice, or somebody has no certified answer."""

    audit: Audit
    seconds: float
    progress: Told = None
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
        return tuple(range(len(self.audit.releases)))

    def left(self) -> float:
        """Seconds that may still be spent."""
        return self.seconds - (time.monotonic() - self._began)

    def told(self, some: Some) -> PartTold | None:
        """What these releases tell of everybody."""
        if some not in self._known:
            self._known[some] = self._ask(some)
        return self._known[some]

    def bands(self, some: Some) -> Bands | None:
        """How many persons are in each band, of those who are in these releases."""
        told = self.told(some)
        return None if told is None else Bands.of(told.largest, told.certain, self.inside(some))

    def proven(self) -> int:
        """How many are certain: by all releases, or by those before the newest; what is proven stays proven."""
        found, before = self.audit.posterior.certain(), self.told(self.everything[:-1])
        known = found if before is None or self.audit.posterior.contradictions else found | before.certain
        return int(known.sum())

    def inside(self, some: Some) -> Flags:
        """[n] who is in one of these releases."""
        alone = self.audit.alone
        if alone is None or some == self.everything:
            return np.ones(self.audit.joint.persons, dtype=bool)
        return np.asarray(~np.isnan(alone.largest[list(some)]).all(axis=0))

    def _ask(self, some: Some) -> PartTold | None:
        post, alone = self.audit.posterior, self.audit.alone
        if some == self.everything:
            return PartTold(post.largest(), post.certain(), post.certificate.status.certain)
        if len(some) == 1 and alone is not None:
            largest = alone.largest[some[0]]
            return PartTold(largest, np.asarray(largest == 1), True)
        if some == self.everything[:-1] and (before := self.audit.known_before) is not None:
            found = told_before(post, before)
            return found if found.settled else None
        told = Progress.of(self.progress)
        if told.satisfied or self.left() < _taken(self.audit) * len(some) / len(self.audit.releases) / 2:
            return None
        told.stage(f"history of {' and '.join(post.names[r] for r in some)}")
        found = post.views(seconds=max(0.0, self.left()), progress=told).told(some)
        return found if found.settled else None


def budget(audit: Audit, most: float = float("inf")) -> float:
    """Seconds for further inferences: as long as the first one took, but some at least, and no more than asked for."""
    return min(most, max(LEAST_SECONDS, _taken(audit)))


def _taken(audit: Audit) -> float:
    """Seconds that the inference took."""
    return float(sum(audit.posterior.certificate.seconds.values()))
