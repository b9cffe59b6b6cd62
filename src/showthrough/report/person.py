"""One person in words: how sure a reader is, since which release, which releases are needed, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from showthrough.errors import LongProofError, NotProvenError, UnknownValueError
from showthrough.inference.certificate import Status
from showthrough.inference.posterior import Posterior
from showthrough.inference.story import OfValue, Story
from showthrough.inference.words import listed
from showthrough.report.page import wording

STEPS = 30  # of a proof; nobody reads a longer one
_ALIKE = 2e-5


@dataclass(frozen=True)
class PersonContent:
    """What is told of one person; it names the person, so it is for internal readers alone."""

    story: Story
    summary: tuple[str, ...]
    proof: str | None  # in sentences, of the value that was asked for or the likeliest
    why_no_proof: str
    premise: str
    numerics: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = self.story.as_dict()
        return {
            "person": told,
            "summary": list(self.summary),
            "proof": self.proof,
            "premise": self.premise,
            "numerics": self.numerics,
        }


def person_content(post: Posterior, story: Story, value: Any = None, *, seconds: float = 10.0) -> PersonContent:
    """All that is told; the proof is of ``value``, or of the likeliest."""
    asked = story.best if value is None else story.of(value)
    proof, why = None, ""
    try:
        named = story.best.value if value is None else value
        proof = str(post.explain(story.id, named, release=story.release, most_steps=STEPS, seconds=seconds))
    except NotProvenError:
        why = "It is neither certain nor impossible, so there is nothing to prove."
    except LongProofError as error:
        why = str(error)
    except UnknownValueError as error:
        why = error.internal
    lines = [*_likeliest(story), *_since(story), *_needed(story, asked)]
    if story.state == Status.BELIEVED:
        lines.append("Noisy counts weigh in: these probabilities are beliefs, and prove nothing.")
    if value is not None:
        lines.append(_of_value(story, asked, value))
    certificate = post.certificate
    return PersonContent(story, tuple(lines), proof, why, certificate.premise, str(certificate))


def percent(p: float) -> str:
    """As on the page, for a terminal.

    >>> percent(0.5), percent(0.99999), percent(1 / 3)
    ('50 %', 'over 99.9 %', '33 %')
    """
    return wording.percent(p).replace(wording.THIN, " ")


def _all(many: int) -> str:
    return "the release" if many == 1 else "both releases" if many == 2 else f"all {many} releases"


def _likeliest(story: Story) -> list[str]:
    best, many = story.best, len(story.names)
    reader = f"A reader of {_all(many)}"
    if story.state in (Status.CONTRADICTORY, Status.RELAXED):
        return [f"{story.id} is in releases that contradict each other: nothing is known of this person."]
    if best.fact == "certain":
        condition = " if what is assumed holds" if best.conditional else ""
        return [f"{reader} can be certain{condition}: {story.id} has {best.value}."]
    if best.p is None:
        return [f"The time did not suffice for {story.id}: there is no certified answer (state: {story.state})."]
    ties = [one for one in story.values if one.p is not None and abs(one.p - best.p) < _ALIKE]
    if len(ties) > 1:
        names = listed([str(one.value) for one in ties])
        return [f"{reader} finds {names} equally likely for {story.id}: {percent(best.p)} each."]
    return [f"{reader} is {percent(best.p)} sure that {story.id} has {best.value}."]


def _since(story: Story) -> list[str]:
    """Since when the likeliest value is what it is, and what single releases say of it."""
    best, lines = story.best, []
    level = 1.0 if best.fact == "certain" else next((x for x in (0.9, 0.5) if (best.p or 0.0) >= x - _ALIKE), None)
    if level is not None and len(story.names) > 1 and (name := story.since(best, level)) is not None:
        before = _before(story, best, name)
        said = "certain" if level == 1.0 else f"at least {percent(level)} sure"
        lines.append(f"Since {name} a reader is {said}{before}.")
    alone = [(p, name) for p, name in zip(best.alone, story.names, strict=True) if p is not None]
    if len(story.names) > 1 and alone:
        most, which = max(alone, key=lambda pair: pair[0])
        lines.append(f"The most telling release alone ({which}) makes {best.value} {percent(most)} likely.")
        if best.p is not None and most > best.p + _ALIKE:
            lines.append(
                "That is more than all together: another release can rule out ways in which this person has the value, "
                "and so lower its probability."
            )
    return lines


def _before(story: Story, value: OfValue, name: str) -> str:
    at = story.names.index(name)
    earlier = value.up_to[at - 1] if at else None
    return "" if earlier is None else f"; before it was {percent(earlier)}"


def _needed(story: Story, asked: OfValue | None) -> list[str]:
    """The fewest releases that tell as much."""
    many = len(story.names)
    if many == 1 or asked is None or asked.p is None or asked.fact == "impossible":
        return []
    if len(story.needed) == many:
        tail = "no fewer tell as much" if story.smallest else "not all smaller sets were tried"
        return [f"It takes {_all(many)}: {tail}."]
    verb = "is" if len(story.needed) == 1 else "are"
    rest = "" if len(story.needed) == 1 else " together"
    return [f"{listed(list(story.needed))} {verb} enough{rest}: further releases make {asked.value} no likelier."]


def _of_value(story: Story, asked: OfValue | None, value: Any) -> str:
    if asked is None:
        return f"{value} stands in no group of {story.id}: it is impossible."
    if asked.fact == "impossible":
        return f"{asked.value} is impossible for {story.id}{' if what is assumed holds' if asked.conditional else ''}."
    if asked.fact == "certain" or asked.p is None:
        return f"{asked.value} is {'certain' if asked.fact == 'certain' else 'without a certified probability'}."
    return f"{asked.value} has a probability of {percent(asked.p)}."


def rows_of(story: Story, *, most: int = 20) -> tuple[list[str], Sequence[Sequence[str]]]:
    """A table of values: heads and rows, each release alone, the history as it grew, all together, what is proven."""
    grown = [f"up to {name}" for name in story.names[1:-1]]
    heads = ["value", *(f"{name} alone" for name in story.names), *grown, "all together", "proven"]

    def cell(p: float | None) -> str:
        return "–" if p is None else percent(p)

    rows = [
        [str(one.value), *map(cell, one.alone), *map(cell, one.up_to[1:-1]), cell(one.p), one.fact or ""]
        for one in story.values[:most]
    ]
    return heads, rows
