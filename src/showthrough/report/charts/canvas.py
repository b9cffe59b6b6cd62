"""Marks at places of their own, as layers of a Vega-Lite spec: for drawings that no axis orders."""

from __future__ import annotations

from typing import Any


class Canvas:
    """Rectangles, lines and text in pixels from the upper left corner; what comes later lies on top."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._layers: list[dict[str, Any]] = []
        self._rows: list[list[dict[str, Any]]] = []
        self._marks: list[dict[str, Any]] = []

    def rect(
        self, x: float, y: float, x2: float, y2: float, *, fill: str, stroke: str | None = None, radius: float = 0
    ) -> None:
        """A rectangle, with round corners if asked for."""
        mark: dict[str, Any] = {"type": "rect", "color": fill, "cornerRadius": radius, "clip": False}
        if stroke is not None:
            mark |= {"stroke": stroke, "strokeWidth": 1.25}
        self._add(mark, {"x": x, "y": y, "x2": x2, "y2": y2})

    def rule(
        self, x: float, y: float, x2: float, y2: float, *, color: str, width: float = 1.25, dash: bool = False
    ) -> None:
        """A straight line."""
        mark: dict[str, Any] = {"type": "rule", "color": color, "strokeWidth": width}
        self._add(mark | ({"strokeDash": [2, 3]} if dash else {}), {"x": x, "y": y, "x2": x2, "y2": y2})

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        align: str = "left",
        color: str = "var(--ink)",
        size: int = 13,
        weight: int = 400,
    ) -> None:
        """A line of text, its middle at y."""
        mark = {
            "type": "text",
            "align": align,
            "baseline": "middle",
            "color": color,
            "fontSize": size,
            "fontWeight": weight,
        }
        self._add(mark, {"x": x, "y": y, "text": text})

    def _add(self, mark: dict[str, Any], row: dict[str, Any]) -> None:
        """Rows of the same mark that follow each other are one layer."""
        if not self._marks or self._marks[-1] != mark:
            self._marks.append(mark)
            self._rows.append([])
        self._rows[-1].append(row)

    def spec(self) -> dict[str, Any]:
        """All layers as a spec."""
        layers = []
        for mark, rows in zip(self._marks, self._rows, strict=True):
            encoding: dict[str, Any] = {"x": _place("x", self.width), "y": _place("y", self.height, down=True)}
            if "x2" in rows[0]:
                encoding |= {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
            if "text" in rows[0]:
                encoding |= {"text": {"field": "text", "type": "nominal"}}
            layers.append({"data": {"values": rows}, "mark": mark, "encoding": encoding})
        return {"width": self.width, "height": self.height, "layer": layers}


def _place(axis: str, length: float, *, down: bool = False) -> dict[str, Any]:
    scale = {"domain": [0, length], "nice": False, "zero": False, **({"reverse": True} if down else {})}
    return {"field": axis, "type": "quantitative", "axis": None, "scale": scale}
