"""The lower half of a matrix: how many persons each pair of releases makes certain that neither does alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import label_room
from showthrough.report.page.wording import cut


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """Circles whose area is the count; a dashed ring where it was not worked out."""
    names = data["names"]
    letters = 18 if width > 500 else 10
    rows = [
        {
            "first": cut(p["first"], letters),
            "second": cut(p["second"], letters),
            "n": p["certain"] or 0,
            "said": "?" if p["certain"] is None else p["said"],
            "known": p["certain"] is not None,
        }
        for p in data["pairs"]
    ]
    most = max([1, *(row["n"] for row in rows)])
    cell = int(min(88 if width > 500 else 72, (width - 130) / max(1, len(names) - 1)))
    cell = max(cell, 26)
    shown = [cut(name, letters) for name in names]
    axis = {
        "title": None,
        "domain": False,
        "ticks": False,
        "labelColor": "var(--ink)",
        "grid": False,
        "labelAngle": 0,
        "labelPadding": 8,
    }
    beside = {**axis, "minExtent": label_room(shown[1:], 200)}  # letters of the reader's machine may be wider
    x = {"field": "first", "type": "nominal", "sort": shown[:-1], "axis": axis, "scale": {"domain": shown[:-1]}}
    y = {"field": "second", "type": "nominal", "sort": shown[1:], "axis": beside, "scale": {"domain": shown[1:]}}
    size = {
        "field": "n",
        "type": "quantitative",
        "legend": None,
        "scale": {"domain": [0, most], "range": [0, (cell * 0.62) ** 2 * 0.785]},
    }
    found = [row for row in rows if row["known"]]
    unknown = [row for row in rows if not row["known"]]
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": rows},
            "mark": {"type": "rect", "color": "var(--soft)", "stroke": "var(--line)"},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": found},
            "mark": {"type": "circle", "color": "var(--certain)", "opacity": 1},
            "encoding": {"x": x, "y": y, "size": size},
        },
        {
            "data": {"values": found},
            "mark": {"type": "text", "baseline": "bottom", "dy": cell / 2 - 3, "fontSize": 12, "fontWeight": 650},
            "encoding": {"x": x, "y": y, "text": {"field": "said"}},
        },
    ]
    if unknown:
        ring = {"type": "point", "shape": "circle", "size": 200, "color": "var(--lowline)", "strokeDash": [3, 3]}
        layers.append({"data": {"values": unknown}, "mark": ring, "encoding": {"x": x, "y": y}})
    return {"width": {"step": cell}, "height": {"step": cell}, "layer": layers}
