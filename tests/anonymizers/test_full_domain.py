from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.describe import level_cells
from showthrough.anonymizers.full_domain import full_domain
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from tests.anonymizers.tables import PATHS, adult, column_of, entropy_at_least
from tests.oracles import groupings


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 4)] * 3, st.integers(0, 2)), min_size=3, max_size=25),
    st.integers(1, 4),
    st.integers(0, 6),
    st.booleans(),
)
def test_no_node_loses_less(rows, k, limit, diverse):
    if len(rows) < k:
        return
    columns = [column_of("label", f"q{j}", [row[j] for row in rows]) for j in range(3)]
    sensitive = np.array([row[3] for row in rows], dtype=np.int32)
    requirement = Requirement(k, sensitive, entropy_at_least(2)) if diverse else Requirement(k)

    def fine(part):
        return not diverse or groupings.entropy([rows[i][3] for i in part]) >= math.log(2) - 1e-12

    labels, losses = [], []
    for j in range(3):
        leaves = ["abcde"[row[j]] for row in rows]
        domain = set(leaves)
        levels = [[(0, leaf) for leaf in leaves], *[[(d + 1, PATHS[leaf][d]) for leaf in leaves] for d in range(2)]]
        under = [
            {node: sum(groupings.ancestors(PATHS, leaf)[d] == node for leaf in domain) for node in level}
            for d, level in enumerate(levels)
        ]
        labels.append(levels)
        losses.append(
            [[under[d][n] / len(domain) if under[d][n] > 1 else 0.0 for n in level] for d, level in enumerate(levels)]
        )
    best = groupings.full_domain_best(labels, k, limit, losses, fine)
    if best is None:
        with pytest.raises(InputError, match="most general"):
            full_domain(columns, requirement, suppression_limit=limit)
        return
    found = full_domain(columns, requirement, suppression_limit=limit)
    assert found.loss == pytest.approx(best)
    assert np.count_nonzero(found.group < 0) == found.suppressed <= limit
    for part in groupings.members(found.group).values():
        assert len(part) >= k
        assert fine(part)


def test_the_cells_of_a_node():
    column = column_of("label", "q", [0, 1, 2, 3])
    plain = column_of("set", "p", [0, 0, 1, 1])
    group = np.array([0, 0, 1, 1])
    assert level_cells([column, plain], (1, 0), group) == [["ab", "cd"], ["a", "b"]]
    assert level_cells([column, plain], (2, 1), np.zeros(4, dtype=int)) == [["*"], ["*"]]


@pytest.mark.parametrize(
    ("limit", "levels", "groups", "suppressed", "loss"),
    [(0, (4, 2, 3, 1, 0, 0, 2), 20, 0, 0.6449), (1508, (3, 1, 1, 0, 0, 0, 1), 399, 1458, 0.2125)],
)
def test_adult_finds_the_node_of_arx(limit, levels, groups, suppressed, loss):
    columns, _ = adult(shown="label", age="label")
    found = full_domain(columns, Requirement(5), suppression_limit=limit)
    assert (found.levels, found.groups, found.suppressed) == (levels, groups, suppressed)
    assert found.loss == pytest.approx(loss, abs=5e-5)
    assert found.nodes == 2160
    assert found.checked < 400
