"""MDAV microaggregation (Domingo-Ferrer, Mateo-Sanz 2002; generic form Domingo-Ferrer, Torra 2005).

Groups of k form around the record farthest from the mean and around the record farthest from that
one. No n×n matrix: each step computes distances from one record, and the records left are packed
together now and then.

Distance is Euclidean over coordinates: numeric columns standardised (or divided by their range),
ordinal columns as rank/(levels − 1), nominal columns as one coordinate per value scaled by √½, so
that two different values lie at distance 1. The mean of a nominal column is then a vector of
shares; what is published is the mode (``centroids``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.ragged import starts

Kind = Literal["numeric", "ordinal", "nominal"]
Scale = Literal["deviation", "range"]


@dataclass(frozen=True)
class Feature:
    """One quasi-identifier for microaggregation: numbers, or codes 0, 1, … of ordered or unordered values."""

    name: str
    values: npt.NDArray[np.float64] | npt.NDArray[np.int32]
    kind: Kind = "numeric"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.values).all():
            raise InputError(
                f"Column {self.name!r} holds a missing or infinite value: suppress such rows or recode it."
            )
        if self.kind != "numeric" and len(self.values) and int(self.values.min()) < 0:
            raise InputError(f"Column {self.name!r}: codes start at 0.")
        if not self.weight > 0:
            raise InputError(f"Column {self.name!r}: the weight must be above 0, found {self.weight}.")


@dataclass(frozen=True)
class MdavResult:
    """Group of each row (k to 2k − 1 rows each) and the information loss 100·SSE/SST in the coordinates."""

    group: Codes
    groups: int
    loss: float


def coordinates(features: Sequence[Feature], *, scale: Scale = "deviation") -> Reals:
    """Records as points [rows, coordinates]; constant columns become 0."""
    if not features:
        raise InputError("At least one quasi-identifier is needed.")
    parts = []
    for feature in features:
        root = np.sqrt(feature.weight)
        if feature.kind == "nominal":
            codes = feature.values.astype(np.int64)
            point = np.zeros((len(codes), int(codes.max(initial=0)) + 1))
            point[np.arange(len(codes)), codes] = np.sqrt(0.5)
        else:
            point = feature.values.astype(np.float64)[:, None]
            if feature.kind == "ordinal":
                divisor = float(point.max(initial=0.0))
            elif scale == "range":
                divisor = float(np.ptp(point)) if len(point) else 0.0
            else:
                divisor = float(point.std(ddof=1)) if len(point) > 1 else 0.0
            point = (point - point.mean()) / divisor if divisor > 0 else np.zeros_like(point)
        parts.append(point * root)
    return np.hstack(parts)


def mdav(features: Sequence[Feature], k: int, *, scale: Scale = "deviation") -> MdavResult:
    """Group the records; ties go to the lowest row, so the result depends on nothing but the input."""
    if len({len(feature.values) for feature in features}) != 1:
        raise InputError("At least one quasi-identifier is needed, and all with the same number of rows.")
    rows = len(features[0].values)
    if k < 1:
        raise InputError(f"k must be at least 1, found {k}.")
    if rows < k:
        raise InputError(f"k = {k} is larger than the table ({rows} rows): lower k or add rows.")
    points = coordinates(features, scale=scale)
    pool = _Pool(features, points)
    group = np.zeros(rows, dtype=np.int32)
    made = 0
    while pool.left >= 3 * k:
        far = pool.farthest_from_mean()
        near, distance = pool.nearest(far, k)
        other = pool.farthest_of(distance, without=near)
        group[pool.take(near)] = made
        near, _ = pool.nearest(other, k)
        group[pool.take(near)] = made + 1
        made += 2
        pool.pack()
    if pool.left >= 2 * k:
        near, _ = pool.nearest(pool.farthest_from_mean(), k)
        group[pool.take(near)] = made
        made += 1
    if pool.left:
        group[pool.take(np.flatnonzero(pool.alive))] = made
        made += 1
    return MdavResult(group, made, information_loss(points, group))


def information_loss(points: Reals, group: npt.NDArray[np.integer]) -> float:
    """100 · (squared distances to the group means)/(squared distances to the mean)."""
    size = np.bincount(group)
    sums = np.stack([np.bincount(group, weights=points[:, j]) for j in range(points.shape[1])], axis=1)
    inside = float(((points - (sums / size[:, None])[group]) ** 2).sum())
    total = float(((points - points.mean(axis=0)) ** 2).sum())
    return 100.0 * inside / total if total else 0.0


def centroids(feature: Feature, group: npt.NDArray[np.integer]) -> npt.NDArray[np.float64] | Codes:
    """What each group publishes: mean of numbers, lower median of ranks, mode of unordered codes (lowest on ties)."""
    size = np.bincount(group)
    if feature.kind == "numeric":
        means: Reals = np.bincount(group, weights=feature.values) / size
        return means
    values = feature.values.astype(np.int64)
    if feature.kind == "ordinal":
        order = np.lexsort((values, group))
        medians: Codes = values[order[starts(size)[:-1] + (size - 1) // 2]].astype(np.int32)
        return medians
    width = int(values.max()) + 1
    cell, count = np.unique(group.astype(np.int64) * width + values, return_counts=True)
    order = np.lexsort((cell % width, -count, cell // width))
    first = np.unique((cell // width)[order], return_index=True)[1]
    modes: Codes = (cell % width)[order][first].astype(np.int32)
    return modes


class _Pool:
    """The records not yet in a group: numeric coordinates as a matrix, nominal columns as codes to look up."""

    def __init__(self, features: Sequence[Feature], points: Reals) -> None:
        nominal = [feature for feature in features if feature.kind == "nominal"]
        width = [1 if f.kind != "nominal" else int(f.values.max(initial=0)) + 1 for f in features]
        begin = starts(np.array(width))[:-1]
        plain = [int(at) for at, feature in zip(begin, features, strict=True) if feature.kind != "nominal"]
        # centred, so that |x|² − 2x·c + |c|² loses no digits to a common offset
        self.points: Reals = np.ascontiguousarray(points[:, plain] - points[:, plain].mean(axis=0))
        self.square: Reals = np.einsum("ij,ij->i", self.points, self.points)
        self.codes = [feature.values.astype(np.intp) for feature in nominal]
        self.weight = [feature.weight for feature in nominal]
        self.count = [np.bincount(codes).astype(np.float64) for codes in self.codes]
        self.row: Ints = np.arange(len(points))
        self.alive = np.ones(len(points), dtype=bool)
        self.gone = np.zeros(len(points))
        self.sum: Reals = self.points.sum(axis=0)
        self.left = len(points)

    def farthest_from_mean(self) -> int:
        distance = self._numeric(self.sum / self.left)
        for codes, weight, count in zip(self.codes, self.weight, self.count, strict=True):
            share = count / self.left
            distance += (weight / 2 * (1.0 - 2.0 * share + share @ share))[codes]
        return int((distance - self.gone).argmax())

    def _numeric(self, centre: Reals) -> Reals:
        return np.asarray(self.square - self.points @ (2.0 * centre) + centre @ centre)

    def _from(self, place: int) -> Reals:
        """Squared distance of each record to one of them."""
        distance = self._numeric(self.points[place])
        for codes, weight in zip(self.codes, self.weight, strict=True):
            distance += weight * (codes != codes[place])
        return distance

    def nearest(self, place: int, k: int) -> tuple[Ints, Reals]:
        """The point itself and its k − 1 nearest, lowest row first among equals; and all distances."""
        distance = self._from(place)
        wanted = distance + self.gone
        wanted[place] = -np.inf
        if k == 1:
            return np.array([place]), distance
        edge = np.partition(wanted, k - 1)[k - 1]
        slack = 1e-9 * (1.0 + abs(edge))
        surely = np.flatnonzero(wanted < edge - slack)
        maybe = np.flatnonzero((wanted >= edge - slack) & (wanted <= edge + slack))
        if len(surely) + len(maybe) > k:  # rounding must not decide between equal distances
            maybe = maybe[np.argsort(self.row[maybe], kind="stable")][: k - len(surely)]
        return np.concatenate([surely, maybe]), distance

    def farthest_of(self, distance: Reals, *, without: Ints) -> int:
        wanted = distance - self.gone
        wanted[without] = -np.inf
        return int(wanted.argmax())

    def take(self, places: Ints) -> Ints:
        """Remove points and return their rows."""
        self.alive[places] = False
        self.gone[places] = np.inf
        self.sum = self.sum - self.points[places].sum(axis=0)
        self.left -= len(places)
        for codes, count in zip(self.codes, self.count, strict=True):
            np.subtract.at(count, codes[places], 1.0)
        return self.row[places]

    def pack(self) -> None:
        if self.left > 0.8 * len(self.row):
            return
        keep = self.alive
        self.points, self.square, self.row = np.ascontiguousarray(self.points[keep]), self.square[keep], self.row[keep]
        self.codes = [codes[keep] for codes in self.codes]
        self.gone, self.alive = self.gone[keep], self.alive[keep]
        self.sum = self.points.sum(axis=0)  # forget the rounding of many subtractions
