"""How far a belief can move when an (ε, δ)-differentially private release comes on top of a history.

A reader who holds a value for true with probability p sees the noisy release. If the worlds with the value and the
worlds without it can be coupled so that at most d records differ, then the noise is at most e^(dε) times as likely
under one as under the other, and so are the odds (docs/privacy.md). Records are tied by the counts of earlier releases,
so d = 1 is wrong but for values that are independent of all others: in a group {1, 2} with {Flu, HIV} two records
differ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from showthrough.dp.meaning import check_delta, check_epsilon, check_failure
from showthrough.errors import ParameterError

_LARGEST = 700.0


class _Ends(NamedTuple):
    low: float
    high: float


class PosteriorInterval(_Ends):
    """The lowest and the highest posterior, and the probability with which it may lie outside (0 where δ = 0)."""

    failure: float

    def __new__(cls, low: float, high: float, failure: float = 0.0) -> PosteriorInterval:  # noqa: D102
        made = super().__new__(cls, low, high)
        made.failure = failure
        return made

    def __getnewargs__(self) -> tuple[float, float, float]:
        return (self.low, self.high, self.failure)


def posterior_interval(
    p: float, *, epsilon: float, changed: int, delta: float = 0.0, failure: float | None = None
) -> PosteriorInterval:
    """The lowest and the highest posterior after an (ε, δ)-differentially private (replace-one) release.

    ``changed`` is the number d of records by which worlds with and without the value differ at most, once coupled
    (`changed_records` finds it). With δ above 0 the posterior may lie outside with a probability of at most
    ``failure``, √δ if not given, over the reader's belief and the noise.

    >>> [round(end, 3) for end in posterior_interval(0.5, epsilon=1.0, changed=2)]
    [0.119, 0.881]
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_failure(failure)
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ParameterError(f"p is a probability, not {p!r}.", parameters=("p",))
    if isinstance(changed, bool) or not isinstance(changed, int) or changed < 0:
        raise ParameterError(f"changed is a whole number of records, not {changed!r}.", parameters=("changed",))
    if p in (0, 1) or not changed:
        return PosteriorInterval(float(p), float(p))
    reach = changed * epsilon
    if not delta:
        return PosteriorInterval(_moved(p, -reach), _moved(p, reach))
    chance = math.sqrt(delta) if failure is None else failure
    group = group_delta(epsilon, delta, changed)
    back = math.exp(-reach)
    part = group * (1 + back) / (chance + back * group) if group < math.inf else 1.0
    if part >= 1:
        return PosteriorInterval(0.0, 1.0)
    reach -= math.log1p(-part)
    return PosteriorInterval(_moved(p, -reach), _moved(p, reach), chance)


def group_delta(epsilon: float, delta: float, changed: int) -> float:
    """δ of several records at once: δ·(1 + e^ε + … + e^((d−1)ε))."""
    if not delta or not changed:
        return 0.0
    if changed * epsilon > _LARGEST:
        return math.inf
    return delta * math.expm1(changed * epsilon) / math.expm1(epsilon)


def _moved(p: float, by: float) -> float:
    """A probability whose log-odds are moved."""
    against = math.log1p(-p) - math.log(p) - by
    if against > _LARGEST:
        return 0.0
    return 1.0 / (1.0 + math.exp(against))
