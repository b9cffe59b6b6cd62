"""Persons who fit many groups of many releases: a proof is replayed by the sum of the groups, not their product."""

import time
import tracemalloc

import polars as pl
import pytest

from showthrough.inference.proof import Argument, Proof, WeighedRow
from showthrough.inference.proof_check import Members, contradicts, holds
from tests.histories import release

GROUPS, RELEASES = 40, 10
VALUES = "abcdefgh"


@pytest.fixture(scope="module")
def wanderer():
    """W fits all groups of all releases; only group 1 + k of release k has room, beside a value of its own and a."""
    published, members = [], []
    for r in range(RELEASES):
        groups, frame = [], [("W", g + 1) for g in range(GROUPS)]
        for g in range(GROUPS):
            resident = f"p{r}.{g}"
            values = ["a", VALUES[1 + r % 7]] if g == r else [VALUES[g % 8]]
            groups.append(([f"x{r}.{g}.{k}" for k in range(len(values))], values))
            frame.append((resident, g + 1))
        published.append(release(groups, f"D{r + 1}"))
        members.append(pl.DataFrame(frame, schema=["id", "group"], orient="row"))
    steps = [[(r, r + 1, v, 1) for v in ("a", VALUES[1 + r % 7])] for r in range(RELEASES)]
    return published, members, steps


def test_time_and_memory_grow_with_the_sum_of_the_groups(wanderer):
    published, frames, steps = wanderer
    members = [Members(frame) for frame in frames]
    claim = {"person": ("W", None), "value": "a", "fact": "certain", "split": False}
    tracemalloc.start()
    began = time.perf_counter()
    assert holds(published, members, steps=steps, **claim)
    assert holds(published, members, steps=steps[:2], **claim)  # where b and c have no room, a is left
    assert not holds(published, members, steps=steps[:1], **claim)
    took, (_, peak) = time.perf_counter() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 5
    assert peak < 20e6
    crowded = [*steps[:2], [(2, 3, "a", 1), (2, 3, "d", 2), (2, 4, "d", 2)]]
    assert not contradicts(published, members, steps=steps, split=False)
    assert not contradicts(published, members, steps=crowded, split=False)


def test_a_proof_verifies_with_a_membership(wanderer):
    published, frames, steps = wanderer
    membership = dict(zip([r.name for r in published], frames, strict=True))
    arguments = tuple(Argument(tuple(WeighedRow(*row) for row in step), "") for step in steps)
    names = tuple(membership)
    proof = Proof("W", "a", "certain", "counts", arguments, "", names)
    assert proof.verify(published, membership=membership)
    assert not Proof("W", "b", "certain", "counts", arguments, "", names).verify(published, membership=membership)
