"""The checker on answers with seats, ranges, statements, priors and weights: against the oracle, and forgeries."""

import copy
import random
from dataclasses import replace
from math import log

import numpy as np
import pytest

from showthrough.errors import InternalError
from showthrough.inference import checked_answer, checker
from showthrough.inference.checker import SeatShares
from showthrough.inference.history import ABSENT
from tests.inference.claims import as_answer, as_history, random_claim
from tests.oracles import answers
from tests.oracles.answers import Claim, Person, Row, Statement

SEEDS = range(60)


def tight(found, *, most=1e-12):
    return found.residual < most and found.gap < most


@pytest.mark.parametrize(("bits", "table", "chunk"), [(62, 16, 400_000), (0, 16, 1), (0, 0, 3), (62, 0, 7)])
@pytest.mark.parametrize("planted", [True, False])
def test_residual_and_gap_are_those_of_the_oracle(bits, table, chunk, planted, monkeypatch):
    monkeypatch.setattr(checked_answer, "_BITS", bits)
    monkeypatch.setattr(checked_answer, "_TABLE", table)
    monkeypatch.setattr(checker, "_CHUNK", chunk)
    for seed in SEEDS:
        rng = random.Random(seed)
        claim = random_claim(rng, planted=planted)
        found = checker.check(as_history(claim), as_answer(claim, rng))
        residual, gap = zip(*answers.figures(claim), strict=True)
        assert found.island_residual.tolist() == pytest.approx(residual, rel=1e-9, abs=1e-12)
        assert found.island_gap.tolist() == pytest.approx(gap, rel=1e-9, abs=1e-12)
        assert (found.residual, found.gap) == (found.island_residual.max(), found.island_gap.max())
        assert tight(found) or not planted


def planted():
    """Persons 0-1 alike, unsure in the first release; 2 may be absent; ranges, a statement and a prior."""
    rows = [Row(0, 0, 0, 0, 0.3), Row(0, 1, 0, 0, -0.2), Row(1, 0, 0, 0, 0.5), Row(1, 1, 0, 0, 0.1)]
    rows += [Row(3, 0, 0, 0, 0.4), Row(3, 1, 0, 0, -0.6), Row(3, 2, 0, 0, 0.2)]
    people = [Person(0, [[0, 1], [3]], 2), Person(0, [[0, 1], [3]]), Person(1, [[None, 0, 1], [3]], 3)]
    people += [Person(2, [[1], [3]]), Person(3, [[0, 1], [3]])]
    for person, prior in zip(people, [0, 0, 0, 0, 1], strict=True):
        person.prior = [[1.0, 2.0, 1.0], [1.0, 3.0, 0.0]][prior]
    claim = Claim(3, rows, people, [Statement(0, 0, [(0, 0, 2), (1, 0, 2), (3, 1, -1)], 0.7)])
    for number, person in enumerate(people):
        listed = claim.values_of(person)
        person.p = dict.fromkeys(listed, (0.0, True))
        person.y = [{(v, g): (0.0, True) for v in listed for g in claim.candidates(person, r, v)} for r in range(2)]
        x, q = answers.model(claim, number)
        person.p = {v: (x[v], True) for v in listed}
        person.y = [{(v, g): (x[v] * q[r][v, g], True) for v, g in person.y[r]} for r in range(2)]
    for limit in [*rows, *claim.statements]:
        count = answers.expected(claim, limit) if isinstance(limit, Row) else answers.said(claim, limit)
        up = (limit.mu if isinstance(limit, Row) else limit.nu) > 0
        limit.lower, limit.upper = (count, count + 1) if up else (count - 1, count)
    return claim


@pytest.fixture
def right():
    claim = planted()
    history, answer = as_history(claim), as_answer(claim, random.Random(5))
    assert tight(checker.check(history, answer))
    return history, answer


def with_seats(answer, **columns):
    first = replace(answer.seats[0], **columns)
    return replace(answer, seats=(first, *answer.seats[1:]))


