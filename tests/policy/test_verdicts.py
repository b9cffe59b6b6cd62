"""Verdicts where somebody has no certified answer: every state, every limit, against plain loops and the truth."""

import math
from collections import defaultdict
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from showthrough import Policy, infer
from showthrough.inference import islands
from showthrough.inference.certificate import STATES, Status
from tests.histories import release, releases
from tests.inference.test_recession import dense_history
from tests.inference.test_tolerance import changed_history
from tests.oracles import linear
from tests.policy.test_policy import history, posterior

AT = 2e-5
SURE = {"exact", "certified", "believed"}
CONSISTENT = {*SURE, "uncertified"}


def feasible_point(groups, seed):
    """Some vertex of what fits: (person, value) to probability."""
    pairs, A, b = linear.system(groups)
    cost = np.random.default_rng(seed).normal(size=len(pairs))
    return dict(zip(pairs, linprog(cost, A_eq=A, b_eq=b, bounds=(0, 1)).x.tolist(), strict=True))


def entropy(own):
    return -sum(p * math.log(p) for p in own if p > 1e-12)


def with_states(post, groups, seed, state_of_island):
    """The posterior as it would be if its islands were in these states, with points as far away as told."""
    rng = np.random.default_rng(seed)
    solved, point = post._solved, feasible_point(groups, seed)
    island = islands.label(solved.problem)
    x, gap, state = solved.x.copy(), np.zeros(island.size), np.zeros(island.size, dtype=np.int64)
    members = defaultdict(list)
    for person, signature in zip(post.ids.to_list(), solved.of_person.tolist(), strict=True):
        members[signature].append(int(person[1:]))
    values = post.values.to_list()
    for number in np.unique(island).tolist():
        name = state_of_island(number, rng)
        away = {"uncertified": rng.choice([0.002, 0.05, 0.6]), "certified": 1e-4}.get(name, 0.0)
        lost = 0.0
        for signature in np.flatnonzero(island == number).tolist():
            span = solved.span(signature)
            best = solved.x[span.start : span.stop]
            mean = [np.mean([point[p, values[solved.problem.value[v]]] for p in members[signature]]) for v in span]
            moved = best + away * (np.array(mean) - best) * solved.face.alive[span.start : span.stop]
            x[span.start : span.stop] = moved
            lost += solved.problem.weight[signature] * (entropy(best) - entropy(moved))
        mine = island == number
        gap[mine], state[mine] = max(0.0, lost) * 1.01 + 1e-12, STATES.index(Status(name))
    forged = replace(solved, x=x, gap=gap, state=state)
    worst = STATES[int(state.max())]
    bars = np.sqrt(gap[state < 2].max(initial=0.0) / 2)
    return replace(post, _solved=forged, certificate=replace(post.certificate, status=worst)), float(bars)


@cache
def in_all_states(seed):
    """A history, its answer with islands in any states, and what linear programs say; the same for every limit."""
    groups, names = history(seed, persons=9), [str(s) for s in STATES]
    post, _ = with_states(posterior(groups), groups, seed, lambda _, rng: names[int(rng.integers(len(names)))])
    return post, linear.bounds(groups)


@cache
def answers(seed):
    """A history with its exact answer and that of its first release; the same for every policy and state."""
    groups = history(seed, persons=9, values=8, size=(4, 5))
    return groups, posterior(groups), posterior(groups[:1])


@cache
def truth_of(name, seed):
    _, exact, before = answers(seed)
    return POLICIES[name].review(exact, before)


@cache
def in_state(seed, state):
    """Both answers with some of their islands in a state; the same for every policy."""
    groups, exact, before = answers(seed)
    post, _ = with_states(exact, groups, seed, lambda number, _: state if number % 2 == 0 else "exact")
    old, _ = with_states(before, groups[:1], seed, lambda number, _: state if number % 3 == 0 else "exact")
    return post, old


