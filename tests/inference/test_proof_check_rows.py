"""Ranges and statements in proofs, by hand: what they show, what they leave behind, and what proves nothing."""

from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest

from showthrough.inference.proof import Argument, Contradiction, Proof, WeighedRow, WeighedStatement
from showthrough.inference.proof_check import KnownSum, Members, contradicts, holds
from tests.histories import release

PAIRS = release([(["A", "B"], ["flu", "hiv"]), (["C", "D"], ["flu", "hiv"])], "D1")
HOMES = Members(pl.DataFrame({"id": ["A", "B", "C", "D"], "group": [1, 1, 2, 2]}))
ONE_EACH = KnownSum("one of A and C has flu", 1, 1, {("A", "flu"): 1, ("C", "flu"): 1})
NOT_A = KnownSum("A has no flu", 0, 0, {("A", "flu"): 1})


def said(statement, weight):
    return (None, statement.name, None, weight)


def shown(steps, person, value, fact="impossible", *, releases=(PAIRS,), members=(HOMES,), split=False, **more):
    claim = {"person": person if isinstance(person, tuple) else (person, None), "value": value, "fact": fact}
    return holds(releases, members, steps=steps, split=split, **claim, **more)


def test_a_statement_excludes_a_value():
    step = [said(NOT_A, -1)]
    assert shown([step], "A", "flu", statements=[NOT_A])
    assert shown([step], "A", "hiv", "certain", statements=[NOT_A])
    assert not shown([step], "B", "flu", statements=[NOT_A])
    assert not shown([[said(NOT_A, 1)]], "A", "flu", statements=[NOT_A])


def test_statements_and_counts_lead_from_person_to_person():
    """A has none, so B has it, and C has it, so D has none."""
    steps = [
        [said(NOT_A, -1)],
        [(0, 1, "flu", 1)],
        [said(ONE_EACH, 1)],
        [(0, 2, "flu", -1)],
    ]
    both = [NOT_A, ONE_EACH]
    for person, value in (("A", "hiv"), ("B", "flu"), ("C", "flu"), ("D", "hiv")):
        assert shown(steps, person, value, "certain", statements=both)
    assert not shown(steps[1:], "D", "hiv", "certain", statements=both)
    assert not shown(steps, "D", "hiv", "certain", statements=[NOT_A])


def test_statements_that_clash_are_a_contradiction():
    others = KnownSum("B and C have none", 0, 0, {("B", "flu"): 1, ("C", "flu"): 1})
    both = [NOT_A, others]
    clash = [[(0, 1, "flu", 1), said(NOT_A, -1), said(others, -1)]]
    assert contradicts([PAIRS], [HOMES], steps=clash, split=False, statements=both)
    assert not contradicts([PAIRS], [HOMES], steps=clash, split=False, statements=[NOT_A, replace(others, upper=1)])


def test_coefficients_count():
    two = KnownSum("twice A and once C", 2, 3, {("A", "flu"): 2, ("C", "flu"): 1})
    assert shown([[said(two, 1), said(ONE_EACH, -1)]], "A", "flu", "certain", statements=[two, ONE_EACH])
    assert not shown([[said(two, 1)]], "A", "flu", "certain", statements=[two])


def test_a_range_proves_by_the_end_it_is_weighed_with():
    """Two flus at least in a group of two."""
    full, short = {(0, 1, "flu"): (2, 3)}, {(0, 1, "flu"): (1, 3)}
    assert shown([[(0, 1, "flu", 1)]], "A", "flu", "certain", ranges=full)
    assert not shown([[(0, 1, "flu", 1)]], "A", "flu", "certain", ranges=short)
    assert not shown([[(0, 1, "flu", -1)]], "A", "flu", "certain", ranges=full)
    assert shown([[(0, 1, "flu", -1)]], "A", "flu", ranges={(0, 1, "flu"): (0, 0)})
    assert contradicts([PAIRS], [HOMES], steps=[[(0, 1, "flu", 1)]], split=False, ranges={(0, 1, "flu"): (3, 9)})


