"""A policy file: tables [block] and [review] with the fields of `Policy`, and a list of [[exceptions]].

Every fault is told with the file, the line and the key, and what was probably meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from showthrough.errors import FieldError, FileError, InputError
from showthrough.policy.policy import Policy
from showthrough.policy.rules import VERSION, PolicyException, Rules
from showthrough.said import private
from showthrough.table import toml_lines, toml_text
from showthrough.table.files import read_bytes

PRESETS = ("strict", "research", "internal")
TOP = ("version", "block", "review", "exceptions")
_TABLES = "[block], [review] and [[exceptions]]"
_MEANT = {
    "max_certain": "certain", "max_impossible": "impossible", "posterior": "max_posterior", "gain": "max_gain",
    "theta": "max_shift", "anonymity": "min_anonymity", "l": "distinct_l", "min_k": "k", "max_t": "t",
    "until": "expires", "by": "owner", "share": "over_posterior", "limits": "block", "exception": "exceptions",
}  # fmt: skip
"""What others call it."""
_ELSEWHERE = {"k_map": "compares with a population", "presence": "compares with a population"}
"""Criteria that a policy cannot hold, and why: they are checked with the table that they need."""


def read_policy(path: str | os.PathLike[str]) -> Rules:
    """The rules of a policy file."""
    where = os.fspath(path)
    return parse(read_bytes(Path(path)), where)


def preset(name: str) -> str:
    """The text of a policy file to begin with: strict, research or internal."""
    if name not in PRESETS:
        raise InputError(f"The presets are {', '.join(PRESETS)}.")
    return (files("showthrough.policy") / "presets" / f"{name}.toml").read_text("utf-8")


def parse(raw: bytes | str, where: str) -> Rules:
    """The rules that a text holds; ``where`` stands in the messages."""
    given = toml_text.parse(raw, where)
    text = raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw
    page = _Page(where, {".".join(map(str, p)): n for p, n in reversed(toml_lines.places(text).items())})
    for key, entry in given.items():
        page.check_top(key, entry)
    block, review = (page.policy(name, given[name]) if name in given else None for name in ("block", "review"))
    excused = tuple(page.exception(k, entry) for k, entry in enumerate(given.get("exceptions", [])))
    try:
        return Rules(block, review, excused, file=where, lines=tuple(page.lines.items()))
    except InputError as problem:
        raise FileError(f"{where}: {problem.said}") from None


class _Page:
    """The place of every entry, for messages."""

    def __init__(self, where: str, lines: Mapping[str, int]) -> None:
        self.where, self.lines = where, lines

    def at(self, *path: str | int, table: str = "") -> str:
        """File, line and table of an entry."""
        line = next((found for k in range(len(path), 0, -1) if (found := self.lines.get(_dotted(path[:k])))), None)
        return f"{self.where}{'' if line is None else f', line {line}'}{f', {table}' if table else ''}"

    def check_top(self, key: str, entry: Any) -> None:
        """Only tables that there are, each of its kind."""
        if key in {f.name for f in fields(Policy)}:
            raise FileError(f"{self.at(key)}: {key} stands outside of [block] and [review]: put it below one of them.")
        if key not in TOP:
            raise FileError(f"{self.at(key)}: {_unknown(key, TOP)} A policy file holds {_TABLES}.")
        if key == "version" and (isinstance(entry, bool) or entry != VERSION):
            raise FileError(f"{self.at(key)}: version is {VERSION}; a newer showthrough may know other versions.")
        if key in ("block", "review") and not isinstance(entry, Mapping):
            raise FileError(f"{self.at(key)}: {key} is a table of limits: write [{key}] and the limits below it.")
        if key == "exceptions" and not (isinstance(entry, list) and all(isinstance(e, Mapping) for e in entry)):
            raise FileError(f"{self.at(key)}: exceptions is a list: write [[exceptions]], with two brackets, for each.")

    def policy(self, table: str, given: Mapping[str, Any]) -> Policy:
        """The limits of one table."""
        known = [f.name for f in fields(Policy)]
        self._check_keys(table, given, known, f"[{table}]")
        plain = {name: None if _none(name, entry) else entry for name, entry in given.items()}
        limits: dict[str, Any] = {**({"certain": None} if table == "review" else {}), **plain}
        try:
            return Policy(**limits)
        except FieldError as problem:
            raise problem.at(self.at(table, problem.field, table=f"[{table}]")) from None
        except InputError as problem:
            raise FileError(f"{self.at(table, table=f'[{table}]')}: {problem.said}") from None

    def exception(self, number: int, given: Mapping[str, Any]) -> PolicyException:
        """One exception."""
        table = f"[[exceptions]] {number + 1}"
        self._check_keys(("exceptions", number), given, [f.name for f in fields(PolicyException)], table)
        for f in fields(PolicyException):
            if f.default is MISSING and f.name not in given:
                where = self.at("exceptions", number, table=table)
                raise FieldError(f.name, "is missing: an exception has rule, reason, owner and expires.", where=where)
        try:
            return PolicyException(**given)
        except FieldError as problem:
            raise problem.at(self.at("exceptions", number, problem.field, table=table)) from None

    def _check_keys(self, path: str | tuple[str, int], given: Mapping[str, Any], known: list[str], table: str) -> None:
        root = (path,) if isinstance(path, str) else path
        for key in given:
            if key in _ELSEWHERE and "k" in known:
                where = self.at(*root, key, table=table)
                raise FileError(f"{where}: {key} {_ELSEWHERE[key]} and cannot stand in a policy: check it beside.")
            if key not in known:
                raise FileError(f"{self.at(*root, key, table=table)}: {_unknown(key, known)}")


def _dotted(path: Iterable[str | int]) -> str:
    return ".".join(map(str, path))


def _none(name: str, entry: Any) -> bool:
    """As TOML knows no null, false says that there is no limit."""
    return entry is False and name not in ("enhanced", "floor")


def _unknown(key: str, known: Iterable[str]) -> str:
    """What is said of a key that nothing is known by; one that is no slip of the pen may be data."""
    names = list(known)
    meant = [_MEANT[key]] if _MEANT.get(key) in names else get_close_matches(key, names, n=1, cutoff=0.55)
    if meant:
        return f"{key} is unknown: did you mean {meant[0]}?"
    return f"{private(key, 'an entry')} is unknown; known are {', '.join(names)}."
