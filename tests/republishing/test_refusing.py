"""Refusals of the guard: which limit, how many, and advice that does what it says."""

import re

import polars as pl
import pytest

from showthrough import FrequencyLDiversity, Policy, Release, anonymize
from showthrough.errors import ContradictionError, PolicyError
from showthrough.republishing.tied import joint
from tests.republishing.test_guarded import ROLES, exposed_history, guard


def released(name, rows):
    """A bucketized release of (id, group, value)."""
    frame = pl.DataFrame(rows, schema=["id", "group", "value"], orient="row")
    return Release.bucketized(frame, id="id", sensitive="value", group="group", name=name)


def test_who_is_exposed_is_told_by_limit():
    history, table = exposed_history()
    with pytest.raises(PolicyError, match=r"over a limit \(.*certain.*likelier than 0.5 to have a value\)"):
        guard(table, history, Policy(max_posterior=0.5))


def test_what_holding_back_takes_is_told_in_all_and_is_so():
    table = pl.DataFrame({"id": ["a", "b", "c"], "age": [1, 2, 3], "zip": ["z"] * 3, "value": ["x", "x", "y"]})
    given = {"method": "mondrian", "criteria": [FrequencyLDiversity(1)]}
    with pytest.raises(PolicyError) as problem:
        guard(table, [], Policy(max_posterior=0.5), hold_back=False, **given)
    assert re.search(r"over a limit \(.*likelier than 0.5 to have a value\)", problem.value.shareable)
    found = re.search(r"with (\d) records? held back(?: and (\d) counterfeits?)?\)", problem.value.shareable)
    made = guard(table, [], Policy(max_posterior=0.5), hold_back=True, **given).made
    assert (made.suppressed, made.counterfeits) == (int(found[1]), int(found[2] or 0))


KEPT = re.compile(
    r"max_posterior=([\d.]+)\) \(kept with (\d+) records? held back(?: and (\d+) counterfeits?)?, GCP of the groups "
    r"([\d.]+)(?:, counting queries off by ([\d.]+%) in the median)?\)"
)


@pytest.mark.parametrize("quasi", [["age", "zip"], ["age"]])
def test_what_a_weaker_limit_takes_is_told_and_is_so(quasi):
    columns = {"age": [1, 2, 3], "zip": ["q1", "q2", "q1"], "value": ["x", "x", "y"]}
    table = pl.DataFrame({"id": ["zq1", "zq2", "zq3"], **columns})
    given = {"method": "mondrian", "criteria": [FrequencyLDiversity(1)], "hold_back": False, "quasi": quasi}
    with pytest.raises(PolicyError) as problem:
        guard(table, [], Policy(max_posterior=0.5), **given)
    limit, held, fakes, gcp, queries = KEPT.search(problem.value.shareable).groups()
    made = guard(table, [], Policy(max_posterior=float(limit)), **given).made
    assert (made.suppressed, made.counterfeits) == (int(held), int(fakes or 0))
    (told,) = [note for note in made.notes if note.startswith("Independent release → guarded")]
    assert f"→ {gcp};" in told
    assert (queries is None) == (len(quasi) == 1)
    assert queries is None or f"→ {queries} in the median" in told
    assert not re.search(r"zq\d|q[12]\b", problem.value.shareable)


def alone():
    """One group of four with three times x."""
    return [released("D1", [("a", 1, "x"), ("b", 1, "x"), ("c", 1, "x"), ("d", 1, "y")])]


def thirds():
    """The same of three: no limit in thousandths is met exactly."""
    return [released("D1", [("a", 1, "x"), ("b", 1, "x"), ("c", 1, "y"), ("d", 2, "x"), ("e", 2, "y")])]


def together():
    """Two releases that share x and y for two persons, of whom nobody is certain."""
    first = released("D1", [("a", 1, "x"), ("b", 1, "x"), ("c", 1, "y"), ("d", 1, "z")])
    return [first, released("D2", [("a", 1, "x"), ("b", 1, "x"), ("e", 1, "y"), ("f", 1, "w")])]


def of_the_past(history, policy):
    """What a guard says of those whom the past exposes; nothing if it does not refuse for them."""
    table = pl.DataFrame({"id": ["a", "b"], "age": [1, 2], "zip": ["z"] * 2, "value": ["x", "x"]})
    try:
        guard(table, history, policy, criteria=[FrequencyLDiversity(1)], seconds=5)
    except PolicyError as problem:
        return problem.shareable if problem.shareable.startswith("Earlier releases already put") else ""
    return ""


@pytest.mark.parametrize("history", [alone, thirds, together])
@pytest.mark.parametrize("more", [{}, {"certain": None}, {"max_gain": 0.9}, {"over_posterior": 1}])
def test_the_least_limit_that_the_past_keeps_is_told_and_is_the_least(history, more):
    told = of_the_past(history(), Policy(max_posterior=0.4, **more))
    named = re.search(
        r"policy=Policy\(max_posterior=(0\.\d{1,3})\) is the least limit that earlier releases keep for everybody\.",
        told,
    )
    assert named, told
    least = float(named[1])
    assert not of_the_past(history(), Policy(max_posterior=least, **more))
    lower = of_the_past(history(), Policy(**{"max_posterior": round(least - 0.001, 3), **more, "over_posterior": 0}))
    assert f"max_posterior={least:g})" in lower
    assert joint(history()).largest().max() <= least + 2e-5


def test_no_limit_is_told_where_the_past_makes_somebody_certain():
    history, _ = exposed_history()
    for policy in (Policy(max_posterior=0.5), Policy(max_posterior=0.5, certain=None)):
        told = of_the_past(history, policy)
        assert "3 persons are certain by them, so no limit below 1 is kept for everybody." in told
        assert "policy=" not in told
    told = of_the_past(history, Policy(certain=0))  # it knows no limit on what is likely
    assert told
    assert "no limit below 1" not in told


def test_no_limit_is_told_where_the_past_breaks_another_one_too():
    told = of_the_past(together(), Policy(max_posterior=0.4, impossible=0))
    assert "with a value that is excluded" in told
    assert "policy=" not in told


def contradicting():
    """Two persons with x and y, then with x and z: y has nobody."""
    first = released("C1", [("a", 1, "x"), ("b", 1, "y")])
    return first, released("C2", [("a", 1, "x"), ("b", 1, "z")])


@pytest.mark.parametrize("changed", ["refuse", "split"])
def test_a_past_that_contradicts_itself_gets_advice_that_publishing_takes(changed):
    history = contradicting()
    table = pl.DataFrame({"id": ["a", "c"], "age": [1, 2], "zip": ["z"] * 2, "value": ["x", "z"]})
    given = {"method": "mondrian", "strategy": "guarded", "criteria": [FrequencyLDiversity(2)], "changed": changed}
    given |= {"policy": Policy(max_posterior=0.5), "output": "bucketized", **ROLES}
    with pytest.raises(ContradictionError) as problem:
        anonymize(table, history=list(history), **given)
    assert "history=" in problem.value.shareable
    assert "takes the ids" not in problem.value.shareable
    assert anonymize(table, history=[history[1]], exposed="accept", hold_back=True, **given)


def test_ids_whose_groups_share_no_value_are_split_or_refused():
    history = [released("D1", [("a", 1, "x"), ("b", 1, "y")]), released("D2", [("a", 1, "u"), ("c", 1, "w")])]
    with pytest.raises(ContradictionError, match='changed="split"') as problem:
        joint(history)
    assert "tolerate" not in problem.value.shareable
    assert joint(history, changed="split")
