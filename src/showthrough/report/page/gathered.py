"""Everything that a page tells, worked out once: the figures behind its sentences and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from showthrough.auditing.bands import Bands
from showthrough.auditing.further import Further
from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.auditing.since import HistoryState, Moves, Need, Pair, Since
from showthrough.auditing.whole_audit import Audit
from showthrough.errors import InputError
from showthrough.inference.posterior import Told
from showthrough.policy.decision import Decision
from showthrough.release.release import Release
from showthrough.report.origin import Origin
from showthrough.report.page.breakdown import Breakdown
from showthrough.report.page.exposure import by_population, by_value
from showthrough.report.page.single import single_levels
from showthrough.report.page.sure import HowSure, holder_of
from showthrough.report.page.worst_place import Worst, worst_place
from showthrough.report.printable import printable

_NAME = 28


@dataclass(frozen=True, eq=False)
class Gathered:
    """The figures of an audit for an audience; of one in pieces, those that can be had of all pieces."""

    audit: Audit | SpreadAudit
    audience: str
    origin: Origin
    further: Further | None  # what some of the releases tell; None: that is not asked, as in pieces
    since: Since | None  # what each of them added; None: not worked out
    sure: HowSure
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
    def in_pieces(self) -> bool:
        """Whether the history was worked on in pieces."""
        return isinstance(self.audit, SpreadAudit)

    @property
    def summed(self) -> bool:
        """Whether it was so in pieces of which one was too large to tell what some of the releases tell."""
        return self.in_pieces and self.since is None

    @property
    def held(self) -> tuple[Release, ...]:
        """The releases, where this process has them: none if workers alone read one."""
        found = tuple(one for one in self.audit.sources if isinstance(one, Release))
        return found if len(found) == len(self.audit.sources) else ()

    @property
    def sensitive(self) -> str:
        """What the sensitive column is called."""
        found = {one.roles.sensitive if isinstance(one, Release) else one.sensitive for one in self.audit.sources}
        return shown(str(found.pop())) if len(found) == 1 else "value"

    @property
    def after(self) -> Bands:
        """All persons by how sure a reader of all releases can be."""
        return self.sure.together.bands

    @property
    def before(self) -> Bands | None:
        """The state without the newest release, if there is one and it was worked out."""
        return self.states[-2].bands if len(self.states) > 1 else None

    @property
    def beside(self) -> Bands | None:
        """What all releases are compared with: the state before the newest, or what one release alone tells."""
        return self.before if not self.summed else self.sure.alone.bands if self.several else None

    @property
    def several(self) -> bool:
        """Whether there is anything to lay on top of each other."""
        return len(self.states) > 1

    @property
    def staged(self) -> bool:
        """Whether the page says what each of several releases added."""
        return self.several and not self.summed

    @property
    def combined(self) -> bool:
        """Whether the page says which releases it takes."""
        return self.staged and not self.audit.untied

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
        if self.since is not None and self.since.before is not None:
            contradicted = self.audit.posterior.contradictions
            return self.after.certain if contradicted else self.since.before.then_or_now
        return self.after.certain if self.further is None else self.further.proven()

    @property
    def so_far(self) -> Bands:
        """The bands with everybody who is proven so far."""
        a, more = self.after, self.proven if self.open else self.after.certain
        return replace(
            a, certain=more, p90=max(a.p90, more), p50=max(a.p50, more), unknown=a.unknown - more + a.certain
        )

    @property
    def alternatives(self) -> float:
        """How many equally likely values are as uncertain as what is left, per answered person."""
        return float(np.exp(self.audit.joint.entropy_nats / max(1, self.audit.joint.answered)))


def shown(text: str) -> str:
    """A name from a file, short and without what a page should not obey."""
    clean = printable(text, lines=False)
    return clean if len(clean) <= _NAME else f"{clean[: _NAME - 1]}…"


def gather(
    audit: Audit | SpreadAudit,
    *,
    audience: str,
    seconds: float | Further | None = None,
    origin: Origin | None = None,
    progress: Told = None,
) -> Gathered:
    """Work everything out, the most important first: what comes last is left out if the time is used up."""
    people, shareable = holder_of(audit), audience != "internal"
    if isinstance(audit, SpreadAudit) and not shareable:
        raise InputError("In pieces there is no report with ids and proofs: the shareable one has the counts.")
    found = at_hand(audit, HowSure.of(people), audience=audience, origin=origin)
    if isinstance(audit, SpreadAudit):
        found = found if audit.since is None else replace(found, **_told(audit.since, audit.posterior.names))
    else:
        further = Further.within(audit, seconds, progress)
        found = replace(found, further=further, **_told(Since.of(further), audit.posterior.names))
    found = replace(found, values=by_value(people, shareable=shareable))
    if not isinstance(audit, SpreadAudit):
        worst = None if shareable else worst_place(audit)
        found = replace(found, populations=by_population(audit, shareable=shareable), worst=worst)
    if isinstance(audit, SpreadAudit) and audit.levels is not None:
        return replace(found, levels={name: dict(told) for name, told in audit.levels.items()})
    return replace(found, levels=single_levels(dict(zip(audit.posterior.names, found.held, strict=False))))


def _told(since: Since, names: Sequence[str]) -> Mapping[str, Any]:
    """What some of the releases tell."""
    return {
        "since": since,
        "states": since.states(names),
        "moves": since.moves,
        "pairs": since.pairs,
        "needs": since.needs() if len(names) > 1 else None,
        "only": since.only,
    }


def at_hand(
    audit: Audit | SpreadAudit, sure: HowSure, *, audience: str = "shareable", origin: Origin | None = None
) -> Gathered:
    """What is known without further work."""
    names, after = audit.posterior.names, sure.together.bands
    told = (*(HistoryState(name, None) for name in names[:-1]), HistoryState(names[-1], after))
    return Gathered(
        audit=audit, audience=audience, origin=origin or Origin.now(), further=None, sure=sure, states=told,
        since=None, moves=None, pairs=(), needs=None, only=(), values=None, populations=(), levels={}, worst=None,
    )  # fmt: skip
