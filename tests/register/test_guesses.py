"""The nearest centroid is a guess: who is known to be in a release may be in another group than the nearest."""

import polars as pl
import pytest

from showthrough import Release, infer
from showthrough.errors import InputError

MICRO = {"age": [20.0, 20.0, 40.0, 40.0], "v": ["a", "b", "c", "d"]}
PEOPLE = pl.DataFrame({"id": ["p", "q", "r", "s"], "age": [18.0, 21.0, 29.0, 44.0], "in_M": ["yes"] * 4})


def test_more_members_than_rows_may_be_nearest_to_one_group():
    """r is a member of the second group, 29 or not: three are nearest to the first, which has two rows."""
    micro = Release.microaggregated(MICRO, sensitive="v", quasi=["age"], name="M")
    post = infer([micro], register=PEOPLE)
    for person in ("p", "q", "r"):
        assert set(post.of(person)) == {"a", "b", "c", "d"}  # perhaps in the other group, with any value
        assert post.of(person)["a"] == pytest.approx(post.of(person)["b"])


def test_what_covers_a_person_is_no_guess():
    """Cells say who fits: then three members cannot share two rows."""
    cells = {"age": ["[18, 30]", "[18, 30]", "[31, 50]", "[31, 50]"], "v": MICRO["v"]}
    generalized = Release.generalized(cells, sensitive="v", quasi=["age"], name="M")
    with pytest.raises(InputError):
        infer([generalized], register=PEOPLE)
