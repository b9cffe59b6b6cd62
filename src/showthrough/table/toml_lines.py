r"""On which line of a TOML file each entry stands; of text that `tomllib` has accepted.

The parser of the standard library forgets where it read what. This one reads for the places alone: keys, headers,
strings, lists and inline tables, so that names inside text or comments are not taken for entries.

>>> places('a = "b = 1"  # c = 2\n[x]\ny = {z = 1}\n[[e]]\nf = [\n 1]\n')
{('a',): 1, ('x',): 2, ('x', 'y'): 3, ('x', 'y', 'z'): 3, ('e', 0): 4, ('e', 0, 'f'): 5, ('e', 0, 'f', 0): 6}
"""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_INLINE_GAP = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\r\n]+")


def places(text: str) -> dict[Path, int]:
    """The line of every entry and table, by the keys that lead to it; entries of lists go by number."""
    return _Reader(text.replace("\r\n", "\n")).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._found: dict[Path, int] = {}
        self._many: dict[Path, int] = {}  # lists of tables, and how many they hold so far

    def read(self) -> dict[Path, int]:
        """Walk through the file."""
        table: Path = ()
        while self._skip(_GAP) < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._entry(table)
        return self._found

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        self._at = self._at if found is None else found.end()
        return self._at

    def _header(self) -> Path:
        line, double = self._line(), self._text.startswith("[[", self._at)
        self._at += 2 if double else 1
        path: Path = ()
        keys = self._keys()
        for number, key in enumerate(keys):
            path = (*path, key)
            last = number == len(keys) - 1
            if last and double:
                self._many[path] = self._many.get(path, 0) + 1
            if path in self._many:
                path = (*path, self._many[path] - 1)
        self._at += 2 if double else 1
        self._found.setdefault(path, line)
        return path

    def _entry(self, table: Path) -> None:
        line, path = self._line(), table
        for key in self._keys():
            path = (*path, key)
            self._found.setdefault(path, line)
        self._at += 1  # =
        self._skip(_INLINE_GAP)
        self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_INLINE_GAP)
            first = self._at
            if self._text[first] in "\"'":
                self._skip(_STRING)
                keys.append(str(tomllib.loads(f"k = {self._text[first : self._at]}")["k"]))
            else:
                self._skip(_BARE_KEY)
                keys.append(self._text[first : self._at])
            self._skip(_INLINE_GAP)
            if self._text[self._at] != ".":
                return keys
            self._at += 1

    def _value(self, path: Path) -> None:
        first = self._text[self._at]
        if first in "\"'":
            self._skip(_STRING)
        elif first == "[":
            self._list(path)
        elif first == "{":
            self._table(path)
        else:
            self._skip(_BARE_VALUE)

    def _list(self, path: Path) -> None:
        self._at, number = self._at + 1, 0
        while self._skip(_GAP) < len(self._text) and self._text[self._at] != "]":
            self._found[*path, number] = self._line()
            self._value((*path, number))
            self._skip(_GAP)
            if self._text[self._at] == ",":
                self._at, number = self._at + 1, number + 1
        self._at += 1

    def _table(self, path: Path) -> None:
        self._at += 1
        while self._skip(_GAP) < len(self._text) and self._text[self._at] != "}":
            self._entry(path)
            self._skip(_GAP)
            if self._text[self._at] == ",":
                self._at += 1
        self._at += 1
