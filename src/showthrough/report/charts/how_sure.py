"""Histograms of everybody's best guess one above the other, on one scale; certain persons are a bar of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import THOUSANDS, along
from showthrough.report.page.wording import THIN, count

CERTAIN = (103, 109)
MIDDLE = sum(CERTAIN) / 2
STEP = 5
BANDS = ("certain", "p90", "p50", "low")


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """One panel for each state."""
    panels = data["panels"]
    most = max([1.0, *(_height(bar) for panel in panels for bar in panel["bars"]), *(p["certain"] for p in panels)])
    return {"vconcat": [_panel(panel, data["limit"], most, width) for panel in panels], "spacing": 26}


def _height(bar: Mapping[str, Any]) -> float:
    """Persons per step: a bar over several steps is as high as their mean."""
    return float(bar["n"] * STEP / (bar["high"] - bar["low"]))


def _panel(panel: Mapping[str, Any], limit: float | None, most: float, width: int) -> dict[str, Any]:
    sure = panel["certain"]
    rows = [{**bar, "height": _height(bar)} for bar in panel["bars"] if bar["n"]]
    rows.append({"low": CERTAIN[0], "high": CERTAIN[1], "n": sure, "height": sure, "band": "certain"})
    colours = {**{band: f"var(--{band})" for band in BANDS}, "mixed": "var(--line2)"}
    scale = {"domain": list(colours), "range": list(colours.values())}
    stroke = {"condition": {"test": "datum.band == 'low'", "value": "var(--lowline)"}, "value": None}
    encoding = {
        **_axes(most, width),
        "x2": {"field": "high"},
        "y2": {"datum": 0},
        "fill": {"field": "band", "type": "nominal", "legend": None, "scale": scale},
        "stroke": stroke,
    }
    bars = {"data": {"values": rows}, "mark": {"type": "rect", "xOffset": 0.5, "x2Offset": -0.5}, "encoding": encoding}
    told = {
        "data": {"values": [{"x": MIDDLE, "y": sure, "said": count(sure)}]},
        "mark": {"type": "text", "dy": -9, "color": "var(--certain)", "fontWeight": 650},
        "encoding": {"x": along("x"), "y": along("y"), "text": {"field": "said"}},
    }
    layers = [bars, told, *([] if limit is None else _limit(limit, most, wide=width > 500))]
    return {"width": width - 60, "height": 130, "title": {"text": panel["name"], "offset": 12}, "layer": layers}


def _axes(most: float, width: int) -> dict[str, Any]:
    ticks = [*range(0, 100, 10), MIDDLE] if width > 500 else [0, 25, 50, 75, MIDDLE]
    below = {
        "values": ticks, "labelExpr": f"datum.value > 100 ? 'certain' : datum.value + '{THIN}%'", "title": None,
        "grid": False, "ticks": False, "labelPadding": 6,
    }  # fmt: skip
    beside: dict[str, Any] = {
        "tickCount": 3, "labelExpr": THOUSANDS, "title": "persons", "domain": False, "ticks": False,
        "titleAnchor": "end", "titleAngle": 0, "titleAlign": "left", "titleX": 4, "titleY": -2,
    }  # fmt: skip
    if most <= 4:
        beside["values"] = list(range(int(most) + 1))
    return {
        "x": {**along("low"), "scale": {"domain": [0, 112], "nice": False}, "axis": below},
        "y": {**along("height"), "scale": {"domain": [0, most * 1.12], "nice": False}, "axis": beside},
    }


def _limit(limit: float, most: float, *, wide: bool) -> list[dict[str, Any]]:
    at = {"x": {"datum": 100 * limit, "type": "quantitative"}}
    top = {"y": {"datum": most * 1.08, "type": "quantitative"}}
    rule = {"type": "rule", "strokeDash": [4, 4], "color": "var(--ink)"}
    words = {
        "type": "text",
        "align": "left",
        "dx": 5,
        "fontSize": 12,
        "text": f"{'limit of the policy:' if wide else 'limit'} {100 * limit:g}{THIN}%",
    }
    nothing: dict[str, Any] = {"values": [{}]}
    return [
        {"data": nothing, "mark": rule, "encoding": at},
        {"data": nothing, "mark": words, "encoding": at | top},
    ]
