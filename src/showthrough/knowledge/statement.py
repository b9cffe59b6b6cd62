"""Statements about the values of persons, and how they are made.

All of them say the same thing: so many (or such a share) of these persons have one of these values. A statement about
one person is one about a share that is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from showthrough.errors import InputError
from showthrough.knowledge.condition import Condition, untaken
from showthrough.knowledge.rational import exact, percent

KINDS = ("known", "excluded", "one_of", "exactly_one", "share", "count")
"""What statements are called, here and in a file of them."""

_SHOWN = 4


@dataclass(frozen=True)
class Statement:
    """Between ``least`` and ``most`` of some persons have one of the values; as a share of them if ``relative``.

    The persons are ``ids``, or those of history and register who fit ``where``. ``place`` is the file and line that it
    comes from. Its text names persons and values: it is for those who may see them.
    """

    kind: str
    values: tuple[Any, ...]
    least: Fraction
    most: Fraction | None  # None: all of them
    ids: tuple[Any, ...] = ()
    where: Condition | None = None
    relative: bool = False
    place: str = field(default="", compare=False)

    def at(self, place: str) -> Statement:
        """The same, from a place in a file."""
        return replace(self, place=place)

    def refused(self, why: str) -> InputError:
        """The error of a statement that cannot be taken, with its place."""
        where = self.place or f"A statement ({self.kind})"
        return InputError(f"{where}: {why}", parameters=("knowledge",))

    def __str__(self) -> str:
        values = _listed(self.values, "or")
        one = len(self.ids) == 1 and self.where is None
        if one and self.least == 1:
            return f"{self.ids[0]} has {values}"
        if one and self.most == 0:
            return f"{self.ids[0]} does not have {values}"
        if self.kind == "exactly_one":
            return f"exactly one of {_listed(self.ids, 'and')} has {values}"
        who = f"the persons with {self.where}" if self.where is not None else _listed(self.ids, "and")
        return f"of {who} {self._how_many()} have {values}"

    def _how_many(self) -> str:
        told = percent if self.relative else str
        if self.most == self.least:
            return f"exactly {told(self.least)}"
        bounds = [*([f"at least {told(self.least)}"] if self.least > 0 else [])]
        bounds += [] if self.most is None else [f"at most {told(self.most)}"]
        return " and ".join(bounds)


def known(id: Any, value: Any) -> Statement:
    """The person has the value."""
    return _of_one("known", id, [value], 1)


def excluded(id: Any, value: Any) -> Statement:
    """The person does not have the value."""
    return _of_one("excluded", id, [value], 0)


def one_of(id: Any, values: Iterable[Any]) -> Statement:
    """The person has one of the values."""
    return _of_one("one_of", id, _several("values", values), 1)


def exactly_one(ids: Iterable[Any], value: Any) -> Statement:
    """One of the persons has the value, and no other of them.

    Maximum entropy takes it as an expectation, which is weaker; `Posterior.worlds` takes it as it is said.
    """
    people = _ids(ids)
    return Statement("exactly_one", (_entry("value", value),), Fraction(1), Fraction(1), people)


def share(
    value: Any,
    *,
    where: Mapping[str, Any] | None = None,
    ids: Iterable[Any] | None = None,
    equals: Any = None,
    at_least: Any = None,
    at_most: Any = None,
    tolerance: Any = None,
) -> Statement:
    """Such a share of the persons (``ids``, or those who fit ``where``) have the value, or one of a list of values.

    ``where`` maps columns to a value, a list of values, a range {"at_least": 30, "at_most": 39}, or a cell as it is
    published ("30-39", "130**"). ``tolerance`` lets ``equals`` be off by so much.
    """
    bounds = _bounds("share", Fraction(1), equals=equals, at_least=at_least, at_most=at_most, tolerance=tolerance)
    return Statement("share", _values(value), *bounds, *_people(ids, where), relative=True)


def count(
    value: Any,
    *,
    where: Mapping[str, Any] | None = None,
    ids: Iterable[Any] | None = None,
    equals: Any = None,
    at_least: Any = None,
    at_most: Any = None,
    tolerance: Any = None,
) -> Statement:
    """So many of the persons (``ids``, or those who fit ``where``) have the value; otherwise as `share`."""
    bounds = _bounds("count", None, equals=equals, at_least=at_least, at_most=at_most, tolerance=tolerance)
    return Statement("count", _values(value), *bounds, *_people(ids, where))


def _of_one(kind: str, id: Any, values: list[Any], share: int) -> Statement:
    once = tuple(dict.fromkeys(_entry("value", v) for v in values))  # a value that is said twice counts once
    return Statement(kind, once, Fraction(share), Fraction(share), (_id(id),))


def _people(ids: Iterable[Any] | None, where: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], Condition | None]:
    if (ids is None) == (where is None):
        raise untaken("say of whom: either ids= or where=")
    return ((), Condition.of(where)) if where is not None else (_ids(ids), None)


def _ids(ids: Any) -> tuple[Any, ...]:
    found = tuple(dict.fromkeys(_id(i) for i in _several("ids", ids)))
    if not found:
        raise untaken("ids= names nobody")
    return found


def _id(given: Any) -> Any:
    return _entry("id", given)


def _entry(name: str, given: Any) -> Any:
    if given is None or isinstance(given, (list, tuple, set, dict)) or (isinstance(given, float) and given != given):
        raise untaken(f"{name} is one entry of a table, not {type(given).__name__}")
    return given


def _several(name: str, given: Any) -> list[Any]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise untaken(f"{name} is a list")
    found = list(given)
    if not found:
        raise untaken(f"{name} lists nothing")
    return found


def _values(given: Any) -> tuple[Any, ...]:
    listed = _several("value", given) if isinstance(given, (list, tuple, set, frozenset)) else [given]
    return tuple(dict.fromkeys(_entry("value", v) for v in listed))


def _bounds(
    kind: str, top: Fraction | None, *, equals: Any, at_least: Any, at_most: Any, tolerance: Any
) -> tuple[Fraction, Fraction | None]:
    """The least and the most, checked."""
    try:
        told = {"at_least": at_least, "at_most": at_most, "tolerance": tolerance, "equals": equals}
        least, most, near, same = (_number(kind, name, top, given) for name, given in told.items())
    except ValueError as problem:
        raise untaken(str(problem)) from None
    if same is not None and (least is not None or most is not None):
        raise untaken("equals= stands alone, or with tolerance=")
    if near is not None and same is None:
        raise untaken("tolerance= goes with equals=")
    if same is not None:
        off = near or Fraction(0)
        least, most = max(same - off, Fraction(0)), same + off if top is None else min(same + off, top)
    if least is None and most is None:
        raise untaken("say how many: equals=, at_least= or at_most=")
    if least is not None and most is not None and least > most:
        raise untaken("at_least is above at_most")
    return least or Fraction(0), most


def _number(kind: str, name: str, top: Fraction | None, given: Any) -> Fraction | None:
    if given is None:
        return None
    found = exact(given, name)
    if found < 0 or (top is not None and found > top):
        raise ValueError(f"{name} of a {kind} is {'between 0 and 1' if top is not None else '0 or more'}")
    return found


def _listed(entries: tuple[Any, ...], joint: str) -> str:
    shown = [str(entry) for entry in entries[:_SHOWN]]
    if len(entries) > _SHOWN:
        return f"{', '.join(shown[: _SHOWN - 1])} {joint} {len(entries) - _SHOWN + 1} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {joint} {shown[-1]}"
