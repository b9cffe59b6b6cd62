"""The smallest set of changed persons, and the facts that hold whoever changed, against trying every set."""

import random
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.inference.firm import firm
from showthrough.inference.history import ABSENT, encode
from showthrough.inference.problem import build
from showthrough.inference.splitting import TOLERATED, changed_frame
from showthrough.inference.tolerance import tolerate
from showthrough.register.reader import Reader, telling
from tests.histories import release, releases
from tests.located_cases import located
from tests.oracles import changes, linear, people, seats
from tests.oracles import register as oracle


def changed_history(seed, *, persons=6, values=3, most_releases=3):
    """Groups of a truth in which some persons change their value between releases."""
    rng = random.Random(seed)
    n = rng.randint(2, persons)
    truth = {p: f"v{rng.randrange(values)}" for p in range(n)}
    history = []
    for r in range(rng.randint(2, most_releases)):
        if r:
            for p in rng.sample(range(n), rng.choice([0, 1, 1, 2])):
                truth[p] = f"v{rng.randrange(values)}"
        present = [p for p in range(n) if rng.random() < 0.9] or [0]
        rng.shuffle(present)
        groups = []
        while present:
            size = rng.randint(1, min(4, len(present)))
            members, present = present[:size], present[size:]
            groups.append((members, [truth[p] for p in members]))
        history.append(groups)
    return history


def tolerated(made, **known):
    """All islands as if they were contradictory."""
    told = telling(made)
    history, problem, of_person = build(encode(told, changed="tolerate", reader=Reader.of(made, **known)))
    return tolerate(history, problem, of_person, np.ones(problem.signatures, dtype=bool), seconds=30)


def split_ids(found):
    return set(changed_frame(found.history)["id"].to_list())


def persons_of(found):
    """(id, releases of the part) of every named person, with its signature."""
    history = found.history
    for column, id in enumerate(history.ids.to_list()):
        here = np.flatnonzero(history.group_of[:, column] != ABSENT).tolist()
        yield id, here, int(found.of_person[column])


def check_firm(found, every, limits):
    """A fact that stays one holds in the program of every smallest split; counts those that stay, and that hold."""
    held = firm(found, seconds=30)
    values = {v: k for k, v in enumerate(found.history.values.to_list())}
    chosen = next(s for s in every if set(s) == split_ids(found))
    stays = holds = 0

    def range_of(id, here, split, value):
        forms = [changes.part(id, r) for r in here] if id in split else [id]
        own = [limits(split).get((form, value), (0.0, 0.0)) for form in forms]
        return min(low for low, _ in own), max(high for _, high in own)

    for id, here, signature in persons_of(found):
        for value, code in values.items():
            at, number = np.array([signature]), np.array([code])
            low, high = range_of(id, here, chosen, value)
            others = [range_of(id, here, split, value) for split in every]
            if high < 1e-7:
                everywhere = max(high for _, high in others) < 1e-7
                assert everywhere or not held.impossible(at, number)[0], (id, value)
                stays, holds = stays + int(held.impossible(at, number)[0]), holds + everywhere
            elif held.within[signature]:
                assert not held.impossible(at, number)[0]
            if low > 1 - 1e-7:
                everywhere = min(low for low, _ in others) > 1 - 1e-7
                assert everywhere or not held.certain(at, number)[0], (id, value)
                stays, holds = stays + int(held.certain(at, number)[0]), holds + everywhere
            elif held.within[signature]:
                assert not held.certain(at, number)[0]
    return stays, holds


def test_the_example_of_one_change_that_shows():
    history = [[([1, 2], ["a", "b"])], [([1, 2], ["a", "c"])]]
    found = tolerated(releases(history))
    assert (found.persons, found.smallest) == (1, True)
    assert split_ids(found) in ({1}, {2})
    assert found.touched.all()
    assert not found.left.any()
    held = firm(found)
    code = {v: k for k, v in enumerate(found.history.values.to_list())}
    part = next(s for id, here, s in persons_of(found) if here == [0])
    assert not held.impossible(np.array([part]), np.array([code["a"]]))[0]
    assert held.impossible(np.array([part]), np.array([code["c"]]))[0]
    assert "1 person had to be taken for changed, the smallest number" in found.words()


