"""Proofs that people can read: few rows, bounded texts, and still checked by somebody else."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from showthrough import infer
from showthrough.errors import ContradictionError, LongProofError
from showthrough.inference import explain as explaining
from showthrough.inference.proof import FIRST_STEPS, LAST_STEPS, Argument, Proof, WeighedRow
from showthrough.inference.shortest import shortest
from showthrough.inference.weighing import weigh
from tests import seatings
from tests.histories import histories, release, releases
from tests.oracles import seats

some = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def located(seed, persons=40, releases=3, size=4):
    """Persons who fit their own group and some others of every release; who knows whom is by membership."""
    rng = random.Random(seed)
    truth = [rng.choice("abcd") for _ in range(persons)]
    counts, fits = [], {p: [] for p in range(persons)}
    for _ in range(releases):
        order = rng.sample(range(persons), persons)
        groups = [order[k : k + size] for k in range(0, persons, size)]
        counts.append([[truth[p] for p in g] for g in groups])
        for g, members in enumerate(groups):
            for p in members:
                fits[p].append(sorted({g} | ({rng.randrange(len(groups))} if rng.random() < 0.3 else set())))
    return seatings.releases(seats.Seating(counts, fits))


def weighed_rows(proof):
    return sum(len(step.rows) for step in proof.steps)


@pytest.mark.parametrize("seed", range(3))
def test_short_proofs_are_shorter_and_verified(seed):
    rels, membership = located(seed)
    post = infer(rels, membership=membership)
    facts = post.proven().filter(by="counts")
    assert facts.height
    for row in facts.sample(min(25, facts.height), seed=0).iter_rows(named=True):
        log = post.explain(row["id"], row["value"], seconds=0)
        proof = post.explain(row["id"], row["value"])
        assert (proof.fact, proof.by) == (row["fact"], "counts")
        assert weighed_rows(proof) <= weighed_rows(log)
        assert proof.verify(rels, membership=membership)
        assert len(str(proof)) < 3000
        assert proof.summary.startswith("Because of ")
        assert proof.full.endswith(str(proof).splitlines()[-1])


@some
@given(case=histories(persons=9, least_releases=2))
def test_one_weighing_shows_every_fact_of_a_plain_history(case):
    explaining._FEW, before = 0, explaining._FEW  # look for a shorter proof however short the log is
    try:
        rels = releases(case)
        post = infer(rels)
        for person, value, _, by in post.proven().iter_rows():
            if by == "counts":
                assert post.explain(person, value).verify(rels)
    finally:
        explaining._FEW = before


@some
@given(case=seatings.seatings(persons=6))
def test_the_program_alone_proves_every_excluded_value(case):
    """On all rows, whatever the log says: the weights are whole and prove the fact by themselves."""
    rels, membership = seatings.releases(case)
    solved = infer(rels, membership=membership)._solved
    problem, face = solved.problem, solved.face
    everything, rows = np.ones(problem.terms, dtype=bool), np.arange(problem.rows.size)
    for v in np.flatnonzero(~face.possible):
        weights = shortest(face, np.array([v]), rows, 10.0)
        assert weights is not None
        found = weigh(problem, everything, weights)
        assert found.proven
        assert found.zeros()[v]


def test_a_possible_value_has_no_such_weighing():
    solved = infer(releases([[([1, 2], ["a", "b"])]]))._solved
    assert shortest(solved.face, np.array([0]), np.arange(solved.problem.rows.size), 10.0) is None


def test_time_that_is_up_leaves_the_log():
    rels, membership = located(0)
    post = infer(rels, membership=membership)
    facts = post.proven().filter(by="counts")
    row = facts.row(0, named=True)
    assert post.explain(row["id"], row["value"], seconds=1e-9).verify(rels, membership=membership)


def test_long_chains_are_told_in_one_step_if_that_can_be():
    """A chain of cuts, each leaning on the one before: longer than asked for, unless one weighing tells it."""
    n = 30
    first = release([([k, k + 1], ["x", "y"]) for k in range(1, n, 2)] + [([0], ["x"])], "D1")
    second = release([([k, k + 1], ["x", "y"]) for k in range(0, n, 2)] + [([n], ["x"])], "D2")
    post = infer([first, second])
    steps, refused = [], 0
    for row in post.proven().filter(by="counts").iter_rows(named=True):
        proof = post.explain(row["id"], row["value"], most_steps=5)
        assert proof.verify([first, second])
        steps.append(len(proof.steps))
        try:
            post.explain(row["id"], row["value"], most_steps=5, seconds=0)
        except LongProofError:
            refused += 1
    assert max(steps) <= 5
    assert refused


def contradiction_of(rels, membership):
    try:
        infer(rels, membership=membership, contradictions="refuse")
    except ContradictionError as error:
        return error.contradiction
    return None


def test_contradictions_are_told_by_few_rows():
    found = 0
    for seed in range(40):
        rng = random.Random(seed)
        rels, membership = located(seed, persons=24, size=4)
        tampered = [
            release(
                [([f"x{r}.{g}.{k}" for k in range(4)], [rng.choice("abcd") for _ in range(4)]) for g in range(6)],
                f"D{r + 1}",
            )
            if r == 2
            else own
            for r, own in enumerate(rels)
        ]
        clash = contradiction_of(tampered, membership)
        if clash is None:
            continue
        found += 1
        assert clash.verify(tampered, membership=membership)
        assert len(str(clash)) < 4000
        assert clash.summary.startswith("No assignment of values to persons fits ")
        assert len(clash.full) >= len(str(clash))
    assert found > 5


def test_texts_of_many_steps_are_bounded_and_full_on_request():
    step = Argument((WeighedRow(0, 1, "a", 1),), "short", "at length")
    proof = Proof(1, "a", "impossible", "counts", (step,) * 40, "", ("D1", "D2"))
    assert str(proof).count("short") == FIRST_STEPS + LAST_STEPS
    assert f"… {40 - FIRST_STEPS - LAST_STEPS} steps like these …" in str(proof)
    assert proof.full.count("at length") == 40
    assert proof.summary == "Because of 1 count in 1 group of D1, in 40 steps: 1 cannot have a."
