"""Seats of one release: what the sizes of groups rule out is found whole, and nothing else is."""

import random

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import showthrough as st
from showthrough.inference.face import Contradicted, Face
from showthrough.inference.problem import build
from showthrough.inference.seating import seated_releases, take_seats
from tests.inference.coded import history_of
from tests.oracles.factored import Case, Row


def seating(seed, *, wrong=False):
    """Persons who fit some of the groups of one release, all with one value; some may be outside."""
    rng = random.Random(seed)
    groups = rng.randint(2, 6)
    weight, fits, sizes = {}, {}, [0] * groups
    for k in range(rng.randint(2, 9)):
        person, weight[f"p{k}"] = f"p{k}", rng.randint(1, 3)
        places = rng.sample(range(groups), rng.randint(1, min(3, groups)))
        places += [None] if rng.random() < 0.2 else []
        fits[person] = [places]
        for _ in range(weight[person]):
            seat = rng.choice(places)
            if seat is not None:
                sizes[seat] += 1
    if wrong:
        sizes[rng.randrange(groups)] += rng.randint(1, 3)
    rows = [Row(0, g, "v0", n, n) for g, n in enumerate(sizes)]
    return Case(["v0"], fits, rows, weight=weight)


def possible(case):
    """By linear programs over seats: the (person, group) that some seating has; None if there is none."""
    seats = [(p, g) for p in case.fits for g in case.fits[p][0]]
    groups = [row.group for row in case.rows]
    equal = [[float(p == q) for q, _ in seats] for p in case.fits]
    equal += [[float(g == h) for _, h in seats] for g in groups]
    totals = [case.persons_of(p) for p in case.fits] + [row.lower for row in case.rows]
    found = set()
    for k, seat in enumerate(seats):
        cost = np.zeros(len(seats))
        cost[k] = -1
        answer = linprog(cost, A_eq=equal, b_eq=totals)
        if answer.status == 2:
            return None
        if -answer.fun > 1e-6:
            found.add(seat)
    return found


def left_by_seats(case):
    """What `take_seats` leaves, as (person, group)."""
    _history, problem, of_person = build(history_of(case))
    face = Face.whole(problem)
    (own,) = seated_releases(face) or (None,)
    while own is not None and take_seats(face, own):
        pass
    signature = {name: int(of_person[k]) for k, name in enumerate(case.fits)}
    found = set()
    for name, fits in case.fits.items():
        for group in fits[0]:
            row = problem.rows.size if group is None else next(k for k, w in enumerate(case.rows) if w.group == group)
            if own is None:
                found.add((name, group))
                continue
            mine = (problem.signature[own.owner] == signature[name]) & (own.row == row)
            if face.alive[problem.rows.places(own)][mine].any():
                found.add((name, group))
    return found


@pytest.mark.parametrize("seed", range(150))
def test_all_seats_that_sizes_rule_out_are_found(seed):
    case = seating(seed)
    if all(len(fits[0]) == 1 for fits in case.fits.values()):
        pytest.skip("everybody's group is known")
    assert left_by_seats(case) == possible(case)


def test_sizes_that_nobody_can_fill_are_a_contradiction():
    refused = 0
    for seed in range(1000, 1080):
        case = seating(seed, wrong=True)
        if possible(case) is None and any(len(fits[0]) > 1 for fits in case.fits.values()):
            with pytest.raises(Contradicted) as found:
                left_by_seats(case)
            assert found.value.weights is not None
            refused += 1
    assert refused > 20


def test_a_suppressed_group_that_everybody_fits_takes_nobody_whose_group_is_full():
    people = pl.DataFrame({"id": range(9), "age": [21, 22, 23, 31, 32, 33, 41, 42, 43]})
    ages = ["20-29"] * 3 + ["30-39"] * 3 + ["*"] * 3
    values = ["flu", "flu", "asthma", "flu", "hepatitis", "hepatitis", "ulcer", "flu", "asthma"]
    release = st.Release.generalized(
        pl.DataFrame({"age": ages, "disease": values}), sensitive="disease", quasi=["age"], name="D1"
    )
    post = st.infer([release], register=people)
    for person, own in ((0, {"flu": 2 / 3, "asthma": 1 / 3}), (8, {"ulcer": 1 / 3, "flu": 1 / 3, "asthma": 1 / 3})):
        found = post.of(person)
        assert found == pytest.approx(own)
    proof = post.explain(0, "ulcer")
    assert proof.verify([release], register=people)
