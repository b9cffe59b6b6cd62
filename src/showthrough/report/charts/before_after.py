"""Two stacked bars to 100 %, bands in fixed order: the state before the newest release, and with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.report.charts.canvas import Canvas
from showthrough.report.page.wording import count

ROW = 92
BANDS = ("certain", "p90", "p50", "low", "unknown")
FILLS = {
    "certain": "var(--certain)",
    "p90": "var(--p90)",
    "p50": "var(--p50)",
    "low": "var(--low)",
    "unknown": "var(--card)",
}


def spec(data: Mapping[str, Any], width: int) -> dict[str, Any]:
    """One row of labels, bar and counts for each state."""
    states = data["states"]
    canvas = Canvas(width, ROW * len(states) - 14)
    for k, state in enumerate(states):
        top = k * ROW
        canvas.text(0, top + 10, _short(state["name"], width), weight=650)
        canvas.text(width, top + 10, f"{count(state['persons'])} persons", align="right", color="var(--ink2)", size=12)
        at = 0.0
        for band, pixels in zip(BANDS, _pixels(state, width), strict=True):
            if pixels:
                outline = "var(--lowline)" if band in ("low", "unknown") else None
                canvas.rect(at, top + 24, at + pixels, top + 54, fill=FILLS[band], stroke=outline)
                at += pixels
        certain = f"{count(state['certain'])} certain"
        canvas.text(0, top + 68, certain, color="var(--certain)", weight=650, size=12)
        half = f"{count(state['half'])} {'at least' if width > 300 else '≥'} 50\u202f%"
        canvas.text(max(92, 7 * len(certain) + 14), top + 68, half, weight=650, size=12)
        canvas.text(width, top + 68, f"{count(state['low'])} below", align="right", color="var(--ink2)", size=12)
    return canvas.spec()


def _pixels(state: Mapping[str, Any], width: int) -> list[float]:
    """The lengths of the bands; whoever counts somebody is seen."""
    persons = max(1, state["persons"])
    raw = [max(3.0, width * state[band] / persons) if state[band] else 0.0 for band in BANDS]
    return [pixels * width / sum(raw) if sum(raw) else 0.0 for pixels in raw]


def _short(text: str, width: int) -> str:
    most = (width - 90) // 8
    return text if len(text) <= most else f"{text[: most - 1]}…"
