"""A waterfall from the left: certain persons and persons at least 50 % sure, each bar from where the last one ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import THOUSANDS, along, few_ticks, label_room, measured, rows_axis
from showthrough.report.page.wording import count, cut

ROW = 30
TOTAL = "all together"


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """Two panels beside each other, or one above the other where it is narrow."""
    wide = width > 500
    names = [cut(row["release"], 18) for row in data["rows"]] + [TOTAL]
    room = label_room(names, 150)
    left = (width - room - 50) // 2 if wide else width - room - 16
    panels = [
        _panel(data, "certain", names, left, room=room),
        _panel(data, "p50", names, left, room=0 if wide else room),
    ]
    return {"hconcat" if wide else "vconcat": panels, "spacing": 28}


def _panel(data: Mapping[str, Any], measure: str, names: list[str], width: int, *, room: int) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for row in data["rows"]:
        start, end = row[measure] if row["known"] else (0, 0)
        more = end - start
        said = "nobody" if not more else f"+{count(more)}" if more > 0 else f"−{count(-more)}"
        rows.append(
            {"start": start, "end": end, "at_end": max(start, end), "said": said if row["known"] else "not worked out"}
        )
    rows.append({"start": 0, "end": data[measure], "at_end": data[measure], "said": count(data[measure])})
    rows = [{"at": k, **row} for k, row in enumerate(rows)]
    most = max(1, *(row["at_end"] for row in rows))
    y = rows_axis(names, room)
    if not room:
        y["axis"] = None
    x = measured("start", most * 1.45, THOUSANDS, **few_ticks(most))
    words = {"type": "text", "align": "left", "dx": 6, "fontWeight": 650}
    bar = {"type": "bar", "height": 16, "color": f"var(--{measure})"}
    return {
        "width": width,
        "height": {"step": ROW},
        "title": "Certain" if measure == "certain" else "At least 50\u202f% sure",
        "data": {"values": rows},
        "layer": [
            {"mark": bar, "encoding": {"x": x, "x2": {"field": "end"}, "y": y}},
            {"mark": words, "encoding": {"x": along("at_end"), "y": y, "text": {"field": "said"}}},
        ],
    }
