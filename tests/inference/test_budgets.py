"""Whatever the time, what is said without an if is true."""

from threading import Event, Thread

import polars as pl
import pytest

from showthrough import infer
from showthrough.errors import Cancelled
from showthrough.inference.clock import Clock
from showthrough.progress import Progress
from tests.histories import releases
from tests.inference.test_located_random import expected
from tests.inference.test_recession import dense_history
from tests.located_cases import located
from tests.oracles import linear, seats


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


class Listening(Progress):
    """Remembers every tally, and may have heard enough after some."""

    def __init__(self, most=10**9):
        super().__init__()
        self.tallies, self.most = [], most

    def tally(self, done):
        super().tally(done)
        self.tallies.append(done)
        if len(self.tallies) >= self.most:
            self.enough()


def test_counts_are_told_throughout_the_solve():
    several = 0
    for seed in range(12):
        told = Listening()
        post = infer(releases(dense_history(seed)), progress=told)
        several += len(told.tallies) > 2
        for tally in told.tallies:
            for done, of in (tally.persons, tally.rows, tally.islands):
                assert 0 <= done <= of
            assert tally.persons[1] <= post.ids.len()
    assert several > 3


@pytest.mark.parametrize("most", [1, 3])
def test_enough_in_the_middle_of_a_solve_leaves_what_is_known(most):
    for seed in range(12):
        history = dense_history(seed)
        limits = linear.bounds(history)
        post = infer(releases(history), progress=Listening(most))
        for id, value, lower, upper in post.bounds(seconds=0).select("id", "value", "lower", "upper").iter_rows():
            assert lower <= limits[id, value][0] + 1e-6
            assert upper >= limits[id, value][1] - 1e-6


def test_a_program_ends_when_enough_is_heard():
    told = Progress()
    clock = Clock(600, told)
    assert clock.awaited(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        clock.awaited(lambda: 1 / 0)
    begun, never = Event(), Event()

    def program():
        begun.set()
        never.wait(600)

    listener = Thread(target=lambda: (begun.wait(), told.enough()))
    listener.start()
    assert clock.awaited(program) is None
    never.set()
    listener.join()
    told.cancel()
    with pytest.raises(Cancelled):
        clock.awaited(lambda: never.clear())


@pytest.mark.parametrize("seconds", [0.0, 0.005, 1.0])
def test_located_histories_under_budgets(seconds):
    """Registers, seats, persons who may be outside and unnamed members: facts and bounds beside the dense program."""
    judged = 0
    for seed in range(4000, 4024):
        case = located(seed)
        form = expected(case, "refuse")
        if form is None:
            continue
        limits = seats.bounds(form)
        post = infer(case.releases, register=case.register, domain=case.domain, seconds=seconds)
        facts = post.proven()
        sure = facts.filter(~pl.col("conditional")) if "conditional" in facts.columns else facts
        for id, value, fact in sure.select("id", "value", "fact").iter_rows():
            low, high = limits.get((id, value), (0.0, 0.0))
            assert high <= 1e-6 if fact == "impossible" else low >= 1 - 1e-6
        for limit in (None, 0.0):
            found = post.bounds(seconds=limit).select("id", "value", "lower", "upper")
            for id, value, lower, upper in found.iter_rows():
                low, high = limits.get((id, value), (0.0, 0.0))
                assert lower <= low + 1e-6, seed
                assert upper >= high - 1e-6, seed
                judged += 1
    assert judged > 100
