"""Steps over ranges and statements, against linear programs and enumeration: they exclude the impossible, no more."""

import random
from collections import Counter

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.inference import proof_check
from showthrough.inference.proof_check import Board, Evidence, KnownSum, Members
from tests.oracles import rows as oracle
from tests.oracles import seats
from tests.oracles.rows import ZERO, Case, Program
from tests.oracles.seats import Seating
from tests.seatings import releases, seatings

NOISY = 0.15  # the share of rows whose range has nothing to do with the truth


def made(seating, seed):
    """Some counts blurred to ranges, and statements about values; a few of them false."""
    rng = random.Random(seed)
    bounds = {}
    for r, groups in enumerate(seating.counts):
        for g, published in enumerate(groups):
            for v, n in Counter(published).items():
                low, high = (rng.choice([0, 0, 1]), rng.choice([0, 0, 1])) if rng.random() < 0.6 else (0, 0)
                shift = rng.choice([-1, 1]) if rng.random() < NOISY / 3 else 0
                bounds[r, g, v] = (max(0, n - low + shift), max(0, n + high + shift))
    terms = {}
    for k in range(rng.randint(0, 2)):
        pairs = [(p, v) for p in seating.fits for v in seating.values()]
        chosen = rng.sample(pairs, rng.randint(1, len(pairs)))
        name = f"s{k}"
        terms[name] = {pair: rng.choice([-1, 1, 1, 1, 2]) for pair in chosen}
        low = rng.choice([-2, -1, 0, 0, 1])
        bounds[None, name, None] = (low, low + rng.randint(0, 3))
    return Case(seating, bounds, terms)


def unnamed(case):
    """Persons in one release alone, of whom nothing is said, can as well be without a name."""
    spoken = {p for terms in case.terms.values() for p, _ in terms}
    found = {}
    for p, own in case.seating.fits.items():
        here = [r for r, groups in enumerate(own) if groups != [None]]
        if len(here) == 1 and None not in own[here[0]] and p not in spoken and p % 2:
            found[p] = here[0]
    return found


def label(row):
    return row if row[0] is None else (row[0], row[1] + 1, row[2])


def given_facts(case):
    """The case as the checker is told of it."""
    published, membership = releases(case.seating)
    hidden = unnamed(case)
    members = []
    for r, release in enumerate(published):
        frame = membership[release.name].filter(~pl.col("id").is_in(list(hidden)))
        fitting = Counter(tuple(g + 1 for g in case.seating.fits[p][r]) for p, home in hidden.items() if home == r)
        members.append(Members(frame, tuple(fitting.items())))
    ranges = {label(row): limits for row, limits in case.bounds.items() if row[0] is not None}
    statements = [KnownSum(name, *case.bounds[None, name, None], terms) for name, terms in case.terms.items()]
    return published, members, {"ranges": ranges, "statements": statements}


def board_of(case):
    published, members, more = given_facts(case)
    facts = Evidence([r.counts() for r in published], members, **more)
    return Board(facts, [as_step(dict.fromkeys(case.bounds, 1))])


def as_step(weights):
    return [(*label(row), w) for row, w in weights.items()]


def open_variables(case, board):
    """What is still open, as the oracle calls it; of a person without a name all that its pool has open."""
    crowd = {p: board.crowd[(p, None)] for p in case.seating.fits if (p, None) in board.crowd}
    found = set()
    for p, own in crowd.items():
        found |= {(p, v) for v in own.open}
        found |= {
            (p, r, None if row is None else row[0] - 1, v)
            for v, places in own.open.items()
            for r, rows in places.items()
            for row in rows
        }
    return found | {v for v in case.variables() if v[0] not in crowd}


def bounds_of(case, board):
    return {row: board.bounds[label(row)] for row in case.bounds}


