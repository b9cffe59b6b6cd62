"""Plain data that checks itself: what requests, history files and their tables are made of.

A subclass is a frozen dataclass whose fields are text, numbers, truth values, other such classes, and lists
and tables of them. What is made has the types that it declares, or there is a `FieldError` that names the
field; `Entries.check` adds rules of its own. The same entries can be written as TOML or JSON and read back;
as TOML knows no null, ``false`` says none where a number, text or list belongs.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Person(Entries):
    ...     name: str
    ...     children: tuple[str, ...] = ()
    >>> Person("Ann", ["Bob"]).as_dict()
    {'name': 'Ann', 'children': ['Bob']}
    >>> Person.from_toml('name = "Ann"') == Person("Ann")
    True
    >>> Person(5)
    Traceback (most recent call last):
    ...
    showthrough.errors.FieldError: name has the wrong type: expected text, not 5.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from showthrough.errors import FieldError, FileError, InputError
from showthrough.said import private
from showthrough.table import toml_text

SHOWN = 60  # characters of a wrong entry


@dataclasses.dataclass(frozen=True)
class Entries:
    """Base of all requests and of what they hold."""

    def __post_init__(self) -> None:
        for name, hint in hints(type(self)).items():
            object.__setattr__(self, name, _fitted(hint, getattr(self, name), name))
        self.check()

    def check(self) -> None:
        """Rules beyond the types of fields; a `FieldError` names the field that breaks one."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data: what differs from the defaults."""
        return _plain_fields(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], *, where: str = "") -> Self:
        """Made from plain data; ``where`` stands in the messages."""
        strange = sorted(str(name) for name in given if name not in hints(cls))
        if strange:
            known = ", ".join(hints(cls))
            raise FileError(
                f"{where or cls.__name__}: {_key(strange[0], hints(cls))} is unknown; the entries are {known}."
            )
        needed = [f.name for f in dataclasses.fields(cls) if _needed(f) and f.name not in given]
        if needed:
            raise FieldError(needed[0], "is missing.", where=where)
        parts = {name: _nested(hints(cls)[name], entry, name, where) for name, entry in given.items()}
        try:
            return cls(**parts)
        except FieldError as problem:
            raise (problem.at(where) if where else problem) from None

    def to_toml(self) -> str:
        """As the text of a TOML file."""
        return toml_text.document(self.as_dict())

    @classmethod
    def from_toml(cls, text: str | bytes, *, where: str = "") -> Self:
        """Made from the text of a TOML file."""
        return cls.from_dict(toml_text.parse(text, where or cls.__name__), where=where)

    def to_json(self) -> str:
        """As one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, where: str = "") -> Self:
        """Made from a JSON object."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as problem:
            raise FileError(f"{where or cls.__name__} is not valid JSON: {problem}.") from None
        if not isinstance(found, dict):
            raise FileError(f"{where or cls.__name__} is no JSON object.")
        return cls.from_dict(found, where=where)


def hints(cls: Any) -> dict[str, Any]:
    """The type of every field."""
    return _hints(cls)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    known = get_type_hints(cls)
    return {field.name: known[field.name] for field in dataclasses.fields(cls)}


def between(name: str, given: float | None, low: float, high: float | None = None) -> None:
    """Refuse a number outside its range; None is no number."""
    if given is not None and not (low <= given and (high is None or given <= high)):
        room = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
        raise FieldError(name, f"is {room}, not {given!r}.")


def _needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _fitted(hint: Any, given: Any, name: str) -> Any:
    """What was given in the type that the hint asks for."""
    origin, wanted = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(wanted, given, name)
    if origin is Literal:
        if given in wanted and isinstance(given, str):
            return given
        words = " or ".join(wanted) if len(wanted) == 2 else f"one of {', '.join(wanted)}"
        raise FieldError(name, f"is {words}, not {private(repr(given), 'what was given')}.")
    if origin is tuple:
        return _listed(hint, given, name)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
            raise FieldError(name, f"is a table, not {_shown(given)}.")
        return {key: _fitted(wanted[1], entry, name) for key, entry in given.items()}
    if hint is Any:
        return _scalar(given, name)
    if hint is str and isinstance(given, os.PathLike):
        given = os.fspath(given)
    if hint is float and isinstance(given, int) and not isinstance(given, bool):
        return float(given)
    if isinstance(given, hint) and not (hint is int and isinstance(given, bool)):
        return given
    raise _wrong(hint, given, name)


def _one_of(wanted: Sequence[Any], given: Any, name: str) -> Any:
    if NoneType in wanted and (given is None or (given is False and bool not in wanted)):
        return None
    kinds = [hint for hint in wanted if hint is not NoneType]
    for hint in kinds:
        try:
            return _fitted(hint, given, name)
        except FieldError as problem:
            if len(kinds) == 1:
                raise problem from None
    raise _wrong(kinds, given, name)