def test_the_gap_is_what_the_entropy_lacks():
    """Two unsure persons exchange a little of their groups: all counts hold."""
    claim = planted()
    moved = copy.deepcopy(claim)
    for person, sign in ((moved.people[3 + 1], 1), (moved.people[2], -1 / 3)):
        for group, step in ((0, 0.01), (1, -0.01)):
            y, ok = person.y[0][0, group]
            person.y[0][0, group] = (y + sign * step, ok)

    def entropy(c):
        total = 0.0
        for person in c.people:
            for v, (p, _) in person.p.items():
                total -= person.weight * p * log(p / person.prior[v])
                total -= person.weight * sum(y * log(y / p) for (u, _), (y, _) in person.y[0].items() if u == v)
        return total

    found = checker.check(as_history(moved), as_answer(moved, random.Random(1)))
    assert found.residual < 1e-12
    assert found.gap == pytest.approx(entropy(claim) - entropy(moved), rel=1e-6)
    assert found.gap > 1e-5


@pytest.mark.parametrize("change", [np.nan, np.inf, -0.1, 0.3])
def test_shares_that_do_not_add_up_are_caught(right, change):
    history, answer = right
    for at in range(answer.seats[0].y.size):
        y = answer.seats[0].y.copy()
        y[at] = change
        assert checker.check(history, with_seats(answer, y=y)).residual > 1e-3


def test_shares_moved_between_groups_are_caught(right):
    history, answer = right
    seats = answer.seats[0]
    for first in seats.start[:-1][np.diff(seats.start) > 1]:
        y = seats.y.copy()
        y[first : first + 2] += [1e-4, -1e-4]
        found = checker.check(history, with_seats(answer, y=y))
        assert found.residual > 1e-5 or found.gap > 1e-10


def test_mass_where_a_proof_says_zero_is_caught(right):
    history, answer = right
    for at in range(answer.seats[0].y.size):
        possible = answer.seats[0].possible.copy()
        possible[at] = False
        found = checker.check(history, with_seats(answer, possible=possible))
        assert found.residual >= answer.seats[0].y[at] > 0
        assert found.gap == np.inf


def without_or_twice(seats, at, grown):
    change = (lambda c: np.delete(c, at)) if grown < 0 else (lambda c: np.insert(c, at, c[at]))
    start = np.where(seats.start > at, seats.start + grown, seats.start)
    return SeatShares(start, change(seats.group), change(seats.y), change(seats.possible))


@pytest.mark.parametrize("grown", [-1, 1])
def test_candidates_left_out_or_listed_twice_are_caught(right, grown):
    history, answer = right
    for at in range(answer.seats[0].group.size):
        wrong = replace(answer, seats=(without_or_twice(answer.seats[0], at, grown), None))
        with pytest.raises(InternalError, match="list each group"):
            checker.check(history, wrong)


@pytest.mark.parametrize("group", [ABSENT, 0, 1, 2, -2, 7])
def test_another_group_in_place_of_a_candidate_is_caught(right, group):
    history, answer = right
    for at in range(answer.seats[0].group.size):
        groups = answer.seats[0].group.copy()
        if groups[at] == group:
            continue
        groups[at] = group
        with pytest.raises(InternalError, match="list each group"):
            checker.check(history, with_seats(answer, group=groups))


def test_absence_exchanged_with_a_group_is_caught(right):
    """The list is complete, and the shares of absence and of a group have changed places."""
    history, answer = right
    seats = answer.seats[0]
    for first, last in zip(seats.start[:-1], seats.start[1:], strict=True):
        [at] = np.flatnonzero(seats.group[first:last] == ABSENT)[:1] if ABSENT in seats.group[first:last] else [-1]
        if at < 0 or last - first < 2:
            continue
        group = seats.group.copy()
        other = first + (at + 1) % (last - first)
        group[[first + at, other]] = group[[other, first + at]]
        found = checker.check(history, with_seats(answer, group=group))
        assert found.residual > 1e-3 or found.gap > 1e-3


def test_groups_called_known_that_are_not_are_caught(right):
    history, answer = right
    with pytest.raises(InternalError, match="list each group"):
        checker.check(history, replace(answer, seats=(None, None)))


def test_known_groups_may_be_listed(right):
    history, answer = right
    entries = answer.value.size
    group = np.full(entries, 2, dtype=np.int32)
    listed = SeatShares(np.arange(entries + 1), group, answer.p.copy(), np.ones(entries, dtype=bool))
    assert tight(checker.check(history, replace(answer, seats=(answer.seats[0], listed))))
    listed.y[0] += 1e-3
    assert checker.check(history, replace(answer, seats=(answer.seats[0], listed))).residual > 1e-4


