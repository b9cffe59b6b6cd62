"""Bars: how many of those who have a value are exposed, as the share that they are; sorted by share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import PERCENTS, along, label_room, measured, rows_axis
from showthrough.report.page.wording import cut

ROW = 28


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """A track to 100 % for every value, its exposed part filled."""
    wide = width > 500
    names = [cut(part["label"], 26 if wide else 15) for part in data["parts"]]
    rows = [{"at": k, "whole": 1, "share": p["share"], "said": p["said"]} for k, p in enumerate(data["parts"])]
    room = label_room(names, 200 if wide else 118)
    y = rows_axis(names, room)
    ticks = [0, 0.25, 0.5, 0.75, 1] if wide else [0, 0.5, 1]
    x = measured("whole", 1.36 if wide else 1.75, PERCENTS, values=ticks)
    track = {"type": "bar", "height": 14, "color": "var(--low)", "stroke": "var(--lowline)", "strokeWidth": 1}
    filled = {"type": "bar", "height": 14, "color": f"var(--{data['measure']})"}
    words = {"type": "text", "align": "left", "dx": 8, "fontSize": 12}
    at_end = {"datum": 1, "type": "quantitative"}
    return {
        "width": width - room - 16,
        "height": {"step": ROW},
        "data": {"values": rows},
        "layer": [
            {"mark": track, "encoding": {"x": x, "y": y}},
            {"mark": filled, "encoding": {"x": along("share"), "y": y}},
            {"mark": words, "encoding": {"x": at_end, "y": y, "text": {"field": "said"}}},
        ],
    }
