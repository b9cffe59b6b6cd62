"""Single repairs of a proposal, and who is over a limit by the sets alone: against plain loops."""

import numpy as np
import polars as pl
import pytest

from showthrough import Release, infer
from showthrough.anonymizers.table import Shape, prepare
from showthrough.policy.policy import SLACK
from showthrough.republishing.past import Past
from showthrough.republishing.people import over_by_sets
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.repairs import regroup, swap
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}


def codes(numbers):
    return np.array(numbers, dtype=np.int32)


def situation(seed, *, groups=4, persons=30):
    """A table with the release before it, and a random proposal with counterfeits and records that are held back."""
    generator = np.random.default_rng(seed)
    first, second = raw_tables(seed, persons=persons, releases=2)
    rows = first.with_columns(group=generator.integers(0, groups, first.height))
    release = Release.bucketized(rows, id="id", sensitive="value", group="group", name="R1")
    table = prepare(second, shape=Shape.of(None, None, None, None, "refuse"), **ROLES)
    past = Past.of(table, [release])
    group = generator.integers(-1, groups, second.height)
    fakes = np.intersect1d(generator.integers(0, groups, 3), group[group >= 0])
    values = generator.integers(0, past.values.len(), fakes.size)
    return generator, table, past, Proposal(codes(group), codes(fakes), codes(values)).numbered()


def together(group):
    """Which rows are in one group."""
    return [[bool(a == b) for b in group] for a in group]


@pytest.mark.parametrize("seed", range(12))
def test_regrouping_leaves_other_groups_as_they_are(seed):
    generator, table, past, proposal = situation(seed)
    leaking = generator.permutation(int(proposal.group.max()) + 1)[:2]
    touched = np.isin(proposal.group, leaking)
    found = regroup(table, past, proposal, touched, m=2, hold_back=True, seed=seed)
    others = np.flatnonzero(~touched & (proposal.group >= 0))
    assert together(found.group[others]) == together(proposal.group[others])
    assert not np.isin(found.group[touched], found.group[others]).any()
    assert (found.group[~touched & (proposal.group < 0)] == -1).all()
    name = {int(old): int(new) for old, new in zip(proposal.group[others], found.group[others], strict=True)}
    kept = [
        (name[int(g)], int(v))
        for g, v in zip(proposal.counterfeit_group, proposal.counterfeit_value, strict=True)
        if g in name
    ]
    every = zip(found.counterfeit_group.tolist(), found.counterfeit_value.tolist(), strict=True)
    assert sorted(pair for pair in every if pair[0] in name.values()) == sorted(kept)


def crossed(group):
    """Two groups before, of the same values but for one; a and c, who have x, are proposed in these groups."""
    before = pl.DataFrame({"id": list("abcd"), "group": [1, 1, 2, 2], "value": ["x", "y", "x", "z"]})
    release = Release.bucketized(before, id="id", sensitive="value", group="group", name="R1")
    now = before.drop("group").with_columns(age=pl.Series([1, 2, 3, 4]), zip=pl.lit("z"))
    table = prepare(now, shape=Shape.of(None, None, None, None, "refuse"), **ROLES)
    return swap(Past.of(table, [release]), Proposal(codes(group)), np.ones(4, dtype=bool))


def test_members_are_exchanged_where_they_share_more_and_only_there():
    assert crossed([0, 0, 1, 1]) is None
    assert crossed([1, 0, 0, 1]).group.tolist() == [0, 0, 1, 1]


def test_members_are_not_exchanged_for_nothing():
    before = pl.DataFrame({"id": list("abcd"), "group": [1, 1, 2, 2], "value": ["x", "y", "x", "y"]})
    release = Release.bucketized(before, id="id", sensitive="value", group="group", name="R1")
    now = before.drop("group").with_columns(age=pl.Series([1, 2, 3, 4]), zip=pl.lit("z"))
    table = prepare(now, shape=Shape.of(None, None, None, None, "refuse"), **ROLES)
    assert swap(Past.of(table, [release]), Proposal(codes([0, 0, 1, 1])), np.ones(4, dtype=bool)) is None


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("limit", [0.25, 0.34, 0.5])
def test_over_by_the_sets_is_over_by_counting(known, limit):
    """Values that a person's group publishes and that were possible before: fewer than the limit needs."""
    every = []
    for seed in range(8):
        _, table, past, proposal = situation(seed, groups=8)
        before = infer(past.history)
        found = over_by_sets(table, past, proposal, before if known else None, limit=limit)
        told = dict(zip(found.ids, found.over.tolist(), strict=True))
        here = list(zip(table.frame["id"], proposal.group.tolist(), past.value.tolist(), strict=True))
        fakes = list(zip(proposal.counterfeit_group.tolist(), proposal.counterfeit_value.tolist(), strict=True))
        assert set(told) == {i for i, g, _ in here if g >= 0}
        for person, group, _ in here:
            if group < 0:
                continue
            common = {v for _, g, v in here if g == group} | {v for g, v in fakes if g == group}
            if known and person in before.ids:
                common &= {past.values.to_list().index(v) for v, p in before.of(person).items() if p > 0}
            assert told[person] == ((limit + SLACK) * max(len(common), 1) < 1), person
        every += told.values()
    assert 0 < sum(every) < len(every)
