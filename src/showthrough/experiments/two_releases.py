"""Two Anatomy releases of one table with persons in both; what the second tells alone and both together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.anatomy import surplus
from showthrough.criteria.l_diversity import FrequencyLDiversity
from showthrough.experiments.study_data import ID
from showthrough.inference.certificate import Certificate
from showthrough.inference.infer import infer
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize
from showthrough.table.arrays import Ints
from showthrough.table.codes import codes_of

TOO_MANY = 0.01  # share of a whole table that would have to go: a column with more cannot be meant
SUPPRESSED = 0.2  # share of a draw that Anatomy may leave out, as few as it can: small draws have some values too often
_QUASI = "sex"  # Anatomy groups by values alone; a release shows some column beside them


@dataclass(frozen=True)
class TwoTables:
    """Records of the first and of the second table; whoever is in both stands first in both."""

    first: Ints
    second: Ints


def draw(rows: int, records: int, overlap: int, seed: int) -> TwoTables:
    """Two tables of so many records, of which so many are in both; the second does not depend on the overlap."""
    order = np.random.default_rng(seed).permutation(rows)
    newcomers = order[records : 2 * records - overlap]
    return TwoTables(np.concatenate([order[:overlap], newcomers]), order[:records])


def eligible(values: pl.Series, l: int) -> bool:
    """Whether Anatomy can make groups of l different values without leaving out more than a few records."""
    _, (codes,) = codes_of([values])
    return int(surplus(codes, l).sum()) <= TOO_MANY * len(values)


def anatomized(table: pl.DataFrame, sensitive: str, l: int, *, name: str, seed: int) -> Release:
    """A release made without a look at any other."""
    return anonymize(
        table.select(ID, _QUASI, sensitive), method="anatomy", id=ID, sensitive=sensitive, quasi=[_QUASI],
        criteria=[FrequencyLDiversity(l)], suppression_limit=SUPPRESSED, publish_ids=True, name=name, seed=seed,
    )  # fmt: skip


def guided(table: pl.DataFrame, sensitive: str, first: Release, *, l: int, repair: str, seed: int) -> Release:
    """A release that keeps the groups of the first and fills the places of those who left."""
    return anonymize(
        table.select(ID, _QUASI, sensitive), method="anatomy", id=ID, sensitive=sensitive, quasi=[_QUASI],
        criteria=[FrequencyLDiversity(l)], strategy="history-guided", repair=repair, history=[first], hold_back=True,
        accept_violations=True, publish_ids=True, name="D2", seed=seed,
    )  # fmt: skip


@dataclass(frozen=True)
class JointView:
    """Entropies in nats, and persons whose value is certain: of one release's persons, alone and with the other."""

    persons: int
    single: float
    both: float
    certain: int
    certain_here_only: int
    mean: float
    """Entropy of both, per person of either release."""
    certificate: Certificate

    @property
    def drop(self) -> float:
        """By what share the entropy falls."""
        return 1 - self.both / self.single

    @property
    def drop_per_person(self) -> float:
        """The same counted per person, over everybody of either release."""
        return 1 - self.mean / (self.single / self.persons)


def together(releases: list[Release], of: int) -> JointView:
    """What both releases tell of the persons of one of them; some of them may be in no other."""
    alone, joint = infer([releases[of]]), infer(releases)
    others = pl.concat([one.groups()["id"] for k, one in enumerate(releases) if k != of])
    here = joint.ids.is_in(alone.ids.implode()).to_numpy()
    only = here & ~joint.ids.is_in(others.implode()).to_numpy()
    return JointView(
        persons=alone.ids.len(),
        single=alone.entropy,
        both=float(joint.entropies()[here].sum()),
        certain=int(joint.certain()[here].sum()),
        certain_here_only=int(joint.certain()[only].sum()),
        mean=joint.entropy / joint.ids.len(),
        certificate=joint.certificate,
    )


def overlap_grid(
    table: pl.DataFrame, wanted: Sequence[tuple[str, int, int]], *, records: int, draws: int, seed: int, tell: Progress
) -> pl.DataFrame:
    """Two releases made independently, for each sensitive column, l and overlap: means over the draws."""
    rows: list[dict[str, Any]] = []
    for at, (column, l, overlap) in enumerate(wanted):
        tell.count(at, len(wanted))
        found = [_independent(table, column, l, overlap, records, seed + k) for k in range(draws)]
        falls = [one.drop + 0.0 for one in found]
        rows.append({
            "sensitive": column, "l": l, "overlap": overlap,
            "single_nats": float(np.mean([one.single for one in found])),
            "both_nats": float(np.mean([one.both for one in found])),
            "drop": float(np.mean(falls)), "least_drop": min(falls), "most_drop": max(falls),
            "drop_per_person": float(np.mean([one.drop_per_person for one in found])) + 0.0,
            "certain": float(np.mean([one.certain / one.persons for one in found])),
            "exact": all(str(one.certificate.status) == "exact" for one in found),
        })  # fmt: skip
    tell.count(len(wanted), len(wanted))
    return pl.DataFrame(rows)


def _independent(table: pl.DataFrame, column: str, l: int, overlap: int, records: int, seed: int) -> JointView:
    return together(independent_pair(table, column, l, overlap=overlap, records=records, seed=seed), of=1)


def independent_pair(
    table: pl.DataFrame, column: str, l: int, *, overlap: int, records: int, seed: int
) -> list[Release]:
    """Two releases of tables that share so many records, each made without a look at the other."""
    rows = draw(table.height, records, overlap, seed)
    parts = enumerate((rows.first, rows.second))
    return [anatomized(table[part], column, l, name=f"D{n + 1}", seed=1000 * seed + n) for n, part in parts]
