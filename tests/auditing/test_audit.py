"""The figures of an audit, recounted person by person from the published groups and the posterior."""

import math
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings

from showthrough import audit
from showthrough.errors import ChangedValueError, InputError
from tests.histories import FIGURE1, X1, histories, releases


def recount(history, found):
    """The same figures by plain loops."""
    post = found.posterior
    shares, certain_alone, names = {}, [], []
    for groups in history:
        certain = 0
        for members, values in groups:
            top = max(Counter(values).values()) / len(values)
            certain += len(members) if top == 1 else 0
            for person in members:
                shares[person] = max(top, shares.get(person, 0))
        certain_alone.append(certain)
        names.append({v for _, values in groups for v in values})
    rows = {}
    for person, value, p in post.to_frame().iter_rows():
        rows.setdefault(person, {})[value] = p
    facts = post.proven()
    sure = set(facts.filter(pl.col("fact") == "certain")["id"].to_list())
    impossible = facts.filter(pl.col("fact") == "impossible")["by"].value_counts()
    return shares, certain_alone, names, rows, sure, dict(impossible.iter_rows())


def entropy(row):
    return -sum(p * math.log(p) for p in row.values() if p > 0)


@settings(deadline=None, max_examples=60)
@given(histories())
def test_figures(history):
    found = audit(releases(history))
    shares, certain_alone, values, rows, sure, impossible = recount(history, found)
    for k, (figures, groups) in enumerate(zip(found.releases, history, strict=True)):
        people = [p for members, _ in groups for p in members]
        alone = sum(entropy({v: n / len(vs) for v, n in Counter(vs).items()}) * len(vs) for _, vs in groups)
        assert (figures.name, figures.kind) == (f"D{k + 1}", "bucketized")
        assert (figures.persons, figures.groups, figures.values) == (len(people), len(groups), len(values[k]))
        assert figures.certain_alone == certain_alone[k]
        assert figures.entropy_alone_nats == pytest.approx(alone, abs=1e-9)
        assert figures.entropy_joined_nats == pytest.approx(sum(entropy(rows[p]) for p in people), abs=1e-9)
    j = found.joint
    best = {p: 1.0 if p in sure else max(row.values()) for p, row in rows.items()}
    assert (j.persons, j.values) == (len(rows), len(set.union(*values)))
    assert j.entropy_nats == pytest.approx(sum(map(entropy, rows.values())), abs=1e-9)
    assert j.certain == len(sure)
    assert j.certain_alone == sum(share == 1 for share in shares.values())
    assert j.newly_certain == sum(shares[p] < 1 for p in sure)
    assert j.impossible_by_sets == impossible.get("sets", 0)
    assert j.impossible_by_counts == impossible.get("counts", 0)
    assert j.expected_guesses == pytest.approx(sum(best.values()))
    assert j.expected_guesses_alone == pytest.approx(sum(shares.values()))
    for level in (0.5, 0.9):
        assert j.best_guess_at_least[str(level)] == sum(p >= level - 1e-6 for p in best.values())
        assert j.best_guess_at_least_alone[str(level)] == sum(p >= level for p in shares.values())


@settings(deadline=None, max_examples=40)
@given(histories())
def test_people(history):
    found = audit(releases(history))
    shares, _, _, rows, sure, _ = recount(history, found)
    assert found.people.columns == ["id", "value", "p", "p_alone", "certain", "newly_certain"]
    assert set(found.people["id"].to_list()) == set(rows)
    for person, value, p, p_alone, certain, newly in found.people.iter_rows():
        assert p == rows[person][value] == max(rows[person].values())
        assert p_alone == pytest.approx(shares[person])
        assert certain == (person in sure)
        assert newly == (person in sure and shares[person] < 1)


def test_the_worked_example():
    found = audit(releases(FIGURE1))
    assert (found.joint.certain, found.joint.certain_alone, found.joint.newly_certain) == (3, 0, 3)
    assert (found.joint.impossible_by_sets, found.joint.impossible_by_counts) == (12, 8)
    assert found.people.filter("newly_certain")["id"].to_list() == ["7", "10", "13"]


def test_figures_name_nobody():
    history = [[([f"zq-person-{p}" for p in members], values) for members, values in groups] for groups in X1]
    assert "zq" not in str(audit(releases(history)).figures())


def test_split_persons_count_once_per_release():
    history = releases([[([1, 2], ["a", "b"])], [([1], ["c"]), ([2], ["b"])]])
    with pytest.raises(ChangedValueError):
        audit(history)
    found = audit(history, changed="split")
    assert found.joint.persons == 3
    assert found.people.columns[:2] == ["id", "release"]
    assert found.people.sort("id", "release").select("id", "release").rows() == [(1, "D1"), (1, "D2"), (2, None)]


def test_nothing_to_audit():
    with pytest.raises(InputError, match="give at least one release"):
        audit([])


def test_progress_is_told():
    stages = []
    audit(releases(FIGURE1), progress=stages.append)
    assert "certificate" in stages
