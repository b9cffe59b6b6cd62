"""Bars: certain persons by the fewest releases that make them so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import THOUSANDS, few_ticks, label_room, measured, rows_axis
from showthrough.report.page.wording import count, cut

ROW = 30


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """One bar for each set of releases."""
    wide = width > 500
    rows = [{"at": k, "n": r["persons"], "said": count(r["persons"])} for k, r in enumerate(data["rows"])]
    names = [cut(r["label"], 36 if wide else 20) for r in data["rows"]]
    room = label_room(names, 270 if wide else 150)
    most = max(1, *(row["n"] for row in rows))
    y, x = rows_axis(names, room), measured("n", most * 1.25, THOUSANDS, **few_ticks(most))
    words = {"type": "text", "align": "left", "dx": 6, "fontWeight": 650}
    return {
        "width": width - room - 16,
        "height": {"step": ROW},
        "title": "The fewest releases that make a person certain" if wide else "Fewest releases needed",
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "bar", "height": 16, "color": "var(--certain)"}, "encoding": {"x": x, "y": y}},
            {"mark": words, "encoding": {"x": x, "y": y, "text": {"field": "said"}}},
        ],
    }
