"""A map of outcomes in words: a row for each case, a column for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import label_room
from showthrough.report.charts.series import titled

SHADES = ("var(--card)", "var(--soft)", "var(--low)", "var(--mark)")
HEIGHT = 24  # pixels of a row
LETTERS = 80  # pixels of a cell that has room for a word


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """``rows`` of row, column and outcome; ``outcomes`` from best to worst. Narrow cells say the first letter."""
    rows, outcomes = [dict(row) for row in data["rows"]], list(data["outcomes"])
    names, columns = (list(dict.fromkeys(row[key] for row in rows)) for key in ("row", "column"))
    room = label_room(names, 220 if width > 500 else 140)
    wide = width > 500
    across = width - room - (70 if wide else 30)  # slanted words reach beyond the last column
    short = across / len(columns) < LETTERS
    for row in rows:
        row["said"] = row["outcome"][0].upper() if short else row["outcome"]
    x = {
        "field": "column", "type": "nominal", "sort": columns,
        "axis": {"orient": "top", "title": None, "labelAngle": -40 if wide else -90, "ticks": False, "domain": False},
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
        "labelExpr": "upper(slice(datum.label, 0, 1)) + ': ' + datum.label" if short else "datum.label",
    }  # fmt: skip
    colour = {"field": "outcome", "type": "nominal", "sort": outcomes, "scale": shades, "legend": legend}
    return {
        "width": across,
        "height": HEIGHT * len(names),
        "title": titled(data["title"], width),
        "data": {"values": rows},
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "rect", "stroke": "var(--line)"}, "encoding": {"color": colour}},
            {"mark": {"type": "text", "fontSize": 12}, "encoding": {"text": {"field": "said"}}},
        ],
    }
