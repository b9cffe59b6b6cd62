"""Random releases for the criteria, as lists and as counts."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import settings
from hypothesis import strategies as some

from showthrough.criteria.counts import Counted
from showthrough.criteria.published import of_release

VALUES = ["angina", "asthma", "flu", "gout", "mumps"]


QUICK = settings(max_examples=50, deadline=None, derandomize=True)
DISEASES = some.sampled_from(VALUES)


@some.composite
def releases(draw, values=DISEASES, most=9):
    """Groups of values and the suppressed rest of the table."""
    groups = draw(some.lists(some.lists(values, min_size=1, max_size=most), min_size=1, max_size=5))
    rest = draw(some.lists(values, max_size=4))
    return groups, rest


def counted(groups, rest=()) -> Counted:
    """Through rows of a frame, with suppressed rows marked."""
    cells = [f"g{k:03}" for k, values in enumerate(groups) for _ in values] + ["*"] * len(rest)
    frame = pl.DataFrame({"place": cells, "disease": [v for values in groups for v in values] + list(rest)})
    return of_release(frame, "disease", ["place"], suppressed="*")


def by_group(found: Counted, level: np.ndarray) -> list[float]:
    """Levels in the order of the groups' names."""
    names = found.labelled(np.arange(found.counts.groups)).to_series().to_list()
    return [x for _, x in sorted(zip(names, level.tolist(), strict=True))]


def table(groups, rest=()) -> list:
    return [v for values in groups for v in values] + list(rest)
