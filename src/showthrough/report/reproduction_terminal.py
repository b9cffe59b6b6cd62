"""A reproduced experiment on a terminal (claims and the first table), and as Markdown (everything)."""

from __future__ import annotations

from rich.console import Console

from showthrough.report.markdown import escaped
from showthrough.report.printable import words
from showthrough.report.reproduction import ReproductionContent, ResultTable, claims_table
from showthrough.report.tables import Column, WordTable, fitting


def show_reproduction(console: Console, told: ReproductionContent) -> None:
    """Figure by figure."""
    console.print(words(f"{told.paper}"), soft_wrap=True)
    console.print(words(f"Data: {told.data}", "dim"), soft_wrap=True)
    for one, effort in zip(told.figures, told.effort, strict=True):
        console.print()
        rows = [[c.what, c.paper, c.ours, f"{c.verdict} ({c.band})" if c.band else c.verdict] for c in one.claims]
        console.print(WordTable(one.title, [Column(name) for name in ("claim", "paper", "here", "verdict")], rows))
        for claim in one.claims:
            if claim.why:
                console.print(words(f"• {claim.what}: {claim.why}"))
        console.print()
        _show_table(console, one.tables[0])
        if further := [table.title for table in one.tables[1:]]:
            console.print(words(f"In the files as well: {'; '.join(further)}.", "dim"))
        for note in one.notes:
            console.print(words(f"• {note}"))
        console.print(words(f"Took {effort}.", "dim"))


def _show_table(console: Console, table: ResultTable) -> None:
    """The columns for which there is room, and the names of the others."""
    columns = [Column(name, whole=number) for name, number in zip(table.headings, table.numeric(), strict=True)]
    rows = table.rows()
    some = fitting(columns, rows, console.width)
    console.print(WordTable(table.title, columns[:some], [row[:some] for row in rows], caption=table.note))
    if some < len(columns):
        further = ", ".join(column.name for column in columns[some:])
        console.print(words(f"Further columns in the files, for which this terminal has no room: {further}.", "dim"))


def reproduction_markdown(told: ReproductionContent) -> bytes:
    """The same for a page that GitHub shows; charts are files beside it."""
    made = told.made
    lines = [f"# {escaped(told.experiment)}", "", escaped(told.paper), "", escaped(told.says), ""]
    lines += [f"    {made.command}", ""] if made.command else []
    libraries = ", ".join(f"{name} {number}" for name, number in made.libraries.items())
    with_what = f"{made.date[:10]}, showthrough {made.showthrough}, {told.machine}, {libraries}; seed {told.seed}."
    lines += [escaped(f"{with_what} Data: {told.data}"), ""]
    for one, effort in zip(told.figures, told.effort, strict=True):
        lines += [f"## {escaped(one.title)}", ""]
        headings, rows = claims_table(one.claims)
        lines += [*_grid(headings, rows, [False] * len(headings)), ""]
        for chart, file in zip(one.charts, chart_files(one.name, len(one.charts)), strict=True):
            lines += [f"![{escaped(chart.title)}]({file})", ""]
        for table in one.tables:
            lines += [f"**{escaped(table.title)}**", "", *_grid(table.headings, table.rows(), table.numeric()), ""]
            lines += [escaped(table.note), ""] if table.note else []
        lines += [f"- {escaped(note)}" for note in one.notes] + ([""] if one.notes else [])
        lines += [f"Took {effort}.", ""]
    return "\n".join(lines).encode(errors="replace")


def chart_files(name: str, charts: int) -> list[str]:
    """What the files of the charts of a figure are called."""
    return [f"{name}.svg" if k == 0 else f"{name}-{k + 1}.svg" for k in range(charts)]


def _grid(headings: tuple[str, ...] | list[str], rows: list[list[str]], right: list[bool]) -> list[str]:
    head = "| " + " | ".join(escaped(name) for name in headings) + " |"
    rule = "|" + "|".join("--:" if number else "---" for number in right) + "|"
    return [head, rule, *("| " + " | ".join(escaped(cell) for cell in row) + " |" for row in rows)]
