"""Bars in groups, as papers draw them: one group per setting, one bar per series, the number on top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import PERCENTS, THOUSANDS
from showthrough.report.charts.series import colour_of, legend_below, titled


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """``rows`` of group, series and value; ``percent`` says that values are shares."""
    rows = [dict(row) for row in data["rows"]]
    names = list(dict.fromkeys(row["series"] for row in rows))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    percent, narrow = bool(data.get("percent")), width < 500
    for row in rows:
        row["said"] = f"{100 * row['value']:.0f}\u202f%" if percent else f"{row['value']:,.0f}".replace(",", "\u202f")
    x = {"field": "group", "type": "nominal", "sort": groups, "title": data["x"]}
    y = {
        "field": "value", "type": "quantitative", "title": data["y"], "scale": {"zero": True},
        "axis": {"labelExpr": PERCENTS if percent else THOUSANDS, "tickCount": 5, "ticks": False, "domain": False},
    }  # fmt: skip
    own = {"field": "series", "type": "nominal", "sort": names}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar"},
            "encoding": {"color": {**own, **colour_of(names), "legend": legend_below(names, width)}},
        }
    ]
    if not narrow and len(rows) <= 16:
        words = {"type": "text", "baseline": "bottom", "dy": -3, "fontSize": 12}
        layers.append({"mark": words, "encoding": {"text": {"field": "said"}}})
    return {
        "width": width - 80,
        "height": 300,
        "title": titled(data["title"], width),
        "data": {"values": rows},
        "encoding": {"x": {**x, "axis": {"labelAngle": 0, "ticks": False, "title": data["x"]}}, "y": y, "xOffset": own},
        "layer": layers,
    }
