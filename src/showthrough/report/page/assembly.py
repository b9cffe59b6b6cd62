"""The whole page as content: the first screen, then the sections that have something to say."""

from __future__ import annotations

from datetime import datetime

from showthrough.errors import InputError
from showthrough.report.content import AUDIENCES
from showthrough.report.page import again, assumptions, combining, concentration, evidence, headline, inside
from showthrough.report.page.blocks import PageContent
from showthrough.report.page.gathered import Gathered
from showthrough.report.page.wording import count, listed, persons


def page_content(g: Gathered) -> PageContent:
    """All that the page says to its audience."""
    if g.audience not in AUDIENCES:
        raise InputError(f"audience is one of {', '.join(AUDIENCES)}, not {g.audience!r}.")
    top = headline.headline(g)
    several = [evidence.what_each_added(g)] if g.staged else []
    middle = [evidence.how_sure(g), *several, concentration.by_value_section(g), concentration.by_population_section(g)]
    why = [combining.channels_section(g)] if g.combined else []
    own = [inside.worst_section(g), inside.people_section(g)] if g.internal else []
    last = [
        assumptions.criteria_section(g),
        assumptions.limits_section(g),
        assumptions.reproduce_section(g),
        assumptions.glossary_section(g),
    ]
    found = f"{persons(g.after.certain)} of {count(g.after.persons)} certain"
    kind = {"finding": "Finding"}.get(top.kind, top.kind.capitalize())
    names = g.names if len(g.names) <= 6 else [*g.names[:2], f"{len(g.names) - 3} more", g.newest]
    made = datetime.fromisoformat(g.origin.date)
    compared = "Alone and together" if g.summed else f"Before and after {g.newest}"
    return PageContent(
        audience=g.audience,
        title=f"{kind}: {found}. showthrough report ({g.audience})",
        subject=f"{'Releases' if g.several else 'Release'} {listed(names)}",
        date=f"{made.day} {made:%B %Y}",
        headline=top,
        figures=headline.figures(g),
        states=headline.states_chart(g),
        states_title=compared if g.beside is not None else "How sure a reader can be",
        steps=headline.steps(g),
        command=again.republish(g),
        answers=headline.answers(g),
        sections=tuple(part for part in [*middle, *why, *own, *last] if part is not None),
        elsewhere=(
            "Everybody's answers are in tables of their own, which stay with the steward."
            if g.in_pieces
            else "Ids and proofs are in the internal report, which stays with the steward."
        ),
        footer=(
            f"Made by showthrough {g.origin.showthrough} on {made.day} {made:%B %Y}. This page needs no network and"
            " runs no script."
        ),
    )
