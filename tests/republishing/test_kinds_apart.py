"""Starts with kinds of persons apart: what they publish, and what readers believe of it."""

import numpy as np
import pytest

from showthrough import FrequencyLDiversity, KAnonymity, anonymize
from showthrough.anonymizers.table import Shape, prepare
from showthrough.republishing.beliefs import Kinds
from showthrough.republishing.kinds_apart import KindsApart
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.standing import Standing
from showthrough.republishing.tied import joint, tied_proposal
from tests.republishing.test_lowering import large_tables, settled

DRAWN = 40


def apart(past, kinds, l, most=4, seed=1):
    return KindsApart(kinds, past.value.astype(np.int64), 1 / l, most, np.random.default_rng(seed))


def large_past(seed):
    """A past of two tables in few groups at l = 3, many of whom stand at the limit."""
    criteria = [KAnonymity(3), FrequencyLDiversity(3)]
    roles = {"id": "pid", "sensitive": "value", "quasi": ["age", "zip"]}
    tables = large_tables(seed)
    history = [
        anonymize(t, method="mondrian", criteria=criteria, output="bucketized", name=f"R{k}", seed=seed, **roles)
        for k, t in enumerate(tables[:2], start=1)
    ]
    read = prepare(tables[2], shape=Shape(), **roles)
    past, before = Past.of(read, history), joint(history)
    return past, Kinds.of(past, Standing.of(read, past, before), before, 1 / 3)


@pytest.mark.parametrize("seed", [8217, 8337])
def test_kinds_stay_together_and_what_is_held_back_leaves_both_parts_in_proportion(seed):
    past, kinds = large_past(seed)
    given, held = apart(past, kinds, 3), 0
    for _ in range(DRAWN):
        made = given.drawn()
        assert made.held <= 4
        held += made.held
        for kind in np.unique(kinds.of_row):
            rows = np.flatnonzero(kinds.of_row == kind)
            kept = rows[made.group[rows] >= 0]
            assert np.unique(made.group[kept]).size <= 1
            if kept.size == rows.size:
                continue
            assert kinds.bound[kind] < 1
            alone = np.unique(kinds.of_row[made.group == made.group[kept[0]]])
            assert np.abs(kinds.base[alone] - kinds.base[kind]).max() < 1e-3  # or believed the same
            everybody = rows.size + kinds.gone[kind]
            shown = np.bincount(past.value[kept], minlength=past.values.len())
            assert shown.max() * 3 <= kept.size
            others = everybody * kinds.base[kind] - shown
            assert others.max() * 3 <= everybody - kept.size + 1e-3
    assert held


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_counterfeits_stand_where_nobody_is_exposed_or_held_back(seed):
    *_, past, _, kinds = settled(seed)
    given, some = apart(past, kinds, 2), 0
    for _ in range(DRAWN):
        made = given.drawn()
        for g in np.unique(made.counterfeit_group):
            own = np.unique(kinds.of_row[made.group == g])
            assert (kinds.bound[own] < 1).all()
            assert (made.group[np.isin(kinds.of_row, own)] == g).all()
            some += 1
    assert some


def test_the_same_seed_draws_the_same():
    *_, past, _, kinds = settled(3)
    one, other = (apart(past, kinds, 2, seed=7) for _ in range(2))
    for _ in range(5):
        a, b = one.drawn(), other.drawn()
        assert np.array_equal(a.group, b.group)
        assert np.array_equal(a.counterfeit_value, b.counterfeit_value)


@pytest.mark.parametrize("seed", [3, 4, 5, 6])
def test_in_a_group_of_one_kind_its_counts_alone_are_believed(seed):
    """The claim by which kinds are apart, held against a full inference of the release."""
    history, table, past, _, kinds = settled(seed)
    many = np.bincount(kinds.of_row, minlength=kinds.bound.size)
    many[kinds.newcomer] = 0
    kind = int(many.argmax())
    rows = np.flatnonzero(kinds.of_row == kind)
    group = np.zeros(past.value.size, dtype=np.int32)
    group[rows] = 1
    post = joint([*history, tied_proposal(table, past, Proposal(group))])
    told = {(i, v): p for i, v, p in post.to_frame().select("id", "value", "p").iter_rows()}
    share = np.bincount(past.value[rows], minlength=past.values.len()) / rows.size
    ids = table.frame["id"].to_list()
    for row in rows:
        mine = [told.get((ids[row], v), 0.0) for v in past.values.to_list()]
        assert mine == pytest.approx(share.tolist(), abs=1e-5)
