"""How limits and what was found are said."""

from __future__ import annotations

from showthrough.numerals import THIN, many


def people(number: int) -> str:
    """So many persons; none is nobody."""
    return "nobody" if number == 0 else "1 person" if number == 1 else f"{many(number)} persons"


def times(number: int) -> str:
    """How often."""
    return "once" if number == 1 else f"{many(number)} times"


def are(number: int) -> str:
    """The verb after `people`."""
    return "is" if number in (0, 1) else "are"


def were(number: int) -> str:
    """The same of what is past."""
    return "was" if number in (0, 1) else "were"


def have(number: int) -> str:
    """The same of what they have."""
    return "has" if number in (0, 1) else "have"


def percent(share: float) -> str:
    """A probability as a percentage, with as many digits as it has, at most four.

    >>> percent(0.5), percent(1 / 3), percent(0.99995)
    ('50\u202f%', '33.33\u202f%', '99.995\u202f%')
    """
    digits = 4 if share > 0.999 else 2
    return f"{round(100 * share, digits):g}{THIN}%"


def allowed(most: int) -> str:
    """What a limit on a number of persons allows."""
    return f"the policy allows {people(most)}"