def test_a_tight_range_is_a_count_from_then_on():
    """At least one flu and at least one hiv among two: exactly one each."""
    ranges = {(0, 1, "flu"): (1, 2), (0, 1, "hiv"): (1, 2)}
    tight = [(0, 1, "flu", 1), (0, 1, "hiv", 1)]
    at_once = [said(NOT_A, -1), (0, 1, "hiv", -1)]  # A has hiv: nobody else has, by the upper bound of hiv
    known = {"ranges": ranges, "statements": [NOT_A]}
    assert shown([tight, [said(NOT_A, -1)], [(0, 1, "hiv", -1)]], "B", "flu", "certain", **known)
    assert not shown([[said(NOT_A, -1)], [(0, 1, "hiv", -1)]], "B", "flu", "certain", **known)
    assert shown([tight, at_once], "B", "hiv", **known)
    assert not shown([at_once], "B", "hiv", **known)


def test_a_tight_statement_is_an_equality_from_then_on():
    some = KnownSum("one or two of A and B", 1, 2, {("A", "flu"): 1, ("B", "flu"): 1})
    tight = [said(some, -1), (0, 1, "hiv", -1)]
    ranges = {(0, 1, "hiv"): (0, 0), (0, 1, "flu"): (0, 2)}
    known = {"ranges": ranges, "statements": [some]}
    assert shown([[(0, 1, "hiv", -1)], [said(some, -1)], [said(some, 1)]], "A", "flu", "certain", **known)
    assert not shown([[said(some, 1)]], "A", "flu", "certain", **known)
    assert not contradicts([PAIRS], [HOMES], steps=[tight, [said(some, 1)]], split=False, **known)


def test_members_without_a_name_weigh_by_their_number():
    """Five who fit both groups are needed in the second, so that the first is left to A and four others."""
    groups = [(range(5), ["flu", "flu", "flu", "hiv", "hiv"]), (range(5, 10), ["flu", "flu", "flu", "flu", "hiv"])]
    members = [Members(pl.DataFrame({"id": ["A"], "group": [1]}), (((1,), 4), ((1, 2), 5)))]
    known = {"releases": [release(groups, "D1")], "members": members, "ranges": {(0, 1, "flu"): (5, 5)}}
    full = [(0, 2, "flu", 1), (0, 2, "hiv", 1)]
    assert shown([full, [(0, 1, "flu", 1)]], "A", "flu", "certain", **known)
    assert not shown([[(0, 1, "flu", 1)]], "A", "flu", "certain", **known)
    fewer = [replace(members[0], unnamed=(((1,), 4), ((1, 2), 4)))]
    assert contradicts(known["releases"], fewer, steps=[full], split=False)
    assert not contradicts(known["releases"], members, steps=[full], split=False)


def test_absence_weighs_nothing():
    homes = Members(pl.DataFrame({"id": ["A", "A", "B", "C", "D"], "group": [None, 1, 1, 2, 2]}))
    step = [(0, 1, "flu", 1), (0, 1, "hiv", 1)]
    assert shown([step, [said(NOT_A, -1)]], "A", "flu", members=[homes], statements=[NOT_A])
    assert not contradicts([PAIRS], [homes], steps=[step], split=False)
    assert not shown([[(0, 1, "flu", -1)]], "A", "flu", members=[homes], ranges={(0, 1, "flu"): (0, 1)})


def test_who_may_be_absent_may_have_what_no_group_of_it_publishes():
    ill = release([(["B"], ["ill"])], "D2")
    away = Members(pl.DataFrame({"id": ["A", "A", "B"], "group": [None, 1, 1]}))
    apart = Members(pl.DataFrame({"id": ["A", "C", "D"], "group": [1, 2, 2]}))
    known = {"releases": [PAIRS, ill], "members": [apart, away]}
    assert not shown([], "A", "flu", **known)
    assert shown([], "A", "ill", **known)


def test_a_step_that_does_not_add_up_is_no_contradiction():
    assert not contradicts([PAIRS], [HOMES], steps=[[(0, 1, "flu", 1)]], split=False)
    assert contradicts([PAIRS], [HOMES], steps=[[(0, 1, "flu", 1)]], split=False, ranges={(0, 1, "flu"): (3, 3)})


def test_a_statement_that_stands_twice_counts_twice():
    step = [said(ONE_EACH, 1), said(ONE_EACH, 1), said(NOT_A, -2)]
    known = {"statements": [NOT_A, ONE_EACH]}
    assert shown([step], "C", "flu", "certain", **known)
    assert not shown([[*step[:2], said(NOT_A, -1)]], "C", "flu", "certain", **known)


