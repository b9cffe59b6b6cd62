"""What any release takes, at least: never more than a release took, and what a criterion asks of the whole table."""

import polars as pl
import pytest

from showthrough import (
    AlphaKAnonymity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    MUniqueness,
    Policy,
    Release,
    anonymize,
)
from showthrough.errors import InputError
from showthrough.republishing.least_price import largest_share

PAST = Release.bucketized(
    pl.DataFrame({"id": ["p0", "p1", "p2", "p3"], "group": ["1", "1", "2", "2"], "value": list("abab")}),
    id="id", group="group", sensitive="value",
)  # fmt: skip


@pytest.mark.parametrize(
    ("criteria", "share"),
    [
        ([], 1.0),
        ([KAnonymity(3), EntropyLDiversity(2)], 1.0),
        ([FrequencyLDiversity(4)], 0.25),
        ([FrequencyLDiversity(2), MUniqueness(3)], 1 / 3),
        ([AlphaKAnonymity(0.4, 5)], 0.4),
        ([AlphaKAnonymity(0.4, 5, values=("a",))], 1.0),
    ],
)
def test_the_share_that_criteria_leave_to_one_value(criteria, share):
    assert largest_share(criteria) == pytest.approx(share)


@pytest.mark.parametrize(
    ("criterion", "newcomers", "least"),
    [
        (FrequencyLDiversity(2), 12, 12),  # 14 of 16 have one value: each record less or counterfeit more saves one
        (MUniqueness(2), 7, 7),
        (EntropyLDiversity(1.2), 1, 0),
    ],
)
def test_a_frequent_value_has_its_price_whatever_the_groups(criterion, newcomers, least):
    ids = [f"p{k}" for k in range(4)] + [f"n{k}" for k in range(newcomers)]
    table = pl.DataFrame(
        {"id": ids, "age": [30 + k % 5 for k in range(len(ids))], "value": [*"abab", *"a" * newcomers]}
    )
    release = anonymize(
        table, id="id", sensitive="value", quasi=["age"], method="anatomy" if least else "mondrian",
        criteria=[criterion], history=[PAST], strategy="guarded", hold_back=True, output="bucketized",
        policy=Policy(max_posterior=0.6 if least else 0.9), seed=0,
    )  # fmt: skip
    told = [remark.figures for remark in release.made.remarks if remark.kind == "least"]
    assert all(figures["least"] <= figures["paid"] for figures in told)
    if least:
        assert [figures["least"] for figures in told] == [least]


@pytest.mark.parametrize("criterion", [FrequencyLDiversity(3), MUniqueness(3), EntropyLDiversity(2.5)])
def test_where_there_are_too_few_values_that_is_said_at_once(criterion):
    """With two values in the table and its past the search went on for minutes."""
    table = pl.DataFrame({"id": ["p0", "p1", "p2", "n0"], "age": [1, 2, 3, 4], "value": list("abaa")})
    with pytest.raises(
        InputError, match="more different values than the 2 that the table and its past have"
    ) as problem:
        anonymize(
            table, id="id", sensitive="value", quasi=["age"], method="anatomy", criteria=[criterion], history=[PAST],
            strategy="guarded", hold_back=True, output="bucketized", policy=Policy(max_posterior=0.6),
        )  # fmt: skip
    assert "lower" in problem.value.shareable.lower()
