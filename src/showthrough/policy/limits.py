"""What limits can be: each a number or a word in its range, or a sentence that says so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from showthrough.errors import FieldError
from showthrough.said import private

INTEGRAL = ("no", "checked", "required")


def check_limits(policy: Any) -> None:
    """Refuse what no limit can be."""
    for name in ("max_posterior", "max_gain", "max_shift"):
        limit = getattr(policy, name)
        if limit is not None and not (_number(limit) and 0 <= limit <= 1):
            raise FieldError(name, f"lies between 0 and 1, not at {_shown(limit)}{_meant(limit)}")
    for name in ("certain", "impossible"):
        count = getattr(policy, name)
        if count is not None and not (_whole(count) and count >= 0):
            raise FieldError(name, f"is a whole number of 0 or more, not {_shown(count)}{_meant(count)}")
    for name, least in (("min_anonymity", 1), ("epsilon", 0)):
        given = getattr(policy, name)
        if given is not None and not (_number(given) and least <= given < math.inf):
            raise FieldError(name, f"is a number of {least} or more, not {_shown(given)}.")
    if policy.delta is not None and not (_number(policy.delta) and 0 <= policy.delta < 1):
        raise FieldError("delta", f"is a probability, at least 0 and below 1, not {_shown(policy.delta)}.")
    few = policy.over_posterior
    if not (_number(few) and few >= 0 and (_whole(few) or few < 1)):
        raise FieldError("over_posterior", f"is a whole number of persons, or a share below 1, not {_shown(few)}.")
    if few and policy.max_posterior is None:
        raise FieldError("over_posterior", "says how many persons may be over max_posterior: set that too.")
    pair = policy.proximity
    if pair is not None and not _is_proximity(pair):
        raise FieldError("proximity", f"is a pair (ε of 0 or more, limit between 0 and 1), not {_shown(pair)}.")
    if policy.integral not in INTEGRAL:
        raise FieldError("integral", f"is one of {', '.join(INTEGRAL)}, not {_shown(policy.integral)}.")
    if not (_number(policy.seconds) and 0 < policy.seconds < math.inf):
        raise FieldError("seconds", f"is the time for whole values, a number above 0, not {_shown(policy.seconds)}.")


def _is_proximity(pair: Any) -> bool:
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(_number, pair))):
        return False
    return bool(0 <= pair[0] < math.inf and 0 <= pair[1] <= 1)


def _number(given: Any) -> bool:
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)


def _whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _shown(given: Any) -> str:
    """A number as it is; text may be data."""
    return repr(given) if given is None or _number(given) or isinstance(given, bool) else private(repr(given))


def _meant(given: Any) -> str:
    """What was probably meant: a percentage, a number in quotes, none."""
    if isinstance(given, str):
        words = {"none": "0", "nobody": "0", "no": "0", "zero": "0", "never": "0"}
        if given.strip().lower() in words:
            return ": did you mean 0?"
        try:
            float(given.rstrip("% "))
        except ValueError:
            return "."
        return ": numbers stand without quotes" + (", and 50 % is 0.5." if "%" in given else ".")
    if _number(given) and 1 < given <= 100:
        return f": did you mean {given / 100:g}?"
    return "."
