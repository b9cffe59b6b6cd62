"""A tiny judge: what a policy says if everything is known, by plain loops over persons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

AT = 2e-5  # a figure this close to its limit is at it


def broken(
    limits: Mapping[str, Any],
    people: Mapping[Any, Mapping[Any, float]],
    before: Mapping[Any, Mapping[Any, float]],
    sizes: Sequence[int],
) -> set[str]:
    """The limits that are broken: by everybody's probabilities now and before, and the sizes of all groups."""
    found = set()
    most = limits.get("over_posterior", 0)
    allowed = most if isinstance(most, int) else math.floor(most * len(people) + 1e-9)
    for rule, limit in limits.items():
        if rule == "max_posterior":
            over = [who for who, row in people.items() if max(row.values()) > limit + AT]
            broke = len(over) > allowed
        elif rule == "certain":
            broke = sum(max(row.values()) > 1 - 1e-9 for row in people.values()) > limit
        elif rule == "min_anonymity":
            spread = [math.exp(-sum(p * math.log(p) for p in row.values() if p > 0)) for row in people.values()]
            broke = any(s < limit * (1 - 1e-3) for s in spread)
        elif rule == "max_gain":
            grown = [
                p - before[who].get(v, 0.0) for who, row in people.items() if who in before for v, p in row.items()
            ]
            broke = any(g > limit + AT for g in grown)
        elif rule == "k":
            broke = min(sizes) < limit
        else:
            broke = False
        if broke:
            found.add(rule)
    return found


def verdict(block: set[str], review: set[str], *, known: bool = True) -> str:
    """From the limits that are broken; ``known`` says whether anything is in doubt."""
    return "block" if block else "inconclusive" if not known else "review" if review else "pass"
