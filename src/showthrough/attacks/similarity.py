"""Similarity: persons whose groups hold different values that mean nearly the same.

Li, Li, Venkatasubramanian, *t-Closeness: Privacy Beyond k-Anonymity and l-Diversity*, ICDE 2007: a group whose values
are all stomach diseases, or all low salaries, gives its members away although no value is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from showthrough.attacks.laid import Laid, laid
from showthrough.attacks.near import Nearness
from showthrough.attacks.shares import (
    ROUNDING,
    GroupShares,
    SharesOutcome,
    check_share,
    frame_of,
    largest,
    shares_in,
    shares_outcome,
)
from showthrough.errors import InputError, ParameterError
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals, sum_by
from showthrough.table.hierarchy import as_hierarchy


def similarity(
    releases: Release | Sequence[Release],
    share: float = 1.0,
    *,
    hierarchy: Any = None,
    level: int = 1,
    epsilon: float | None = None,
    metric: Any = "numeric",
    register: Any = None,
) -> SharesOutcome:
    """Who is in groups of which a share of ``share`` or more has similar values, in each release alone.

    Values are similar if they have the same ancestor at ``level`` of a ``hierarchy``, or if they are within ``epsilon``
    of one value by a ``metric`` (as `st.Dissimilarity` takes them). ``people`` has release, id, kind (the ancestor, or
    the value in the middle), p (the share of similar values) and values (how many different ones they are). The
    baseline is homogeneity: the same share of one value.
    """
    limit = check_share("share", share)
    if (hierarchy is None) == (epsilon is None):
        raise InputError(
            "Say when values are similar: by a hierarchy over them (hierarchy=) or by a distance (epsilon=).",
            parameters=("hierarchy", "epsilon"),
        )
    found = laid(releases, register)
    alike = _Near(found, epsilon, metric) if epsilon is not None else _Kin(found, hierarchy, level)
    parts, exposed, beside = [], [], []
    for k, name in enumerate(found.names):
        own = shares_in(found, k)
        person, kind, p, many = alike.most(own)
        columns = {"kind": kind, "p": pl.Series(p), "values": pl.Series(many)}
        parts.append(frame_of(found, k, person, **columns))
        told = {"release": name}
        single = own.share[largest(own.person, own.share)]
        exposed.append((told, int((p >= limit - ROUNDING).sum()), person.size))
        beside.append((told, int((single >= limit - ROUNDING).sum()), person.size))
    wanted = f"of whom {100 * limit:g} % or more of their group's records have {alike.meaning}"
    return shares_outcome("similarity", wanted, found, parts, (exposed, beside))


class _Kin:
    """Values with the same ancestor."""

    def __init__(self, found: Laid, hierarchy: Any, level: int) -> None:
        tree = as_hierarchy(hierarchy)
        if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= tree.height:
            raise ParameterError(
                f"level is a level of the hierarchy from 1 to {tree.height}, not {level!r}.", parameters=("level",)
            )
        tree.cover(found.values, "The sensitive column")
        self._kind: Ints = tree.codes(level)[tree.index(found.values)].astype(np.int64)
        self._names = pl.Series(tree.labels(level), dtype=pl.String)
        self.meaning = f"values of one kind (level {level} of the hierarchy)"

    def most(self, own: GroupShares) -> tuple[Ints, pl.Series, Reals, Ints]:
        """Person, kind with the largest share, that share, and its different values."""
        span = int(self._kind.max(initial=0)) + 1
        pair, which = np.unique(own.person * span + self._kind[own.value], return_inverse=True)
        share = sum_by(which, own.share, pair.size)
        many = np.bincount(which, minlength=pair.size)
        best = largest(pair // span, share)
        return pair[best] // span, self._names.gather(pair[best] % span), np.minimum(share[best], 1.0), many[best]


class _Near:
    """Values within a distance of one value."""

    def __init__(self, found: Laid, epsilon: float, metric: Any) -> None:
        self._near, self._values = Nearness.of(found.values, epsilon, metric), found.values
        self.meaning = f"values within {epsilon:g} of one value"

    def most(self, own: GroupShares) -> tuple[Ints, pl.Series, Reals, Ints]:
        """Person, the value in the middle, the share near it, and its different values."""
        person, place = np.unique(own.person, return_inverse=True)
        centre, mass = self._near.heaviest(place, own.value, own.share, person.size)
        near = self._near.near(centre[place], own.value)
        many = np.bincount(place[near], minlength=person.size)
        return person, self._values.gather(centre).cast(pl.String), mass, many
