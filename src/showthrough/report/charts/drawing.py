"""From Vega-Lite specs to SVG that a page can hold: no script, no font, colours from the page's CSS variables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

WIDE, HALF, NARROW, NARROW_HALF = 740, 548, 320, 288
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
VERSION = "5.21"
ROOM = 128 << 30  # bytes of addresses, not of memory: 40 GB do not suffice, 100 GB do
COLOURS = {  # for specs that leave the page; on it the variables follow light, dark and print
    "certain": "#b3261e", "p90": "#16386b", "p50": "#4b82c4", "low": "#cdd5de", "lowline": "#77879a",
    "ink": "#1b1a17", "ink2": "#55514a", "line": "#dedad2", "line2": "#857f74", "card": "#ffffff",
    "soft": "#f0eee8", "mark": "#f8e3e0", "halo": "#ffffff",
}  # fmt: skip
FONT = 'Inter, "Segoe UI", system-ui, Roboto, "Noto Sans", Arial, sans-serif'
CONFIG: dict[str, Any] = {
    "font": FONT,
    "view": {"stroke": None},
    "text": {"fontSize": 13, "color": "var(--ink)"},
    "axis": {
        "labelColor": "var(--ink2)", "labelFontSize": 12, "titleColor": "var(--ink2)", "titleFontSize": 12,
        "titleFontWeight": "normal", "gridColor": "var(--line)", "domainColor": "var(--ink)", "labelOverlap": True,
        "tickColor": "var(--line2)",
    },
    "title": {"color": "var(--ink)", "fontSize": 13, "fontWeight": 650, "anchor": "start", "offset": 8},
}  # fmt: skip
CHARTS = (
    "added", "before_after", "by_population", "by_releases", "by_value", "channels", "exposure_course", "grouped_bars",
    "how_sure", "lines", "needed", "outcome_map", "worst",
)  # fmt: skip
_VARIABLE = re.compile(r"var\(--([a-z0-9]+)\)")
_IDS = re.compile(r'\b(id="|url\(#|href="#)([\w-]+)')


def spec(name: str, data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """The spec of a chart at a width; a chart is the module of its name."""
    if name not in CHARTS:
        raise KeyError(name)
    found: dict[str, Any] = import_module(f"{__package__}.{name}").spec(data, width)
    return {"$schema": SCHEMA, "background": None, "padding": 2, "config": CONFIG, **found}


def exported(name: str, data: Mapping[str, Any], width: int = WIDE) -> dict[str, Any]:
    """The same with colours instead of variables, for notebooks and other programs."""
    text = _VARIABLE.sub(lambda found: COLOURS[found[1]], json.dumps(spec(name, data, width)))
    made: dict[str, Any] = json.loads(text)
    return made | {"background": "#ffffff"}


def installed() -> bool:
    """Whether the library that draws is there."""
    try:
        import_module("vl_convert")
    except ImportError:
        return False
    return True


def roomy() -> bool:
    """Whether this process may address as much as the library reserves; where it may not, it would be killed."""
    try:
        import resource
    except ImportError:  # no such limit on Windows
        return True
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit == resource.RLIM_INFINITY or limit >= ROOM


def available() -> bool:
    """Whether charts can be drawn here."""
    return installed() and roomy()


def svg(name: str, data: Mapping[str, Any], width: int, *, key: str) -> str:
    """The drawing as the inside of an ``svg`` element, with its size: ``viewBox`` and body. ``key`` keeps ids apart."""
    import vl_convert

    text = vl_convert.vegalite_to_svg(json.dumps(spec(name, data, width)), vl_version=VERSION)
    text = re.sub(r' (role|aria-roledescription|aria-label|aria-hidden|pointer-events)="[^"]*"', "", text)
    text = re.sub(r'<path class="(?:background|foreground)"[^>]*d="[^"]*"(?: display="none")?/>', "", text)
    text = re.sub(r' class="mark-[^"]*"', "", text)
    text = re.sub(r"(-?\d+\.\d{2})\d+", r"\1", text)
    return _IDS.sub(lambda found: f"{found[1]}{key}-{found[2]}", text)


def file(name: str, data: Mapping[str, Any], width: int) -> str:
    """The drawing as an SVG file of its own, with colours instead of variables."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(json.dumps(exported(name, data, width)), vl_version=VERSION))