def test_a_change_that_does_not_show_needs_no_split():
    found = tolerated(releases([[([1, 2], ["a", "b"])], [([1, 3], ["b", "c"])]]))
    assert (found.persons, found.history.split_release) == (0, None)
    assert not found.touched.any()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_no_smaller_set_of_persons_would_do(seed):
    history = changed_history(seed)
    found, every = tolerated(releases(history)), changes.smallest_splits(history)
    chosen = split_ids(found)
    assert tuple(p for p in people(history) if p in chosen) in {
        tuple(p for p in people(history) if p in s) for s in every
    }
    assert found.smallest
    assert not found.left.any()
    assert changes.consistent(changes.split(history, chosen))
    assert (found.history.split_release is None) == (every == [()])
    bounds = {}

    def limits(split):
        if split not in bounds:
            bounds[split] = linear.bounds(changes.split(history, split))
        return bounds[split]

    if every != [()] and len(every) <= 6:
        check_firm(found, every, limits)


def test_most_of_what_holds_whoever_changed_is_found():
    firm_now = everywhere = 0
    for seed in range(120):
        history = changed_history(seed)
        every = changes.smallest_splits(history)
        if every == [()]:
            continue
        bounds = {s: linear.bounds(changes.split(history, s)) for s in every}
        counts = check_firm(tolerated(releases(history)), every, bounds.get)
        firm_now, everywhere = firm_now + counts[0], everywhere + counts[1]
    assert firm_now > 0.8 * everywhere > 50


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_persons_who_fit_several_groups(seed):
    case = located(seed, tampered=True)
    try:
        form = oracle.seating(case.tables, domain=case.domain, split=False)
    except oracle.Contradicted:
        return
    named = [p for p in form.fits if isinstance(p, str)]
    every = changes.smallest_seat_splits(form, named)
    found = tolerated(case.releases, register=case.register, domain=case.domain)
    if not every:
        assert found.left.any()
        return
    chosen = split_ids(found)
    if found.left.any():  # cautious: something is left that a split would have helped
        return
    assert tuple(p for p in named if p in chosen) in {tuple(p for p in named if p in s) for s in every}
    if every != [()] and len(every) <= 4:
        bounds = {s: seats.bounds(changes.split_seats(form, s)) for s in every}
        check_firm(found, every, bounds.get)


def test_who_must_be_split_is_split_first_and_marks_the_island():
    history = [[([1, 2], ["a", "b"]), ([3], ["x"])], [([1, 2], ["c", "b"]), ([3], ["x"])], [([1], ["d"])]]
    found = tolerated(releases(history))
    assert split_ids(found) == {1}
    assert found.persons == 0
    assert (found.history.split_why == TOLERATED).sum() == 3
    touched = {id for id, _, s in persons_of(found) if found.touched[s]}
    assert touched == {1, 2}
    assert not firm(found).within.any()  # there is no other smallest split


def test_a_release_that_nobody_can_fill_is_left():
    made = [release([([1, 2], ["a", "b"])], "D1"), release([([1, 2, 3], ["a", "b", "b"])], "D2")]
    history, problem, of_person = build(encode(made, changed="tolerate"))
    history = replace(history, row_count=history.row_count * np.array([2, 1, 1, 1]))
    history, problem, of_person = build(history)
    found = tolerate(history, problem, of_person, np.ones(problem.signatures, dtype=bool))
    assert found.left.all()
    assert found.persons == 0
    assert not found.touched.any()


def test_only_the_islands_that_are_asked_for_change():
    history = [
        [([1, 2], ["a", "b"]), ([5, 6], ["a", "b"])],
        [([1, 2], ["a", "c"]), ([5, 6], ["a", "c"])],
    ]
    whole, problem, of_person = build(encode(releases(history), changed="tolerate"))
    asked = np.zeros(problem.signatures, dtype=bool)
    asked[of_person[whole.ids.to_list().index(5)]] = True
    found = tolerate(whole, problem, of_person, asked)
    assert split_ids(found) <= {5, 6}
    assert found.persons == 1
    assert {id for id, _, s in persons_of(found) if found.touched[s]} == {5, 6}


def test_without_time_there_is_an_answer_that_is_not_called_the_smallest():
    for seed in range(20):
        history = changed_history(seed)
        whole, problem, of_person = build(encode(releases(history), changed="tolerate"))
        found = tolerate(whole, problem, of_person, np.ones(problem.signatures, dtype=bool), seconds=-1)
        assert changes.consistent(changes.split(history, split_ids(found))), seed
        if found.persons:
            assert not found.smallest
            assert "perhaps not the smallest" in found.words()
            held, problem = firm(found), found.problem
            within = held.within[problem.signature]
            assert not held.impossible(problem.signature, problem.value)[within].any()
