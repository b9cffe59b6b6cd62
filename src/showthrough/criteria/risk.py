"""Re-identification risk of a release: prosecutor, journalist and marketer.

El Emam, *Guide to the De-Identification of Personal Health Information*, CRC Press 2013;
the same figures as ARX reports. The prosecutor knows that the person is in the release (risk 1
over the size of the group), the journalist only that it is in the population (1 over the
population's class), the marketer wants to re-identify as many as possible (expected share).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.coding import codes, combine, dense
from showthrough.criteria.counts import Counted
from showthrough.criteria.criterion import text
from showthrough.criteria.parameters import number
from showthrough.criteria.population import persons_of
from showthrough.criteria.published import of_release
from showthrough.criteria.uniqueness import Estimated, estimated
from showthrough.errors import InputError
from showthrough.table.arrays import Ints, Reals
from showthrough.table.frames import need_columns, scalar, to_polars
from showthrough.table.plain import plain

SUPPRESSED = ("category", "wildcard")


@dataclass(frozen=True)
class Adversary:
    """The risk that one kind of adversary means."""

    highest: float
    average: float
    lowest: float
    above: float
    """Share of records whose risk exceeds the threshold."""
    at_highest: float
    """Share of records at the highest risk."""


@dataclass(frozen=True)
class Risk:
    """Re-identification risk of a release; the marketer's risk is the expected share of records found."""

    records: int
    groups: int
    threshold: float
    uniques: int
    """Records alone in their group."""
    prosecutor: Adversary
    journalist: Adversary | None
    marketer: float
    population_uniques: int | None
    suppressed_cells: str
    estimated: Estimated | None = None
    """Uniqueness in the population of which the release is a sample, where the share sampled is given."""

    def as_dict(self) -> dict[str, Any]:
        """The risk as plain data for JSON."""
        return dict(plain(self))

    def __str__(self) -> str:
        told = (
            f"A person known to be in the release is found with probability {text(self.prosecutor.highest)} at worst "
            f"and {text(self.prosecutor.average)} on average; {self.uniques} of {self.records} records are unique."
        )
        if self.journalist is not None:
            told += f" Of the population, a person is found with probability {text(self.journalist.highest)} at worst."
        return told if self.estimated is None else f"{told} {self.estimated}"


def risk(
    release: Any,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    population: Any = None,
    threshold: float = 0.2,
    suppressed_cells: str = "category",
    mark: str = "*",
    sampling_fraction: float | None = None,
) -> Risk:
    """The risk of a release, or of a frame with its quasi-identifiers.

    ``suppressed_cells`` says how cells that read ``mark`` (or are empty) match: ``category``, only
    each other, or ``wildcard``, everything; then a record's class is all records it may be taken
    for. ``threshold`` is the risk above which records count as at risk. ``sampling_fraction`` is the share of the
    population that the records are; then how many persons are unique there is estimated.
    """
    if suppressed_cells not in SUPPRESSED:
        raise InputError(f"Suppressed cells are read as {' or '.join(SUPPRESSED)}, not {suppressed_cells!r}.")
    number("The risk", "threshold", threshold, least=0, most=1)
    counted = of_release(release, sensitive, quasi)
    size = counted.counts.size
    people = None if population is None else persons_of(population, counted)[0]
    matching = size
    if suppressed_cells == "wildcard":
        matching = _wild(counted, size, counted, size, mark)
        if population is not None and people is not None and not isinstance(population, (np.ndarray, list)):
            theirs = of_release(to_polars(population), None, counted.quasi)
            people = _wild(counted, size, theirs, theirs.counts.size, mark)
    records = int(size.sum())
    prosecutor = _adversary(1 / matching, size, threshold)
    journalist = None if people is None else _adversary(1 / people, size, threshold)
    marketer = prosecutor.average if journalist is None else journalist.average
    return Risk(
        records=records,
        groups=counted.counts.groups,
        threshold=threshold,
        uniques=int(size[matching == 1].sum()),
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=marketer,
        population_uniques=None if people is None else int(size[people == 1].sum()),
        suppressed_cells=suppressed_cells,
        estimated=None if sampling_fraction is None else estimated(size, sampling_fraction),
    )


def _adversary(chance: Reals, size: Ints, threshold: float) -> Adversary:
    records = size.sum()
    return Adversary(
        highest=float(chance.max()),
        average=float((chance * size).sum() / records),
        lowest=float(chance.min()),
        above=float(size[chance > threshold * (1 + 1e-12)].sum() / records),
        at_highest=float(size[chance == chance.max()].sum() / records),
    )


def _wild(mine: Counted, size: Ints, theirs: Counted, weight: Ints, mark: str) -> Ints:
    """How many records of ``theirs`` agree with each group of ``mine`` in all cells that neither suppresses.

    Groups with suppressed cells in the same columns are compared at once: agreement is then
    equality in the columns that both patterns keep.
    """
    if not mine.quasi:
        raise InputError("Suppressed cells are wildcards among quasi-identifiers: name those (quasi).")
    left = mine.labelled(np.arange(mine.counts.groups))
    right = theirs.labelled(np.arange(theirs.counts.groups))
    need_columns(right, mine.quasi, "The population")
    column_codes, open_left, open_right = [], [], []
    for c in mine.quasi:
        both = pl.concat([scalar(side[c], f"Column {c!r}").alias("cell").cast(pl.String) for side in (left, right)])
        column_codes.append(codes([both])[0])
        away = (both.is_null() | (both == mark)).fill_null(True).to_numpy()
        open_left.append(away[: left.height])
        open_right.append(away[left.height :])
    pattern_left, pattern_right = np.stack(open_left, axis=1), np.stack(open_right, axis=1)
    found = np.zeros(size.size, dtype=np.int64)
    of_left, of_right = _patterns(pattern_left), _patterns(pattern_right)
    for away_left, rows in of_left:
        for away_right, others in of_right:
            compared = [column_codes[k] for k in np.flatnonzero(~(away_left | away_right))]
            where = np.concatenate([rows, others + left.height])
            key, keys = dense(combine([(code[where], room) for code, room in compared], where.size))
            per_key = np.bincount(key[rows.size :], weights=weight[others], minlength=keys)
            found[rows] += per_key[key[: rows.size]].astype(np.int64)
    return found


def _patterns(away: Any) -> list[tuple[Any, Ints]]:
    """The different rows of a table of truth values, each with where it stands."""
    kinds, inverse = np.unique(away, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    return [(kind, np.flatnonzero(inverse == k)) for k, kind in enumerate(kinds)]
