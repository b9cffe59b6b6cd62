"""Who can be in which group of a microaggregated release, which publishes centroids instead of cells.

A centroid has the mean of a numeric attribute, the median rank of an ordinal one and the mode of a
nominal one (Torra, "Microaggregation for categorical variables: a median based approach", PSD 2004).
``nearest`` is the guess of an adversary who knows no more; ``within_spreads`` is what a release with published
spreads truly says. Everything is a table of reals, persons or groups × attributes: numbers, ranks from
0, codes of nominal values. A person's NaN is an unknown value and fits everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from showthrough.errors import InputError
from showthrough.progress import Progress
from showthrough.register.attribute import Candidates
from showthrough.register.axis import Axis, pieces
from showthrough.register.gathering import Gathering
from showthrough.register.linking import AT_MOST, link
from showthrough.table.arrays import Codes, Flags, Ints, Reals
from showthrough.table.codes import distinct
from showthrough.table.ragged import owners

TIE = 1e-9  # distances this close, relative and absolute, are the same
DIMENSIONS = 20  # up to here a tree is quicker than comparing all
PAIRS = 2**22  # distances that are held at once
POINTS = 2**16  # persons that are looked up at once


@dataclass(frozen=True)
class Measure:
    """How one attribute counts: |difference| / scale, or 0 and 1 for nominal values.

    The scale of a numeric attribute is usually its standard deviation, of an ordinal one the number of
    its levels − 1.
    """

    kind: Literal["numeric", "ordinal", "nominal"]
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("numeric", "ordinal", "nominal"):
            raise InputError(f"An attribute is numeric, ordinal or nominal, not {self.kind!r}.")
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise InputError(
                f"The scale of an attribute must be a number above 0, not {self.scale}; leave out an attribute "
                "that has the same value for everybody."
            )


def nearest(
    persons: Reals,
    centroids: Reals,
    *,
    measures: Sequence[Measure],
    least: int = 1,
    at_most: int = AT_MOST,
    progress: Progress | None = None,
) -> Candidates:
    """The groups with the nearest centroid (Euclid over the attributes' differences), all of them in a tie.

    With ``least`` the nearest ones up to that number.
    """
    _agree(persons, centroids, measures)
    if not persons.shape[0] or not centroids.shape[0]:
        return Candidates(np.zeros(persons.shape[0] + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    points, point_of = _different(persons)
    targets, group_of = _different(centroids)
    known = ~np.isnan(points).any(axis=1)
    order = np.argsort(~known, kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    points, point_of, whole = points[order], rank[point_of], int(known.sum())
    here, there = _embedded(points[:whole], targets, measures)
    gathering = Gathering(group_of, np.bincount(point_of), at_most)
    treelike = there.shape[1] <= DIMENSIONS and here.shape[0] > 0
    least = min(least, targets.shape[0])
    looked_up = _by_tree(here, there, least) if treelike else _by_comparing(points[:whole], targets, measures, least)
    others = _by_comparing(points[whole:], targets, measures, least)
    for first, stop, point, target in _chained(looked_up, others, whole):
        gathering.add(point + first, target)
        gathering.close(stop)
        if progress is not None:
            progress.count(int(gathering.weight[:stop].sum()), persons.shape[0])
    return gathering.candidates(point_of)


def within_spreads(
    persons: Reals,
    centroids: Reals,
    *,
    spreads: Reals,
    measures: Sequence[Measure],
    at_most: int = AT_MOST,
    progress: Progress | None = None,
) -> Candidates:
    """The groups whose centroid ± spread covers the person in every attribute.

    A nominal value must be the mode where the spread is 0 and is free where it is above; an infinite
    spread frees any attribute.
    """
    _agree(persons, centroids, measures)
    if spreads.shape != centroids.shape or np.isnan(spreads).any() or (spreads < 0).any():
        raise InputError(
            f"Every centroid needs a spread of 0 or more for each attribute: expected {centroids.shape[0]} × "
            f"{centroids.shape[1]} of them, found {' × '.join(map(str, spreads.shape))}, or some below 0 or missing."
        )
    axes = [
        _axis(persons[:, a], centroids[:, a], spreads[:, a], nominal=measure.kind == "nominal")
        for a, measure in enumerate(measures)
    ]
    return link(axes, at_most=at_most, progress=progress, way="tree")  # such boxes come in no patterns


def share_correct(candidates: Candidates, truth: Ints | Codes) -> tuple[float, float]:
    """Shares located uniquely and rightly, and with the own group among the candidates.

    Of the persons who are in a group: ``truth``, −1 for those in none, who do not count.
    """
    inside = np.flatnonzero(truth >= 0)
    if not inside.size:
        raise InputError("No person is in any group, so there is no share of persons who were located.")
    person = owners(candidates.start)
    own = np.zeros(candidates.persons, dtype=bool)
    own[person[candidates.group == truth[person]]] = True
    unique = own & (candidates.counts == 1)
    return float(unique[inside].mean()), float(own[inside].mean())


def _agree(persons: Reals, centroids: Reals, measures: Sequence[Measure]) -> None:
    if (
        not measures
        or persons.ndim != 2
        or centroids.ndim != 2
        or {persons.shape[1], centroids.shape[1]} != {len(measures)}
    ):
        raise InputError(
            "Persons and centroids need the same attributes: expected tables with "
            f"{len(measures)} columns (at least one), found shapes {persons.shape} and {centroids.shape}."
        )
    if not np.isfinite(centroids).all():
        raise InputError("Every centroid needs a number for each attribute, but some are missing or infinite.")
    if np.isinf(persons).any():
        raise InputError("The values of persons must be finite numbers, or NaN where unknown; some are infinite.")


def _different(table: Reals) -> tuple[Reals, Ints]:
    """Distinct rows, and which of them each row is."""
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in table.T]
    first, which = distinct(codes)
    return table[first], which


def _embedded(points: Reals, targets: Reals, measures: Sequence[Measure]) -> tuple[Reals, Reals]:
    """Both tables in a space where Euclid's distance is the mixed one: a nominal value is a corner at distance 1."""
    here, there = [], []
    for a, measure in enumerate(measures):
        if measure.kind == "nominal":
            modes = np.unique(targets[:, a])  # a value that is no mode is as far from all: the origin would be nearer
            other = np.append(modes, np.nan)
            point = np.where(np.isin(points[:, a], modes), points[:, a], np.nan)
            same = (point[:, None] == other) | (np.isnan(point)[:, None] & np.isnan(other))
            here.append(same * np.sqrt(0.5))
            there.append((targets[:, a][:, None] == other) * np.sqrt(0.5))
        else:
            here.append(points[:, a : a + 1] / measure.scale)
            there.append(targets[:, a : a + 1] / measure.scale)
        if sum(part.shape[1] for part in there) > DIMENSIONS:
            return np.empty((0, DIMENSIONS + 1)), np.empty((0, DIMENSIONS + 1))
    return np.concatenate(here, axis=1), np.concatenate(there, axis=1)


Batch = tuple[int, int, Ints, Ints]  # points from, up to; pairs of point (counted from the first) and target


def _by_tree(here: Reals, there: Reals, least: int) -> Iterator[Batch]:
    """One target more than the least number; all within the limit where that one is."""
    from scipy.spatial import cKDTree

    tree = cKDTree(there)
    for first in range(0, here.shape[0], POINTS):
        some = here[first : first + POINTS]
        distance, at = tree.query(some, k=least + 1)
        most = _as_near(distance[:, least - 1])
        more = distance[:, -1] <= most
        own, place = np.nonzero((distance[:, :-1] <= most[:, None]) & ~more[:, None])
        point, target = [own], [at[own, place]]
        if more.any():
            tied = np.flatnonzero(more)
            several = tree.query_ball_point(some[tied], most[tied])
            point.append(np.repeat(tied, [len(own) for own in several]))
            target.append(np.concatenate([np.asarray(own, dtype=np.int64) for own in several]))
        yield first, first + some.shape[0], np.concatenate(point), np.concatenate(target).astype(np.int64)


def _by_comparing(points: Reals, targets: Reals, measures: Sequence[Measure], least: int) -> Iterator[Batch]:
    """All distances of a few points at a time."""
    step = max(1, PAIRS // max(targets.shape[0], 1))
    for first in range(0, points.shape[0], step):
        some = points[first : first + step]
        distance = np.zeros((some.shape[0], targets.shape[0]))
        for a, measure in enumerate(measures):
            values, which = np.unique(some[:, a], return_inverse=True)  # few are different: each is compared once
            distance += _apart(values, targets[:, a], measure).take(which, axis=0)
        np.sqrt(distance, out=distance)
        last = distance.min(axis=1) if least == 1 else np.partition(distance, least - 1, axis=1)[:, least - 1]
        point, target = np.nonzero(distance <= _as_near(last)[:, None])
        yield first, first + some.shape[0], point, target


def _apart(values: Reals, targets: Reals, measure: Measure) -> Reals:
    """The squares of how far values are from targets in one column; who has none is nowhere else."""
    if measure.kind == "nominal":
        found: Reals = (values[:, None] != targets).astype(np.float64)
    else:
        found = ((values[:, None] - targets) / measure.scale) ** 2
    found[np.isnan(values)] = 0.0
    return found


def _as_near(distance: Reals) -> Reals:
    return distance * (1.0 + TIE) + TIE


def _chained(one: Iterator[Batch], other: Iterator[Batch], offset: int) -> Iterator[Batch]:
    yield from one
    for first, stop, point, target in other:
        yield first + offset, stop + offset, point, target


def _axis(person: Reals, centre: Reals, spread: Reals, *, nominal: bool) -> Axis:
    """Values of persons in order as atoms; a cell is what lies between centre − spread and centre + spread."""
    values, atom = np.unique(person, return_inverse=True)  # NaN comes last, once
    known = values[~np.isnan(values)]
    reach = np.where(spread > 0, np.inf, 0.0) if nominal else spread
    slack = 0.0 if nominal else TIE * (np.abs(centre) + np.where(np.isfinite(spread), spread, 0.0))
    low = np.searchsorted(known, centre - reach - slack)
    high = np.searchsorted(known, centre + reach + slack, side="right") - 1
    empty = low > high
    low[empty], high[empty] = 0, 0
    first, cell = distinct([low, high, empty.astype(np.int8)])
    low, high, exact = low[first], high[first], ~empty[first]
    piece, size = pieces(low[exact], high[exact], known.size)
    low, high = piece[low], piece[high]
    everything: Flags = np.isinf(reach[first]) & exact
    own = np.where(np.isnan(person), -1, piece[np.minimum(atom, piece.size - 1)])
    ends = low.astype(np.int32), high.astype(np.int32)
    nothing = np.empty(0, dtype=np.int64)
    return Axis(own.astype(np.int32), cell.astype(np.int32), *ends, exact, everything, nothing, size)
