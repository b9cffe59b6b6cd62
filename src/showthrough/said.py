r"""One text for two audiences: what would name a person or show a cell is a *private* fragment of it.

A sentence is written once. Whatever comes from a cell (ids, values, labels of groups and hierarchies, cells
themselves) stands in it as ``{private(value)}``; files, columns, row numbers and counts stand in it as they are.
`shareable` leaves the private fragments out, `internal` tells them. Whoever forgets to ask shows nothing: errors,
terminal and JSON say the shareable form of a text unless they are told to say the other.

>>> text = f"Row {3}: the value {private('Flu')} is not listed."
>>> print(shareable(text))
Row 3: the value … is not listed.
>>> print(internal(text))
Row 3: the value Flu is not listed.

`tests/architecture/test_messages.py` looks at every message of the package and lets nothing else be filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Noncharacters: Unicode keeps them for the inside of programs, and no text is written with them.
_OPEN, _INSTEAD, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKS = re.compile(f"[{_OPEN}{_INSTEAD}{_CLOSE}]")
_FRAGMENT = re.compile(
    f"{_OPEN}([^{_OPEN}{_INSTEAD}{_CLOSE}]*)(?:{_INSTEAD}([^{_OPEN}{_INSTEAD}{_CLOSE}]*))?(?:{_CLOSE}|$)"
)

HIDDEN = "…"


def private(fragment: object, instead: str = HIDDEN) -> str:
    """A fragment that internal readers alone are told; all others read ``instead``."""
    return f"{_OPEN}{internal(str(fragment))}{_INSTEAD}{_MARKS.sub('', shareable(instead))}{_CLOSE}"


def private_list(fragments: Iterable[object], instead: str = HIDDEN) -> str:
    """Fragments with commas between them, as one."""
    return private(", ".join(internal(str(fragment)) for fragment in fragments), instead)


def shareable(text: str) -> str:
    """The text without what is private: the one for logs, files and strangers."""
    return text if _OPEN not in text else _MARKS.sub("", _FRAGMENT.sub(lambda found: found[2] or "", text))


def internal(text: str) -> str:
    """The text with all that it says."""
    if not _MARKS.search(text):
        return text
    return _MARKS.sub("", _FRAGMENT.sub(lambda found: found[1], text))
