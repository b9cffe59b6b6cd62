"""TOML as text: written from plain data, read with every fault told in a sentence."""

from __future__ import annotations

import datetime as dt
import json
import numbers
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from showthrough.errors import FileError, InputError
from showthrough.said import private

_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")

_QUOTED = re.compile(
    r"""\((?:[\s,]*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))+,?\)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
)
_SIGN = re.compile(r"""['"](?:\\.[0-9a-f]*|[^\w\s])['"]""")


def document(table: Mapping[str, Any]) -> str:
    """A whole file: plain entries first, then tables, then lists of tables.

    >>> print(document({"k": 5, "register": {"file": "a.csv"}, "release": [{"file": "b.csv"}]}), end="")
    k = 5
    <BLANKLINE>
    [register]
    file = "a.csv"
    <BLANKLINE>
    [[release]]
    file = "b.csv"
    """
    tables = {name: entry for name, entry in table.items() if isinstance(entry, Mapping)}
    lists = {name: entry for name, entry in table.items() if _of_tables(entry)}
    plain = {name: entry for name, entry in table.items() if name not in tables and name not in lists}
    parts = [entries(plain)] if plain else []
    parts += [f"[{key(name)}]\n{entries(entry)}" for name, entry in tables.items()]
    parts += [f"[[{key(name)}]]\n{entries(each)}" for name, entry in lists.items() for each in entry]
    return "\n".join(parts)


def entries(table: Mapping[str, Any], *, into: str = "TOML") -> str:
    """One line per entry; tables inside are written inline. ``into`` stands in the message if one cannot be."""
    return "".join(f"{key(name)} = {_inline(entry, name, into)}\n" for name, entry in table.items())


def key(name: Any) -> str:
    """A key, in quotes where it has to be."""
    plain = str(name).replace("_", "").replace("-", "")
    return str(name) if plain.isascii() and plain.isalnum() else _text(str(name))


def _inline(entry: Any, name: str, into: str) -> str:
    if isinstance(entry, str):
        return _text(entry)
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, (numbers.Integral, float)):
        return repr(float(entry) if isinstance(entry, float) else int(entry))
    if isinstance(entry, (dt.date, dt.time)):
        return entry.isoformat()
    if isinstance(entry, (list, tuple)):
        return f"[{', '.join(_inline(each, name, into) for each in entry)}]"
    if isinstance(entry, Mapping):
        return f"{{{', '.join(f'{key(k)} = {_inline(v, name, into)}' for k, v in entry.items())}}}"
    raise InputError(
        f"The parameter {name!r} cannot be written to {into}: expected text, numbers, truth values, dates, or lists "
        f"and tables of them, got {type(entry).__name__}."
    )


def parse(raw: bytes | str, where: str) -> dict[str, Any]:
    """The tables of a file; ``where`` stands in the messages."""
    try:
        text = raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw
        if _LONG_KEY.search(text):  # the parser keeps every part of a key with all those before it
            raise FileError(f"{where} is not valid TOML: a key of it has more than a hundred parts.")
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise FileError(f"{where} is not UTF-8 text, which TOML has to be.") from None
    except (ValueError, RecursionError) as problem:
        raise fault(where, problem) from None


def fault(where: object, problem: BaseException) -> FileError:
    """The sentence for a file that is no TOML; what the parser quotes of it is private, but for signs."""
    told = "its tables are nested too deeply" if isinstance(problem, RecursionError) else str(problem)
    plain = _QUOTED.sub(lambda quoted: quoted[0] if _SIGN.fullmatch(quoted[0]) else "…", told)
    return FileError(f"{where} is not valid TOML: {private(told, plain)}.")


def _text(text: str) -> str:
    """TOML strings are JSON strings but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _of_tables(entry: Any) -> bool:
    return isinstance(entry, (list, tuple)) and bool(entry) and all(isinstance(each, Mapping) for each in entry)
