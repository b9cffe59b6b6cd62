"""What one release alone tells of everybody: the shares of values in the groups that a person fits.

The beliefs of homogeneity, skewness and similarity: ``group``, the share of a value among the records of the person's
groups (all worlds alike), beside ``table``, its share in the whole release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl

from showthrough.attacks.laid import Laid
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import Rated, rates
from showthrough.errors import ParameterError
from showthrough.policy.phrases import are, people
from showthrough.table.arrays import Ints, Reals, sum_by

ROUNDING = 1e-9
BELIEFS = ("group", "table")


class GroupShares(NamedTuple):
    """One entry per person and value of its groups, sorted by person."""

    person: Ints  # places among the persons of the history
    value: Ints
    share: Reals
    overall: Reals


def shares_in(found: Laid, head: int) -> GroupShares:
    """The shares in one release, of who is in it for certain."""
    own = found.heads[head]
    place, value, count = own.counts()
    total = sum_by(place, count, own.person.size)
    every = sum_by(own.row_value, own.row_count, found.values.len())
    every = every / max(float(every.sum()), ROUNDING)
    kept = np.flatnonzero(~own.outside[place] & (count > 0))
    kept = kept[np.argsort(own.person[place[kept]], kind="stable")]
    place, value, count = place[kept], value[kept], count[kept]
    return GroupShares(own.person[place], value, count / np.maximum(total[place], ROUNDING), every[value])


def largest(owner: Ints, figure: Reals) -> Ints:
    """For each owner, in order, the place of its largest figure (the first of them); owners are sorted."""
    if not owner.size:
        return np.empty(0, dtype=np.int64)
    order = np.lexsort((np.arange(owner.size), -figure, owner))
    first = np.ones(owner.size, dtype=bool)
    first[1:] = owner[order][1:] != owner[order][:-1]
    return order[first]


@dataclass(frozen=True, eq=False, repr=False)
class SharesOutcome(Outcome):
    """An attack on each release alone, whose beliefs are shares of groups."""

    paired: ClassVar[bool] = True
    meanings: ClassVar[Mapping[str, str]] = {
        "group": "the shares of values in the person's groups",
        "table": "the baseline: their shares in the whole release",
    }
    _laid: Laid | None = field(default=None, repr=False)

    def believed(self) -> pl.DataFrame:
        """release, id, value, and its share in the groups of the person and in the whole release."""
        assert self._laid is not None
        found, parts = self._laid, []
        for k in range(len(found.names)):
            own = shares_in(found, k)
            columns = {"value": found.values.gather(own.value), "group": pl.Series(own.share)}
            parts.append(frame_of(found, k, own.person, **columns, table=pl.Series(own.overall)))
        return pl.concat(parts)


def shares_outcome(
    attack: str,
    wants: str,
    found: Laid,
    parts: Sequence[pl.DataFrame],
    counted: tuple[Sequence[Rated], Sequence[Rated]],
) -> SharesOutcome:
    """What came out of the parts of all releases; ``counted`` are the exposed, and those of the baseline."""
    threat = Threat(
        "one release, and knows who can be in which of its groups",
        f"to find persons {wants}",
        "that all records of the groups that a person fits are alike likely to be the person's",
    )
    every, alone = (rates(own) for own in counted)
    return SharesOutcome(attack, threat, pl.concat(parts), every, alone, BELIEFS, ("release",), left_out(found), found)


def frame_of(found: Laid, head: int, person: Ints, **columns: pl.Series) -> pl.DataFrame:
    """release, id, and further columns."""
    ids = found.ids.gather(person).alias("id")
    named = [column.alias(name) for name, column in columns.items()]
    return pl.DataFrame([ids, *named]).select(pl.lit(found.names[head]).alias("release"), pl.all())


def left_out(found: Laid) -> tuple[str, ...]:
    """Who may be outside a release, in counts."""
    told = []
    for own in found.heads:
        many = int(own.outside.sum())
        if many:
            told.append(f"{own.name}: {people(many)} who may be outside it {are(many)} left out.")
    return tuple(told)


def check_share(name: str, given: object) -> float:
    """A share above 0."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given <= 1:
        raise ParameterError(f"{name} is a number above 0 and at most 1, not {given!r}.", parameters=(name,))
    return float(given)
