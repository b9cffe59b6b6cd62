"""What the kinds of release take and give: one table or two go in, the parts of a release come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from showthrough.release.roles import Roles
from showthrough.release.totals import Margin


@dataclass(frozen=True)
class Source:
    """Published tables with their roles; ``where`` and ``table`` are what messages call the tables."""

    rows: pl.DataFrame
    roles: Roles
    where: str = "The release"
    values: pl.DataFrame | None = None
    table: str = "The release (table of values)"
    counterfeits: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)  # what only the kind understands


@dataclass(frozen=True)
class Parts:
    """The fields of a release that its kind decides; see `Release` for their meaning."""

    roles: Roles
    records: pl.DataFrame
    tally: pl.DataFrame
    labels: pl.Series
    size: pl.Series
    counterfeits: pl.DataFrame
    shape: str = "rows"
    person_group: pl.Series | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    first_row: pl.Series | None = None
    upper: pl.Series | None = None
    least: pl.Series | None = None
    margins: tuple[Margin, ...] = ()
    beside: pl.DataFrame | None = None
