"""A map of outcomes in words: a row for each case, a column for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import label_room

SHADES = ("var(--card)", "var(--soft)", "var(--low)", "var(--mark)")
HEIGHT = 24  # pixels of a row


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """``rows`` of row, column and outcome; ``outcomes`` from best to worst. Narrow cells say the first letter."""
    rows, outcomes = [dict(row) for row in data["rows"]], list(data["outcomes"])
    names, columns = (list(dict.fromkeys(row[key] for row in rows)) for key in ("row", "column"))
    room = label_room(names, 220 if width > 500 else 130)
    across = width - room - 20
    for row in rows:
        row["said"] = row["outcome"] if across / len(columns) > 56 else row["outcome"][0].upper()
    x = {
        "field": "column", "type": "nominal", "sort": columns,
        "axis": {"orient": "top", "title": None, "labelAngle": -40, "ticks": False, "domain": False},
    }  # fmt: skip
    y = {
        "field": "row", "type": "nominal", "sort": names,
        "axis": {"title": None, "ticks": False, "domain": False, "labelLimit": room, "labelColor": "var(--ink)"},
    }  # fmt: skip
    shades = {"domain": outcomes, "range": [SHADES[k % len(SHADES)] for k in range(len(outcomes))]}
    legend = {
        "orient": "bottom", "direction": "horizontal", "title": None, "symbolType": "square", "labelLimit": width,
        "symbolStrokeColor": "var(--line2)", "symbolStrokeWidth": 1, "columns": 4 if width > 500 else 2,
        "labelColor": "var(--ink)", "labelFontSize": 12, "columnPadding": 24,
    }  # fmt: skip
    colour = {"field": "outcome", "type": "nominal", "sort": outcomes, "scale": shades, "legend": legend}
    return {
        "width": across,
        "height": HEIGHT * len(names),
        "title": data["title"],
        "data": {"values": rows},
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "rect", "stroke": "var(--line)"}, "encoding": {"color": colour}},
            {"mark": {"type": "text", "fontSize": 10.5}, "encoding": {"text": {"field": "said"}}},
        ],
    }
