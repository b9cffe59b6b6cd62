"""Homogeneity: persons whose groups leave one value, or one that most of their records have.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, *l-Diversity: Privacy Beyond k-Anonymity*, ICDE 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from showthrough.attacks.laid import laid
from showthrough.attacks.shares import (
    ROUNDING,
    SharesOutcome,
    check_share,
    frame_of,
    largest,
    shares_in,
    shares_outcome,
)
from showthrough.release.release import Release


def homogeneity(releases: Release | Sequence[Release], share: float = 1.0, *, register: Any = None) -> SharesOutcome:
    """Who is in groups of which a share of ``share`` or more has one value, in each release alone.

    ``people`` has release, id, value (the most frequent one of the person's groups) and p, its share there. The
    baseline is a reader who knows the shares of the whole release alone.
    """
    limit = check_share("share", share)
    found = laid(releases, register)
    parts, exposed, beside = [], [], []
    for k, name in enumerate(found.names):
        own = shares_in(found, k)
        best = largest(own.person, own.share)
        p = own.share[best]
        values = found.values.gather(own.value[best])
        parts.append(frame_of(found, k, own.person[best], value=values, p=pl.Series(p)))
        told = {"release": name}
        exposed.append((told, int((p >= limit - ROUNDING).sum()), best.size))
        most = float(own.overall.max(initial=0.0))
        beside.append((told, best.size if most >= limit - ROUNDING else 0, best.size))
    wants = "one value" if limit == 1 else f"a value that {100 * limit:g} % or more of their group's records have"
    wanted = f"whose groups leave {wants}"
    return shares_outcome("homogeneity", wanted, found, parts, (exposed, beside))
