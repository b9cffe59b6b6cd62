from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.anonymizers.describe import recursion_cells, tight_cells
from showthrough.anonymizers.group_loss import cost, group_losses, merge_alike
from showthrough.anonymizers.mondrian import mondrian
from showthrough.anonymizers.quasi_columns import QuasiColumn, combined_key
from showthrough.anonymizers.requirement import Requirement
from showthrough.anonymizers.suppression import publication_order, suppress_failing
from showthrough.errors import InputError
from tests.anonymizers.tables import PATHS, column_of, entropy_at_least, tables
from tests.oracles import groupings


@settings(max_examples=120, deadline=None)
@given(tables(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_losses_cells_and_merging_by_definition(table, parts, random):
    columns, sensitive = table
    raw = [random.randrange(-1, parts) for _ in sensitive]
    dense = {code: number for number, code in enumerate(sorted({c for c in raw if c >= 0}))}
    group = np.array([dense.get(code, -1) for code in raw])
    size, losses = group_losses(columns, group)
    cells = tight_cells(columns, group)
    total = 0.0
    for code, part in groupings.members(group).items():
        assert size[code] == len(part)
        for j, column in enumerate(columns):
            if column.shown == "range":
                values, domain = column.values[column.codes[part]].tolist(), column.values.tolist()
            else:
                values, domain = [column.labels[c] for c in column.codes[part]], list(column.labels)
            expected = groupings.loss_of(values, domain, shown=column.shown, path_of=PATHS)
            assert losses[code, j] == pytest.approx(expected)
            total += len(part) * expected / len(columns)
            assert cells[j][code] == printed(column.shown, values, domain)
    gone = raw.count(-1)
    assert cost(columns, group, k=1).gcp == pytest.approx((total + gone) / len(raw))
    texts = {code: tuple(column[code] for column in cells) for code in dense.values()}
    merged = merge_alike(columns, group)
    for i in range(len(raw)):
        assert (merged[i] < 0) == (group[i] < 0)
        for j in range(i):
            if group[i] >= 0 and group[j] >= 0:
                assert (merged[i] == merged[j]) == (texts[group[i]] == texts[group[j]])


def printed(shown, values, domain):
    distinct = sorted(set(values))
    if shown == "range":
        return f"{distinct[0]:g}" if len(distinct) == 1 else f"[{distinct[0]:g}, {distinct[-1]:g}]"
    if len(distinct) == 1:
        return distinct[0]
    if shown == "label":
        return groupings.common_ancestor(PATHS, values)[1]
    return "*" if len(distinct) == len(set(domain)) else "{" + ", ".join(distinct) + "}"


def test_cells_of_the_recursion_cover_the_numbers_between():
    column = QuasiColumn.numeric("age", [20.0, 22.0, 30.0, 35.0])
    found = mondrian([column], Requirement(2))
    assert sorted(recursion_cells([column], found.cell_low, found.cell_high)[0]) == ["[20, 29]", "[30, 35]"]
    assert sorted(tight_cells([column], found.group)[0]) == ["[20, 22]", "[30, 35]"]


def test_top_and_bottom_coding():
    column = QuasiColumn.numeric("age", [17.0, 19.0, 30.0, 40.0, 85.0, 90.0]).coded(low=20, high=80)
    assert [column.labels[code] for code in column.codes] == ["<20", "<20", "30", "40", ">=80", ">=80"]
    cells = tight_cells([column, column], np.array([0, 0, 1, 1, 2, 2]))[0]
    assert cells == ["<20", "[30, 40]", ">=80"]
    assert tight_cells([column], np.array([0, 0, 0, 1, 1, 1]))[0] == ["<40", ">=40"]
    assert tight_cells([column], np.zeros(6, dtype=int))[0] == ["*"]
    kept = QuasiColumn.numeric("age", [30.0, 40.0]).coded(low=20, high=80)
    assert (kept.labels, kept.open_low, kept.open_high) == (("30", "40"), False, False)
    with pytest.raises(InputError, match="below that of top"):
        column.coded(low=5, high=5)


def test_a_value_that_a_set_cannot_show():
    column = QuasiColumn.categorical("job", ["a, b", "c", "d"])
    with pytest.raises(InputError, match="comma"):
        tight_cells([column], np.array([0, 0, 1]))


def test_hierarchies_are_checked():
    column = QuasiColumn.categorical("q", ["a", "b"])
    with pytest.raises(InputError, match="lacks 1 value") as refused:
        column.with_hierarchy([("a", "*")])
    assert "'b'" not in refused.value.shareable
    with pytest.raises(InputError, match="two parents"):
        column.with_hierarchy([("a", "x", "u", "*"), ("b", "x", "v", "*")])
    with pytest.raises(InputError, match="last level"):
        column.with_hierarchy([("a", "x"), ("b", "y")])


def test_suppression_has_a_limit():
    group = np.array([0, 0, 0, 1, 2, 2, -1])
    sensitive = np.array([0, 1, 1, 0, 1, 1, 0], dtype=np.int32)
    kept, gone = suppress_failing(group, Requirement(2), limit=2)
    assert (kept.tolist(), gone) == ([0, 0, 0, -1, 1, 1, -1], 2)
    kept, gone = suppress_failing(group, Requirement(2, sensitive, entropy_at_least(1.5)), limit=4)
    assert (kept.tolist(), gone) == ([0, 0, 0, -1, -1, -1, -1], 4)
    with pytest.raises(InputError, match="at most 1"):
        suppress_failing(group, Requirement(2), limit=1)


def test_the_published_order_forgets_the_order_of_the_table():
    group, sensitive = np.array([0, 0, 1, 1, -1]), np.array([1, 0, 1, 0, 0])
    shuffle = np.array([3, 0, 4, 2, 1])
    one = publication_order(group, sensitive, seed=4)
    other = publication_order(group[shuffle], sensitive[shuffle], seed=4)
    assert sorted(one.tolist()) == [0, 1, 2, 3]
    assert (group[one] * 2 + sensitive[one]).tolist() == (
        group[shuffle][other] * 2 + sensitive[shuffle][other]
    ).tolist()


def test_keys_do_not_overflow():
    generator = np.random.default_rng(0)
    codes = [generator.integers(0, 2, 50) * 999_999 for _ in range(40)]
    key = combined_key(codes, [1_000_000] * 40)
    rows = np.stack(codes, axis=1)
    assert len(np.unique(key)) == len(np.unique(rows, axis=0))
    assert column_of("set", "q", [1, 1]).size == 1
