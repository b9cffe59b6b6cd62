"""Dots on a common line: the share of exposed persons in each part of the population, with the mean dashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import PERCENTS, label_room, measured, rows_axis
from showthrough.report.page.wording import count, cut, percent

ROW = 25


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """A block of rows for every quasi-identifier, its name above them."""
    wide = width > 500
    rows, names = _rows(data, wide=wide)
    told = [row for row in rows if not row["head"]]
    most = max([0.01, data["mean"], *(row["share"] for row in told)])
    room = label_room(names, 200 if wide else 124)
    heads = "||".join(f"datum.value=={row['at']}" for row in rows if row["head"])
    bold = {"condition": {"test": heads, "value": 700}, "value": 400}
    y = rows_axis(names, room, grid=True, gridDash=[1, 3], labelFontWeight=bold)
    x = measured("share", most * (1.5 if wide else 1.9), PERCENTS, values=_ticks(most))
    mean = {"x": {"datum": data["mean"], "type": "quantitative"}}
    rule = {"type": "rule", "strokeDash": [4, 4], "color": "var(--ink2)"}
    dot = {"type": "point", "filled": True, "size": 90, "color": f"var(--{data['measure']})", "opacity": 1}
    words = {"type": "text", "align": "left", "fontSize": 12}
    average = {**words, "dx": 5, "color": "var(--ink2)", "text": f"on average {percent(data['mean'])}"}
    return {
        "width": width - room - 16,
        "height": {"step": ROW},
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "point", "opacity": 0}, "encoding": {"y": y}},
            {"data": {"values": [{}]}, "mark": rule, "encoding": mean},
            {"data": {"values": told}, "mark": dot, "encoding": {"x": x, "y": y}},
            {
                "data": {"values": told},
                "mark": {**words, "dx": 11},
                "encoding": {"x": x, "y": y, "text": {"field": "said"}},
            },
            {"data": {"values": [{}]}, "mark": average, "encoding": mean | {"y": {"datum": 0, "type": "ordinal"}}},
        ],
    }


def _rows(data: Mapping[str, Any], *, wide: bool) -> tuple[list[dict[str, Any]], list[str]]:
    rows: list[dict[str, Any]] = []
    names: list[str] = []
    column, letters = None, 26 if wide else 15
    for row in data["rows"]:
        if row["column"] != column:
            column = row["column"]
            names.append(cut(column, letters))
            rows.append({"at": len(rows), "head": True})
        share = f" ({percent(row['share'])})" if wide and row["persons"] >= 100 else ""
        said = f"{count(row['n'])} of {count(row['persons'])}{share}"
        names.append(cut(row["label"], letters))
        rows.append({"at": len(rows), "head": False, "share": row["share"], "said": said})
    return rows, names


def _ticks(most: float) -> list[float]:
    """A few round shares up to the largest."""
    step = next(s for s in (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1) if most / s <= 5)
    return [k * step for k in range(int(most / step + 1e-9) + 1)]
