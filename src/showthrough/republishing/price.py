"""What a proposal costs readers, in figures that stand beside those of another one."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.measuring.grouping import Grouping
from showthrough.measuring.loss import Reading, gcp
from showthrough.measuring.queries import Workload, query_error
from showthrough.release.kind import Shows
from showthrough.release.kinds import KINDS
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal

QUERIES = 500


@dataclass(frozen=True)
class Price:
    """Loss of quasi-identifiers by group, and the median relative error of counting queries."""

    gcp: float
    query_error: float | None
    counterfeits: int
    withheld: int

    @property
    def lost(self) -> str:
        """What readers lose, in the words of a note, where nothing stands beside it."""
        queries = "" if self.query_error is None else f", counting queries off by {self.query_error:.1%} in the median"
        return f"GCP of the groups {self.gcp:.4f}{queries}"

    def beside(self, other: Price) -> Remark:
        """What a guarded release costs, after what an independent one (``other``) would have."""
        told = ["GCP of the groups {gcp_before:.4f} → {gcp:.4f}"]
        if self.query_error is not None and other.query_error is not None:
            told.append("counting queries off by {query_error_before:.1%} → {query_error:.1%} in the median")
        told += [
            "counterfeits {counterfeits_before} → {counterfeits}",
            "records withheld {withheld_before} → {withheld}",
        ]
        before = {f"{name}_before": figure for name, figure in asdict(other).items()}
        return Remark.of("price", f"Independent release → guarded: {'; '.join(told)}.", **before, **asdict(self))


def price(table: Table, past: Past, proposal: Proposal, *, kind: str) -> Price:
    """Measure a proposal, published as a release of some kind."""
    found = proposal.numbered()
    grouping = Grouping(table.frame, found.group.astype(np.int64), table.quasi)
    numeric = tuple(c.name for c in table.columns if c.shown == "range")
    error = None
    if table.sensitive is not None and len(table.quasi) >= 2:
        fakes = pl.DataFrame(
            {"group": found.counterfeit_group.astype(np.int64), "value": past.values.gather(found.counterfeit_value)}
        )
        known = table.frame[table.sensitive].unique()
        fakes = fakes.filter(pl.col("value").is_in(known.cast(past.values.dtype).implode()))
        fakes = fakes.with_columns(pl.col("value").cast(known.dtype)).group_by("group", "value").agg(n=pl.len())
        shown = "exact" if KINDS[kind].shows is Shows.EXACT else "range"
        workload = Workload(queries=QUERIES)
        error = query_error(
            grouping, sensitive=table.sensitive, published=shown, workload=workload, counterfeits=fakes
        ).median
    return Price(gcp(grouping, Reading("set", numeric=numeric)), error, found.counterfeits, found.held)
