"""What a report says of an audit, as typed content; rendering comes after. The JSON schema is audit.schema.json.

``shareable`` content holds counts only. ``internal`` content adds people, facts and proofs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from showthrough import __version__
from showthrough.auditing.audit_figures import JointFigures
from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.auditing.whole_audit import Audit
from showthrough.errors import InputError, LongProofError
from showthrough.inference.certificate import Status
from showthrough.inference.posterior import Posterior
from showthrough.inference.proof import Proof
from showthrough.numerals import many, number_of, tenths
from showthrough.policy.decision import Decision
from showthrough.register.relaxing import guessed
from showthrough.release.release import Release
from showthrough.report.figure import Figures, figures, plain
from showthrough.report.guesses import beside_truth, told_to
from showthrough.report.noise_words import believed
from showthrough.report.origin import Origin

SCHEMA = "showthrough.audit"
VERSION = 3
AUDIENCES = ("shareable", "internal")
PROOFS = 200
PROOF_STEPS = 30
PROOF_SECONDS = 30.0
RANK = (pl.col("fact") == "impossible").cast(pl.Int8) * 2 + (pl.col("by") == "sets")  # the most telling facts first


@dataclass(frozen=True)
class Fact:
    """A proven pair: ``release`` is that of a split id; ``reasons`` is the proof without its conclusion.

    ``conditional`` says that it holds if the releases are consistent.
    """

    id: Any
    value: Any
    fact: str
    by: str
    conditional: bool = False
    release: str | None = None
    proof: str | None = None
    reasons: str = ""


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything proven, the most telling first; the first ones with their proofs."""

    frame: pl.DataFrame  # id, (release,) value, fact, by, (conditional,) proof
    reasons: tuple[str, ...]  # of the first rows

    def __len__(self) -> int:
        return self.frame.height

    def listed(self, limit: int | None = None) -> tuple[Fact, ...]:
        """One by one, at most so many."""
        rows = self.frame if limit is None else self.frame.head(limit)
        why = [*self.reasons, *[""] * rows.height]
        return tuple(Fact(**row, reasons=why[k]) for k, row in enumerate(rows.iter_rows(named=True)))

    def as_list(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Plain data for JSON; what was not proven in words has no proof."""
        rows = self.frame if limit is None else self.frame.head(limit)
        told = [plain(row) for row in rows.iter_rows(named=True)]
        return [{k: v for k, v in row.items() if k != "proof" or v is not None} for row in told]


@dataclass(frozen=True, eq=False)
class AuditContent:
    """An audit for its audience; people and facts are None for those who may not see them."""

    audience: str
    releases: tuple[Figures, ...]
    together: Figures
    whole_values: Figures | None
    truth: Figures | None  # beside the publisher's own tables
    certificate: Figures
    numerics: str  # the certificate in words
    premise: str  # what everything leans on
    summary: tuple[str, ...]
    contradictions: tuple[str, ...]  # sentences for the audience
    locatability: pl.DataFrame | None
    people: pl.DataFrame | None
    facts: Facts | None
    changes: pl.DataFrame | None = None  # who counts as changed: id, release, why
    decision: Decision | None = None  # what the policy says; None without one
    made: Origin | None = None  # when, by what and from which files
    glance: Any = None  # what a terminal shows first (`report/glance.py`), if it was made

    def as_dict(self) -> dict[str, Any]:
        """One JSON object."""
        found: dict[str, Any] = {
            "schema": SCHEMA,
            "version": VERSION,
            "showthrough": __version__,
            "audience": self.audience,
            "releases": [release.as_dict() for release in self.releases],
            "together": self.together.as_dict(),
            "decision": None if self.decision is None else self.decision.as_dict(),
            "made": None if self.made is None else self.made.as_dict(),
        }
        if self.whole_values is not None:
            found["whole_values"] = self.whole_values.as_dict()
        found |= {"certificate": self.certificate.as_dict(), "summary": list(self.summary)}
        if self.truth is not None:
            found["truth"] = self.truth.as_dict()
        if self.contradictions:
            found["contradictions"] = list(self.contradictions)
        if self.locatability is not None:
            found["locatability"] = self.locatability.to_dicts()
        if self.people is not None and self.facts is not None:
            found["people"] = [plain(row) for row in self.people.iter_rows(named=True)]
            found["facts"] = self.facts.as_list()
        if self.changes is not None:
            found["changes"] = [plain(row) for row in self.changes.iter_rows(named=True)]
        return found


def content(
    audit: Audit, *, audience: str = "shareable", proofs: int = PROOFS, known: Facts | None = None
) -> AuditContent:
    """What is told of an audit; ``known`` are the facts if they were collected before."""
    if audience not in AUDIENCES:
        raise InputError(f"audience is one of {', '.join(AUDIENCES)}, not {audience!r}.")
    whole, internal = audit.whole_values, audience == "internal"
    return AuditContent(
        audience=audience,
        releases=tuple(figures(release, "audit", "release") for release in audit.releases),
        together=figures(audit.joint, "audit", "together"),
        whole_values=None if whole is None else figures(whole, "audit", "whole_values"),
        truth=_truth(audit, audience),
        certificate=figures(audit.posterior.certificate.as_dict(), "audit", "certificate"),
        numerics=f"Numerics: {audit.posterior.certificate}.",
        premise=audit.posterior.certificate.premise,
        summary=tuple(summary(audit, internal=internal)),
        contradictions=tuple(c.internal if internal else c.shareable for c in audit.posterior.contradictions),
        locatability=audit.posterior.locatability(),
        people=audit.people if internal else None,
        facts=(known_facts(audit, proofs=proofs) if known is None else known) if internal else None,
        changes=audit.posterior.changes() if internal else None,
        decision=audit.decision,
    )


def content_of_pieces(audit: SpreadAudit) -> AuditContent:
    """What is told of an audit in pieces: counts, as persons stand in files of their own."""
    found = audit.posterior.certificate
    return AuditContent(
        audience="shareable",
        releases=tuple(figures(release, "audit", "release") for release in audit.releases),
        together=figures(audit.joint, "audit", "together"),
        whole_values=None,
        truth=None,
        certificate=figures(found.as_dict(), "audit", "certificate"),
        numerics=f"Numerics: {found}.",
        premise=found.premise,
        summary=tuple(summary(audit)),
        contradictions=tuple(c.shareable for c in audit.posterior.contradictions),
        locatability=None,
        people=None,
        facts=None,
        decision=audit.decision,
    )


def summary(audit: Audit | SpreadAudit, *, internal: bool = False) -> list[str]:
    """The figures in words, the most important first; counts only, unless for internal readers."""
    j, one = audit.joint, len(audit.releases) == 1
    if audit.untied:
        lines = _untied(audit)
    elif one:
        lines = [
            f"From this release alone a reader can be certain about {_people(j.certain)} of {many(j.persons)}.",
        ]
    else:
        lines = [
            f"Laid on top of each other, the {len(audit.releases)} releases make a reader certain about "
            f"{_people(j.certain)} of {many(j.persons)}; any one of them alone about {_people(j.certain_alone)}."
        ]
        if j.newly_certain:
            lines.append(
                f"{many(j.newly_certain)} of them became certain only by combining: no single release gives them away."
            )
    lines += _unanswered(audit) + believed(audit)
    if tolerated := audit.posterior.certificate.changed.tolerated:
        lines.append(
            f"The releases contradict each other unless values changed: {_people(tolerated)} had to be taken for "
            "changed. Others may have changed instead, so nothing that is tied to them counts as safe; the publisher's "
            "own tables tell who did."
        )
    if audit.linked:
        lines.append(
            f"{_names(audit.linked)} {'is' if len(audit.linked) == 1 else 'are'} read with the private link that tells "
            "who is in which group: for a reader who knows everybody's group."
        )
    lines += known_to(audit)
    lines += _excluded(j)
    lines += _whole_values(audit)
    lines.append(
        f"A reader who always guesses the likeliest value is right for {tenths(j.expected_guesses)} of "
        f"{many(j.persons)} persons on average"
        + ("." if one else f" (with only the most telling single release: {tenths(j.expected_guesses_alone)}).")
    )
    if (told := audit.scored) is not None:
        lines += beside_truth("internal" if internal else "shareable", told)
    lines += [rows.sentence(internal=internal) for rows in audit.posterior.unfilled()]
    told_by, known = zip(audit.posterior.names, audit.sources, strict=False), audit.posterior.reader
    if by_guess := [name for name, r in told_by if isinstance(r, Release) and guessed(known, r, name)]:
        certain = f"; {_people(j.certain_if_consistent)} would be certain" if j.certain_if_consistent else ""
        lines.append(
            f"Readers of {_names(by_guess)} are taken to guess that everybody is in a group with a near centroid. "
            f"What follows from it holds only if they guess right{certain}."
        )
    return [*lines, *audit.posterior.reader.notes()]


def _excluded(j: JointFigures) -> list[str]:
    """How often a value is impossible for a person, and why."""
    every, by_told = (
        j.impossible_by_sets + j.impossible_by_counts + j.impossible_by_knowledge,
        j.impossible_by_knowledge,
    )
    if not every:
        return []
    extra = f", {number_of(by_told, 'time')} because of what the reader knows" if by_told else ""
    return [
        f"{number_of(every, 'time')} a value that stands in a person's group is impossible for that person: "
        f"{number_of(j.impossible_by_sets, 'time')} because another of the person's groups does not hold it, "
        f"{number_of(j.impossible_by_counts, 'time')} because the published counts leave no room{extra}."
    ]


def known_to(audit: Audit | SpreadAudit) -> list[str]:
    """What the reader is taken to know and believe, and what it is worth, in counts."""
    reader, found = audit.posterior.reader, []
    if number := len(reader.knowledge):
        said = "1 statement" if number == 1 else f"{number} statements"
        extra = audit.joint.certain_by_knowledge
        it = "it" if number == 1 else "them"
        told = f"{_people(extra)} would not be certain without {it}" if extra else f"nobody becomes certain by {it}"
        found.append(f"The reader is taken to know {said} about values beside the releases; {told}.")
        if audit.decision is not None and (before := len(reader.known_before)):
            found.append(f"The policy does not count {_people(before)} whose value the reader is said to know.")
    if reader.prior is not None:
        found.append("The reader is taken to believe a prior; probabilities differ from it as little as counts allow.")
    if (missed := audit.posterior.relaxed).height:
        found.append(
            f"Statements that contradict the rest gave way, {missed.height} of them by {missed['by'].sum():.3g} in "
            "all, in persons: what hangs on them is marked relaxed, and none of it counts as safe."
        )
    return found


def _whole_values(audit: Audit | SpreadAudit) -> list[str]:
    """What assignments of whole values add, if they were looked at."""
    whole = audit.whole_values
    if whole is None:
        return []
    late = f"; {many(whole.undecided)} pairs are undecided after {whole.seconds:g} s" if whole.undecided else ""
    return [
        f"Counting only assignments of whole values, {_people(whole.certain)} more can be told for certain and "
        f"{many(whole.impossible)} more pairs are impossible{late}."
    ]


def _truth(audit: Audit | SpreadAudit, audience: str) -> Figures | None:
    told = None if audit.scored is None else told_to(audience, audit.scored)
    return None if told is None else figures(told, "audit", "truth")


def _unanswered(audit: Audit | SpreadAudit) -> list[str]:
    """Whose probabilities are not a result, and why."""
    j, certificate = audit.joint, audit.posterior.certificate
    if j.answered == j.persons:
        return []
    by, lines = certificate.persons_by_state, []
    if late := by.get(Status.UNCERTIFIED, 0) + by.get(Status.UNDECIDED, 0):
        perhaps = f", and {_people(j.certain_if_consistent)} more if the releases are consistent"
        lines.append(
            f"For {_people(late)} the time did not suffice: their probabilities are left open, while what is "
            f"proven holds{perhaps if j.certain_if_consistent else ''}. More time may settle it."
        )
        bounded = sum(certificate.bounded_by_state.values())
        lines.append(
            f"Whatever one believes, the counts alone bound some probability of {_people(bounded)} of "
            f"{many(j.persons)} ({bounded / j.persons:.0%}) more narrowly than between 0 and 1."
        )
    if against := by.get(Status.CONTRADICTORY, 0) + by.get(Status.RELAXED, 0):
        what = "that statements of the reader contradict" if by_statements(audit) else "that contradict each other"
        found = certificate.contradictions
        where = f" in {many(found)} place{'s' if found != 1 else ''}" if found else ""
        lines.append(
            f"{_people(against).capitalize()} stand in releases {what}{where}: nothing is said of them, and everybody "
            "else is answered."
        )
    return lines


def by_statements(audit: Audit | SpreadAudit) -> bool:
    """Whether it is statements of the reader that contradict the releases."""
    found = audit.posterior.contradictions
    return bool(audit.posterior.reader.knowledge) and (not found or any("elastic" in c.parameters for c in found))


def _untied(audit: Audit | SpreadAudit) -> list[str]:
    """Why it is not known what releases tell together: nobody in some of them is known to be in another."""
    j, loose = audit.joint, [r.name for r in audit.releases if r.tied_by == "nothing"]
    lines = [
        f"Inconclusive: nothing ties the persons of {_names(audit.untied)} to "
        f"{'those of another release' if len(audit.untied) < len(audit.releases) else 'each other'}, so what the "
        f"{len(audit.releases)} releases tell together is not known. What is tied makes a reader certain about "
        f"{_people(j.certain)} of {many(j.persons)}, any one release alone about {_people(j.certain_alone)}."
    ]
    if loose:
        lines.append(
            f"{_names(loose)} publish{'es' if len(loose) == 1 else ''} no ids, and no register says who is who: name "
            "a register, or keep the private link beside the release folder."
        )
    if strange := [name for name in audit.untied if name not in loose]:
        lines.append(
            f"{_names(strange)} share{'s' if len(strange) == 1 else ''} no id with any other release: if the same "
            "persons go by other pseudonyms there, nothing was compared."
        )
    return lines


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def facts(audit: Audit, *, proofs: int = PROOFS, limit: int | None = None) -> list[dict[str, Any]]:
    """Certain pairs, then pairs impossible by the counts, then by the sets, as plain data; at most ``limit``."""
    return known_facts(audit, proofs=proofs).as_list(limit)


def known_facts(audit: Audit, *, proofs: int = PROOFS) -> Facts:
    """Certain pairs, then pairs impossible by the counts, then by the sets; the first ones with proof."""
    rows = audit.posterior.proven().sort(RANK, maintain_order=True)
    first = leading_facts(audit, rows.head(proofs))
    texts = first.frame["proof"].extend_constant(None, rows.height - len(first))
    return Facts(rows.with_columns(texts.alias("proof")), first.reasons)


def leading_facts(audit: Audit, rows: pl.DataFrame | None = None, *, proofs: int = PROOFS) -> Facts:
    """The first of them alone, each with its proof if it is not too long; ``rows`` if they are at hand."""
    if rows is None:
        for _, part in audit.posterior.by_people():
            rows = (part if rows is None else pl.concat([rows, part])).sort(RANK, maintain_order=True).head(proofs)
    assert rows is not None  # an audit without persons is refused
    found = _proofs(audit, rows)
    texts = pl.Series("proof", [None if proof is None else str(proof) for proof in found], dtype=pl.String)
    return Facts(rows.with_columns(texts), tuple("" if proof is None else proof.reasons for proof in found))


def _proofs(audit: Audit, rows: pl.DataFrame) -> list[Proof | None]:
    """The proofs; none where it would be too long to read, or when the time is used up."""
    found: list[Proof | None] = []
    deadline = time.monotonic() + PROOF_SECONDS
    for row in rows.iter_rows(named=True):
        if time.monotonic() > deadline:
            found.append(None)
            continue
        try:
            where = row.get("release")
            found.append(audit.posterior.explain(row["id"], row["value"], release=where, most_steps=PROOF_STEPS))
        except LongProofError:
            found.append(None)
    return found


@dataclass(frozen=True, eq=False)
class View:
    """What a reader of some releases can believe of each person: P(value | person), or None if it is not in them."""

    name: str
    people: Mapping[Any, Mapping[Any, float] | None]


def views(history: Sequence[tuple[str, Posterior]]) -> tuple[View, ...]:
    """Several posteriors side by side, for the persons of the last."""
    persons = list(history[-1][1].ids)
    known = [(name, post, set(post.ids)) for name, post in history]
    return tuple(View(name, {p: post.of(p) if p in held else None for p in persons}) for name, post, held in known)


def _people(n: int) -> str:
    return "nobody" if n == 0 else "1 person" if n == 1 else f"{many(n)} persons"
