"""The sections with charts: how sure, what each release added, where exposure sits, which releases it takes."""

from __future__ import annotations

from typing import Any

from showthrough.report.page.bars import COMPARISON, Bar, bars
from showthrough.report.page.blocks import Chart, Note, PlainTable, Section
from showthrough.report.page.breakdown import LEAST
from showthrough.report.page.gathered import Gathered
from showthrough.report.page.headline import band_legend
from showthrough.report.page.wording import count, percent, persons, sentence_case, small


def how_sure(g: Gathered) -> Section:
    """Histograms of everybody's best guess: the most telling release alone, and all together."""
    sure, least = g.sure, 0 if g.internal else LEAST
    panels = [("All together" if g.several else g.newest, sure.together)]
    if g.several:
        panels.insert(0, ("Each person's most telling release alone", sure.alone))
    drawn = [(name, bars(one.steps, least=least), one.bands.certain) for name, one in panels]
    half = f"{persons(g.after.p50)} {'reaches' if g.after.p50 <= 1 else 'reach'} 50\u202f% or more"
    heading = f"Together, {half}." if g.several else f"{sentence_case(half)}."
    if g.several:
        heading = (
            f"Alone, nobody can be guessed above {percent(sure.most_alone)}. "
            if sure.most_alone < 1
            else f"Alone, {persons(g.audit.joint.certain_alone)} can be told for certain. "
        ) + heading
    quiet = [COMPARISON]
    if g.audit.joint.answered and not g.open:
        was = f"moves from {percent(sure.alone.typical)} to" if g.several else "is at"
        quiet.insert(0, f"The typical person {was} {percent(sure.together.typical)}.")
    if not g.internal:
        quiet.append(
            f"Bars of under {LEAST} persons are merged with their neighbours; a wide bar shows the mean of its steps."
        )
    blocks: list[Chart | Note] = [
        Chart("how_sure", "How sure a reader can be", *_drawn(drawn, _limit(g)), legend=_legend(drawn))
    ]
    if sure.surer_alone and g.several:
        blocks.append(
            Note(
                "Why some fall",
                (
                    (
                        f"For {persons(sure.surer_alone)} the joint figure is below that of one release. That is no"
                        " protection and no error: a second release can show that a value which looked frequent in a"
                        " group belongs to others. The reader is then less sure, but better informed."
                    ),
                ),
            )
        )
    say = f"Each bar counts persons by how sure a reader can be of their likeliest {g.sensitive}."
    return Section("how", "How sure a reader can be", heading, (say,), tuple(blocks), tuple(quiet))


Panel = tuple[str, list[Bar], int]  # its name, its bars, how many are certain


def _drawn(drawn: list[Panel], limit: float | None) -> tuple[str, dict[str, Any], tuple[PlainTable, ...]]:
    """Description, data and tables of the histograms."""
    panels = [
        {
            "name": name,
            "certain": sure,
            "bars": [{"low": b.low, "high": b.high, "n": b.persons, "band": b.band} for b in row],
        }
        for name, row, sure in drawn
    ]
    tables = []
    for name, row, sure in drawn:
        lines = [(f"{b.low} to under {b.high}\u202f%", count(b.persons)) for b in row if b.persons]
        tables.append(PlainTable(("How sure", "Persons"), (*lines, ("certain", count(sure))), right=(1,), title=name))
    return _described(drawn), {"panels": panels, "limit": limit}, tuple(tables)


def _legend(drawn: list[Panel]) -> tuple[tuple[str, str], ...]:
    """The bands, and what reaches over several."""
    mixed = any(bar.band == "mixed" and bar.persons for _, row, _ in drawn for bar in row)
    return (*band_legend(), *([("mixed", "several of them, merged")] if mixed else []))


def _described(drawn: list[Panel]) -> str:
    return " ".join(
        f"{name}: {count(sure)} certain; "
        + ", ".join(f"{b.low} to {b.high} percent {count(b.persons)}" for b in row if b.persons)
        + "."
        for name, row, sure in drawn
    )


def _limit(g: Gathered) -> float | None:
    """The limit of the policy on anybody's probability, if there is one."""
    for reason in g.decision.reasons if g.decision is not None else ():
        if reason.rule == "max_posterior" and isinstance(reason.limit, float | int):
            return float(reason.limit)
    return None


_ADDED = (
    "Release",
    "Certain: added",
    "≥\u202f50\u202f%: added",
    "Certain only because of it",
    "≥\u202f50\u202f% only because of it",
)
_ONLY = (
    "Added: in order of publication. Only because of it: would not be so if this one release did not exist, whatever"
    " the order."
)


def what_each_added(g: Gathered) -> Section:
    """A waterfall in the order of publication."""
    known = [state.bands is not None for state in g.states]
    rows, data, certain, half = [], [], 0, 0
    for name, state, only in zip(g.names, g.states, g.only, strict=True):
        b = state.bands
        if b is None:
            rows.append((name, "not worked out", "", *_only(only)))
            data.append({"release": name, "known": False})
            continue
        data.append({"release": name, "known": True, "certain": [certain, b.certain], "p50": [half, b.p50]})
        rows.append((name, _signed(b.certain - certain), _signed(b.p50 - half), *_only(only)))
        certain, half = b.certain, b.p50
    rows.append(("all together", count(g.after.certain), count(g.after.p50), "", ""))
    grid = PlainTable(_ADDED, tuple(rows), right=(1, 2, 3, 4), caption=_ONLY, stacked=True)
    last, before = g.after, g.before
    heading = (
        f"{g.newest} adds {_added(0 if before is None else before.certain, last.certain)}."
        if before is not None
        else "What each release added was not worked out in full."
    )
    said = []
    if g.moves is not None and before is not None:
        net = last.p50 - before.p50
        said.append(
            f"{g.newest} lifts {persons(g.moves.lifted)} to 50\u202f% or more and takes {persons(g.moves.lowered)}"
            f" below it: {count(abs(net))} {'more' if net >= 0 else 'fewer'} in all."
        )
    quiet = (
        () if all(known) else ("Further inferences take time; those that are missing were left out to keep within it.",)
    )
    desc = "Certain persons and persons at least 50 percent sure, after each release. " + " ".join(
        f"{r[0]}: {r[1]} and {r[2]}." for r in rows
    )
    chart = Chart(
        "added",
        "What each release added",
        desc,
        {"rows": data, "certain": last.certain, "p50": last.p50},
        (grid,),
        legend=(("certain", "certain"), ("p50", "at least 50\u202f%")),
        summary="The same as a table, and what withdrawing one would save",
    )
    return Section(
        "since",
        "What each release added",
        heading,
        ("Bars start where the release before ended.", *said),
        (chart,),
        quiet,
    )


def _only(only: tuple[int, int] | None) -> tuple[str, str]:
    return ("not worked out", "") if only is None else (count(only[0]), count(only[1]))


def _signed(n: int) -> str:
    return "nobody" if n == 0 else f"+{count(n)}" if n > 0 else f"−{count(-n)}"


def _added(before: int, now: int) -> str:
    more = now - before
    if more <= 0:
        return "no certain person"
    times = more / before if before else 0
    much = f", {small(int(times))} times as many as all earlier releases" if times >= 2 else ""
    return f"{count(more)} certain {'person' if more == 1 else 'persons'}{much}"
