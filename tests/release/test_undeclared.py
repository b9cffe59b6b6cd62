"""Totals that nobody declared are asked for; labels that are only called so are not."""

import random

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import InputError

SEEDS = [*range(20), *range(9000, 9010)]


def table(seed, word, *, hide=False):
    """Random counts by age, place and value, with a total over age that is their sum."""
    rng = random.Random(seed)
    rows, sums = [], {}
    for place in "pq":
        for value in "xyz":
            for age in ("20-29", "30-39", "40-49"):
                many = rng.randint(1, 9)
                sums[place, value] = sums.get((place, value), 0) + many
                rows.append((age, place, value, "c" if hide and many < 5 else str(many)))
    rows += [(word, place, value, str(many)) for (place, value), many in sums.items()]
    rng.shuffle(rows)
    return pl.DataFrame(rows, schema=["age", "place", "v", "count"], orient="row")


def counted(frame, **more):
    return st.Release.counted(frame, sensitive="v", quasi=["age", "place"], **more)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("hide", [False, True])
def test_a_total_is_asked_for(seed, hide):
    word = ["Total", "TOTAL ", "Insgesamt", "Both sexes"][seed % 4]
    hidden = {"suppressed": {"c": (1, 4)}} if hide else {}
    frame = table(seed, word, hide=hide)
    with pytest.raises(InputError, match="column 'age' is called a total") as caught:
        counted(frame, **hidden)
    assert caught.value.parameters == ("totals",)
    assert word.strip() not in caught.value.shareable
    declared = counted(frame, totals=[word], **hidden)
    assert declared.labels.len() == 6


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_no_sum_is_a_label(seed):
    frame = table(seed, "Total")
    more = (pl.col("age") == "Total") & (pl.col("place") == "p") & (pl.col("v") == "x")
    changed = frame.with_columns(pl.when(more).then(pl.lit("1")).otherwise("count").alias("count"))
    assert counted(changed).labels.len() == 8
    assert counted(table(seed, "everywhere")).labels.len() == 8


def test_one_other_label_proves_nothing():
    frame = pl.DataFrame({"smokes": ["all", "some"] * 2, "v": ["x", "x", "y", "y"], "count": ["3", "3", "2", "2"]})
    assert st.Release.counted(frame, sensitive="v", quasi=["smokes"]).labels.len() == 2


def test_a_total_over_values():
    frame = pl.DataFrame({"age": ["1", "1", "1"], "v": ["x", "y", "Total"], "count": [2, 3, 5]})
    with pytest.raises(InputError, match="column 'v' is called a total"):
        st.Release.counted(frame, sensitive="v", quasi=["age"])
