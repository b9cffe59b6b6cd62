"""All measures of a release against its table at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import Reading, entropy_loss, gcp
from showthrough.measuring.sizes import average_size, c_avg, discernibility
from showthrough.numerals import number_of
from showthrough.table.plain import plain


@dataclass(frozen=True)
class Utility:
    """What a release costs its readers; smaller is better everywhere but in ``groups``.

    What the release does not tell is None, and ``notes`` says why.
    """

    rows: int
    """Rows of the table."""
    groups: int
    suppressed: int
    average_size: float
    discernibility: int
    c_avg: float | None = None
    gcp_published: float | None = None
    """GCP of the cells as they are printed."""
    gcp_set: float | None = None
    """GCP if each group printed the values really in it."""
    gcp_hierarchy: float | None = None
    """GCP if each group printed the lowest common ancestor of its values."""
    entropy_loss: float | None = None
    query_error_median: float | None = None
    query_error_mean: float | None = None
    queries: int = 0
    counterfeits: int = 0
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The measures as plain data for JSON."""
        return dict(plain(self))

    def __str__(self) -> str:
        told = [
            f"{number_of(self.groups, 'group')} of {self.average_size:.1f} rows on average, {self.suppressed} of "
            f"{self.rows} rows suppressed"
        ]
        if self.c_avg is not None:
            told.append(f"C_avg {self.c_avg:.3f}")
        readings = {"as published": self.gcp_published, "of sets": self.gcp_set, "of hierarchies": self.gcp_hierarchy}
        known = [f"{value:.4f} {name}" for name, value in readings.items() if value is not None]
        if known:
            told.append(f"GCP {', '.join(known)}")
        if self.entropy_loss is not None:
            told.append(f"{100 * self.entropy_loss:.1f} % of the entropy lost")
        if self.query_error_median is not None:
            told.append(f"{self.queries} counting queries off by {100 * self.query_error_median:.3g} % in the median")
        return "; ".join(told) + "."


def measure(
    grouping: Grouping,
    *,
    k: int | None = None,
    hierarchies: Reading | None = None,
    numeric: tuple[str, ...] | None = None,
) -> Utility:
    """Measure a grouping; ``hierarchies`` adds the hierarchy reading, ``k`` C_avg, ``numeric`` names numbers."""
    by_set = Reading("set", numeric=numeric)
    sizes = grouping.sizes
    return Utility(
        rows=grouping.table.height,
        groups=grouping.groups,
        suppressed=grouping.suppressed,
        average_size=average_size(sizes),
        c_avg=None if k is None else c_avg(sizes, k),
        discernibility=discernibility(sizes, suppressed=grouping.suppressed),
        gcp_set=gcp(grouping, by_set),
        gcp_hierarchy=None if hierarchies is None else gcp(grouping, hierarchies),
        entropy_loss=entropy_loss(grouping, by_set if hierarchies is None else hierarchies),
    )
