"""What remains of diversity when an adversary excludes some values of a person.

Knowing that a person does not have a value takes that value out of the person's group. The worst
case over which ``j`` values are excluded is exact here, without trying them all:

- recursive (c,l), l ≥ 2: keep r₁ and exclude any j values that rank above the tail. What is left
  of the tail is r_{l+j} + … + r_m, so (c,l) holds after any j exclusions if and only if (c,l+j)
  held before.
- frequency: keep r₁, exclude the next j.
- entropy: the excluded values can be taken next to each other in the order of counts. Let all
  kept counts but one be fixed, with sum M, and h be the entropy; as a function of the last one,
  (M+x)·ln(M+x) − x·ln x − h·x (plus constants) is strictly concave, so of a larger, a middle and a
  smaller candidate the middle one is never the best to keep. That leaves m − j + 1 stretches.

A person has a value, so never all values of a group can be excluded: with j ≥ m values one is left.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from showthrough.criteria.counts import Counted, GroupCounts
from showthrough.criteria.criterion import text
from showthrough.criteria.l_diversity import diversity, tail
from showthrough.criteria.parameters import whole
from showthrough.table.arrays import Ints, Reals
from showthrough.table.ragged import ranges, running, starts


def distinct_after(counts: GroupCounts, j: int) -> Reals:
    """Different values that are left in each group."""
    return np.maximum(counts.distinct - _whole(j), 1).astype(np.float64)


def frequency_after(counts: GroupCounts, j: int) -> Reals:
    """Frequency l-diversity of each group after the worst ``j`` exclusions."""
    rest = counts.largest + tail(counts, _whole(j) + 2)
    return rest / counts.largest


def recursive_after(counts: GroupCounts, j: int, *, l: int) -> Reals:
    """The c that recursive (c,``l``)-diversity must exceed after the worst ``j`` exclusions."""
    if l == 1:
        return 1 / frequency_after(counts, j)
    with np.errstate(divide="ignore"):
        return counts.largest / tail(counts, l + _whole(j))


def entropy_after(counts: GroupCounts, j: int) -> Reals:
    """Entropy l-diversity of each group after the worst ``j`` exclusions."""
    j = _whole(j)
    ranked = counts.descending
    logs, sums = running(ranked * np.log(ranked)), running(ranked)
    level = np.ones(counts.groups)
    open_groups = np.flatnonzero(counts.distinct > j)
    windows = counts.distinct[open_groups] - j + 1
    if not open_groups.size:
        return level
    begin = ranges(counts.start[open_groups], windows)
    start = np.repeat(counts.start[open_groups], windows)
    end = np.repeat(counts.start[1:][open_groups], windows)

    def left(total: Reals | Ints) -> Reals | Ints:
        kept: Reals | Ints = (total[end] - total[start]) - (total[begin + j] - total[begin])
        return kept

    found = diversity(np.asarray(left(sums), dtype=np.int64), np.asarray(left(logs), dtype=np.float64))
    level[open_groups] = np.minimum.reduceat(found, starts(windows)[:-1])
    return level


def after_negations(counted: Counted, most: int = 3) -> pl.DataFrame:
    """What 0 to ``most`` exclusions leave of a release at worst: excluded, distinct, frequency, entropy, recursive.

    ``recursive`` is the number that c must exceed with l = 2. ``sentence`` says it in words.
    """
    counts = counted.counts
    rows = []
    for j in range(_whole(most) + 1):
        distinct, frequency = distinct_after(counts, j).min(), frequency_after(counts, j).min()
        entropy, recursive = entropy_after(counts, j).min(), recursive_after(counts, j, l=2).max()
        lead = "Without exclusions" if j == 0 else f"After excluding {j} value{'' if j == 1 else 's'} of a person"
        told = (
            f"{lead} a group leaves {text(distinct)} value{'' if distinct == 1 else 's'} at worst; the likeliest has "
            f"probability {text(1 / frequency)}."
        )
        rows.append((j, float(distinct), float(frequency), float(entropy), float(recursive), told))
    names = ("distinct", "frequency", "entropy", "recursive")
    schema = {"excluded": pl.Int64, **dict.fromkeys(names, pl.Float64), "sentence": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _whole(j: int) -> int:
    whole("Excluding values", "j", j, least=0)
    return int(j)
