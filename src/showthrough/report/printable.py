"""Text from published files made safe for a terminal."""

from __future__ import annotations

import unicodedata

_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: str) -> str:
    r"""Show characters that would move the cursor or hide text as escapes; line ends stay.

    >>> print(printable("\x1b[2JFlu"))
    \x1b[2JFlu
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if c != "\n" and unicodedata.category(c) in _HIDDEN else c for c in text
    )
