"""The grammar of printed cells: what one text says in a column of a known kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

from showthrough.errors import ReleaseError
from showthrough.release.cell import Bound, Cell, CellKind, ColumnKind
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.texts import DATE, NUMBER, days, number, plain

CODE = r"[0-9]+"
TO = r"\s*(?:-|–|—|\.\.\.?|…|\sto\s)\s*"

_FORMS = {
    ColumnKind.NUMBER: "*, 3*, 30, <30, <=30, ≤30, >40, >=40, ≥40, 65+, [18, 30], [18, 30[, ]18, 30], (18, 30), "
    "18-30, 18 to 30, {18, 20}, empty",
    ColumnKind.DATE: "*, 2021-03-05, 2021-03, 2021, 2021-03-**, <2021, >=2021-03, [2020-01-01, 2020-12-31], "
    "2020-2029, 2020-01 to 2020-06, {2021-03-05, 2021-03-06}, empty",
    ColumnKind.CODE: "*, 130**, 13053, [13000, 13999], 13000-13999, {13053, 13068}, empty",
    ColumnKind.TEXT: "*, 130**, an exact value, {a, b}, a label of the hierarchy, empty",
}
_TOKEN = {ColumnKind.NUMBER: NUMBER, ColumnKind.DATE: DATE, ColumnKind.CODE: CODE, ColumnKind.TEXT: NUMBER}
_ENDLESS_TOKEN = r"[+\-−]?(?:[iI]nf(?:inity)?|∞)"
_ENDLESS = re.compile(_ENDLESS_TOKEN)
_MASK = {ColumnKind.NUMBER: r"[+\-−]?[0-9.*]+", ColumnKind.DATE: r"[0-9*\-]+"}

_HIDDEN_DAYS = re.compile(r"([0-9]{4}(?:-[0-9]{2})?)(?:-\*\*){1,2}")
_BROKEN = re.compile(r"\]|\[.*[^\])\[]$|\[$|\(\s*[+\-−]?[0-9][^)]*$", re.DOTALL)

Ends = tuple[Bound, Bound]
EndsOf = Callable[[str], Ends | None]


def forms(kind: ColumnKind) -> str:
    """The forms that are understood in a column of a kind, for messages."""
    return _FORMS[kind]


@dataclass(frozen=True)
class Setting:
    """What is known of a column before its cells are read; ``why`` says what made it the kind it is."""

    kind: ColumnKind
    why: str
    hierarchy: Hierarchy | None
    domain: frozenset[str] | None
    missing: frozenset[str]
    width: int = 0

    @cached_property
    def leaves(self) -> frozenset[str]:
        """The leaves of the hierarchy."""
        return frozenset(() if self.hierarchy is None else self.hierarchy.leaves)

    @cached_property
    def mixed(self) -> bool:
        """A column of text where some values are numbers all the same."""
        return self.domain is not None and any(number(value) is not None for value in self.domain)

    def key(self, text: str) -> str:
        """The spelling under which a value is compared."""
        value = number(text) if self.kind is ColumnKind.NUMBER else None
        return text if value is None else plain(value)

    @cached_property
    def patterns(self) -> Patterns:
        """The three ways to print an interval of this column."""
        return patterns(_TOKEN[self.kind])

    @cached_property
    def token(self) -> re.Pattern[str]:
        """How an exact value is printed."""
        return re.compile(_TOKEN[self.kind])

    @cached_property
    def ends(self) -> EndsOf:
        """The first and the last value that a text stands for, if it is no interval: one number, many days.

        Remembered, for the ends of intervals come again and again.
        """
        return cache(self._ends)

    def _ends(self, text: str) -> Ends | None:
        if self.kind is ColumnKind.DATE:
            return days(text)
        if self.kind is ColumnKind.CODE:
            digits = len(text) == self.width and text.isascii() and text.isdigit()
            return (text, text) if digits else None
        value = number(text)
        return None if value is None else (value, value)


@dataclass(frozen=True)
class Patterns:
    """The three ways to print an interval of some token."""

    bracket: re.Pattern[str]
    compare: re.Pattern[str]
    dash: re.Pattern[str]


@cache
def patterns(token: str) -> Patterns:
    """Brackets, comparison signs (and ``65+``), and two ends with a dash between them."""
    end = rf"({token}|{_ENDLESS_TOKEN})"
    return Patterns(
        re.compile(rf"([\[\](])\s*{end}(?:\s*[,;]\s*|{TO}){end}\s*([\])\[])"),
        re.compile(rf"(?:(<=|=<|≤|<|>=|=>|≥|>)\s*({token})|({token})\s*(\+))"),
        re.compile(rf"({token}){TO}({token})"),
    )


def read(text: str, setting: Setting) -> Cell:
    """What ``text``, without blanks around it, says; an InputError says why it says nothing."""
    known = _declared(text, setting)
    if known is not None:
        return known
    return _read_text(text, setting) if setting.kind is ColumnKind.TEXT else _read_ordered(text, setting)


def _declared(text: str, setting: Setting) -> Cell | None:
    """Labels that a hierarchy declares come before every form, then what stands for a gap."""
    tree = setting.hierarchy
    if tree is not None and text in tree:
        if text == tree.root and text not in setting.leaves:
            return Cell(text, CellKind.ANY)
        leaves = sorted({setting.key(leaf) for leaf in tree.leaves_of(text)})
        own = len(leaves) == 1 and text in setting.leaves
        return Cell(text, CellKind.EXACT if own else CellKind.LABEL, members=tuple(leaves))
    if text in setting.missing or not text.strip("*"):
        return Cell(text, CellKind.ANY)
    return None


def _read_ordered(text: str, setting: Setting) -> Cell:
    """A cell in a column of numbers, dates or codes."""
    kind = setting.kind
    if text[0] in "[](":  # no value starts so
        interval = None if "*" in text else _interval(text, setting.ends, setting.patterns)
        if interval is not None:
            return interval
    ends = setting.ends(text) if setting.token.fullmatch(text) else None
    if ends is not None:
        if ends[0] == ends[1]:
            return Cell(text, CellKind.EXACT, members=(setting.key(text),))
        return Cell(text, CellKind.INTERVAL, ends[0], ends[1])
    if text.startswith("{"):
        return _set(text, setting)
    if "*" in text:
        shown = _HIDDEN_DAYS.fullmatch(text) if kind is ColumnKind.DATE else None
        ends = setting.ends(shown.group(1)) if shown else None
        if ends is not None:  # a month or a year
            return Cell(text, CellKind.INTERVAL, ends[0], ends[1])
        if kind in _MASK and not re.fullmatch(_MASK[kind], text):
            raise ReleaseError(f"a mask of {kind.value} holds nothing else")
        return Cell(text, CellKind.MASK)
    interval = _interval(text, setting.ends, setting.patterns)
    if interval is not None:
        return interval
    listed = _listed(text)
    if listed is not None and all(part in setting.missing or setting.ends(part) is not None for part in listed):
        return _from_members(text, listed, setting)
    if kind is ColumnKind.CODE and text.isalnum():
        return Cell(text, CellKind.EXACT, members=(text,))
    raise ReleaseError(f"the column is read as {kind.value} because {setting.why}, and this is none of them")


def _read_text(text: str, setting: Setting) -> Cell:
    """A cell in a column of text: what is known is exact, what looks like a form must be one."""
    if setting.domain is not None and text in setting.domain:
        return Cell(text, CellKind.EXACT, members=(text,))
    if text.startswith("{"):
        return _set(text, setting)
    if "*" in text:
        return Cell(text, CellKind.MASK)
    if like_interval(text, dash=setting.mixed):
        raise ReleaseError(f"the column is read as text because {setting.why}, and text has no intervals")
    if _BROKEN.match(text) or (text[-1] in "]}" and "[{"["]}".index(text[-1])] not in text):
        raise ReleaseError("a bracket is opened and not closed, or closed and not opened")
    listed = _listed(text)
    if listed is not None and _is_list(text, listed, setting):
        return _from_members(text, listed, setting)
    if setting.hierarchy is not None:
        raise ReleaseError(
            "it is no label of the hierarchy" + ("" if setting.domain is None else " and no known value")
        )
    return Cell(text, CellKind.EXACT, members=(text,))


def _interval(text: str, ends: EndsOf, found: Patterns) -> Cell | None:
    """Any of the three forms, or None if the text has none of them."""
    match = found.bracket.fullmatch(text)
    if match:
        opening, low, high, closing = match.groups()
        low_open, high_open = opening != "[", closing != "]"
        # an open end leaves out all of the month or year that it names
        first = _end(low, ends, last=low_open, low=True)
        final = _end(high, ends, last=not high_open, low=False)
        if first is None and final is None:
            return Cell(text, CellKind.ANY)
        return _between(text, first, final, low_open, high_open)
    match = found.compare.fullmatch(text)
    if match:
        sign, token = match.group(1) or "≥", match.group(2) or match.group(3)
        is_open = sign in ("<", ">")
        if sign in (">", ">=", "=>", "≥"):
            return _between(text, _end(token, ends, last=is_open, low=True), None, is_open, False)
        return _between(text, None, _end(token, ends, last=not is_open, low=False), False, is_open)
    match = found.dash.fullmatch(text)
    if match:
        low, high = match.groups()
        return _between(
            text, _end(low, ends, last=False, low=True), _end(high, ends, last=True, low=False), False, False
        )
    return None


def _between(text: str, low: Bound | None, high: Bound | None, low_open: bool, high_open: bool) -> Cell:
    low_open, high_open = low_open and low is not None, high_open and high is not None
    return Cell(text, CellKind.INTERVAL, low, high, low_open, high_open)


def _end(token: str, ends: EndsOf, *, last: bool, low: bool) -> Bound | None:
    """One end of an interval, or None for no end; ``last`` takes the last day of a month or year."""
    both = ends(token)
    if both is not None:
        return both[last]
    if not _ENDLESS.fullmatch(token):
        raise ReleaseError("one of its ends is no value of this column")
    if low != (token[0] in "-−"):
        raise ReleaseError("its low end is above its high end")
    return None


def like_interval(text: str, *, dash: bool) -> bool:
    """Whether a text prints an interval of numbers; a dash alone may be part of a name or of a band."""
    found = patterns(NUMBER)
    if found.bracket.fullmatch(text) or found.compare.fullmatch(text):
        return True
    match = found.dash.fullmatch(text) if dash else None
    if match is None:
        return False
    low, high = number(match.group(1)), number(match.group(2))
    return low is not None and high is not None and low <= high


def _is_list(text: str, parts: list[str], setting: Setting) -> bool:
    """Whether commas or tildes separate values: some are known, or none can be and no blank follows."""
    if setting.domain is None and setting.hierarchy is None:
        return ", " not in text
    return any(
        (setting.domain is not None and part in setting.domain)
        or (setting.hierarchy is not None and part in setting.hierarchy)
        for part in parts
    )


def _listed(text: str) -> list[str] | None:
    """The parts of ``a,b`` or ``a~b``."""
    separator = "~" if "~" in text else ","
    parts = [part.strip() for part in text.split(separator)]
    return parts if len(parts) > 1 and all(parts) else None


def _set(text: str, setting: Setting) -> Cell:
    if len(text) < 2 or not text.endswith("}"):
        raise ReleaseError("a brace is opened and not closed")
    return _from_members(text, split_members(text[1:-1]), setting)


def split_members(inside: str) -> list[str]:
    """The members between braces; quotes, double or single, keep commas in.

    >>> split_members("a, 'b, c', O'Neil")
    ['a', 'b, c', "O'Neil"]
    """
    members, at = [], 0
    while at <= len(inside):
        while at < len(inside) and inside[at].isspace():
            at += 1
        close = inside.find(inside[at], at + 1) if at < len(inside) and inside[at] in "\"'" else -1
        after = len(inside) - len(inside[close + 1 :].lstrip()) if close > 0 else -1
        if close > 0 and (after == len(inside) or inside[after] == ","):
            members.append(inside[at + 1 : close].strip())
            at = after + 1
            continue
        comma = inside.find(",", at)
        comma = len(inside) if comma < 0 else comma
        members.append(inside[at:comma].strip())
        at = comma + 1
    return members


def _from_members(text: str, parts: list[str], setting: Setting) -> Cell:
    if not all(parts):
        raise ReleaseError("the set has an empty member")
    members: dict[str, None] = {}
    for part in parts:
        if setting.hierarchy is not None and part in setting.hierarchy:
            members.update(dict.fromkeys(sorted(setting.key(leaf) for leaf in setting.hierarchy.leaves_of(part))))
            continue
        if part in setting.missing:  # an unknown value among the members may be any
            return Cell(text, CellKind.ANY)
        if setting.domain is None or part not in setting.domain:
            _check_member(part, setting)
        members[setting.key(part)] = None
    return Cell(text, CellKind.SET, members=tuple(members))


def _check_member(part: str, setting: Setting) -> None:
    if "*" in part:
        raise ReleaseError("a set holds exact values")
    if setting.kind in (ColumnKind.NUMBER, ColumnKind.DATE) and setting.ends(part) is None:
        raise ReleaseError(f"the column is read as {setting.kind.value} because {setting.why}, and a member is none")
    if setting.kind is ColumnKind.TEXT and setting.hierarchy is not None:
        raise ReleaseError("a member of the set is no label of the hierarchy")
