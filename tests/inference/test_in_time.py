"""What ends with the time that is given, goes on where it stopped, or takes a shorter way: the answer is the same."""

import numpy as np
import pytest

from showthrough import infer
from showthrough.inference import bounds, flow, history, newton, solving
from showthrough.inference.clock import Clock
from showthrough.inference.closing import close_by_flow
from showthrough.inference.face import Contradicted, Face
from showthrough.inference.intervals import Narrowing, intervals
from showthrough.inference.log import Log
from showthrough.inference.problem import collapse
from showthrough.inference.projection import whole_directions
from showthrough.inference.reduce import reduce
from showthrough.inference.run import answered
from tests import factored_cases
from tests.histories import releases
from tests.inference.coded import history_of
from tests.inference.test_recession import dense_history
from tests.inference.test_rows_against_oracle import answers
from tests.oracles import entropy, factored

FLAVOURS = sorted(factored_cases.FLAVOURS)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_quick_bounds_go_on_where_they_stopped(flavour):
    further = 0
    for seed in range(400, 430):
        face = Face.whole(collapse(history_of(factored_cases.case(seed, flavour)))[0])
        narrowing, at_once = Narrowing(face), intervals(face)
        first = narrowing.within(Clock(0))
        assert (first.least <= at_once.least).all(), seed
        assert (first.most >= at_once.most).all(), seed
        further += bool((first.most > at_once.most).any())
        later = narrowing.within(Clock())
        assert (later.least == at_once.least).all(), seed
        assert (later.most == at_once.most).all(), seed
        assert (narrowing.within(Clock(0)).most == at_once.most).all(), "nothing is forgotten"
    assert further or flavour == "plain"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_quick_bounds_of_contradictions_stay_numbers(flavour):
    for seed in range(200, 240):
        problem, _ = collapse(history_of(factored_cases.tampered(seed, flavour)))
        if (np.diff(problem.start) == 0).any():
            continue
        with np.errstate(over="raise", invalid="raise"):
            found = intervals(Face.whole(problem))
        assert (found.least >= 0).all(), seed
        assert (found.most <= problem.weight[problem.signature]).all(), seed


def test_jobs_of_one_component_share_what_is_known(monkeypatch):
    monkeypatch.setattr(bounds, "_CHUNK", 1)
    jobs = []
    monkeypatch.setattr(bounds, "_results", lambda made, *_: iter(jobs.extend(made) or ()))
    post = infer(releases(dense_history(5)))
    post.bounds()
    own = {id(job.reduced): (id(job.least), id(job.most)) for job in jobs}
    assert len(jobs) > len(own)
    assert all(own[id(job.reduced)] == (id(job.least), id(job.most)) for job in jobs)


def test_no_program_is_begun_that_cannot_end(monkeypatch):
    monkeypatch.setattr(bounds, "_PER_TERM", 1e6)
    monkeypatch.setattr(bounds, "solve_job", None)
    post = infer(releases(dense_history(5)))
    assert not post.bounds(seconds=3600)["sharp"].all()


def test_no_solver_begins_when_time_is_over(monkeypatch):
    monkeypatch.setattr(solving, "_LITTLE", 0)
    post = infer(releases(dense_history(5)), seconds=0)
    assert post.certificate.newton_steps == post.certificate.passes == 0
    assert infer(releases(dense_history(5))).certificate.newton_steps > 0


def test_no_direction_is_projected_when_time_is_over():
    found = 0
    for seed in range(20):
        problem, _ = collapse(history_of(factored_cases.case(seed, "plain")))
        reduced = reduce(problem, np.ones(problem.terms, dtype=bool))
        rng = np.random.default_rng(seed)
        asked = reduced, rng.random(reduced.rows.terms) < 0.4, rng.normal(size=reduced.rows.size)
        assert not list(whole_directions(*asked, Clock(0)))
        found += len(list(whole_directions(*asked)))
    assert found


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_flows_of_single_values_force_what_one_graph_does(flavour, monkeypatch):
    faces = {}
    for together in (flow._TOGETHER, 0):
        monkeypatch.setattr(flow, "_TOGETHER", together)
        for seed in range(500, 540):
            face = Face.whole(collapse(history_of(factored_cases.case(seed, flavour)))[0])
            close_by_flow(face)
            faces.setdefault(seed, []).append(face.alive.tobytes())
    assert all(first == second for first, second in faces.values())


@pytest.mark.parametrize("flavour", ["plain", "seated"])
def test_flows_of_single_values_see_the_same_contradictions(flavour, monkeypatch):
    seen = {}
    for together in (flow._TOGETHER, 0):
        monkeypatch.setattr(flow, "_TOGETHER", together)
        for seed in range(200, 260):
            problem, _ = collapse(history_of(factored_cases.tampered(seed, flavour)))
            if (np.diff(problem.start) == 0).any():
                continue
            face = Face.whole(problem)
            try:
                close_by_flow(face)
                found = False
            except Contradicted as clash:
                found = clash.weights is None or face.weigh(clash.weights).overfull
                assert found, "a contradiction comes with its proof"
            seen.setdefault(seed, []).append(found)
    assert all(first == second for first, second in seen.values())
    assert any(first for first, _ in seen.values())


@pytest.fixture
def long_steps(monkeypatch):
    """Every step may be made longer; whether each was."""
    longer, taken = newton._longer, []

    def watched(kernel, mu, d, made, before):
        step, there = longer(kernel, mu, d, made, before)
        taken.append(bool((np.abs(step) > np.abs(made.step)).any()))
        assert (np.maximum(before, made.there.F) >= there.F).all()
        return step, there

    monkeypatch.setattr(newton, "_DEAR", -1)
    monkeypatch.setattr(newton, "_longer", watched)
    monkeypatch.setattr(solving, "_LITTLE", 0)
    return taken


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_long_steps_lead_to_the_answer_of_the_oracle(flavour, long_steps):
    for seed in range(600, 620):
        case = factored_cases.case(seed, flavour)
        exact = factored.maximum_entropy(case).x
        found, certificate = answered(history_of(case), Log())
        assert certificate.status in ("exact", "certified"), seed
        p, _ = answers(case, found)
        for pair in case.pairs():
            assert p.get(pair, 0.0) == pytest.approx(exact.get(pair, 0.0), abs=1e-7), (seed, pair)


def test_long_steps_are_taken_where_zeros_are_forced(long_steps):
    for seed in (*range(40), *range(900, 940)):
        history = dense_history(seed)
        exact = entropy.maximum_entropy(history)
        post = infer(releases(history))
        assert post.certificate.status == "exact", seed
        for id, value, p in post.to_frame().select("id", "value", "p").iter_rows():
            assert p == pytest.approx(exact.get((id, value), 0.0), abs=1e-6), (seed, id, value)
    assert any(long_steps)


class Alike:
    """Gives the same number again and again."""

    def integers(self, *_ends_and_size):
        return np.zeros(_ends_and_size[-1], dtype=np.int64)


@pytest.mark.parametrize("alike", [False, True])
def test_distinct_lists_of_groups_are_told_apart(alike, monkeypatch):
    """Also where the sums of different lists are alike."""
    if alike:
        monkeypatch.setattr(history.np.random, "default_rng", lambda _seed: Alike())
    rng = np.random.Generator(np.random.PCG64(7))
    for width in (1, 2, 5):
        lists = rng.integers(0, 3, (60, width))
        first, which = history._distinct(lists)
        assert (lists[first[which]] == lists).all()
        assert np.unique(lists, axis=0).shape[0] == first.size
