"""Whether a column holds numbers, dates, codes or text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from showthrough.release.cell import ColumnKind
from showthrough.release.cell_forms import Setting, like_interval, patterns, split_members
from showthrough.said import private
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.texts import DATE, days, is_code, number

_OPENING = "[](<>≤≥{="


def settle(
    texts: Collection[str], *, hierarchy: Hierarchy | None, domain: Iterable[str] | None, missing: frozenset[str]
) -> Setting:
    """What a column is: by its exact values where they are known, else by the cells alone.

    A cell such as ``01234`` makes codes of numbers even if no register value starts with a zero.
    """
    known = None if domain is None else frozenset(text for text in domain if text not in missing)
    values = known or (hierarchy and [leaf for leaf in hierarchy.leaves if leaf not in missing])
    if values:
        source = "the register" if known else "the hierarchy"
        zeros = [text for text in texts if is_code(text)]
        kind, why, width = _of_values(list(values), zeros, source)
    else:
        kind, why, width = _of_cells([text for text in texts if text not in missing and text.strip("*")])
    return Setting(kind, why, hierarchy, known, missing, width)


def _of_values(values: list[str], zeros: list[str], source: str) -> tuple[ColumnKind, str, int]:
    stray = _first_not(values, lambda text: number(text) is not None)
    if stray is None and not zeros:
        return ColumnKind.NUMBER, f"{source} holds numbers alone", 0
    dated = any(len(text) > 4 for text in values)
    if dated and _first_not(values, lambda text: days(text) is not None) is None:
        return ColumnKind.DATE, f"{source} holds dates alone", 0
    coded = [*values, *zeros]
    if _same_length_digits(coded):
        return ColumnKind.CODE, f"{source} holds digits of one length, with leading zeros", len(coded[0])
    return ColumnKind.TEXT, f"{source} holds {private(repr(stray or zeros[0]), 'text')}", 0


def _of_cells(texts: list[str]) -> tuple[ColumnKind, str, int]:
    """Every cell that says something about the kind must say the same."""
    votes: dict[str, str] = {}
    for text in texts:
        votes.setdefault(_vote(text), text)
    votes.pop("", None)
    said = set(votes)
    if said and said <= {"date", "year"} and "date" in said:
        return ColumnKind.DATE, "its cells hold dates alone", 0
    if said and said <= {"number", "year"}:
        return ColumnKind.NUMBER, "its cells hold numbers alone", 0
    if said and said <= {"code", "number", "year"}:
        plain = [text for text in texts if text.isdigit()]
        if _same_length_digits(plain):
            return ColumnKind.CODE, "its cells hold digits of one length, with leading zeros", len(plain[0])
    first = next((votes[vote] for vote in ("text", "code", "date") if vote in votes), None)
    return ColumnKind.TEXT, "no cell shows a number" if first is None else f"it holds {private(repr(first), 'text')}", 0


def _vote(text: str) -> str:
    """What a cell alone says of its column: number, year (a number, too), code, date, text or nothing."""
    if number(text) is not None:
        return "year" if len(text) == 4 and text.isdigit() else "number"
    if is_code(text):
        return "code"
    if days(text) is not None:
        return "date"
    if like_interval(text, dash=True):
        return "year" if _dated(text) else "number"
    if _dated(text):
        return "date"
    if "*" in text:
        return ""
    parts = split_members(text[1:-1]) if text[0] == "{" and text[-1] == "}" else text.replace("~", ",").split(",")
    parts = [part.strip() for part in parts]
    if len(parts) > 1 and all(parts):
        votes = {_vote(part) if number(part) is not None or days(part) is not None else "text" for part in parts}
        return votes.pop() if len(votes) == 1 else "number" if votes == {"number", "year"} else "text"
    if text[0] in _OPENING:  # broken, or a text: told when it is read
        return ""
    return "text"


def _dated(text: str) -> bool:
    found = patterns(DATE)
    return any(p.fullmatch(text) for p in (found.bracket, found.compare, found.dash))


def _first_not(values: Iterable[str], good: Callable[[str], bool]) -> str | None:
    return next((text for text in values if not good(text)), None)


def _same_length_digits(texts: Collection[str]) -> bool:
    return len({len(text) for text in texts}) == 1 and all(text.isascii() and text.isdigit() for text in texts)
