"""Lines over a number, one per series, as papers draw them; a shaded band is where the paper puts its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.axes import PERCENTS, THOUSANDS
from showthrough.report.charts.series import colour_of, dash_of, legend_below, shape_of, titled

PLAIN = "format(datum.value, '.3~g')"


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """``rows`` of series, x and y; ``percent`` says that y is a share, ``band`` shades low to high, ``log`` scales y.

    ``falling`` turns the axis round: the largest x stands at the left, as some papers draw it.
    """
    rows = list(data["rows"])
    names = list(dict.fromkeys(row["series"] for row in rows))
    xs = sorted({row["x"] for row in rows})
    below = {"values": xs, "labelExpr": data.get("x_labels", THOUSANDS), "grid": False, "title": data["x"]}
    ticks = PERCENTS if data.get("percent") else THOUSANDS if data.get("thousands", True) else PLAIN
    beside = {"tickCount": 6, "labelExpr": ticks, "title": data["y"], "domain": False, "ticks": False}
    scale: dict[str, Any] = {"type": "log"} if data.get("log") else {"zero": True}
    if "domain" in data:
        scale |= {"domain": list(data["domain"]), "nice": False}
    across = {"nice": False, "zero": False, "padding": 12, "reverse": bool(data.get("falling"))}
    x = {"field": "x", "type": "quantitative", "axis": below, "scale": across}
    y = {"field": "y", "type": "quantitative", "axis": beside, "scale": scale}
    own = {"field": "series", "type": "nominal", "sort": names}
    legend = legend_below(names, width)
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": x, "y": y, "color": {**own, **colour_of(names), "legend": legend},
                "strokeDash": {**own, **dash_of(names), "legend": legend},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {
                "x": x, "y": y, "color": {**own, **colour_of(names), "legend": legend},
                "shape": {**own, **shape_of(names), "legend": legend},
            },
        },
    ]  # fmt: skip
    return {
        "width": width - 90,
        "height": 320,
        "title": titled(data["title"], width),
        "data": {"values": rows},
        "layer": [*_band(data), *layers],
    }


def _band(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where the paper puts its figures, named."""
    if "band" not in data:
        return []
    low, high, said = data["band"]
    rows = {"values": [{"low": low, "high": high, "said": said}]}
    shade = {"type": "rect", "color": "var(--mark)"}
    ends = {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}
    words = {"type": "text", "align": "right", "baseline": "bottom", "dx": -6, "dy": -2, "fontSize": 12}
    place = {"y": {"field": "low", "type": "quantitative"}, "x": {"value": "width"}, "text": {"field": "said"}}
    return [
        {"data": rows, "mark": shade, "encoding": ends},
        {"data": rows, "mark": {**words, "color": "var(--certain)"}, "encoding": place},
    ]
