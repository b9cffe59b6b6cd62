"""Options of `anonymize` at the ends of what they may be."""

import polars as pl
import pytest

from showthrough import KAnonymity, Policy, anonymize
from showthrough.errors import InputError

TABLE = pl.DataFrame({"zip": ["a"] * 4 + ["b"] * 2, "value": list("xyxyxy")})


@pytest.mark.parametrize("limit", [-1, -0.5, 1.5, float("nan"), float("inf")])
def test_a_suppression_limit_is_a_share_or_a_number_of_rows(limit):
    with pytest.raises(InputError, match="a share below 1 or a whole number of rows"):
        anonymize(TABLE, quasi=["zip"], sensitive="value", criteria=[KAnonymity(2)], suppression_limit=limit)


@pytest.mark.parametrize(
    ("method", "output", "told"),
    [("mdav", None, True), ("mdav", "bucketized", False), ("mondrian", None, False)],
)
def test_a_guard_says_when_it_publishes_another_kind_than_its_method(method, output, told):
    table = pl.DataFrame({"id": list("abcdef"), "age": [1, 1, 2, 2, 3, 3], "value": list("xyxyxy")})
    release = anonymize(
        table, id="id", quasi=["age"], sensitive="value", criteria=[KAnonymity(2)], method=method, output=output,
        strategy="guarded", policy=Policy(max_posterior=0.5),
    )  # fmt: skip
    words = "mdav by itself publishes a microaggregated release"
    assert any(words in str(remark) for remark in release.made.remarks) == told