def steps_for(case, board, rng):
    """Random weights, the dual weights of whatever is open, and of the rows that are loose."""
    variables = open_variables(case, board)
    closed = set(case.variables()) - variables
    rows = list(case.bounds)
    for k in range(6):
        chosen = rng.sample(rows, rng.randint(1, len(rows)))
        yield {row: rng.choice([-2, -1, 1, 1, 2]) for row in chosen}
        program = Program(oracle.with_bounds(case, bounds_of(case, board)), closed)
        if k % 2:
            objective = program.A[rng.randrange(len(rows))] * rng.choice([-1, 1])
        else:
            objective = np.array([float(rng.random() < 0.1) for _ in program.variables])
        yield program.most(objective)[1] or program.clash()
    program = Program(case)
    for variable in rng.sample(sorted(variables, key=repr), min(12, len(variables))):
        weights = program.most_of(variable)[1]
        yield weights
        yield {row: w + rng.choice([0, 0, 1, -1]) for row, w in weights.items()}


@settings(max_examples=40, deadline=None)
@given(seatings(persons=4), st.integers(0, 2**32))
def test_steps_exclude_only_what_is_impossible(seating, seed):
    case, rng = made(seating, seed), random.Random(seed)
    board, program = board_of(case), Program(case)
    feasible = program.feasible()
    for weights in steps_for(case, board, rng):
        surplus = board.take(as_step(weights))
        assert surplus >= 0 or not feasible
        if surplus < 0:
            assert next(oracle.worlds(case), None) is None
            return
    if not feasible:
        return
    left = open_variables(case, board)
    for variable in set(program.variables) - left:
        assert program.most_of(variable)[0] < ZERO
    for row, (low, high) in bounds_of(case, board).items():
        if (low, high) != case.bounds[row]:
            along = program.A[program.rows.index(row)]
            assert abs(program.most(along)[0] - high) < ZERO
            assert abs(-program.most(-along)[0] - low) < ZERO
    for world, seatings_of in oracle.worlds(case):
        assert set(world.items()) <= left
        for r, own in enumerate(seatings_of):
            assert {(p, r, g, world[p]) for seats in own for p, g in seats.items()} <= left


@settings(max_examples=40, deadline=None)
@given(seatings(persons=4), st.integers(0, 2**32))
def test_whatever_the_linear_program_excludes_a_single_step_shows(seating, seed):
    case = made(seating, seed)
    program = Program(case)
    published, members, more = given_facts(case)
    hidden = unnamed(case)
    if not program.feasible():
        clash = [as_step(program.clash())]
        assert proof_check.contradicts(published, members, steps=clash, split=False, **more)
        return
    for variable in program.variables:
        most, weights = program.most_of(variable)
        steps = [as_step(weights)]
        assert not proof_check.contradicts(published, members, steps=steps, split=False, **more)
        if len(variable) == 2 and variable[0] not in hidden:
            claim = {"person": (variable[0], None), "value": variable[1], "fact": "impossible", "split": False}
            assert proof_check.holds(published, members, steps=steps, **claim, **more) == (most < ZERO)
        elif most < ZERO:
            board = board_of(case)
            assert board.take(steps[0]) == 0
            assert variable not in open_variables(case, board) or variable[0] in hidden


def test_the_oracle_of_rows_is_that_of_combinations():
    for seed in range(40):
        rng = random.Random(seed)
        counts = [[["a", "b"], ["a", "c"]], [["a", "b", "c"], ["b"]]]
        fits = {p: [rng.choice([[0], [1], [0, 1]]), rng.choice([[0], [0, 1], [None, 1]])] for p in range(4)}
        seating = Seating(counts, fits)
        bounds = {
            (r, g, v): (n, n)
            for r, groups in enumerate(counts)
            for g, own in enumerate(groups)
            for v, n in Counter(own).items()
        }
        case = Case(seating, bounds, {})
        program = Program(case)
        if not all(seating.options(p) for p in fits):
            continue
        assert program.feasible() == seats.feasible(seating)
        if program.feasible():
            for pair, (_, high) in seats.bounds(seating).items():
                assert abs(program.most_of(pair)[0] - high) < ZERO
