"""Figures with their meaning: what every report is made of before it is rendered.

What a figure means in words stands in the JSON schemas, once: readers of the JSON, of a terminal and of a
page get the same words.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A number (or a word) that a report tells, by its name in JSON; ``label`` is its name for people."""

    name: str
    value: Any
    meaning: str
    label: str = ""


@dataclass(frozen=True)
class Figures:
    """Figures that belong together.

    >>> certain = Figures((Figure("certain", 3, "Persons whose value is proven."),))
    >>> certain["certain"], certain.as_dict()
    (3, {'certain': 3})
    """

    figures: tuple[Figure, ...]

    def __iter__(self) -> Iterator[Figure]:
        return iter(self.figures)

    def __getitem__(self, name: str) -> Any:
        return next(figure.value for figure in self.figures if figure.name == name)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {figure.name: plain(figure.value) for figure in self.figures}


def figures(found: Any, schema: str, part: str, labels: Mapping[str, str] | None = None) -> Figures:
    """The fields of a dataclass, or the entries of a mapping, with what the schema says they mean."""
    told = found if isinstance(found, Mapping) else dataclasses.asdict(found)
    means, named = meanings(schema)[part], labels or {}
    return Figures(tuple(Figure(name, value, means[name], named.get(name, "")) for name, value in told.items()))


@cache
def meanings(schema: str) -> dict[str, dict[str, str]]:
    """What the fields mean, by the part of the JSON object that they stand in; "" is the object itself."""
    found = json.loads((files("showthrough.report") / f"{schema}.schema.json").read_text("utf-8"))
    inside = {name: part for name, part in found["properties"].items() if "properties" in part}
    parts = {"": found, **inside, **found["$defs"]}
    return {
        name: {field: told.get("description", "") for field, told in part.get("properties", {}).items()}
        for name, part in parts.items()
    }


def plain(found: Any) -> Any:
    """Numbers, text and truth values as they are; infinity, dates and decimals as text."""
    if isinstance(found, Mapping):
        return {key: plain(entry) for key, entry in found.items()}
    if isinstance(found, (list, tuple)):
        return [plain(entry) for entry in found]
    if isinstance(found, float) and not math.isfinite(found):
        return str(found)
    return found if found is None or isinstance(found, (str, int, float)) else str(found)
