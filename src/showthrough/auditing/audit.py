"""The audit: of a history on one machine, or in pieces on an engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from showthrough.auditing.deciding import PolicyGiven, rules_from
from showthrough.auditing.whole_audit import Audit, audit_of
from showthrough.inference.clock import Clock
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Told
from showthrough.inference.run import Wanted
from showthrough.knowledge.statement import Statement
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.release.release import Release

if TYPE_CHECKING:
    from showthrough.auditing.pieces_audit import SpreadAudit
    from showthrough.engines.engine import Engine


@overload
def audit(
    releases: Sequence[Release],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    knowledge: Iterable[Statement] = (),
    prior: Any = None,
    changed: Any = "refuse",
    contradictions: str = "explain",
    elastic: bool = False,
    seconds: float = SECONDS,
    whole_values: float | None = None,
    policy: PolicyGiven | None = None,
    progress: Told = None,
    engine: None = None,
) -> Audit: ...


@overload
def audit(
    releases: Sequence[Any],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    knowledge: Iterable[Statement] = (),
    prior: Any = None,
    changed: Any = "refuse",
    contradictions: str = "explain",
    elastic: bool = False,
    seconds: float = SECONDS,
    whole_values: float | None = None,
    policy: PolicyGiven | None = None,
    progress: Told = None,
    engine: Engine,
) -> SpreadAudit: ...


def audit(
    releases: Sequence[Release],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    knowledge: Iterable[Statement] = (),
    prior: Any = None,
    changed: Any = "refuse",
    contradictions: str = "explain",
    elastic: bool = False,
    seconds: float = SECONDS,
    whole_values: float | None = None,
    policy: PolicyGiven | None = None,
    progress: Told = None,
    engine: Engine | None = None,
) -> Audit | SpreadAudit:
    """Lay releases on top of each other and count what shows through.

    ``register``, ``membership``, ``domain``, ``knowledge``, ``prior``, ``changed``, ``contradictions``, ``elastic`` and
    ``seconds`` are those of `infer`; what the reader knows and believes counts for each release alone too.
    ``whole_values`` is a time budget in seconds for what no assignment of whole values allows. Each release alone takes
    at most ``seconds`` again, all of them together. ``policy`` gives a verdict: a `Policy`, whose limits block,
    `Rules`, or the path of a policy file. After ``progress.enough()`` the audit is of what is known by then. With an
    ``engine`` the history is answered in pieces, and the figures of a `SpreadAudit` are added up.
    """
    told, rules = Progress.of(progress), None if policy is None else rules_from(policy)
    if engine is not None:
        from showthrough.auditing.pieces_audit import PieceCounts, audit_on

        beside = {"register": register, "membership": membership, "domain": domain, "knowledge": knowledge}
        beside |= {"prior": prior, "elastic": elastic}
        wanted = Wanted(Changed.of(changed), contradictions)
        return audit_on(engine, releases, beside, wanted, PieceCounts(audit_of, rules), Clock(seconds, told))
    post = infer(
        releases, register=register, membership=membership, domain=domain, knowledge=knowledge, prior=prior,
        changed=changed, contradictions=contradictions, elastic=elastic, seconds=seconds, progress=told,
    )  # fmt: skip
    return audit_of(post, rules, seconds=seconds, whole_values=whole_values, progress=told)
