"""Text from published files made safe for a terminal; `words` is the one way in which text gets there."""

from __future__ import annotations

import unicodedata
from typing import Any

from rich.console import Console
from rich.containers import Lines
from rich.text import Text

from showthrough import said
from showthrough.numerals import THIN

_HELD = "\ue000"  # as wide as a thin space, and no space to Rich
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


class Unbroken(Text):
    """Text whose numbers stay on one line: Rich breaks lines at every space of Unicode, no-break ones too."""

    @classmethod
    def of(cls, text: Text) -> Unbroken:
        """The same text."""
        return cls(
            text.plain,
            text.style,
            justify=text.justify,
            overflow=text.overflow,
            no_wrap=text.no_wrap,
            end=text.end,
            tab_size=text.tab_size,
            spans=text.spans,
        )

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        """Called by Rich."""
        lines = _swapped(self, THIN, _HELD).wrap(console, width, **options)
        return Lines(_swapped(line, _HELD, THIN) for line in lines)


def _swapped(text: Text, old: str, new: str) -> Text:
    changed = text.copy()  # of Rich's own class
    changed.plain = changed.plain.replace(old, new)
    return changed


def words(text: str, style: str = "", *, lines: bool = False) -> Text:
    """Text for a console, on one line unless its own ``lines`` are wanted."""
    return Text(printable(text, lines=lines), style=style)


def unbroken(text: str) -> list[str]:
    """The words of a text as lines break between them: a thin space ends none.

    >>> [word.replace(THIN, "_") for word in unbroken(f"4{THIN}800  records")]
    ['4_800', 'records']
    """
    return [word.replace(_HELD, THIN) for word in text.replace(THIN, _HELD).split()]
