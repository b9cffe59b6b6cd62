"""(α,k)-anonymity: k persons per group, and no value makes up more than α of one.

Wong, Li, Fu, Wang, *(α,k)-Anonymity: An Enhanced k-Anonymity Model for Privacy Preserving Data
Publishing*, KDD 2006.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.criterion import Criterion, at_most, text
from showthrough.criteria.parameters import number, whole
from showthrough.errors import InputError, ParameterError
from showthrough.said import private
from showthrough.table.arrays import Flags, Reals


@dataclass(frozen=True)
class AlphaKAnonymity(Criterion):
    """Every group has at least ``k`` persons and no value makes up more than ``alpha`` of it.

    With ``values`` only these are looked at: those that a person would want to hide.
    """

    alpha: float
    k: int
    values: tuple[Hashable, ...] | None = None
    name: ClassVar[str] = "(α,k)-anonymity"
    citation: ClassVar[str] = "Wong, Li, Fu, Wang, KDD 2006"
    more_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.name, "alpha", self.alpha, least=0, most=1)
        whole(self.name, "k", self.k)
        if isinstance(self.values, str):  # each of its letters would be a value
            raise ParameterError(
                f"{self.name} needs a list of values, not {private(repr(self.values), type(self.values).__name__)}.",
                parameters=("values",),
            )

    def __str__(self) -> str:
        return f"({text(self.alpha)},{self.k})-anonymity"

    def level(self, counts: GroupCounts) -> Reals:
        """The largest share of a value; infinite with fewer than k persons."""
        if self.values is None:
            share = counts.largest / counts.size
        else:
            if counts.labels is None:
                raise InputError("(α,k)-anonymity of certain values needs their labels, which these counts lack.")
            watched = np.array([label in self.values for label in counts.labels.to_list()], dtype=bool)
            share = counts.highest(np.where(watched[counts.value], counts.share, 0.0))
        level: Reals = np.where(counts.size >= self.k, share, np.inf)
        return level

    def met(self, level: Reals) -> Flags:
        """At most α."""
        return at_most(level, self.alpha)

    def says(self, level: float) -> str:
        """The largest share."""
        if np.isinf(level):
            return f"Some group has fewer than {self.k} persons."
        which = "value" if self.values is None else "watched value"
        return f"The most frequent {which} of a group makes up {text(100 * level)} % of it at most."