@pytest.mark.parametrize(
    "changed",
    [
        replace(NOT_A, name="another"),
        replace(NOT_A, upper=0.0),
        replace(NOT_A, lower=False),
        replace(NOT_A, lower=1),
        replace(NOT_A, terms={("A", "flu"): Fraction(1)}),
        replace(NOT_A, terms={("A", "flu"): True}),
        replace(NOT_A, terms={("A", "flu"): 1, ("nobody", "flu"): 1}),
        replace(NOT_A, terms={("A", "flu"): 1, (1, "flu"): 1}),
        replace(NOT_A, terms={("A", "flu"): 1, ("B", 1): 1}),
    ],
)
def test_a_statement_that_is_unknown_or_not_in_whole_numbers_about_known_persons_proves_nothing(changed):
    assert not shown([[said(NOT_A, -1)]], "A", "flu", statements=[changed])
    assert not contradicts(
        [PAIRS], [HOMES], steps=[[said(NOT_A, 1), (0, 1, "hiv", 9)]], split=False, statements=[changed]
    )


def test_two_statements_of_one_name_prove_nothing():
    assert not shown([[said(NOT_A, -1)]], "A", "flu", statements=[NOT_A, replace(NOT_A, upper=1)])
    assert not shown([[said(NOT_A, -1)]], "A", "flu", statements=[replace(NOT_A, upper=1), NOT_A])
    assert shown([[said(NOT_A, -1)]], "A", "flu", statements=[NOT_A, ONE_EACH, ONE_EACH])  # not called on


@pytest.mark.parametrize(
    "row", [(None, 1, None, -1), (None, ["x"], None, -1), (None, NOT_A.name, "flu", -1), (None, None, None, -1)]
)
def test_strange_rows_of_statements_prove_nothing(row):
    assert not shown([[row]], "A", "flu", statements=[NOT_A])


@pytest.mark.parametrize("weight", [-1.0, -0.5, True, None, Fraction(-1)])
def test_statements_need_whole_weights(weight):
    assert not shown([[said(NOT_A, weight)]], "A", "flu", statements=[NOT_A])


@pytest.mark.parametrize(
    "ranges",
    [
        {(0, 1, "flu"): (2, 1)},
        {(0, 1, "flu"): (2.0, 2)},
        {(0, 1, "flu"): (2, True)},
        {(0, 1, "flu"): (2, 2), (0, 1, "asthma"): (0, 1)},
        {(0, 1, "flu"): (2, 2), (0, "1", "flu"): (0, 1)},
        {(0, 1, "flu"): (2, 2), (1, 1, "flu"): (0, 1)},
    ],
)
def test_ranges_that_are_no_ranges_of_published_rows_prove_nothing(ranges):
    assert not shown([[(0, 1, "flu", 1)]], "A", "flu", "certain", ranges=ranges)


def test_a_statement_about_a_person_that_was_split_speaks_of_the_newest_part():
    second = release([(["A", "B"], ["ill", "ill"])], "D2")
    both, members = [PAIRS, second], [HOMES, Members(pl.DataFrame({"id": ["A", "B"], "group": [1, 1]}))]
    more = {"releases": both, "members": members, "split": True, "statements": [NOT_A]}
    assert shown([], ("A", 1), "ill", "certain", **more)
    assert not shown([[said(NOT_A, -1)]], ("A", 0), "flu", **more)
    healthy = KnownSum("A is not ill", 0, 0, {("A", "ill"): 1})
    assert contradicts(both, members, steps=[[said(healthy, -1)]], split=True, statements=[healthy])
    assert not contradicts(both, members, steps=[[said(NOT_A, -1)]], split=True, statements=[NOT_A])


def test_arguments_hold_both_kinds_of_rows():
    rows = (WeighedRow(0, 1, "flu", 1), WeighedStatement(NOT_A.name, -1), WeighedRow(0, 1, "hiv", 1))
    argument = Argument(rows, "")
    assert argument.counts == (rows[0], rows[2])
    assert argument.groups == ((0, 1),)


def test_a_proof_by_a_statement_that_nobody_gave_does_not_verify():
    argument = Argument((WeighedStatement(NOT_A.name, -1),), "")
    assert not Proof("A", "flu", "impossible", "counts", (argument,), "", ("D1",)).verify([PAIRS])
    assert not Contradiction((argument,), ("D1",)).verify([PAIRS])
