"""Who is exposed to what: a value that the past rules out is no leave to make the person certain."""

import pickle

import polars as pl
import pytest

from showthrough import FrequencyLDiversity, Policy, Release, anonymize, infer
from showthrough.policy.judging import ExposedPersons
from showthrough.republishing.people import exposed_by

LIMITS = Policy(max_posterior=0.7, impossible=0)


def released(name, *groups):
    """Groups of persons with their values, in any order."""
    pairs = [(str(k), *pair) for k, both in enumerate(groups) for pair in zip(*both, strict=True)]
    frame = pl.DataFrame(pairs, schema=["group", "id", "value"], orient="row")
    return Release.bucketized(frame, name=name, id="id", group="group", sensitive="value")


# of a and b, x or y is left, as R2 has no z; c and d may have all three
PAST = [released("R1", ("abz", "xyz"), ("cdw", "xyz")), released("R2", ("ab", "xy"))]


def test_exposed_to_all_limits_or_to_one():
    exposed = ExposedPersons("ab", "bc")
    assert (set(exposed), set(exposed.excluded), exposed.everybody) == (set("ab"), {"c"}, frozenset("abc"))
    again = pickle.loads(pickle.dumps(exposed))
    assert (again, again.excluded) == (exposed, exposed.excluded)
    assert not ExposedPersons().everybody


def test_what_the_past_exposes_whom_to():
    before = infer(PAST)
    exposed = exposed_by(before, LIMITS)
    assert set(exposed) == {"z"}  # certain, and over the limit
    assert set(exposed.excluded) == set("ab")
    assert exposed_by(before, Policy(max_posterior=0.7)).excluded == frozenset()


@pytest.mark.parametrize(("group", "over"), [(("ac", "xy"), set()), (("a", "x"), {"a", "b"})])
def test_whoever_has_a_value_ruled_out_still_counts_for_other_limits(group, over):
    before = infer(PAST)
    after = infer([*PAST, released("R3", group)])
    for exposed in (exposed_by(before, LIMITS), ExposedPersons((), "abz")):
        review = LIMITS.review(after, before, exposed=exposed)
        assert over <= set(review.breaches["id"])
        flagged = after.ids.filter(pl.Series(LIMITS.over_limit(after, before, exposed=exposed)))
        assert over <= set(flagged)
    assert not set(LIMITS.review(after, before, exposed=set("abz")).breaches["id"]) & set("abz")
    found = LIMITS.review(after, before, exposed=exposed_by(before, LIMITS)).breaches
    assert not set(found.filter(pl.col("limit") == "impossible")["id"]) & set("abz")


def test_the_guard_keeps_them_from_more():
    """The table alone would be published as it is, and its groups make a and b certain."""
    table = pl.DataFrame({"id": list("acbdz"), "age": [1, 1, 9, 9, 5], "value": list("xzyzz")})
    release = anonymize(
        table, id="id", sensitive="value", quasi=["age"], method="mondrian", criteria=[FrequencyLDiversity(1.25)],
        output="bucketized", history=PAST, strategy="guarded", policy=LIMITS, exposed="accept", hold_back=True,
    )  # fmt: skip
    after = infer([*PAST, release])
    mine = after.to_frame().filter(pl.col("id").is_in(["a", "b"]))
    assert mine["p"].max() <= 0.7 + 2e-5
    assert set("ab") <= set(release.made.exposed)
