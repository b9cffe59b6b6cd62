"""(ε,δ)ᵏ-dissimilarity: no value of a group has too many others of the group close to it.

Wang and Liu, *XColor: Protecting General Proximity Privacy*, ICDE 2010, definition 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Criterion, at_most, below, text
from showthrough.criteria.ground import Within, close_by, decimals, metric_of, numbers_of
from showthrough.criteria.parameters import flag, number, whole
from showthrough.errors import ParameterError
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.ragged import items_of, running

PAIRS = 4_000_000
"""How many pairs of values are looked at in one go where the metric has no order."""


@dataclass(frozen=True)
class Dissimilarity(Criterion):
    """Groups of at least ``k`` persons in which every value has fewer than (1−``delta``)·(persons−1) neighbours.

    A neighbour is another person's value at most ``epsilon`` away, equal values included.
    ``strict=False`` reads "at most" instead of "fewer than", as the paper's colouring does
    (definition 6). ``metric``: ``numeric`` (sorted, never all pairs), ``equal``, over composite
    values ``min``, ``max``, ``manhattan``, ``euclidean``; or a distance by pair of values, a
    hierarchy (as in `TCloseness`: height of the common ancestor, between 0 and 1), or a function of two values.
    """

    epsilon: float
    delta: float
    k: int
    metric: Any = "numeric"
    strict: bool = True
    name: ClassVar[str] = "(ε,δ)ᵏ-dissimilarity"
    citation: ClassVar[str] = "Wang and Liu, ICDE 2010"
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.name, "epsilon", self.epsilon, least=0)
        number(self.name, "delta", self.delta, least=0, most=1)
        whole(self.name, "k", self.k)
        flag(self.name, "strict", self.strict)
        if self.strict and self.delta == 1:
            raise ParameterError(
                "No group satisfies (ε,1)ᵏ-dissimilarity in the strict reading (0 < 0): take a smaller δ or "
                "strict=False.",
                parameters=("delta", "strict"),
            )
        object.__setattr__(self, "metric", metric_of(self.metric))

    def __str__(self) -> str:
        reading = "" if self.strict else ", floor reading"
        return f"({text(self.epsilon)},{text(self.delta)})^{self.k}-dissimilarity{reading}"

    def level(self, counts: GroupCounts) -> Reals:
        """The largest share of its group that any value has close to it; infinite with fewer than k persons.

        Alone in its group a value has 0 of 0 others: never fewer, but at most.
        """
        others = counts.size - 1
        alone = np.inf if self.strict else 0.0
        share = np.where(others > 0, self.degree(counts) / np.maximum(others, 1), alone)
        level: Reals = np.where(counts.size >= self.k, share, np.inf)
        return level

    def met(self, level: Reals) -> Flags:
        """Below 1 − δ, or at most that much in the floor reading."""
        return below(level, 1 - self.delta) if self.strict else at_most(level, 1 - self.delta)

    def says(self, level: float) -> str:
        """The largest share of close values."""
        if np.isinf(level):
            few = f"Some group has fewer than {self.k} persons" if self.k > 1 else "Some group has one person"
            return f"{few}."
        return f"At most {text(100 * level)} % of the others in a group are within {text(self.epsilon)} of one value."

    def degree(self, counts: GroupCounts) -> Ints:
        """The most neighbours that any value of each group has."""
        if isinstance(self.metric, str) and self.metric == "numeric":
            near = _numeric(counts, self.epsilon)
        else:
            near = _pairwise(counts, close_by(self.metric, counts.labels, self.epsilon, counts.values))
        found: Ints = counts.highest(near) - 1
        return found


def _numeric(counts: GroupCounts, epsilon: float) -> Ints:
    """Persons within ε of each entry, itself included: both ends of a stretch of sorted values."""
    numbers, reach = decimals(numbers_of(counts.labels), epsilon)
    order = np.argsort(numbers, kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    sorted_numbers = numbers[order]
    low = np.searchsorted(sorted_numbers, numbers - reach, side="left")
    high = np.searchsorted(sorted_numbers, numbers + reach, side="right")
    m = counts.values
    key = counts.group * m + rank[counts.value]
    by_key = np.arange(key.size) if (np.diff(key) > 0).all() else np.argsort(key)
    key = key[by_key]
    total = running(counts.count[by_key])
    base = counts.group * m
    first = np.searchsorted(key, base + low[counts.value], side="left")
    last = np.searchsorted(key, base + high[counts.value], side="left")
    found: Ints = total[last] - total[first]
    return found


def _pairwise(counts: GroupCounts, near: Within) -> Ints:
    """Persons within ε of each entry by comparing the different values of each group, many groups at a time."""
    found = np.zeros(counts.value.size, dtype=np.int64)
    partners = running(counts.distinct[counts.group])
    at = 0
    while at < found.size:
        to = max(int(np.searchsorted(partners, partners[at] + PAIRS, side="right")) - 1, at + 1)
        other, sizes = items_of(counts.start, counts.group[at:to])
        here = np.repeat(np.arange(at, to), sizes)
        close = near(counts.value[here], counts.value[other]) | (here == other)
        found[at:to] = np.bincount(here - at, weights=close * counts.count[other], minlength=to - at)
        at = to
    return found
