"""Colours, shapes and a legend for several series: nobody needs colours to tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

COLOURS = ("var(--p90)", "var(--certain)", "var(--p50)", "var(--lowline)", "var(--ink2)", "var(--line2)", "var(--low)")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 3], [2, 3], [8, 3, 2, 3], [4, 4], [1, 3], [10, 4])
_LETTER = 7.4  # pixels of a letter in the widest of the fonts that a reader may have
_MARK = 44  # of the mark beside it, and of the space to the next


def _scale(names: Sequence[str], choices: Sequence[Any]) -> dict[str, Any]:
    return {"scale": {"domain": list(names), "range": [choices[k % len(choices)] for k in range(len(names))]}}


def colour_of(names: Sequence[str]) -> dict[str, Any]:
    """A colour for each."""
    return _scale(names, COLOURS)


def shape_of(names: Sequence[str]) -> dict[str, Any]:
    """A shape for each."""
    return _scale(names, SHAPES)


def dash_of(names: Sequence[str]) -> dict[str, Any]:
    """A dash for each."""
    return _scale(names, DASHES)


def legend_below(names: Sequence[str], width: int) -> dict[str, Any] | None:
    """A legend under the drawing, in as many columns as fit; none where one series is named by the title."""
    if len(names) < 2:
        return None
    longest = max(len(name) for name in names) * _LETTER + _MARK
    columns = max(1, min(len(names), int(width // longest)))
    text = {"labelColor": "var(--ink)", "labelFontSize": 12, "labelLimit": width - _MARK}
    return {
        "orient": "bottom",
        "direction": "horizontal",
        "title": None,
        "columns": columns,
        "columnPadding": 34,
        "offset": 10,
        **text,
    }


def titled(text: str, width: int) -> dict[str, Any]:
    """A title over as many lines as it needs."""
    return {"text": wrap(text, int(width / _LETTER)), "lineHeight": 18}
