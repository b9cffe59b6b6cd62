"""What events of each kind say: a chain that holds may still have been written by somebody else.

Whoever can write to a database can write a whole chain anew, and only a head that was kept elsewhere shows it. What
such a chain says is looked at before anybody relies on it, so that it is refused in a sentence.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from showthrough.ledger.events import Event

CREATED = "ledger created"
ADDED = "release added"
AUDITED = "audit made"
JUDGED = "verdict given"
EXCEPTED = "exception granted"
WITHDRAWN = "release withdrawn"
SPENT = "budget spent"

_Fits = Callable[[Any], bool]


def _is(*kinds: type) -> _Fits:
    return lambda given: isinstance(given, kinds) and (bool in kinds or not isinstance(given, bool))


def _each(fits: _Fits) -> _Fits:
    """A list of such, or a mapping from text to such."""
    return lambda given: (
        isinstance(given, (list, dict)) and all(map(fits, given.values() if isinstance(given, dict) else given))
    )


def _has(entries: Mapping[str, _Fits], maybe: Mapping[str, _Fits] | None = None, *, only: bool = False) -> _Fits:
    """A mapping with these entries, and perhaps others."""
    every = {**entries, **(maybe or {})}

    def fits(given: Any) -> bool:
        return (
            isinstance(given, dict)
            and entries.keys() <= given.keys()
            and not (only and given.keys() - every.keys())
            and all(fits(given[name]) for name, fits in every.items() if name in given)
        )

    return fits


def _day(given: Any) -> bool:
    try:
        return isinstance(given, str) and bool(dt.date.fromisoformat(given))
    except ValueError:
        return False


def _mapping(fits: _Fits) -> _Fits:
    return lambda given: isinstance(given, dict) and _each(fits)(given)


def _listing(fits: _Fits) -> _Fits:
    return lambda given: isinstance(given, list) and _each(fits)(given)


_text, _whole, _truth, _number = _is(str), _is(int), _is(bool), _is(int, float)
_no_text, _no_whole = _is(str, type(None)), _is(int, type(None))
_RELEASE: dict[str, _Fits] = {
    "name": _text, "kind": _text, "date": _no_text, "persons": _no_whole, "groups": _no_whole, "values": _no_whole,
    "fingerprint": _text, "parts": _mapping(_text), "published_kept": _truth, "link": _no_text,
    "published": _listing(_has({"name": _text, "sha256": _text, "bytes": _whole})),
}  # fmt: skip
_EXCUSE: dict[str, _Fits] = {"rule": _text, "severity": _text, "release": _no_text}
_SAYS: dict[str, _Fits] = {
    CREATED: _has({"ledger": _text, "ids": _text}, {"key": _text}),
    ADDED: _has({**_RELEASE, "by": _text}, {"verdict": _whole, "exception": _whole}),
    AUDITED: _has(
        {"name": _text, "candidate": _text, "history": _listing(_whole), "how": _text, "status": _text},
        {
            "register": _has({"sha256": _text, "persons": _whole}, {"content": _text}),
            "posterior": _has({"sha256": _text, "releases": _listing(_whole)}),
        },
    ),
    JUDGED: _has(
        {
            "candidate": _has(_RELEASE), "verdict": _text, "said": _text,
            "reasons": _listing(_has({**_EXCUSE, "outcome": _text, "persons": _whole})),
        }
    ),
    EXCEPTED: _has(
        {
            "name": _text, "verdict": _whole, "why": _text, "owner": _text, "until": _day,
            "excuses": _listing(_has(_EXCUSE, {"persons": _whole}, only=True)),
        }
    ),
    WITHDRAWN: _has({"release": _whole, "name": _text, "why": _text, "never_left_the_house": _truth}),
    SPENT: _has(
        {"release": _whole, "name": _text, "together": _has({"known": _truth}, {"epsilon": _number, "delta": _number})}
    ),
}  # fmt: skip


def understood(event: Event) -> bool:
    """Whether an event says what one of its kind says."""
    try:
        told = event.told
    except (ValueError, RecursionError):
        return False
    fits = _SAYS.get(event.kind)
    if not isinstance(told, dict) or (fits is not None and not fits(told)):
        return False
    spent = told.get("together") if event.kind == SPENT else None
    return spent is None or not spent["known"] or {"epsilon", "delta"} <= spent.keys()
