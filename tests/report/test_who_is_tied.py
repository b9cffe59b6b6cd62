"""The report says which releases name nobody, unless a register or a membership says who is who."""

import polars as pl

from showthrough import Release, audit
from showthrough.report.content import summary

WORDS = "no register says who is who"
CELLS = {"zip": ["1", "1", "2", "2"], "v": ["a", "b", "a", "c"]}
LISTED = pl.DataFrame({"id": ["p", "q", "r", "s"], "group": [1, 1, 2, 2]})


def releases():
    return [Release.generalized(CELLS, sensitive="v", quasi=["zip"], name=name) for name in ("A", "B")]


def loose(found):
    """The sentence about releases that nobody is tied to."""
    return [line for line in summary(found) if WORDS in line]


def test_releases_without_ids_name_nobody():
    assert loose(audit(releases()))[0].startswith("A and B publish no ids")


def test_a_membership_says_who_is_who():
    assert loose(audit(releases(), membership={"A": LISTED}))[0].startswith("B publishes no ids")
    assert loose(audit(releases(), membership={"A": LISTED, "B": LISTED})) == []


def test_a_register_says_who_is_who():
    people = pl.DataFrame({"id": ["p", "q", "r", "s"], "zip": ["1", "1", "2", "2"]})
    assert loose(audit(releases(), register=people)) == []
