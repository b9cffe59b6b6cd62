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
