"""Whatever the time, what is said without an if is true."""

import polars as pl
import pytest

from showthrough import infer
from showthrough.progress import Progress
from tests.histories import releases
from tests.inference.test_recession import dense_history
from tests.oracles import linear


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1])
def test_unconditional_facts_and_bounds_are_those_of_the_programs(seconds):
    for seed in range(12):
        history = dense_history(seed)
        limits = linear.bounds(history)
        post = infer(releases(history), seconds=seconds)
        facts = post.proven()
        sure = facts.filter(~pl.col("conditional")) if "conditional" in facts.columns else facts
        for id, value, fact in sure.select("id", "value", "fact").iter_rows():
            low, high = limits.get((id, value), (0.0, 0.0))
            assert high <= 1e-6 if fact == "impossible" else low >= 1 - 1e-6
        for limit in (None, 0.0, seconds):
            found = post.bounds(seconds=limit)
            for id, value, lower, upper in found.select("id", "value", "lower", "upper").iter_rows():
                low, high = limits[id, value]
                assert lower <= low + 1e-6
                assert upper >= high - 1e-6
            if limit is not None:
                sharp = found.filter("sharp").select("id", "value", "lower", "upper")
                assert all(limits[i, v] == pytest.approx(ends, abs=1e-6) for i, v, *ends in sharp.iter_rows())


def test_time_that_is_over_still_counts_everybody():
    post = infer(releases(dense_history(3)), seconds=0)
    assert sum(post.certificate.persons_by_state.values()) == post.ids.len()


def test_whoever_has_heard_enough_gets_what_is_known():
    told = Progress()
    told.enough()
    assert infer(releases(dense_history(3)), progress=told).ids.len()


@pytest.mark.parametrize("seconds", [-1, "long", float("nan"), True])
def test_seconds_are_a_number(seconds):
    with pytest.raises(Exception, match="seconds is a number of 0 or more"):
        infer(releases(dense_history(3)), seconds=seconds)
