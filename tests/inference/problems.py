"""Problems written down by hand: everybody's groups are known, one row per release and variable."""

import numpy as np

from showthrough.inference.places import Places
from showthrough.inference.problem import Problem
from showthrough.inference.rows import Rows


def plain_problem(*, groups, row, count, weight, start, value, row_value, row_group, row_release):
    """A problem from its arrays: ``groups`` [R, m], ``row`` [R, v], one past the last row where absent."""
    none = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
    places = Places(np.asarray(groups, dtype=np.int32), int(np.max(row_group)) + 1, *none)
    rows = Rows(count, count, np.asarray(row, dtype=np.int32), tuple(range(len(row))))
    return Problem(
        weight=weight,
        places=places,
        start=start,
        value=value,
        rows=rows,
        row_value=row_value,
        row_group=row_group,
        row_release=row_release,
    )
