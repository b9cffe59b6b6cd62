"""Cells that can stand nowhere else: whatever shows one of them shows data."""

from __future__ import annotations

import random
import re

_WORD = "zq7x"
_NUMBER = "7319"
MARKED = re.compile(rf"{_WORD}|(?<![\d.]){_NUMBER}\d{{4}}(?!\d)", re.IGNORECASE)


def word(kind: str, number: int) -> str:
    """An id, a value or a label with a mark."""
    return f"{_WORD}{kind}{number}"


def number(rng: random.Random) -> str:
    """A whole number with a mark."""
    return f"{_NUMBER}{rng.randrange(10**4):04d}"


def shown(text: str) -> list[str]:
    """The marks in a text, with what stands around them."""
    return [text[max(0, m.start() - 60) : m.end() + 30] for m in MARKED.finditer(text)][:3]
