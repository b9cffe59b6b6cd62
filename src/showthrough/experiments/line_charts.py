"""Lines over a number, with what they draw as a table under them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from showthrough.report.page.blocks import Chart
from showthrough.report.reproduction import drawn_table


def line_chart(
    title: str, rows: Sequence[dict[str, Any]], *, x: str, y: str, key: str, percent: bool = True, **more: Any
) -> Chart:
    """``rows`` of series, x and y; with ``percent`` y is a share, on an axis from nobody to everybody."""
    shape = {"percent": True, "domain": [0, 1]} if percent else {}
    data = {"rows": list(rows), "x": x, "y": y, "title": title, **shape, **more}
    description = f"Lines of {y} by {x}."
    drawn = drawn_table(rows, {"y": "percent"} if percent else {})
    return Chart("lines", title, description, data, (drawn,), key=key)
