"""Sets of columns that tell rows apart, against all pairs of rows."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.criteria.quasi_identifiers import quasi_identifiers
from showthrough.errors import Cancelled, InputError
from showthrough.progress import Progress
from tests.criteria.releases import QUICK
from tests.oracles import distinguishing as oracle

PAPER = pl.DataFrame(  # table 1 of Motwani and Xu
    {
        "age": [20, 30, 40, 20, 40],
        "sex": ["F", "F", "F", "M", "M"],
        "state": ["CA", "CA", "TX", "NY", "CA"],
    }
)
CELLS = some.sampled_from(["a", "b", "c", None])
TABLES = some.integers(1, 4).flatmap(lambda width: some.lists(some.tuples(*[CELLS] * width), min_size=1, max_size=9))


def figures(found):
    return {tuple(columns): figures for columns, *figures in found.sets.iter_rows()}


def test_the_example_of_the_paper():
    found = figures(quasi_identifiers(PAPER, enough=1))
    assert found["age",][:2] == [0.6, 0.8]
    assert found["sex", "state"][:2] == [0.8, 0.9]


@QUICK
@given(TABLES, some.integers(1, 4), some.sampled_from([0.0, 0.5, 0.75, 1.0]))
def test_every_set_and_its_figures_against_all_pairs(rows, most, enough):
    names = [f"c{k}" for k in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    found = quasi_identifiers(frame, most=most, enough=enough)
    told = figures(found)
    expected = oracle.shown(rows, most, enough)
    assert told.keys() == {tuple(names[c] for c in chosen) for chosen in expected}
    for chosen in expected:
        assert told[tuple(names[c] for c in chosen)] == [float(x) for x in oracle.told_apart(rows, chosen)]
    assert found.complete
    assert found.sets["distinction"].is_sorted(descending=True)


@QUICK
@given(TABLES, some.randoms())
def test_neither_order_of_rows_nor_of_columns_matters(rows, chance):
    names = [f"c{k}" for k in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    turned = frame.select(chance.sample(names, len(names))).sample(fraction=1, shuffle=True, seed=chance.randrange(99))
    before, after = figures(quasi_identifiers(frame)), figures(quasi_identifiers(turned))
    assert {frozenset(c): f for c, f in before.items()} == {frozenset(c): f for c, f in after.items()}


def test_more_columns_tell_no_less_apart():
    wide = pl.DataFrame({f"c{k}": [(i * (k + 3)) % (k + 2) for i in range(40)] for k in range(5)})
    told = figures(quasi_identifiers(wide, most=5, enough=1))
    for small in told:
        for large in told:
            if set(small) < set(large):
                assert all(a <= b for a, b in zip(told[small], told[large], strict=True))


def test_a_search_that_ends_early_says_so_and_has_seen_the_best_columns():
    wide = pl.DataFrame({f"c{k}": [i % (k + 1) for i in range(40)] for k in range(12)})
    found = quasi_identifiers(wide, sets=13, enough=1)
    assert found.sets.height == 13
    assert not found.complete
    assert "Not all sets" in str(found)
    pair = next(columns for columns in found.sets["columns"].to_list() if len(columns) == 2)
    assert pair == ["c10", "c11"]
    assert quasi_identifiers(wide, seconds=0).sets.height == 1
    assert quasi_identifiers(PAPER, sets=7, enough=1).complete


def test_an_id_ends_the_search_at_once():
    told = figures(quasi_identifiers(PAPER.with_row_index("id")))
    assert [columns for columns in told if "id" in columns] == [("id",)]


def test_a_search_can_be_cancelled():
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        quasi_identifiers(PAPER, progress=progress)


@pytest.mark.parametrize(
    "wrong",
    [{"most": 0}, {"enough": 1.5}, {"sets": 0}, {"seconds": -1}, {"columns": []}, {"columns": ["age", "age"]}],
)
def test_what_means_nothing_is_refused(wrong):
    with pytest.raises(InputError):
        quasi_identifiers(PAPER, **wrong)


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="at least one"):
        quasi_identifiers(PAPER.head(0))
