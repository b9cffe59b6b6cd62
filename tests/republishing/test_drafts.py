"""A draft tells what its release would: the same posterior and the same criteria, without being published."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some_of
from polars.testing import assert_frame_equal

import showthrough as st
from showthrough.anonymizers.table import Shape, prepare
from showthrough.criteria.published import of_release
from showthrough.errors import ContradictionError
from showthrough.republishing.drafts import Drafts, counts_of
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal, release_of
from showthrough.republishing.tied import joint, tied_proposal

CRITERIA = [
    st.KAnonymity(2),
    st.DistinctLDiversity(2),
    st.EntropyLDiversity(1.5),
    st.FrequencyLDiversity(2),
    st.TCloseness(0.4),
]
some = settings(max_examples=60, deadline=None, derandomize=True)


@some_of.composite
def cases(draw):
    """A table, earlier releases of some of its persons, and a proposal with counterfeits and withheld rows."""
    rng = np.random.default_rng(draw(some_of.integers(0, 2**32 - 1)))
    people = rng.permutation(30)[: rng.integers(4, 20)]
    values = np.array([f"v{k}" for k in range(4)])[rng.integers(0, rng.integers(2, 5), size=30)]
    text = draw(some_of.booleans())

    def frame(ids):
        column = pl.Series("id", [f"p{i}" for i in ids] if text else ids.astype(np.int64))
        return pl.DataFrame({"id": column, "age": ids % 7, "value": values[ids]})

    history = []
    for k in range(draw(some_of.integers(0, 2))):
        ids = rng.permutation(30)[: rng.integers(4, 25)]
        rows = frame(ids).with_columns(group=pl.Series(rng.integers(0, 3, size=ids.size)))
        history.append(st.Release.bucketized(rows, id="id", sensitive="value", group="group", name=f"D{k + 1}"))
    table = prepare(frame(people), id="id", sensitive="value", quasi=["age"], shape=Shape())
    group = rng.integers(-1, 3, size=people.size).astype(np.int32)
    group[0] = 0
    fakes = rng.integers(0, 3)
    past = Past.of(table, history, changed="refuse")
    used = np.unique(group[group >= 0])
    proposal = Proposal(
        group,
        rng.choice(used, size=fakes).astype(np.int32),
        rng.integers(0, past.values.len(), size=fakes).astype(np.int32),
    )
    return table, past, proposal


def outcome(ask):
    try:
        return ask()
    except ContradictionError as error:
        return type(error)


@some
@given(cases())
def test_a_draft_has_the_posterior_of_its_release(case):
    table, past, proposal = case
    before = joint(past.history) if past.history else None
    found = outcome(lambda: Drafts(table, past, before).posterior(proposal))
    released = outcome(lambda: joint([*past.history, tied_proposal(table, past, proposal.numbered())]))
    if isinstance(released, type):
        assert found is released
        return
    keys = ["id", "value"]
    assert_frame_equal(found.to_frame().sort(keys), released.to_frame().sort(keys), abs_tol=1e-8)
    keys = ["id", "value", "fact", "by"]
    assert_frame_equal(found.proven().sort(keys), released.proven().sort(keys))
    assert found.certificate.status == released.certificate.status == "exact"


@some
@given(cases())
def test_criteria_hold_for_a_draft_as_for_its_release(case):
    table, past, proposal = case
    counted = counts_of(past, proposal)
    release = release_of(table, past, proposal, kind="bucketized", name="D", seed=0, parameters={})
    published = of_release(release)
    assert counted.counts.size.tolist() == published.counts.size.tolist()
    for criterion in CRITERIA:
        mine, theirs = criterion.check(counted), criterion.check(release)
        assert (mine.holds, mine.level) == (theirs.holds, pytest.approx(theirs.level)), str(criterion)


def test_whoever_changed_is_split_in_a_draft_as_in_its_release():
    roles = {"id": "id", "sensitive": "value"}
    rows = pl.DataFrame({"id": ["a", "b"], "value": ["x", "y"], "group": [1, 1]})
    history = [st.Release.bucketized(rows, group="group", name="D1", **roles)]
    now = pl.DataFrame({"id": ["a", "b", "c"], "age": [1, 2, 3], "value": ["z", "y", "w"]})
    table = prepare(now, quasi=["age"], shape=Shape(), **roles)
    past = Past.of(table, history, changed="split")
    proposal = Proposal(np.array([0, 1, 0], dtype=np.int32))
    found = Drafts(table, past, joint(history, changed="split")).posterior(proposal)
    released = joint([*history, tied_proposal(table, past, proposal)], changed="split")
    assert found.to_frame().height == released.to_frame().height > 0
    assert found.entropy == pytest.approx(released.entropy)
    for name in ("D1", released.names[-1]):
        assert found.of("a", release=name) == pytest.approx(released.of("a", release=name)), name
    assert released.of("a", release="D1") == {"x": 1.0}  # b has y
