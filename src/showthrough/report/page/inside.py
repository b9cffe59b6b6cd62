"""The sections for internal readers alone: the worst place and the most exposed persons."""

from __future__ import annotations

from typing import Any

from showthrough.report.page.blocks import Cases, Chart, PlainTable, Section
from showthrough.report.page.cases import cases
from showthrough.report.page.gathered import Gathered, shown
from showthrough.report.page.wording import count, listed, persons, sentence_case, small
from showthrough.report.page.worst_place import Pill


def worst_section(g: Gathered) -> Section | None:
    """Groups left and right, persons between them, forced links marked."""
    if (w := g.worst) is None:
        return None
    names = [g.names[r] for r in w.releases]
    data = {
        "sides": names,
        "boxes": [
            {
                "side": w.releases.index(b.release),
                "label": f"group {shown(str(b.label))}",
                "key": f"{b.release}:{b.label}",
                "values": [[shown(str(value)), n] for value, n in b.values],
            }
            for b in w.boxes
        ],
        "pills": [
            {
                "id": shown(str(p.id)),
                "certain": None if p.certain is None else shown(str(p.certain)),
                "links": [
                    None if label is None else f"{r}:{label}" for r, label in zip(w.releases, p.groups, strict=True)
                ],
            }
            for p in w.pills
        ],
    }
    grid = PlainTable(
        ("Person", *(f"In {name}" for name in names), "Value"),
        tuple((shown(str(p.id)), *(_group(label) for label in p.groups), _value(p)) for p in w.pills),
        stacked=True,
    )
    sure = sum(p.certain is not None for p in w.pills)
    said = [
        "Thick lines are forced: no assignment of values gives the case to somebody else. Dotted ones are open."
        f" {sentence_case(persons(sure))} of {len(w.pills)} drawn here {'is' if sure == 1 else 'are'} certain."
    ]
    whole = "This is the whole component: groups that are linked by shared persons."
    part = (
        "A part of a larger component: what lies around the groups that share most certain persons. Other releases may"
        " force links too."
    )
    quiet = (whole if w.whole and len(g.names) <= 2 else part,)
    desc = (
        f"Groups of {listed(names)} and the persons in them. "
        + "; ".join(f"{shown(str(p.id))}: {_value(p)}" for p in w.pills[:30])
        + "."
    )
    chart = Chart(
        "worst", "The worst place", desc, data, (grid,), legend=(("forced", "forced"), ("open", "open")), scrolls=True
    )
    heading = f"{sentence_case(small(sure))} {'person falls' if sure == 1 else 'persons fall'} where {_meet(names)}."
    return Section("worst", "The worst place", heading, tuple(said), (chart,), quiet, wide=True)


def _meet(names: list[str]) -> str:
    return f"groups of {listed(names)} meet" if len(names) > 1 else f"a group of {names[0]} tells too much"


def _group(label: Any) -> str:
    return "" if label is None else f"group {shown(str(label))}"


def _value(pill: Pill) -> str:
    return "open" if pill.certain is None else f"{shown(str(pill.certain))}, certain"


def people_section(g: Gathered) -> Section | None:
    """A few persons with the reason why."""
    found = () if g.further is None else cases(g.further, g.needs)
    if not found:
        return None
    many = g.after.certain or g.after.p50
    whom = "those whom the newest release harms most first" if g.several else "the surest first"
    say = (
        "Each proof can be replayed from the published counts by a separate checker. The people file of the audit has "
        "everybody, `post.explain(id, value)` proves any of them."
    )
    return Section(
        "people",
        "Most exposed persons",
        (
            f"{sentence_case(small(len(found)))} of {count(many)}, {whom}"
            if len(found) < many
            else f"{sentence_case(persons(many))}, {whom}"
        ),
        (say,),
        (Cases(found),),
        wide=True,
    )
