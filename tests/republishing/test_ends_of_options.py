"""Options of `anonymize` at the ends of what they may be."""

import polars as pl
import pytest

from showthrough import KAnonymity, anonymize
from showthrough.errors import InputError

TABLE = pl.DataFrame({"zip": ["a"] * 4 + ["b"] * 2, "value": list("xyxyxy")})


@pytest.mark.parametrize("limit", [-1, -0.5, 1.5, float("nan"), float("inf")])
def test_a_suppression_limit_is_a_share_or_a_number_of_rows(limit):
    with pytest.raises(InputError, match="a share below 1 or a whole number of rows"):
        anonymize(TABLE, quasi=["zip"], sensitive="value", criteria=[KAnonymity(2)], suppression_limit=limit)
