"""Groups as boxes left and right, persons as pills between them; forced links thick, open ones dotted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.canvas import Canvas
from showthrough.report.page.wording import count, cut

BOX, HEAD, LINE, GAP = 190, 26, 19, 14
PILL, STEP = 250, 34


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """As wide as it needs, whatever the page is: it scrolls where that is narrow."""
    width = max(width, 860)
    heights = [HEAD + LINE * len(box["values"]) + 8 for box in data["boxes"]]
    sides = [[k for k, box in enumerate(data["boxes"]) if box["side"] == side] for side in range(len(data["sides"]))]
    columns = [sum(heights[k] + GAP for k in side) for side in sides]
    tall = max([STEP * len(data["pills"]), *columns]) + 24
    canvas = Canvas(width, tall)
    at = _places(sides, heights, tall)
    left, middle = (0, width - BOX), (width - PILL) / 2
    drawn = _lines(data, at, left, middle, tall)
    for line in sorted(drawn, key=lambda line: line["forced"]):
        color = "var(--certain)" if line["forced"] else "var(--lowline)"
        canvas.rule(
            *line["from"], *line["to"], color=color, width=2.5 if line["forced"] else 1.25, dash=not line["forced"]
        )
    for k, box in enumerate(data["boxes"]):
        x, y = left[box["side"]], at[k]
        canvas.rect(x, y, x + BOX, y + heights[k], fill="var(--card)", stroke="var(--line2)", radius=6)
    for k, box in enumerate(data["boxes"]):
        canvas.text(left[box["side"]] + 10, at[k] + 14, cut(box["label"], 20), weight=650, size=12)
    for k, box in enumerate(data["boxes"]):
        for j, (value, n) in enumerate(box["values"]):
            canvas.text(left[box["side"]] + 10, at[k] + HEAD + LINE * j + 9, f"{count(n)} × {cut(value, 21)}", size=12)
    for side, name in enumerate(data["sides"]):
        canvas.text(left[side] + (0 if side == 0 else BOX), 8, name, align="left" if side == 0 else "right", weight=650)
    _pills(canvas, data, middle, tall)
    return canvas.spec()


def _places(sides: list[list[int]], heights: list[int], tall: float) -> dict[int, float]:
    """The upper end of each box, its column in the middle of the height."""
    found: dict[int, float] = {}
    for side in sides:
        free = (tall - 24 - sum(heights[k] + GAP for k in side)) / max(1, len(side))
        y = 24 + free / 2
        for k in side:
            found[k] = y
            y += heights[k] + GAP + free
    return found


def _top(k: int, many: int, tall: float) -> float:
    return 24 + (tall - 24 - STEP * many) / 2 + STEP * k


def _lines(
    data: Mapping[str, Any], at: Mapping[int, float], left: tuple[float, float], middle: float, tall: float
) -> list[dict[str, Any]]:
    """From each person to its groups; to the very value where it is forced."""
    keys = {box["key"]: k for k, box in enumerate(data["boxes"])}
    found = []
    for k, pill in enumerate(data["pills"]):
        y = _top(k, len(data["pills"]), tall) + 13
        for side, key in enumerate(pill["links"]):
            if key is None or key not in keys:
                continue
            box = data["boxes"][keys[key]]
            values = [value for value, _ in box["values"]]
            forced = pill["certain"] in values
            row = HEAD + LINE * values.index(pill["certain"]) + 9 if forced else 14
            x = left[side] + (BOX if side == 0 else 0)
            found.append(
                {"from": (x, at[keys[key]] + row), "to": (middle + (0 if side == 0 else PILL), y), "forced": forced}
            )
    return found


def _pills(canvas: Canvas, data: Mapping[str, Any], middle: float, tall: float) -> None:
    many = len(data["pills"])
    for k, pill in enumerate(data["pills"]):
        y, sure = _top(k, many, tall), pill["certain"] is not None
        canvas.rect(
            middle,
            y,
            middle + PILL,
            y + 26,
            fill="var(--mark)" if sure else "var(--card)",
            stroke="var(--certain)" if sure else "var(--line2)",
            radius=13,
        )
    for k, pill in enumerate(data["pills"]):
        canvas.text(middle + 12, _top(k, many, tall) + 13, cut(pill["id"], 13), weight=650, size=12)
    for k, pill in enumerate(data["pills"]):
        if pill["certain"] is not None:
            canvas.text(
                middle + PILL - 12,
                _top(k, many, tall) + 13,
                cut(pill["certain"], 20),
                align="right",
                color="var(--certain)",
                size=12,
                weight=650,
            )
