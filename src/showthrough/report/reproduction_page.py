"""A reproduced experiment as a page: same look as the report of an audit, no script."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from showthrough.report import html
from showthrough.report.charts import drawing
from showthrough.report.page.blocks import Bullets, Chart, Code, Folded, PageBlock, PlainTable, Section
from showthrough.report.page.wording import cut
from showthrough.report.reproduction import Reproduced, ReproductionContent, ResultTable, Taken, claims_table

SHORT = 9  # rows that are not folded


@dataclass(frozen=True)
class ReproductionPage:
    """All that the page says, before it is placed."""

    title: str
    date: str
    heading: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    footer: str
    missing: tuple[str, ...]

    def charts(self) -> dict[str, Chart]:
        """Every chart by its place."""
        found = [block for part in self.sections for block in part.blocks if isinstance(block, Chart)]
        return {chart.place: chart for chart in found}


def reproduction_page(told: ReproductionContent) -> bytes:
    """The whole page."""
    content = page_of(told)
    made = html.environment().get_template("reproduction.html.j2")
    return str(made.render(content=content, css=html.css(), drawn=html.drawn(content))).encode(errors="replace")


def page_of(told: ReproductionContent) -> ReproductionPage:
    """Claims, charts and tables of every figure, then how to run it again."""
    when = datetime.fromisoformat(told.made.date)
    pairs = zip(told.figures, told.effort, strict=True)
    return ReproductionPage(
        title=f"{told.experiment}: reproduced by showthrough",
        date=f"{when.day} {when:%B %Y}",
        heading=told.says,
        lead=(told.paper, f"Data: {told.data}"),
        sections=(*(_section(one, effort) for one, effort in pairs), _again(told)),
        footer="Made by showthrough on this machine; nothing was sent anywhere.",
        missing=html.without_charts(),
    )


def _section(one: Reproduced, effort: Taken) -> Section:
    headings, rows = claims_table(one.claims)
    claims = PlainTable(headings, tuple(map(tuple, rows)), title="The paper's claims beside ours", stacked=True)
    blocks: list[PageBlock] = [claims, *one.charts, *(_shown(table) for table in one.tables)]
    if one.notes:
        blocks.append(Bullets("To be read with it", one.notes))
    held = sum(claim.holds is True for claim in one.claims)
    judged = sum(claim.holds is not None for claim in one.claims)
    counted = f"{held} of {judged} claims hold." if judged else "Nothing to judge: figures only."
    short = f"Figure {one.figure}" if one.figure else "Results"
    return Section(one.name, short, one.title, (counted,), tuple(blocks), (f"Took {effort}.",), wide=True)


def _shown(table: ResultTable) -> PageBlock:
    """A short table as it is, a long one folded."""
    plain = table.plain()
    if len(plain.rows) <= SHORT:
        return plain
    return Folded(f"{table.title} ({len(plain.rows)} rows)", replace(plain, title=""))


def _again(told: ReproductionContent) -> Section:
    made = told.made
    libraries = ", ".join(f"{name} {number}" for name, number in made.libraries.items())
    blocks: list[PageBlock] = [Code(made.command)] if made.command else []
    if made.files:
        rows = tuple((cut(file.name, 60), file.sha256[:16]) for file in made.files)
        blocks.append(PlainTable(("File", "SHA-256 begins"), rows))
    with_what = f"showthrough {made.showthrough}, {told.machine}, {libraries}; seed {told.seed}."
    same = "Run this on the same files, and every figure but times and memory comes out the same."
    return Section("again", "How to reproduce", "Same files, same figures", (same,), tuple(blocks), (with_what,))


def chart_file(chart: Chart) -> bytes:
    """A chart as an SVG file of its own."""
    return drawing.file(chart.name, chart.data, drawing.WIDE).encode()