@pytest.mark.parametrize("grown", [-1, 1])
@pytest.mark.parametrize("bits", [62, 0])
def test_values_left_out_or_listed_twice_are_caught(right, grown, bits, monkeypatch):
    monkeypatch.setattr(checked_answer, "_BITS", bits)
    history, answer = right
    for at in range(answer.value.size):
        change = (lambda c, at=at: np.delete(c, at)) if grown < 0 else (lambda c, at=at: np.insert(c, at, c[at]))
        seats = answer.seats[0]
        own = np.arange(seats.start[at], seats.start[at + 1])
        length = change(np.diff(seats.start))
        kept = (
            np.delete(np.arange(seats.group.size), own)
            if grown < 0
            else np.insert(np.arange(seats.group.size), seats.start[at], own)
        )
        shares = SeatShares(
            np.concatenate([[0], np.cumsum(length)]), seats.group[kept], seats.y[kept], seats.possible[kept]
        )
        wrong = replace(
            answer,
            start=np.where(answer.start > at, answer.start + grown, answer.start),
            value=change(answer.value),
            p=change(answer.p),
            possible=change(answer.possible),
            seats=(shares, None),
        )
        with pytest.raises(InternalError, match="list each value"):
            checker.check(history, wrong)


def test_a_value_that_no_candidate_publishes_is_caught():
    """Value 2 is published of the group that all share, and of none of the candidates."""
    claim = Claim(3, [Row(0, 0, 1, 1), Row(1, 1, 1, 1), Row(3, 0, 1, 1), Row(3, 1, 1, 1), Row(3, 2, 1, 1)], [])
    claim.people.append(Person(0, [[0, 1], [3]], p={0: (0.5, True), 1: (0.5, True)}))
    claim.people[0].y = [{(0, 0): (0.5, True), (1, 1): (0.5, True)}, {(v, 3): (0.5, True) for v in (0, 1)}]
    history, answer = as_history(claim), as_answer(claim, random.Random(0))
    checker.check(history, answer)
    wrong = replace(answer, value=np.array([answer.value[0], 2], dtype=np.int32))
    with pytest.raises(InternalError, match="list each value"):
        checker.check(history, wrong)


def test_multipliers_of_ranges_with_the_wrong_sign_are_caught(right):
    """The same numbers, with the range on the other side of the count: the multiplier pulls away from its end."""
    history, answer = right
    for at in range(history.row_count.size):
        up = answer.mu[at] > 0
        lower, upper = history.row_count.copy(), history.row_upper.copy()
        lower[at] += -1 if up else 1
        upper[at] += -1 if up else 1
        found = checker.check(replace(history, row_count=lower, row_upper=upper), answer)
        assert found.residual < 1e-12
        assert found.gap == pytest.approx(abs(answer.mu[at]), rel=1e-9)


def test_a_count_outside_its_range_is_caught(right):
    history, answer = right
    for at in range(history.row_count.size):
        for step in (-1.25, 1.25):
            lower, upper = history.row_count.copy(), history.row_upper.copy()
            lower[at], upper[at] = lower[at] + step, upper[at] + step
            found = checker.check(replace(history, row_count=lower, row_upper=upper), answer)
            assert 0.2 < found.residual < 1.3


def test_weights_count(right):
    history, answer = right
    assert checker.check(replace(history, weight=None), answer).residual > 0.1


def test_statements_that_are_missed_or_pulled_the_wrong_way_are_caught(right):
    history, answer = right
    told = history.statements
    missed = replace(told, lower=told.lower + 0.25)
    assert checker.check(replace(history, statements=missed), answer).residual == pytest.approx(0.25)
    other_side = replace(told, lower=told.lower - 1, upper=told.upper - 1)
    found = checker.check(replace(history, statements=other_side), answer)
    assert found.residual < 1e-12
    assert found.gap == pytest.approx(0.7, rel=1e-9)
    found = checker.check(history, replace(answer, nu=np.zeros(1)))
    assert found.residual < 1e-12
    assert found.gap > 1e-3
    assert checker.check(history, replace(answer, nu=np.array([np.nan]))).gap == np.inf
    assert checker.check(replace(history, statements=None), replace(answer, nu=np.empty(0))).gap > 1e-3


def test_persons_whom_a_statement_tells_apart_may_not_share_a_signature(right):
    history, answer = right
    told = history.statements
    columns = ("statement", "person", "value", "coefficient")
    less = replace(told, **{name: getattr(told, name)[1:] for name in columns})
    with pytest.raises(InternalError, match="different statements"):
        checker.check(replace(history, statements=less), answer)
    coefficient = told.coefficient.copy()
    coefficient[0] += 1
    with pytest.raises(InternalError, match="different statements"):
        checker.check(replace(history, statements=replace(told, coefficient=coefficient)), answer)


