"""The strongest rules of a table against all conditions looked at one by one; as knowledge they contradict nothing."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import showthrough as st
from tests.oracles import rules as slow


def random_table(seed, rows=40):
    random = np.random.default_rng(seed)
    sizes = {"a": 2, "b": 3, "c": 4}
    columns = {c: [f"{c}{k}" for k in random.integers(0, n, rows)] for c, n in sizes.items()}
    lean = random.random(rows) < 0.7  # some rules are strong
    value = np.where(lean, random.integers(0, 2, rows), random.integers(0, 4, rows))
    table = pl.DataFrame({"id": range(rows), **columns, "value": [f"v{k}" for k in value]})
    if seed % 3 == 0:
        table = table.with_columns(pl.when(pl.int_range(rows) % 11 != 3).then(pl.col("b")).alias("b"))
    return table


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("seed", [*range(15), *range(800, 810)])
def test_all_conditions(seed, columns):
    table = random_table(seed)
    asked = {"positive": 1 + seed % 7, "negative": 8 - seed % 7, "support": 1 + seed % 4, "columns": columns}
    found = st.knowledge.mine(table, sensitive="value", quasi=["a", "b", "c"], **asked)
    expected = slow.strongest(table.to_dicts(), ["a", "b", "c"], "value", **asked)
    told = [({c: cells[0] for c, cells, _ in s.where.columns}, s.values[0], s.least) for s in found]
    assert told == expected
    assert all(s.least == s.most and s.relative for s in found)


@pytest.mark.parametrize("seed", range(8))
def test_rules_of_the_truth_contradict_nothing(seed):
    table = random_table(seed, rows=48)
    group = np.random.default_rng(seed).permutation(48) // 4
    release = st.Release.bucketized(table.with_columns(g=group), id="id", sensitive="value", group="g")
    rules = st.knowledge.mine(table, sensitive="value", quasi=["a", "c"], columns=2)
    post = st.infer([release], knowledge=rules)
    assert post.certificate.status.certain
    truth = dict(zip(table["id"].cast(pl.String), table["value"], strict=True))
    sure = post.proven().filter(pl.col("fact") == "certain")
    assert all(truth[str(who)] == value for who, value in zip(sure["id"], sure["value"], strict=True))


def test_numbers_and_texts():
    table = pl.DataFrame({"age": [30, 30, 31, 31], "value": [1, 1, 1, 2]})
    first, *_ = st.knowledge.mine(table, sensitive="value", support=2, positive=1, negative=0)
    assert str(first) == "of the persons with age 30 exactly 100 % have 1"
    assert st.knowledge.mine(table, sensitive="value", support=9) == []
    assert st.knowledge.mine(table, sensitive="value", positive=0, negative=0) == []
    none = st.knowledge.mine(table, sensitive="value", support=2, positive=0, negative=1)
    assert [s.least for s in none] == [Fraction(0)]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"positive": -1}, "positive is a whole number"),
        ({"support": 0}, "support is a whole number of 1 or more"),
        ({"columns": 1.5}, "columns is a whole number"),
        ({"quasi": ["nothing"]}, "nothing"),
        ({"quasi": []}, "need quasi-identifiers"),
        ({"sensitive": "nothing"}, "nothing"),
    ],
)
def test_wrong_questions(wrong, words):
    with pytest.raises(st.errors.InputError, match=words):
        st.knowledge.mine(random_table(1), **{"sensitive": "value", **wrong})
