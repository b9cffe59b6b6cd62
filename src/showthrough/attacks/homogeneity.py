"""Homogeneity: persons whose groups leave one value, or one that most of their records have.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, *l-Diversity: Privacy Beyond k-Anonymity*, ICDE 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from showthrough.attacks.laid import laid
from showthrough.attacks.outcomes import Threat
from showthrough.attacks.shares import (
    BELIEFS,
    ROUNDING,
    SharesOutcome,
    check_share,
    frame_of,
    largest,
    left_out,
    shares_in,
)
from showthrough.attacks.statistics import rates
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
    threat = Threat(
        "one release, and knows who can be in which of its groups",
        f"to find persons whose groups leave {wants}",
        "that all records of the groups that a person fits are alike likely to be the person's",
    )
    return SharesOutcome(
        "homogeneity", threat, pl.concat(parts), rates(exposed), rates(beside), BELIEFS, ("release",),
        left_out(found), found,
    )  # fmt: skip
