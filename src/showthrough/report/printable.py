"""Text from published files made safe for a terminal; `words` is the one way in which text gets there."""

from __future__ import annotations

import unicodedata

from rich.text import Text

from showthrough import said

_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn")


def printable(text: str, *, lines: bool = True) -> str:
    r"""Show characters that would move the cursor or hide text as escapes; line ends stay if ``lines`` are wanted.

    What is private in the text is left out, unless whoever asked was told it before.

    >>> print(printable("\x1b[2JFlu"))
    \x1b[2JFlu
    >>> print(printable("a\nb", lines=False))
    a\nb
    """
    if text.isascii() and text.isprintable():
        return text
    kept = "\n" if lines else ""
    return "".join(
        c.encode("unicode_escape").decode() if c not in kept and unicodedata.category(c) in _HIDDEN else c
        for c in said.shareable(text)
    )


def words(text: str, style: str = "", *, lines: bool = False) -> Text:
    """Text for a console, on one line unless its own ``lines`` are wanted."""
    return Text(printable(text, lines=lines), style=style)
