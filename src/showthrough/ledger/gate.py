"""The gate: a candidate is judged together with everything that is out there, and recorded if it passes.

From reading the history to recording the verdict nobody else writes to the ledger, so of two candidates that are safe
alone and unsafe together, one passes and the other is judged with it in the history.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from showthrough.auditing.whole_audit import Audit, audit_of
from showthrough.errors import ContradictionError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior
from showthrough.inference.resuming import kept, resumable, resumed
from showthrough.knowledge.prior import Prior
from showthrough.knowledge.statement import Statement
from showthrough.ledger import parcel as parcels
from showthrough.ledger.events import sha256
from showthrough.ledger.parcel import Parcel
from showthrough.ledger.recording import Recording, spends
from showthrough.ledger.shapes import AUDITED, JUDGED
from showthrough.policy.decision import Verdict
from showthrough.policy.rules import Rules
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.table.plain import fingerprint, plain

CONTINUED = "the posterior of the history was kept, and went on from there"


GroupsOfPersons = Callable[[Sequence[Release]], Mapping[str, Any]]
"""Who is in which group of these releases, as `infer` takes it."""


@dataclass(frozen=True, eq=False)
class Hearing:
    """How a candidate is judged: the rules, and what `audit` is told of its reader."""

    rules: Rules
    register: Register | None = None
    knowledge: Iterable[Statement] = ()
    prior: Any = None
    elastic: bool = False
    changed: Any = "refuse"
    contradictions: str = "explain"
    membership: GroupsOfPersons | None = None  # of the releases, asked when nobody can write any more
    seconds: float = SECONDS
    whole_values: float | None = None
    register_told: Mapping[str, Any] | None = None  # what is recorded of the register: its hash
    register_file: bytes | None = None  # its bytes, if they are to be kept

    @property
    def beside(self) -> dict[str, Any]:
        """What the reader has beside the releases, as `infer` takes it."""
        given: dict[str, Any] = {"register": self.register, "knowledge": list(self.knowledge), "prior": self.prior}
        return {**given, "elastic": self.elastic}

    @property
    def plain(self) -> bool:
        """Whether the reader has nothing but the releases, and nobody told whose value changed."""
        told = any(given is not None and given != [] and given is not False for given in self.beside.values())
        return not told and not Changed.of(self.changed).told

    @property
    def how(self) -> dict[str, str]:
        """Fingerprints of the policy and of all else that a verdict depends on, by which the same question is known."""
        changed = Changed.of(self.changed)
        told = sorted((str(id), list(cuts)) for id, cuts in changed.told.items())
        reader = {
            "register": None if self.register is None else self.register.fingerprint(),
            "knowledge": sorted(str(said) for said in self.knowledge),
            "prior": None if self.prior is None else Prior.of(self.prior).fingerprint(),
            "elastic": self.elastic, "changed": [changed.otherwise, *told], "contradictions": self.contradictions,
            "links": self.membership is not None,
        }  # fmt: skip
        return {"policy": fingerprint(self.rules.to_toml()), "reader": fingerprint(reader)}


@dataclass(frozen=True, eq=False, repr=False)
class Gate:
    """What became of a candidate: whether it is ``recorded`` as published, and the ``event`` of the verdict.

    ``how`` says whether the answer went on from what was kept of the history, or why not; ``where`` is the ledger,
    without a password.
    """

    name: str
    verdict: str
    audit: Audit
    recorded: bool
    event: int
    head: str
    how: str
    where: str

    @property
    def before(self) -> Posterior | None:
        """The posterior of the history without the candidate; None if it is the first release."""
        return self.audit.before

    @property
    def after(self) -> Posterior:
        """The posterior with the candidate."""
        return self.audit.posterior

    def as_dict(self) -> dict[str, Any]:
        """Counts only, as plain data for JSON."""
        told = {name: getattr(self, name) for name in ("name", "verdict", "recorded", "event", "head", "how")}
        return {**told, "before": _figures(self.before), "after": _figures(self.after)}

    def __repr__(self) -> str:
        where = "recorded as published" if self.recorded else "not recorded as published"
        return f"<gate: {self.name} {self.verdict}, {where}, event {self.event}>"


def judged(recording: Recording, candidate: Parcel, asked: Hearing, progress: Progress) -> Gate:
    """Judge a candidate and record what came of it; inside a transaction that nobody else can write in."""
    memory, session = recording.memory, recording.session
    memory.refuse_recorded(candidate.release.name, candidate.release.fingerprint(), asked.how)
    progress.stage("reading the ledger")
    history = [parcels.read(session, r.told, where=memory.where) for r in memory.history]
    before, after, how = _posteriors(recording, history, candidate.release, asked, progress)
    rules = asked.rules
    excused = memory.exceptions(dt.date.today(), spends=spends(candidate.release))
    rules = replace(rules, exceptions=(*rules.exceptions, *excused)) if excused else rules
    audit = audit_of(
        after, rules, before=before, seconds=asked.seconds, whole_values=asked.whole_values, progress=progress
    )
    assert audit.decision is not None
    return _recorded(recording, candidate, asked, (audit, before, how))


def _posteriors(
    recording: Recording, history: list[Release], candidate: Release, asked: Hearing, progress: Progress
) -> tuple[Posterior | None, Posterior, str]:
    """Before, where it is known already, and after; and how they were found."""
    every = [*history, candidate]
    given: dict[str, Any] = {"seconds": asked.seconds, "progress": progress}
    everything = {**given, **asked.beside, "changed": asked.changed, "contradictions": asked.contradictions}
    if asked.membership is not None:
        everything["membership"] = asked.membership(every)
    if not asked.plain:
        return None, infer(every, **everything), "solved anew: more is known than the releases"
    try:
        before, how = _before(recording, history, **given)
        if before is None:
            after = infer(every, **given)
        else:
            after = before.extend(candidate, progress=progress)
    except ContradictionError:
        if not Changed.of(asked.changed).splits:
            raise
        return None, infer(every, **everything), "solved anew: somebody's value must have changed"
    if after.contradictions and (Changed.of(asked.changed).splits or asked.contradictions != "explain"):
        return None, infer(every, **everything), "solved anew: somebody's value must have changed"
    return before, after, how


def _before(recording: Recording, history: list[Release], **given: Any) -> tuple[Posterior | None, str]:
    """The posterior of the history, from what was kept of it if that is so; None if there is no history."""
    if not [r for r in history if r.sensitive is not None]:
        return None, "solved anew: there is no history"
    told = recording.memory.posterior
    numbers = [r.event.number for r in recording.memory.history]
    content = recording.session.state()
    if told is None or content is None:
        how = "solved anew: no posterior of the history was kept"
    elif told["releases"] != numbers:
        how = "solved anew: the history is another one since a posterior was kept"
    elif sha256(content) != told["sha256"]:
        how = "solved anew: the posterior that was kept is damaged"
    else:
        found = resumed(history, content, **given)
        if found is not None:
            return found, CONTINUED
        how = "solved anew: the posterior that was kept does not prove what it says"
    return infer(history, **given), how


def _recorded(
    recording: Recording, candidate: Parcel, asked: Hearing, found: tuple[Audit, Posterior | None, str]
) -> Gate:
    audit, before, how = found
    decision = audit.decision
    assert decision is not None
    passed = decision.verdict is Verdict.PASS
    told = candidate.kept(recording.session)
    history = [r.event.number for r in recording.memory.history]
    certificate = audit.posterior.certificate
    body: dict[str, Any] = {
        "candidate": told["fingerprint"],
        "name": told["name"],
        "history": history,
        "how": how,
        "certificate": certificate.fingerprint(),
        "status": str(certificate.status),
        "figures": plain(audit.joint),
    }
    if asked.register_told is not None:
        body["register"] = dict(asked.register_told)
        if asked.register_file is not None:
            body["register"]["content"] = recording.session.keep(asked.register_file)
    worth = audit.posterior if passed else before if how != CONTINUED else None
    if worth is not None and resumable(worth):
        content = kept(worth)
        if recording.session.put_state(content):
            numbers = [*history, recording.next_number + 2] if passed else history  # after the audit and the verdict
            body["posterior"] = {"sha256": sha256(content), "releases": numbers}
    made = recording.append(AUDITED, body)
    verdict = {
        "candidate": told,
        "audit": made.number,
        "verdict": str(decision.verdict),
        "said": decision.said,
        **asked.how,
        "reasons": [
            {"rule": r.rule, "severity": r.severity, "outcome": r.outcome, "persons": r.persons, "release": r.release}
            for r in decision.reasons
        ],
    }
    event = recording.append(JUDGED, verdict)
    if passed:
        recording.add(candidate.release, {**told, "by": "gate", "verdict": event.number, **asked.how})
    memory, verdict_given = recording.memory, str(decision.verdict)
    return Gate(str(told["name"]), verdict_given, audit, passed, event.number, memory.head, how, memory.where)


def _figures(post: Posterior | None) -> dict[str, Any] | None:
    """What a reader knows, in counts."""
    if post is None:
        return None
    facts = post.fact_counts()
    largest = post.largest()
    return {
        "persons": post.ids.len(),
        "certain": facts.certain,
        "at_least_half": int((largest >= 0.5 - 1e-9).sum()),
        "at_least_90": int((largest >= 0.9 - 1e-9).sum()),
        "entropy_nats": post.entropy,
        "status": str(post.certificate.status),
    }
