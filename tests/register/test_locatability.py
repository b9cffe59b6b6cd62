"""Counts of who fits one, several or no group, and why not."""

import numpy as np
from hypothesis import given, settings

from showthrough.register.linking import candidates
from showthrough.register.locating_report import locatability
from tests.oracles.linking import covers, groups_of
from tests.register.instances import attributes_of, instances


def reasons(people, groups):
    """(fits, reason's columns) of each person, one by one."""
    for person in people:
        fits = len(groups_of(person, groups))
        bad = [a for a, value in enumerate(person) if not any(covers(cells[a], value) for cells in groups)]
        yield fits, bad, -1 in person


@settings(max_examples=100, deadline=None)
@given(instances())
def test_counts(instance):
    people, groups = instance
    attributes = attributes_of(people, groups)
    table = locatability(attributes, candidates(attributes), release="D1")
    right = list(reasons(people, groups))
    width = len(people[0])
    parts = [
        [r for r in right if r[0] == 1],
        [r for r in right if r[0] > 1],
        *[[r for r in right if r[1] == [a]] for a in range(width)],
        [r for r in right if len(r[1]) > 1],
        [r for r in right if r[0] == 0 and not r[1]],
    ]
    assert table["persons"].to_list() == [len(part) for part in parts]
    assert table["persons"].sum() == len(people)
    assert table["unknown"].to_list() == [sum(r[2] for r in part) for part in parts]
    assert table["with_others"].to_list()[2:-2] == [
        sum(a in r[1] and len(r[1]) > 1 for r in right) for a in range(width)
    ]
    assert table["column"].to_list()[2:-2] == [f"column {a}" for a in range(width)]
    assert np.isclose(table["share"].sum(), 1)
    assert set(table["release"]) == {"D1"}
