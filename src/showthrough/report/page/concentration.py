"""The sections on where exposure sits: by value, and by sub-population."""

from __future__ import annotations

from typing import Any

from showthrough.report.page.blocks import Chart, PlainTable, Section
from showthrough.report.page.breakdown import LEAST, Breakdown
from showthrough.report.page.exposure import exposed_of, of_persons, share_said
from showthrough.report.page.gathered import Gathered
from showthrough.report.page.wording import count, percent, sentence_case, small


def by_value_section(g: Gathered) -> Section | None:
    """Of those who have a value, who is exposed."""
    found = g.values
    if found is None:
        return None
    word = _word(found)
    top = next((part for part in found.parts if part.merged == 1 and getattr(part, found.measure)), None)
    heading = (
        f"Exposure by {g.sensitive}"
        if top is None
        else (
            f"{sentence_case(top.label)} is told most often: {exposed_of(top, found.measure, about=True)} persons with"
            f" it {'is' if top.persons < 1.5 else 'are'} {word}."
        )
    )
    quiet = [f"Of everybody it is {share_said(found.whole, found.measure)}."]
    if found.merged:
        why = f" so that no line counts under {LEAST} persons" if not g.internal else ""
        quiet.append(f"{sentence_case(small(found.merged))} values share one line{why}.")
    chart = Chart("by_value", f"Exposure by {g.sensitive}", *_values(g, found))
    return Section(
        "where",
        "Where exposure sits: by value",
        heading,
        (f"Of the persons who have a value, how many are {word} to a reader.",),
        (chart,),
        tuple(quiet),
    )


def _values(g: Gathered, found: Breakdown) -> tuple[str, dict[str, Any], tuple[PlainTable, ...]]:
    """Description, data and table."""
    m = found.measure
    said = [exposed_of(p, m, about=True) for p in found.parts]
    parts = [
        {"label": p.label, "n": getattr(p, m), "persons": round(p.persons, 1), "share": p.share(m), "said": s}
        for p, s in zip(found.parts, said, strict=True)
    ]
    sure = m == "certain"
    rows = [
        (p.label, *([count(p.certain)] if sure else []), of_persons(p, about=True), count(p.p50)) for p in found.parts
    ]
    headings = (
        sentence_case(g.sensitive),
        *(["Certain"] if sure else []),
        "Persons who have it",
        "Likeliest value, ≥\u202f50\u202f% sure",
    )
    caption = "Persons who have it: as many as the releases lead a reader to expect."
    table = PlainTable(headings, tuple(rows), right=(1, 2, 3), caption=caption, stacked=True)
    told = "; ".join(f"{p.label}: {s}" for p, s in zip(found.parts, said, strict=True))
    return (
        f"Share of the persons with a value who are {_word(found)}. {told}.",
        {"parts": parts, "measure": m},
        (table,),
    )


def _word(found: Breakdown) -> str:
    return "certain" if found.measure == "certain" else "at least 50\u202f% sure"


def by_population_section(g: Gathered) -> Section | None:
    """Who is hit more than others, by the quasi-identifiers."""
    if not g.populations:
        return None
    every = [(b, p) for b in g.populations for p in b.parts if p.merged == 1 or b.ordered]
    large = [(b, p) for b, p in every if p.persons >= max(20, g.after.persons / 100)] or every
    top, part = max(large, key=lambda bp: bp[1].share(bp[0].measure))
    mean, word = top.whole.share(top.measure), _word(top)
    heading = (
        f"Hit most: {top.name} {part.label}, {share_said(part, top.measure)} {word}; of everybody"
        f" {share_said(top.whole, top.measure)}."
    )
    desc = f"Share of persons who are {word} in each part. On average {percent(mean)}. " + " ".join(
        f"{b.name}: "
        + "; ".join(f"{p.label} {count(getattr(p, b.measure))} of {count(p.persons)}" for p in b.parts)
        + "."
        for b in g.populations
    )
    quiet = ["Small parts swing by chance; read them with their counts."]
    if not g.internal:
        quiet.insert(0, f"Parts that would count under {LEAST} persons are merged with their neighbours.")
    chart = Chart(
        "by_population",
        "Exposure by sub-population",
        desc,
        {"rows": _rows(g), "mean": mean, "measure": top.measure},
        _tables(g),
    )
    return Section(
        "who",
        "Where exposure sits: by sub-population",
        heading,
        (f"Share of each part of the population that is {word}.",),
        (chart,),
        tuple(quiet),
    )


def _rows(g: Gathered) -> list[dict[str, Any]]:
    return [
        {
            "column": b.name,
            "label": p.label,
            "n": getattr(p, b.measure),
            "persons": p.persons,
            "share": p.share(b.measure),
        }
        for b in g.populations
        for p in b.parts
    ]


def _tables(g: Gathered) -> tuple[PlainTable, ...]:
    """One for each quasi-identifier; no percentage of few persons."""
    found = []
    for b in g.populations:
        shares = [percent(p.share(b.measure)) if p.persons >= 100 else "" for p in b.parts]
        rows = [
            (p.label, count(getattr(p, b.measure)), count(p.persons), s) for p, s in zip(b.parts, shares, strict=True)
        ]
        headings = (b.name, sentence_case(_word(b)), "Of persons", "Share")
        found.append(PlainTable(headings, tuple(rows), right=(1, 2, 3)).without_empty())
    return tuple(found)
