"""Two Anatomy releases of one table with persons in both; what the second tells alone and both together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.anonymizers.anatomy import surplus
from showthrough.criteria.l_diversity import FrequencyLDiversity
from showthrough.experiments.study_data import ID
from showthrough.inference.certificate import Certificate
from showthrough.inference.infer import infer
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize
from showthrough.table.arrays import Ints
from showthrough.table.codes import codes_of

SUPPRESSED = 0.01  # share of records that Anatomy may leave out where one value is a little too frequent
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
    return int(surplus(codes, l).sum()) <= SUPPRESSED * len(values)


def anatomized(table: pl.DataFrame, sensitive: str, l: int, *, name: str, seed: int) -> Release:
    """A release made without a look at any other."""
    return anonymize(
        table.select(ID, _QUASI, sensitive), method="anatomy", id=ID, sensitive=sensitive, quasi=[_QUASI],
        criteria=[FrequencyLDiversity(l)], suppression_limit=SUPPRESSED, publish_ids=True, name=name, seed=seed,
    )  # fmt: skip


def guided(table: pl.DataFrame, sensitive: str, l: int, first: Release, *, seed: int) -> Release:
    """A release that keeps the groups of the first and fills the places of those who left."""
    return anonymize(
        table.select(ID, _QUASI, sensitive), method="anatomy", id=ID, sensitive=sensitive, quasi=[_QUASI],
        criteria=[FrequencyLDiversity(l)], strategy="history-guided", repair="report", history=[first], hold_back=True,
        accept_violations=True, publish_ids=True, name="D2", seed=seed,
    )  # fmt: skip


@dataclass(frozen=True)
class JointView:
    """Entropies in nats, and persons whose value is certain: of one release's persons, alone and with the other."""

    persons: int
    single: float
    both: float
    certain: int
    certificate: Certificate

    @property
    def drop(self) -> float:
        """By what share the entropy falls."""
        return 1 - self.both / self.single


def together(releases: list[Release], of: int) -> JointView:
    """What both releases tell of the persons of one of them."""
    alone, joint = infer([releases[of]]), infer(releases)
    here = joint.ids.is_in(alone.ids.implode()).to_numpy()
    return JointView(
        persons=alone.ids.len(),
        single=alone.entropy,
        both=float(joint.entropies()[here].sum()),
        certain=int(joint.certain()[here].sum()),
        certificate=joint.certificate,
    )