def expected(post, bounds, limit):
    """Who is over a limit on probabilities, fine, or open, by the rule and the linear programs."""
    solved = post._solved
    best, states = post.to_frame(uncertified=True), dict(zip(post.ids.to_list(), post.states().to_list(), strict=True))
    gap = dict(zip(post.ids.to_list(), solved.gap[solved.of_person].tolist(), strict=True))
    over, open_ones = set(), set()
    for id, value, p, _ in best.iter_rows():
        low, high = bounds[int(id[1:]), value]
        bar, state = math.sqrt(gap[id] / 2), states[id]
        if state in ("relaxed", "contradictory"):
            figure, high = 0.0, 1.0
        elif state == "undecided":
            figure = low
        else:
            figure, high = (p if state in SURE else max(low, p - bar)), min(high, p + bar)
        if figure > limit + AT:
            over.add((id, str(value)))
        elif high > limit + 1.5 * AT or state not in CONSISTENT:
            open_ones.add(id)
    return over, open_ones - {id for id, _ in over}


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("limit", [0.34, 0.5, 0.75, 1.0])
def test_probabilities_over_a_grid_of_states(seed, limit):
    post, bounds = in_all_states(seed)
    review = Policy(max_posterior=limit, certain=None, integral="no").review(post)
    over, open_ones = expected(post, bounds, limit)
    assert set(review.breaches.select("id", "value").iter_rows()) == over
    assert review.unsettled == len(open_ones)
    assert review.verdict == ("block" if over else "inconclusive" if open_ones else "pass")
    flags = Policy(max_posterior=limit, certain=None).over_limit(post)
    assert {id for id, _ in over} <= set(post.ids.filter(pl.Series(flags)))


POLICIES = {
    "posterior": Policy(max_posterior=0.7, certain=None),
    "certain": Policy(certain=0),
    "some certain": Policy(certain=2),
    "impossible": Policy(certain=None, impossible=3),
    "gain": Policy(max_gain=0.3, certain=None),
    "proximity": Policy(proximity=(1, 0.8), certain=None),
    "all": Policy(max_posterior=0.9, max_gain=0.5, proximity=(0, 0.9), impossible=40),
}


@pytest.mark.parametrize("name", sorted(POLICIES))
@pytest.mark.parametrize("state", [str(s) for s in STATES])
def test_whatever_the_state_no_verdict_is_wrong(name, state):
    """What passes is true of the exact answer, what blocks is too unless it hangs on an if, and ifs never pass."""
    policy, verdicts = POLICIES[name], set()
    for seed in range(100, 125):
        truth, before, (post, old) = truth_of(name, seed), answers(seed)[2], in_state(seed, state)
        for earlier in (before, old):
            review = policy.review(post, earlier)
            verdicts.add(review.verdict)
            if review.verdict == "pass":
                assert truth.holds, seed
                assert set(post.states()) <= CONSISTENT
            if review.verdict == "block" and state in CONSISTENT:
                assert not truth.holds, seed
            if not review.holds and state in CONSISTENT:
                assert set(review.breaches["id"]) <= set(truth.breaches["id"])
    assert "pass" in verdicts or state in ("undecided", "relaxed", "contradictory") or name in ("all", "certain")


@pytest.mark.parametrize("seconds", [0.0, 0.003, 600.0])
def test_verdicts_of_answers_that_ran_out_of_time(seconds):
    for seed in range(20):
        made = releases(dense_history(seed))
        exact, post = infer(made), infer(made, seconds=seconds)
        for policy in (Policy(max_posterior=0.7), Policy(max_posterior=1.0, certain=None), Policy(certain=4)):
            truth, review = policy.review(exact), policy.review(post)
            if review.verdict == "pass":
                assert truth.verdict == "pass"
            if truth.verdict == "pass":
                assert review.verdict != "block"
            if "undecided" in set(post.states()):
                assert review.verdict != "pass"


def test_who_was_taken_for_changed_never_passes():
    seen = 0
    for seed in range(40):
        post = infer(releases(changed_history(seed)), changed="tolerate")
        if not post.certificate.changed.tolerated:
            continue
        seen += 1
        assert Policy(max_posterior=1.0, certain=None).review(post).verdict == "inconclusive"
    assert seen > 5


def test_contradictions_never_pass_and_others_are_judged():
    first = release([([1, 2, 3], ["a", "a", "b"]), ([4, 5], ["c", "d"])], "D1")
    clash = [first, release([([1, 2, 3], ["a", "b", "b"]), ([4, 5], ["c", "d"])], "D2")]
    post = infer(clash)
    review = Policy(max_posterior=1.0, certain=None).review(post)
    assert (review.verdict, review.unsettled) == ("inconclusive", 3)
    assert Policy(max_posterior=0.4, certain=None).review(post).verdict == "block"
    apart = Policy(max_posterior=0.5, certain=None).review(post, exposed={"1", "2", "3"})
    assert apart.verdict == "pass"
    assert "3 persons are not known to be within the limits" in str(review)