def _listed(hint: Any, given: Any, name: str) -> tuple[Any, ...]:
    wanted = get_args(hint)
    if isinstance(given, str) and wanted == (str, ...):
        given = (given,)
    if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence):
        raise _wrong(hint, given, name)
    each = [wanted[0]] * len(given) if wanted[-1] is ... else list(wanted)
    if len(each) != len(given):
        raise _wrong(hint, given, name)
    try:
        return tuple(_fitted(kind, entry, name) for kind, entry in zip(each, given, strict=True))
    except FieldError:
        raise _wrong(hint, given, name) from None


def _scalar(given: Any, name: str) -> Any:
    """Whatever TOML and JSON can say; dates as text."""
    if isinstance(given, (dt.date, dt.time)):
        return given.isoformat()
    if isinstance(given, Mapping):
        return {str(key): _scalar(entry, name) for key, entry in given.items()}
    if isinstance(given, (list, tuple)):
        return tuple(_scalar(entry, name) for entry in given)
    if isinstance(given, (str, int, float)):
        return given
    raise _wrong(Any, given, name)


def _nested(hint: Any, given: Any, name: str, where: str) -> Any:
    """Tables that stand for classes of their own, made with their place in the messages."""
    inside = f"{where}, {name}" if where else name
    for kind in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        own = [part for part in (kind, *get_args(kind)) if dataclasses.is_dataclass(part)]
        if not own:
            continue
        if own[0] is kind and isinstance(given, Mapping):
            return _made(kind, given, inside)
        if own[0] is not kind and isinstance(given, list):
            numbered = enumerate(given, start=1)
            return [_made(own[0], e, f"{inside} {k}") if isinstance(e, Mapping) else e for k, e in numbered]
        if own[0] is not kind and isinstance(given, Mapping):
            return {k: _made(own[0], e, f"{inside} {k}") if isinstance(e, Mapping) else e for k, e in given.items()}
    return given


def _made(cls: Any, given: Mapping[str, Any], where: str) -> Any:
    if issubclass(cls, Entries):
        return cls.from_dict(given, where=where)
    strange = sorted(str(name) for name in given if name not in hints(cls))
    if strange:
        raise FileError(f"{where}: {_key(strange[0], hints(cls))} is unknown; the entries are {', '.join(hints(cls))}.")
    try:
        return cls(**{name: _fitted(hints(cls)[name], entry, name) for name, entry in given.items()})
    except FieldError as problem:
        raise problem.at(where) from None
    except InputError as problem:  # a class of another room, which checks itself
        raise FileError(f"{where}: {problem.said}") from None


def _plain_fields(entry: Any) -> dict[str, Any]:
    found = {}
    for field in dataclasses.fields(entry):
        value = getattr(entry, field.name)
        made = field.default_factory
        default = field.default if made is dataclasses.MISSING else made()
        if _needed(field) or value != default:
            found[field.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if value is None:
        return False
    if dataclasses.is_dataclass(value):
        return _plain_fields(value)
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return value


def _wrong(hint: Any, given: Any, name: str) -> FieldError:
    return FieldError(name, f"has the wrong type: expected {_words(hint)}, not {_shown(given)}.")


_KINDS = {str: "text", list: "a list", tuple: "a list", dict: "a table", dt.date: "a date", dt.datetime: "a time"}
_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", Any: "a value"}


def _words(hint: Any) -> str:
    """What a type is called in a sentence."""
    if isinstance(hint, list):
        return " or ".join(map(_words, hint))
    if hint in _WORDS:
        return _WORDS[hint]
    origin, wanted = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _words([kind for kind in wanted if kind is not NoneType])
    if origin is tuple and wanted[-1] is ...:
        return f"a list (each {_words(wanted[0])})"
    if origin is tuple:
        return f"a list of {len(wanted)} ({', '.join(_words(kind) for kind in wanted)})"
    return "a table"


def _shown(given: Any) -> str:
    """A short entry as it is; of a longer one only what it is, as it may hold data."""
    text, kind = repr(given), _KINDS.get(type(given), "something else")
    if given is None or isinstance(given, (bool, int, float)):
        return text
    short = len(text) <= SHOWN and not isinstance(given, (list, tuple, Mapping))
    return private(text, kind) if short else kind


def _key(given: str, known: Iterable[str]) -> str:
    """A key that nothing is known by: a slip of the pen is shown, anything else may be data."""
    return repr(given) if get_close_matches(given, list(known), n=1) else private(repr(given), "an entry")
