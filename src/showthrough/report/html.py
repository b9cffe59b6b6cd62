"""The report as HTML: one file without script, from the typed content of `showthrough.report.page`.

Jinja2 and vl-convert-python come with the extra ``report``. Without the second the page has its tables and says so.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from showthrough.auditing.further import Further
from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.auditing.whole_audit import Audit
from showthrough.errors import InputError
from showthrough.inference.posterior import Told
from showthrough.report.charts import drawing
from showthrough.report.origin import Origin
from showthrough.report.page.assembly import page_content
from showthrough.report.page.blocks import Chart, PageContent
from showthrough.report.page.gathered import Gathered, gather
from showthrough.said import shareable

HINT = 'pip install "showthrough[report]"'
WITHOUT_CHARTS = (
    f"**Charts are left out**, as vl-convert-python is not installed: the tables hold the same figures. `{HINT}` adds"
    " them."
)
WITHOUT_ROOM = (
    "**Charts are left out**, as this process may address little memory (`ulimit -v`) and the library that draws"
    " reserves more: the tables hold the same figures."
)
_SVG = re.compile(r"<svg[^>]*?width=\"([\d.]+)\"[^>]*?height=\"([\d.]+)\"[^>]*>(.*)</svg>", re.DOTALL)


class Charted(Protocol):
    """A page that knows its charts."""

    def charts(self) -> dict[str, Chart]:
        """Every chart by its place."""


def page(
    audit: Audit | SpreadAudit,
    *,
    audience: str = "shareable",
    seconds: float | Further | None = None,
    origin: Origin | None = None,
    progress: Told = None,
) -> str:
    """The whole page of an audit."""
    environment()  # before anything takes time
    content = _content(audit, audience, seconds, origin, progress)
    return rendered(content)


def specs(audit: Audit, *, audience: str = "shareable", seconds: float | None = None) -> dict[str, dict[str, Any]]:
    """The charts of the page, as specs that hold their data."""
    content = _content(audit, audience, seconds, None, None)
    return {name: drawing.exported(chart.name, chart.data) for name, chart in content.charts().items()}


def _content(
    audit: Audit | SpreadAudit, audience: str, seconds: float | Further | None, origin: Origin | None, progress: Told
) -> PageContent:
    return content_of(gather(audit, audience=audience, seconds=seconds, origin=origin, progress=progress))


def content_of(gathered: Gathered) -> PageContent:
    """What the page says, and what it lacks here."""
    return replace(page_content(gathered), missing=without_charts())


def without_charts() -> tuple[str, ...]:
    """What a page says where nothing can draw."""
    return () if drawing.available() else (WITHOUT_ROOM if drawing.installed() else WITHOUT_CHARTS,)


def rendered(content: PageContent) -> str:
    """Content on its page."""
    made = environment().get_template("page.html.j2")
    return str(made.render(content=content, css=css(), drawn=drawn(content)))


def drawn(content: Charted) -> dict[str, list[str]]:
    """Each chart at the widths that the page switches between; nothing where nothing can draw."""
    if not drawing.available():
        return {name: [] for name in content.charts()}
    return {name: drawings(chart) for name, chart in content.charts().items()}


def drawings(chart: Chart) -> list[str]:
    """A chart as ``svg`` elements with title and description."""
    if chart.scrolls:
        return [_element(chart, "wide", drawing.WIDE)]
    card = chart.name == "before_after"
    wide, narrow = (drawing.HALF, drawing.NARROW_HALF) if card else (drawing.WIDE, drawing.NARROW)
    return [_element(chart, "wide", wide), _element(chart, "narrow", narrow)]


def _element(chart: Chart, which: str, width: int) -> str:
    from markupsafe import escape

    key = f"{chart.place}-{which}"
    found = _SVG.search(drawing.svg(chart.name, chart.data, width, key=key))
    assert found is not None  # what vl-convert gives is an svg element
    w, h, body = found.groups()
    return (
        f'<svg class="{which}" viewBox="0 0 {w} {h}" style="max-width:{w}px" role="img" aria-labelledby="{key}-t'
        f' {key}-d"><title id="{key}-t">{escape(chart.title)}</title><desc'
        f' id="{key}-d">{escape(chart.description)}</desc>{body}</svg>'
    )


def css() -> str:
    """The style of the page."""
    return (files("showthrough.report") / "templates" / "page.css").read_text("utf-8")


def installed() -> bool:
    """Whether pages can be made here."""
    try:
        environment()
    except InputError:
        return False
    return True


@cache
def environment() -> Any:
    """Where templates are found and how they escape; whoever lacks the library is told what to install."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise InputError(f"The report needs Jinja2, which is not installed: {HINT}.") from None
    made = Environment(
        loader=PackageLoader("showthrough.report", "templates"),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"said": _said, "kind": lambda block: type(block).__name__}
    return made


def _said(text: Any) -> Any:
    """Escaped text with **what matters** and `what is typed` marked."""
    from markupsafe import Markup, escape

    safe = str(escape(shareable(str(text))))
    safe = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", safe)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", safe))
