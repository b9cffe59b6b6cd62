"""Everything that a page tells, worked out once: the figures behind its sentences and charts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from showthrough.auditing.audit import Audit
from showthrough.inference.posterior import Told
from showthrough.policy.decision import Decision
from showthrough.report.origin import Origin
from showthrough.report.page.bands import Bands
from showthrough.report.page.breakdown import Breakdown
from showthrough.report.page.exposure import by_population, by_value
from showthrough.report.page.further import Further
from showthrough.report.page.since import HistoryState, Moves, Need, Pair, moves, needed, only_because, pairs, states
from showthrough.report.page.single import single_levels
from showthrough.report.page.worst_place import Worst, worst_place
from showthrough.report.printable import printable

_NAME = 28


@dataclass(frozen=True, eq=False)
class Gathered:
    """The figures of an audit for an audience."""

    audit: Audit
    audience: str
    origin: Origin
    further: Further
    after: Bands
    states: tuple[HistoryState, ...]
    moves: Moves | None
    pairs: tuple[Pair, ...]
    needs: tuple[Need, ...] | None
    only: tuple[tuple[int, int] | None, ...]
    values: Breakdown | None
    populations: tuple[Breakdown, ...]
    levels: dict[str, dict[str, float]]
    worst: Worst | None

    @property
    def internal(self) -> bool:
        """Whether ids and proofs may stand on the page."""
        return self.audience == "internal"

    @property
    def names(self) -> list[str]:
        """The releases as they are called on the page."""
        return [shown(name) for name in self.audit.posterior.names]

    @property
    def newest(self) -> str:
        """The last release."""
        return self.names[-1]

    @property
    def sensitive(self) -> str:
        """What the sensitive column is called."""
        found = {release.roles.sensitive for release in self.audit.posterior.releases}
        return shown(str(found.pop())) if len(found) == 1 else "value"

    @property
    def before(self) -> Bands | None:
        """The state without the newest release, if there is one and it was worked out."""
        return self.states[-2].bands if len(self.states) > 1 else None

    @property
    def several(self) -> bool:
        """Whether there is anything to lay on top of each other."""
        return len(self.states) > 1

    @property
    def conclusive(self) -> bool:
        """Whether everybody has an answer and the releases are tied together."""
        found = self.audit.posterior.certificate
        return found.status.certain and not self.audit.untied and not found.changed.tolerated

    @property
    def decision(self) -> Decision | None:
        """The policy applied, if there is one."""
        return self.audit.decision

    @property
    def open(self) -> bool:
        """Whether somebody has no certified answer, so that figures may only grow."""
        return self.after.unknown > 0

    @property
    def proven(self) -> int:
        """Certain persons: by all releases, or by those before the newest; what is proven stays proven."""
        found, before = self.audit.posterior.certain(), self.further.told(self.further.everything[:-1])
        known = found if before is None or self.audit.posterior.contradictions else found | before.certain
        return int(known.sum())

    @property
    def so_far(self) -> Bands:
        """The bands with everybody who is proven so far."""
        a, more = self.after, self.proven if self.open else self.after.certain
        return replace(
            a, certain=more, p90=max(a.p90, more), p50=max(a.p50, more), unknown=a.unknown - more + a.certain
        )

    @property
    def surer_alone(self) -> int:
        """Persons whose joint figure is below that of one release."""
        joint, alone = self.audit.posterior.largest(), self.audit.best_alone
        return int((joint < alone - 1e-6).sum())

    @property
    def alternatives(self) -> float:
        """How many equally likely values are as uncertain as what is left, per answered person."""
        return float(np.exp(self.audit.joint.entropy_nats / max(1, self.audit.joint.answered)))


def shown(text: str) -> str:
    """A name from a file, short and without what a page should not obey."""
    clean = printable(text, lines=False)
    return clean if len(clean) <= _NAME else f"{clean[: _NAME - 1]}…"


def gather(
    audit: Audit,
    *,
    audience: str,
    seconds: float | Further | None = None,
    origin: Origin | None = None,
    progress: Told = None,
) -> Gathered:
    """Work everything out, the most important first: what comes last is left out if the time is used up."""
    further, shareable = Further.within(audit, seconds, progress), audience != "internal"
    several = len(audit.releases) > 1
    told = states(further)
    return Gathered(
        audit=audit,
        audience=audience,
        origin=origin or Origin.now(),
        further=further,
        after=Bands.of(audit.posterior.largest(), audit.posterior.certain()),
        states=told,
        moves=moves(further),
        pairs=pairs(further) if several else (),
        needs=needed(further) if several else None,
        only=only_because(further) if several else (),
        values=by_value(audit, shareable=shareable),
        populations=by_population(audit, shareable=shareable),
        levels=single_levels(audit),
        worst=None if shareable else worst_place(audit),
    )
