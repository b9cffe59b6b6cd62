"""Parameters of criteria that check themselves: a wrong one ends in a sentence that names it.

Text is no number, a truth value is none either, and NaN is in no range.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from showthrough.errors import ParameterError

_GREEK = {"alpha": "α", "beta": "β", "delta": "δ", "epsilon": "ε"}


def whole(of: str, name: str, value: Any, *, least: int = 1) -> None:
    """Refuse what is no whole number of at least ``least``; 5.0 is 5.

    >>> whole("k-anonymity", "k", 5)
    >>> whole("k-anonymity", "k", "5")
    Traceback (most recent call last):
    ...
    showthrough.errors.ParameterError: k-anonymity needs a whole number as k, not '5'.
    """
    if not _is_number(value) or (value == value and not float(value).is_integer()):
        raise _refused(of, f"a whole number as {_spelled(name)}", name, value)
    number(of, name, value, least=least)


def number(
    of: str, name: str, value: Any, *, least: float | None = None, above: float | None = None, most: float | None = None
) -> None:
    """Refuse what is no number, or lies outside its range.

    >>> number("t-closeness", "t", 1.5, least=0, most=1)
    Traceback (most recent call last):
    ...
    showthrough.errors.ParameterError: t-closeness needs t between 0 and 1, not 1.5.
    """
    if not _is_number(value):
        raise _refused(of, f"a number as {_spelled(name)}", name, value)
    fits = value == value  # NaN is not
    fits = fits and (least is None or value >= least) and (most is None or value <= most)
    if not (fits and (above is None or value > above)):
        where = f"above {above}" if above is not None else f"of at least {least}"
        where = where if most is None else f"between {least} and {most}"
        raise _refused(of, f"{_spelled(name)} {where}", name, value)


def flag(of: str, name: str, value: Any) -> None:
    """Refuse what is neither True nor False: "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise _refused(of, f"True or False as {_spelled(name)}", name, value)


def word(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a word that means nothing here."""
    if not isinstance(value, str) or value not in allowed:
        said = f"{', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}"
        raise ParameterError(f"The {name} is {said}, not {value!r}.", parameters=(name,))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _spelled(name: str) -> str:
    return f"{_GREEK[name]} ({name})" if name in _GREEK else name


def _refused(of: str, wanted: str, name: str, value: Any) -> ParameterError:
    return ParameterError(f"{of} needs {wanted}, not {value!r}.", parameters=(name,))
