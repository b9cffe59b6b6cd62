"""What every anonymizer that makes groups promises of them."""

from __future__ import annotations

import math

from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from tests.anonymizers.tables import entropy_at_least, equal_distance_at_most
from tests.oracles import groupings

CRITERIA = {"k": None, "entropy": entropy_at_least(2), "t": equal_distance_at_most(0.3)}


def assert_every_group_satisfies(anonymizer, table, *, k: int, criterion: str) -> None:
    """Every row is in one group, of k at least, and the criterion holds; refused only if the whole table fails it."""
    columns, sensitive = table
    if len(sensitive) < k:
        return
    try:
        found = anonymizer(columns, Requirement(k, sensitive, CRITERIA[criterion]))
    except InputError:
        assert criterion == "entropy"
        assert groupings.entropy(sensitive.tolist()) < math.log(2)
        return
    groups = groupings.members(found.group)
    assert sorted(groups) == list(range(found.groups))
    assert sum(map(len, groups.values())) == len(sensitive)
    for part in groups.values():
        assert len(part) >= k
        values = [int(sensitive[i]) for i in part]
        if criterion == "entropy":
            assert groupings.entropy(values) >= math.log(2) - 1e-9
        if criterion == "t":
            assert groupings.equal_distance(values, sensitive.tolist()) <= 0.3 + 1e-9
