"""A file of statements: a table array for each kind, its entries the parameters of the function of that name.

    [[known]]
    id = "11"
    value = "HIV"

    [[share]]
    value = "HIV"
    where = { sex = "f", age = "30-39" }
    at_least = 0.2

Every fault is told with the file, the line and the key.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from showthrough.errors import FileError, InputError
from showthrough.knowledge import statement
from showthrough.knowledge.statement import KINDS, Statement
from showthrough.said import private
from showthrough.table import toml_lines, toml_text
from showthrough.table.files import read_bytes

_EXAMPLE = '[[known]] id = "11" value = "HIV"'


def read_knowledge(path: str | os.PathLike[str]) -> list[Statement]:
    """The statements of a file, in the order of their lines."""
    where = os.fspath(path)
    return parse(read_bytes(Path(path)), where)


def parse(raw: bytes | str, where: str) -> list[Statement]:
    """The statements that a text holds; ``where`` stands in the messages."""
    given = toml_text.parse(raw, where)
    lines = toml_lines.places(raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw)
    found: list[tuple[int, Statement]] = []
    for kind, entries in given.items():
        place = f"{where}, line {lines.get((kind,)) or lines.get((kind, 0), 1)}"
        if kind not in KINDS:
            raise FileError(f"{place}: {_unknown(kind, KINDS)}. A file of statements has {_tables()}.")
        if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
            raise FileError(f"{place}: write [[{kind}]], with double brackets, above each statement, as in {_EXAMPLE}.")
        for number, entry in enumerate(entries):
            found.append((lines.get((kind, number), 0), _statement(kind, entry, (where, lines, number))))
    if not found:
        raise FileError(f"{where} holds no statement: it has {_tables()}, such as {_EXAMPLE}.")
    return [own for _, own in sorted(found, key=lambda pair: pair[0])]


def _statement(kind: str, entry: Mapping[str, Any], at: tuple[str, Mapping[toml_lines.Path, int], int]) -> Statement:
    where, lines, number = at
    line = lines.get((kind, number), 0)
    make: Callable[..., Statement] = getattr(statement, kind)
    wanted = inspect.signature(make).parameters
    for key in entry:
        if key not in wanted:
            own = lines.get((kind, number, key), line)
            raise FileError(f"{where}, line {own}: {_unknown(key, wanted)}. [[{kind}]] has {', '.join(wanted)}.")
    missing = [name for name, one in wanted.items() if one.default is one.empty and name not in entry]
    if missing:
        raise FileError(f"{where}, line {line}: [[{kind}]] needs {' and '.join(missing)}.")
    place = f"{where}, line {line}"
    try:
        return make(**entry).at(place)
    except InputError as problem:
        raise FileError(f"{place}: {problem.said}", parameters=("knowledge",)) from None


def _unknown(key: str, known: Any) -> str:
    near = get_close_matches(key, list(known), n=1)
    meant = f" (was {near[0]!r} meant?)" if near else ""
    return f"{private(repr(key), 'an entry')} is not known{meant}"


def _tables() -> str:
    return f"the table arrays {', '.join(f'[[{kind}]]' for kind in KINDS)}"
