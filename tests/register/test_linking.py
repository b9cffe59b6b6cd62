"""Linking by quasi-identifiers against comparing everybody with everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.errors import InputError, InternalError
from showthrough.register import boxes, families, linking
from showthrough.register.linking import Attribute, candidates
from tests.oracles.linking import Cell, groups_of
from tests.register.instances import attributes_of, instances


def lists(found):
    return [found.of(p).tolist() for p in range(found.persons)]


def expected(people, groups):
    return [groups_of(person, groups) for person in people]


@settings(max_examples=300, deadline=None)
@given(instances(), st.sampled_from(["best", "tree"]))
def test_everybody_and_everything(instance, way):
    people, groups = instance
    found = candidates(attributes_of(people, groups), way=way)
    assert lists(found) == expected(people, groups)
    assert found.start.dtype == np.int64
    assert found.group.dtype == np.int32


@settings(max_examples=150, deadline=None)
@given(instances(), st.integers(0, 3), st.integers(0, 2), st.integers(1, 3))
def test_all_limits_small(instance, joins, leaf, block):
    """With limits of next to nothing every branch is taken: trees for the rest, searches, chunks."""
    people, groups = instance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "JOINS", joins)
        patch.setattr(linking, "POINTS", block)
        patch.setattr(linking, "PARTLY", block)
        patch.setattr(families, "FAMILIES", joins)
        patch.setattr(families, "DENSE", 4)
        patch.setattr(boxes, "LEAF", leaf)
        patch.setattr(boxes, "PAIRS", block)
        found = candidates(attributes_of(people, groups))
    assert lists(found) == expected(people, groups)
