"""Axes that several charts share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

THOUSANDS = "replace(format(datum.value, ','), /,/g, '\u202f')"
PERCENTS = "(datum.value == 0 ? '0' : round(datum.value * 1000) / 10) + '\u202f%'"
_LETTER = 7.4  # pixels of a letter in the widest of the fonts that a reader may have


def label_room(names: Sequence[str], most: int) -> int:
    """Pixels for labels beside their rows."""
    return int(min(most, 10 + _LETTER * max(map(len, names), default=0)))


def rows_axis(names: Sequence[str], room: int, **more: Any) -> dict[str, Any]:
    """Rows by their number, labelled: labels may be alike."""
    told = json.dumps({str(k): name for k, name in enumerate(names)}, ensure_ascii=False)
    axis = {
        "title": None, "labelLimit": room, "minExtent": room, "labelColor": "var(--ink)", "ticks": False,
        "domain": False, "labelPadding": 8, "labelExpr": f"({told})[datum.value]", **more,
    }  # fmt: skip
    return {"field": "at", "type": "ordinal", "sort": None, "axis": axis}


def measured(field: str, end: float, expression: str, **more: Any) -> dict[str, Any]:
    """A quantity along x up to ``end``, without a line or ticks."""
    axis = {"title": None, "labelExpr": expression, "domain": False, "ticks": False, **more}
    return {"field": field, "type": "quantitative", "scale": {"domain": [0, end], "nice": False}, "axis": axis}


def few_ticks(most: int) -> dict[str, Any]:
    """Whole numbers where there are few."""
    return {"values": [0, most]} if most < 4 else {"tickCount": 3}


def along(field: str) -> Mapping[str, Any]:
    """The same quantity for another layer."""
    return {"field": field, "type": "quantitative"}