def test_terms_given_in_parts_are_added_up(right):
    history, answer = right
    told = history.statements
    parts = {name: np.repeat(getattr(told, name), 2) for name in ("statement", "person", "value")}
    coefficient = np.stack([told.coefficient - 5, np.full(told.coefficient.size, 5)], axis=1).ravel()
    split = replace(told, **parts, coefficient=coefficient)
    assert tight(checker.check(replace(history, statements=split), answer))


def test_terms_of_one_person_that_cancel_tell_nobody_apart(right):
    history, answer = right
    told = history.statements
    more = {"statement": [0, 0], "person": [0, 0], "value": [1, 1], "coefficient": [4, -4]}
    longer = replace(told, **{name: np.append(getattr(told, name), new) for name, new in more.items()})
    assert tight(checker.check(replace(history, statements=longer), answer))


def test_statements_tie_islands_together():
    rows = [Row(g, v, 1, 1) for g in (0, 1) for v in (0, 1)]
    people = [Person(g, [[g]]) for g in (0, 1) for _ in range(2)] + [Person(2, [[None]]), Person(3, [[None]])]
    claim = Claim(2, rows, people)
    for person in people:
        person.p = dict.fromkeys((0, 1), (0.5, True))
        person.y = [{(v, g): (0.5, True) for v in (0, 1) for g in person.fits[0]}]
    assert checker.check(as_history(claim), as_answer(claim, random.Random(0))).island_gap.size == 4
    claim.statements.append(Statement(0, 2, [(0, 0, 1), (1, 0, 1), (4, 0, 1)]))
    found = checker.check(as_history(claim), as_answer(claim, random.Random(0)))
    assert found.island_gap.size == 3
    assert tight(found)
    claim.statements[0].upper = 1
    found = checker.check(as_history(claim), as_answer(claim, random.Random(0)))
    assert found.island_residual.tolist() == pytest.approx([0.5, 0, 0])


def test_another_prior_is_caught(right):
    history, answer = right
    prior = history.prior.copy()
    prior[history.prior_of[0], 1] *= 1.01
    found = checker.check(replace(history, prior=prior), answer)
    assert found.residual < 1e-12
    assert found.gap > 1e-6
    assert tight(checker.check(replace(history, prior=7 * history.prior), answer))


def test_mass_where_the_prior_is_zero_is_caught(right):
    history, answer = right
    prior = history.prior.copy()
    prior[history.prior_of[0], 0] = 0.0
    assert checker.check(replace(history, prior=prior), answer).gap == np.inf


def test_a_certain_value_whose_prior_is_zero_is_caught():
    claim = Claim(2, [Row(0, 0, 1, 1)], [Person(0, [[0]], prior=[1.0, 1.0], p={0: (1.0, True)})])
    claim.people[0].y = [{(0, 0): (1.0, True)}]
    history, answer = as_history(claim), as_answer(claim, random.Random(0))
    assert tight(checker.check(history, answer))
    assert checker.check(replace(history, prior=np.array([[0.0, 1.0]])), answer).gap == np.inf


def test_persons_with_different_priors_may_not_share_a_signature(right):
    history, answer = right
    prior_of = history.prior_of.copy()
    prior_of[0] = (prior_of[0] + 1) % history.prior.shape[0]
    other = history.prior.copy()
    with pytest.raises(InternalError, match="different priors"):
        checker.check(replace(history, prior_of=prior_of, prior=other), answer)


def test_persons_with_different_candidates_may_not_share_a_signature(right):
    history, answer = right
    moved = answer.of_person.copy()
    moved[[0, 2]] = moved[[2, 0]]
    with pytest.raises(InternalError, match="different groups"):
        checker.check(history, replace(answer, of_person=moved))


@pytest.mark.parametrize(
    "changed",
    [
        lambda s: {"start": s.start[:-1]},
        lambda s: {"start": s.start[::-1]},
        lambda s: {"start": s.start + 1},
        lambda s: {"group": s.group[1:]},
        lambda s: {"y": s.y[1:]},
        lambda s: {"possible": s.possible[1:]},
    ],
)
def test_shares_that_do_not_fit_the_entries_are_caught(right, changed):
    history, answer = right
    with pytest.raises(InternalError, match="fit neither"):
        checker.check(history, with_seats(answer, **changed(answer.seats[0])))
