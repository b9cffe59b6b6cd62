"""Exposure by number of releases, one line for each way to publish, beside the error of its counting queries.

A shaded line at the foot is any one release read alone: what lies above it is told by releases together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from showthrough.report.charts.axes import PERCENTS
from showthrough.report.charts.by_releases import spread
from showthrough.report.charts.series import colour_of, shape_of, titled
from showthrough.report.page.wording import cut

ERRORS = 100  # pixels of the panel of errors
NAMES = 160  # of names beside lines and beside errors
_ALONE = "any one release, read alone"


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """Two panels beside each other, or below each other where there is little room."""
    names = list(dict.fromkeys(row["option"] for row in data["rows"]))
    wide = width > 500
    room = width - 2 * NAMES - ERRORS if wide else width - 150  # panels share their left edge
    panels = [_lines(data, names, room, named=wide), _errors(data, names, ERRORS if wide else ERRORS // 2, tall=wide)]
    return {
        "title": titled(data["title"], width),
        "hconcat" if wide else "vconcat": panels,
        "spacing": 16 if wide else 24,
        "resolve": {"scale": {"color": "shared", "shape": "shared"}},
    }


def _lines(data: Mapping[str, Any], names: Sequence[str], width: int, *, named: bool) -> dict[str, Any]:
    rows, numbers = list(data["rows"]), sorted({row["releases"] for row in data["rows"]})
    x = {
        "field": "releases", "type": "quantitative", "scale": {"nice": False, "zero": False, "padding": 8},
        "axis": {
            "values": numbers, "format": "d", "title": "releases", "grid": False, "ticks": False, "offset": 9,
        },
    }  # fmt: skip
    y = {
        "field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "nice": False},
        "axis": {"tickCount": 5, "labelExpr": PERCENTS, "title": None, "domain": False, "ticks": False},
    }  # fmt: skip
    own = {"field": "option", "type": "nominal", "legend": None}
    dash = {"condition": {"test": "datum.dashed", "value": [5, 4]}, "value": [1, 0]}
    alone = {"values": list(data["alone"])}
    layers: list[dict[str, Any]] = [
        {
            "data": alone,
            "mark": {"type": "line", "strokeWidth": 9, "color": "var(--low)"},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": {**own, **colour_of(names)}, "strokeDash": dash},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": {**own, **colour_of(names)}, "shape": {**own, **shape_of(names)}},
        },
        _said_alone(alone["values"], x, y),
    ]
    if named:
        layers.append(_names(rows, names, numbers[-1], x, y))
    return {"width": width, "height": 330, "data": {"values": rows}, "layer": layers}


def _said_alone(alone: Sequence[Mapping[str, Any]], x: Any, y: Any) -> dict[str, Any]:
    """The name of the shaded line, above its end, where other lines are far."""
    mark = {"type": "text", "align": "right", "baseline": "bottom", "dy": -9, "fontSize": 12, "color": "var(--ink2)"}
    return {
        "data": {"values": [{**alone[-1], "said": _ALONE}]}, "mark": mark,
        "encoding": {"x": x, "y": y, "text": {"field": "said"}},
    }  # fmt: skip


def _names(rows: Sequence[Mapping[str, Any]], names: Sequence[str], last: int, x: Any, y: Any) -> dict[str, Any]:
    """Every line named at its end."""
    placed = spread([dict(row) for row in rows if row["releases"] == last])
    return {
        "data": {"values": [{**row, "said": cut(row["option"], 26)} for row in placed]},
        "mark": {"type": "text", "align": "left", "dx": 12, "fontSize": 12, "limit": NAMES, "clip": False},
        "encoding": {
            "x": x, "y": {**y, "field": "beside"}, "text": {"field": "said"},
            "color": {"field": "option", "type": "nominal", "legend": None, **colour_of(names)},
        },
    }  # fmt: skip


def _errors(data: Mapping[str, Any], names: Sequence[str], width: int, *, tall: bool) -> dict[str, Any]:
    """How far off counting queries are, in the colours and shapes of the lines."""
    rows = [{**row, "said": f"{100 * row['error']:.0f}\u202f%"} for row in data["errors"] if row["error"] is not None]
    axis = {"title": None, "ticks": False, "domain": False, "labelLimit": NAMES, "labelColor": "var(--ink)"}
    x = {
        "field": "error", "type": "quantitative", "scale": {"zero": True},
        "axis": {"labelExpr": PERCENTS, "tickCount": 3, "ticks": False, "domain": False, "title": "error of queries"},
    }  # fmt: skip
    y = {"field": "option", "type": "nominal", "sort": list(names), "axis": axis}
    own = {"field": "option", "type": "nominal", "legend": None}
    return {
        "width": width,
        "height": 330 if tall else 170,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": {**own, **colour_of(names)}, "shape": {**own, **shape_of(names)}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 9, "fontSize": 12},
                "encoding": {"x": x, "y": y, "text": {"field": "said"}},
            },
        ],
    }
