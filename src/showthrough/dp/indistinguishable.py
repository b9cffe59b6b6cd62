"""(ε, δ)-indistinguishability of two laws, and a sanitizer that a weaker notion would let pass.

Ganta, Kasiviswanathan, Smith, KDD 2008, Definition 17, and the example below Theorem 16: whoever measures by total
variation alone finds private what publishes somebody's whole record.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from showthrough.errors import ParameterError

_LARGEST = 700.0  # exponents beyond are as good as infinite
_WHOLE = 1e-9  # what a sum of probabilities may be off

Outputs = Mapping[Hashable, float | Fraction]


def indistinguishability(first: Outputs, second: Outputs, *, epsilon: float = 0.0) -> float:
    """The smallest δ for which two laws (output → probability) are (ε, δ)-indistinguishable; with ε = 0 it is their
    total variation.

    >>> indistinguishability({"a": 0.75, "b": 0.25}, {"a": 0.5, "b": 0.5})
    0.25
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not 0 <= epsilon < math.inf:
        raise ParameterError(f"ε (epsilon) is a number of at least 0, not {epsilon!r}.", parameters=("epsilon",))
    _check(first, "first")
    _check(second, "second")
    ratio = math.exp(min(epsilon, _LARGEST))
    outputs = {*first, *second}
    one = math.fsum(max(0.0, float(first.get(t, 0)) - ratio * float(second.get(t, 0))) for t in outputs)
    other = math.fsum(max(0.0, float(second.get(t, 0)) - ratio * float(first.get(t, 0))) for t in outputs)
    return min(1.0, max(one, other))


def tv_sanitizer(records: Sequence[Any]) -> dict[tuple[int, Any], Fraction]:
    """A negative example, not to be used: publish one person's whole record, drawn at random, with the identity.

    The law of what is published, (place, record) → probability. Tables that differ in one record have a total variation
    of 1/n, as small as one likes, yet every output gives one person away with certainty; no ε makes δ smaller than 1/n.

    >>> tv_sanitizer(["Flu", "HIV"])
    {(0, 'Flu'): Fraction(1, 2), (1, 'HIV'): Fraction(1, 2)}
    """
    if not records:
        raise ParameterError("The example takes a table with at least one record.", parameters=("records",))
    return {(place, record): Fraction(1, len(records)) for place, record in enumerate(records)}


def _check(law: Outputs, name: str) -> None:
    given = [float(p) for p in law.values()] if isinstance(law, Mapping) else []
    if not given or min(given) < 0 or not abs(math.fsum(given) - 1) <= _WHOLE:
        raise ParameterError(f"{name} maps outputs to probabilities that add up to 1.", parameters=(name,))
