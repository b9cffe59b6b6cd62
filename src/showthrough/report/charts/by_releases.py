"""Lines by number of releases, one for each way to publish: groups solid, noise dashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import PERCENTS
from showthrough.report.page.wording import cut

COLOURS = ("var(--certain)", "var(--p90)", "var(--p50)", "var(--lowline)", "var(--ink2)", "var(--line2)")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """One panel; every line is named at its end and has a shape of its own: nobody needs colours to tell them apart."""
    rows = [dict(row) for row in data["rows"]]
    names = list(dict.fromkeys(row["option"] for row in rows))
    numbers = sorted({row["releases"] for row in rows})
    at = {number: k for k, number in enumerate(numbers)}
    for row in rows:
        row["at"] = at[row["releases"]]
    last = spread([row for row in rows if row["releases"] == numbers[-1]])
    told = "({" + ",".join(f"{k}:'{n}'" for n, k in at.items()) + "})[datum.value]"
    below = {
        "values": list(at.values()), "labelExpr": told, "title": "releases", "grid": False, "ticks": False, "offset": 8
    }  # fmt: skip
    beside = {"tickCount": 5, "labelExpr": PERCENTS, "title": None, "domain": False, "ticks": False}
    colour = {"domain": names, "range": [COLOURS[k % len(COLOURS)] for k in range(len(names))]}
    shape = {"domain": names, "range": [SHAPES[k % len(SHAPES)] for k in range(len(names))]}
    x = {
        "field": "at",
        "type": "quantitative",
        "axis": below,
        "scale": {"domain": [-0.1, len(numbers) - 0.9], "nice": False},
    }
    y = {"field": "share", "type": "quantitative", "axis": beside, "scale": {"domain": [0, 1], "nice": False}}
    own = {"field": "option", "type": "nominal", "legend": None}
    line = {
        "color": {**own, "scale": colour},
        "strokeDash": {"condition": {"test": "datum.dashed", "value": [5, 4]}, "value": [1, 0]},
    }
    room = 190 if width > 500 else 120
    words = {"type": "text", "align": "left", "dx": 10, "fontSize": 12, "limit": room}
    return {
        "width": width - room - 60,
        "height": 320,
        "padding": {"left": 4, "top": 6, "right": 80, "bottom": 6},  # letters of the reader's machine may be wider
        "title": "Persons of whom readers of all releases are at least 90\u202f% sure",
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "detail": own, **line}},
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": {**own, "scale": colour}, "shape": {**own, "scale": shape}},
            },
            {
                "data": {"values": [{**row, "said": cut(row["option"], 30)} for row in last]},
                "mark": words,
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "beside"},
                    "text": {"field": "said"},
                    "color": {**own, "scale": colour},
                },
            },
        ],
    }


def spread(rows: list[dict[str, Any]], apart: float = 0.055) -> list[dict[str, Any]]:
    """Places beside the ends of lines where names do not lie on each other: pushed up, then back below the top."""
    placed = sorted((dict(row) for row in rows), key=lambda row: float(row["share"]))
    least = 0.0
    for row in placed:
        row["beside"] = max(row["share"], least)
        least = row["beside"] + apart
    most = 1.0
    for row in reversed(placed):
        row["beside"] = min(row["beside"], most)
        most = row["beside"] - apart
    return placed
