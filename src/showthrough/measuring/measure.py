"""All measures of a release against its table at once."""

from __future__ import annotations

from dataclasses import dataclass

from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import Reading, entropy_loss, gcp
from showthrough.measuring.sizes import average_size, c_avg, discernibility


@dataclass(frozen=True)
class Utility:
    """What a release costs its readers; smaller is better everywhere but in ``groups``."""

    rows: int
    groups: int
    suppressed: int
    average_size: float
    c_avg: float | None
    discernibility: int
    gcp_set: float
    gcp_hierarchy: float | None
    entropy_loss: float

    def __str__(self) -> str:
        tree = "" if self.gcp_hierarchy is None else f", {self.gcp_hierarchy:.4f} with hierarchies"
        return (
            f"{self.groups} groups of {self.average_size:.1f} rows on average, {self.suppressed} of {self.rows} rows "
            f"suppressed; GCP {self.gcp_set:.4f}{tree}; {100 * self.entropy_loss:.1f} % of the entropy lost."
        )


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
