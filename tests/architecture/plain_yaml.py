"""The part of YAML that our own files use: blocks of mappings and lists, lists in brackets, plain and quoted text.

Everything else is refused, so that what passes here means the same to any reader of YAML.
"""

from __future__ import annotations

import json
import re
from typing import Any

_KEY = re.compile(r"^([\w.-]+):(?:\s+(.*))?$")
_PLAIN = re.compile(r"^[\w./][\w ./@,()+-]*$")
_NOT_TEXT = {"true": True, "false": False}
Lines = list[tuple[int, str]]


def read(text: str) -> Any:
    """The document as dictionaries, lists and scalars.

    >>> read("a: 1\\nb:\\n  - x: [p, q]\\n    y: >-\\n      two\\n      lines\\n  - z\\nc:\\n")
    {'a': 1, 'b': [{'x': ['p', 'q'], 'y': 'two lines'}, 'z'], 'c': None}
    >>> read("a: *anchor")
    Traceback (most recent call last):
    ...
    ValueError: not plain: '*anchor'
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    rows = [(len(line) - len(line.lstrip(" ")), line.strip()) for line in lines]
    found = _block(rows, 0)
    if rows:
        raise ValueError(f"not part of the document: {rows[0][1]!r}")
    return found


def _block(rows: Lines, least: int) -> Any:
    """The mapping or list that begins here, if it is indented far enough; its lines are used up."""
    if not rows or rows[0][0] < least:
        return None
    return _list(rows, rows[0][0]) if rows[0][1].startswith("- ") else _mapping(rows, rows[0][0])


def _list(rows: Lines, depth: int) -> list[Any]:
    found: list[Any] = []
    while rows and rows[0][0] == depth and rows[0][1].startswith("- "):
        entry = rows[0][1][2:].strip()
        if _KEY.match(entry):
            rows[0] = (depth + 2, entry)
            found.append(_mapping(rows, depth + 2))
        else:
            rows.pop(0)
            found.append(_scalar(entry))
    return found


def _mapping(rows: Lines, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while rows and rows[0][0] == depth and (entry := _KEY.match(rows[0][1])):
        rows.pop(0)
        key, value = entry[1], entry[2]
        if key in found:
            raise ValueError(f"twice: {key!r}")
        if value == ">-":
            words = []
            while rows and rows[0][0] > depth:
                words.append(rows.pop(0)[1])
            found[key] = " ".join(words)
        else:
            found[key] = _block(rows, depth + 1) if value is None else _scalar(value)
    return found


def _scalar(text: str) -> Any:
    if text.startswith('"'):
        return json.loads(text)
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part.strip()) for part in text[1:-1].split(",")]
    if text in _NOT_TEXT:
        return _NOT_TEXT[text]
    if re.fullmatch(r"\d+", text):
        return int(text)
    if not _PLAIN.match(text) or re.fullmatch(r"\d+\.\d+", text):
        raise ValueError(f"not plain: {text!r}")
    return text
