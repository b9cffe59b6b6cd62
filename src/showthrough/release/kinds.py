"""The kinds of release: how each is made from published tables, and how its rows look.

A new kind is one file, one line in each table here, and one test file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from showthrough.release import bucketized, counted, generalized, grouped, microaggregated
from showthrough.release.parts import Parts, Source

if TYPE_CHECKING:
    from showthrough.release.release import Release

MAKE: dict[str, Callable[[Source], Parts]] = {
    "bucketized": bucketized.make,
    "generalized": generalized.make,
    "counted": counted.make,
    "microaggregated": microaggregated.make,
}

ROWS: dict[str, Callable[[Release], pl.DataFrame]] = {
    "bucketized": bucketized.rows,
    "generalized": grouped.rows,
    "counted": grouped.count_rows,
    "microaggregated": grouped.rows,
}
