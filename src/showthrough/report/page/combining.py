"""The section on which releases it takes: channels between two, and the fewest that make persons certain."""

from __future__ import annotations

from showthrough.auditing.since import Need
from showthrough.report.page.blocks import Bullets, Chart, PlainTable, Section
from showthrough.report.page.breakdown import LEAST
from showthrough.report.page.gathered import Gathered
from showthrough.report.page.wording import all_of, count, listed, sentence_case, small


def channels_section(g: Gathered) -> Section:
    """Which releases it takes."""
    blocks: list[Chart | PlainTable | Bullets] = []
    leaks = [pair for pair in g.pairs if pair.certain]
    unknown = [pair for pair in g.pairs if pair.certain is None]
    grid = PlainTable(
        ("Pair", "Certain by this pair, by neither alone"),
        tuple(
            (f"{g.names[p.first]} and {g.names[p.second]}", _pair(g, p.certain))
            for p in sorted(g.pairs, key=lambda p: (p.first, p.second))
        ),
        right=(1,),
    )
    if len(g.names) > 2:
        pairs = [
            {
                "first": g.names[p.first],
                "second": g.names[p.second],
                "certain": _size(g, p.certain),
                "said": _pair(g, p.certain),
            }
            for p in g.pairs
        ]
        desc = "Certain persons by each pair of releases. " + " ".join(f"{r[0]}: {r[1]}." for r in grid.rows)
        blocks.append(
            Chart("channels", "Channels between two releases", desc, {"names": g.names, "pairs": pairs}, (grid,))
        )
    needed = _needed(g)
    if len(needed) > 1:
        blocks.append(_needs_chart(needed))
    elif len(g.names) == 2:
        blocks.append(grid)
    if not g.after.certain:
        heading = "No pair of releases makes anybody certain."
    elif unknown:
        heading = (
            f"{sentence_case(small(len(leaks)))} of the {small(len(g.pairs) - len(unknown))} pairs looked at leak."
        )
    elif not leaks:
        heading = (
            "No pair leaks by itself."
            if g.audit.joint.newly_certain
            else "Whoever is certain is so by one release alone."
        )
    elif len(leaks) == len(g.pairs):
        heading = (
            "Every pair of releases leaks." if len(g.pairs) > 1 else f"{g.names[0]} and {g.names[1]} leak together."
        )
    else:
        heading = f"{sentence_case(small(len(leaks)))} of {small(len(g.pairs))} pairs of releases leak."
    said = ["A channel is a pair of releases that together say more than each alone."]
    if len(leaks) == len(g.pairs) > 1:
        said.append("Withdrawing one release would not be enough: the pairs that are left still make persons certain.")
    quiet = ("Some sets were not worked out, to keep within the time.",) if unknown or g.needs is None else ()
    return Section("why", "Why: channels between releases", heading, tuple(said), tuple(blocks), quiet)


def _needed(g: Gathered) -> list[tuple[str, int]]:
    """Sets of releases with the persons whom they make certain; few share a line where the page may be passed on."""
    told = [(_need(g, need), need.persons) for need in g.needs or ()]
    return told if g.internal else _merged(told)


def _needs_chart(told: list[tuple[str, int]]) -> Chart:
    rows = tuple((label, count(n)) for label, n in told)
    data = {"rows": [{"label": label, "persons": n} for label, n in told]}
    desc = "; ".join(f"{label}: {n}" for label, n in rows) + "."
    return Chart(
        "needed",
        "The fewest releases that make a person certain",
        desc,
        data,
        (PlainTable(("Releases needed", "Persons"), rows, right=(1,)),),
    )


def _need(g: Gathered, need: Need) -> str:
    if need.at_least:
        return f"{small(need.size)} or more together"
    if not need.releases:
        return (
            "more than one release alone"
            if need.size == 1
            else "more than one pair"
            if need.size == 2
            else f"more than one set of {small(need.size)}"
        )
    if need.size == 1:
        return f"{g.names[need.releases[0]]} alone"
    return f"{all_of(need.size)}" if need.size == len(g.names) else listed([g.names[r] for r in need.releases])


def _merged(told: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sets that count under ten persons share a line, with the next smallest one if need be."""
    ranked = sorted(told, key=lambda row: row[1])
    few = [row for row in ranked if row[1] < LEAST]
    while few and sum(n for _, n in few) < LEAST and len(few) < len(ranked):
        few.append(ranked[len(few)])
    if len(few) < 2:
        return told
    return [*(row for row in told if row not in few), ("other sets", sum(n for _, n in few))]


def _pair(g: Gathered, certain: int | None) -> str:
    """Certain persons by a pair; few of many releases are not told apart on a shareable page."""
    if certain is None:
        return "not worked out"
    few = not g.internal and 0 < certain < LEAST and len(g.names) > 2
    return f"under {LEAST}" if few else count(certain)


def _size(g: Gathered, certain: int | None) -> int | None:
    """What the circle of a pair shows: as few as ten where the count is not told."""
    return LEAST if _pair(g, certain).startswith("under") else certain
