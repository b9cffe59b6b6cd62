"""Skewness: persons of whom a value is far likelier by their group than in the whole release.

Li, Li, Venkatasubramanian, *t-Closeness: Privacy Beyond k-Anonymity and l-Diversity*, ICDE 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from showthrough.attacks.laid import laid
from showthrough.attacks.shares import (
    ROUNDING,
    SharesOutcome,
    frame_of,
    largest,
    shares_in,
    shares_outcome,
)
from showthrough.errors import InputError, ParameterError
from showthrough.release.release import Release
from showthrough.table.arrays import Flags


def skewness(
    releases: Release | Sequence[Release],
    ratio: float = 2.0,
    *,
    values: Sequence[Any] | None = None,
    register: Any = None,
) -> SharesOutcome:
    """Who is in groups that make a value at least ``ratio`` times as likely as the whole release does.

    ``values`` are those that matter (all, unless they are named). ``people`` has release, id, value (the one that
    gains most), p and table (its shares in the person's groups and in the release) and ratio. The baseline is a reader
    of the whole release, who gains nothing.
    """
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not ratio > 1 or not np.isfinite(ratio):
        raise ParameterError(f"ratio is a number above 1, not {ratio!r}.", parameters=("ratio",))
    found = laid(releases, register)
    matters = _matters(found.values, values)
    parts, exposed, beside = [], [], []
    for k, name in enumerate(found.names):
        own = shares_in(found, k)
        gain = np.where(matters[own.value], own.share / np.maximum(own.overall, ROUNDING), 0.0)
        best = largest(own.person, gain)
        columns = {
            "value": found.values.gather(own.value[best]),
            "p": pl.Series(own.share[best]),
            "table": pl.Series(own.overall[best]),
            "ratio": pl.Series(gain[best]),
        }
        parts.append(frame_of(found, k, own.person[best], **columns))
        told = {"release": name}
        exposed.append((told, int((gain[best] >= ratio * (1 - ROUNDING)).sum()), best.size))
        beside.append((told, 0, best.size))
    wanted = f"of whom a value is at least {ratio:g} times as likely as in the whole release"
    return shares_outcome("skewness", wanted, found, parts, (exposed, beside))


def _matters(known: pl.Series, asked: Sequence[Any] | None) -> Flags:
    """[values] which of them are looked at."""
    if asked is None:
        return np.ones(known.len(), dtype=bool)
    listed = [asked] if isinstance(asked, str) else list(asked)
    found: Flags = (
        known.cast(pl.String).is_in(pl.Series([str(v) for v in listed], dtype=pl.String).implode()).to_numpy()
    )
    if int(found.sum()) < len({str(v) for v in listed}):
        raise InputError("A value that matters is published by no release: write values as they are published.")
    return found
