"""CellShapes of groups, who joins whom, and who stays or trades places: beside plain loops and full inferences."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from showthrough import FrequencyLDiversity, KAnonymity, Policy, anonymize
from showthrough.anonymizers.group_loss import group_losses
from showthrough.anonymizers.table import Shape, prepare
from showthrough.errors import InputError
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.extents import CellShapes
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.repairs import merge, values_of_groups
from showthrough.republishing.standing import Standing
from showthrough.republishing.staying import staying
from showthrough.republishing.tied import joint
from showthrough.republishing.traded import traded
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}
CRITERIA = [KAnonymity(2), FrequencyLDiversity(2)]
SEEDS = st.integers(0, 2**20)


def situation(seed, *, persons=60, groups=8, turnover=0.2, base="mondrian"):
    """Two releases without a look at each other, the table of the third, and random groups of its rows."""
    tables = list(raw_tables(seed, persons=persons, values=4, releases=3, turnover=turnover))
    criteria = CRITERIA if base == "mondrian" else CRITERIA[1:]
    made = {"method": base, "criteria": criteria, "output": "bucketized", **ROLES}
    try:
        history = [anonymize(t, name=f"R{k}", seed=k, **made) for k, t in enumerate(tables[:2])]
    except InputError:  # the tables allow no such groups
        reject()
    table = prepare(tables[2], shape=Shape(), **ROLES)
    past = Past.of(table, history)
    generator = np.random.default_rng(seed)
    group = np.r_[np.arange(groups), generator.integers(-1, groups, table.rows - groups)]
    return history, table, past, Proposal(generator.permutation(group).astype(np.int32))


def lost(table, group):
    """What all members lose, by the anonymizers' own measure."""
    used = np.unique(group[group >= 0])
    dense = np.where(group >= 0, np.searchsorted(used, group), -1)
    size, losses = group_losses(table.columns, dense)
    return float(size @ (losses @ np.array([c.weight for c in table.columns])))


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_what_joining_and_taking_cost_is_what_the_cells_lose_more(seed):
    _, table, _, proposal = situation(seed)
    group = proposal.group.astype(np.int64)
    inside = np.flatnonzero(group >= 0)
    extents = CellShapes.of(table.columns).extents(inside, group[inside])
    assert extents.number.tolist() == list(range(8))
    assert extents.loss == pytest.approx(lost(table, group), abs=1e-4)
    assert extents.place(np.array([3, 8, -1])).tolist() == [3, -1, -1]
    for other in range(1, 8):
        joined = np.where(group == other, 0, group)
        expected = lost(table, joined) - lost(table, group)
        assert extents.joining(0, np.arange(8))[other] == pytest.approx(expected, abs=1e-4)
    outside = np.flatnonzero(group < 0)[:3]
    taking = extents.taking(outside, np.arange(8))
    for (place, row), g in product(enumerate(outside.tolist()), range(8)):
        more = group.copy()
        more[row] = g
        assert taking[place, g] == pytest.approx(lost(table, more) - lost(table, group), abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(0, 7), st.booleans())
def test_a_group_joins_the_one_whose_cells_widen_least(seed, leaking, alike):
    _, table, past, proposal = situation(seed)
    found = merge(table, past, proposal, np.array([leaking]), alike=alike)
    kinds = values_of_groups(past, proposal)
    same = [g for g in range(8) if g != leaking and kinds[g] == kinds[leaking]]
    among = same or ([] if alike else [g for g in range(8) if g != leaking])
    if found is None:
        assert not among
        return
    costs = {g: lost(table, np.where(proposal.group == leaking, g, proposal.group)) for g in among}
    assert lost(table, found.group) == pytest.approx(min(costs.values()), abs=1e-4)
    assert np.unique(found.group[found.group >= 0]).size == 7


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.2, 0.4]))
def test_who_stays_tells_nobody_anything(seed, turnover):
    """Even persons of an old group, as many with each value, and who is certain: beliefs are what they were."""
    history, table, past, _ = situation(seed, turnover=turnover, base="anatomy")
    before = joint(history)
    standing = Standing.of(table, past, before)
    drafts = Drafts(table, past, before)
    found = staying(past, standing, np.ones(table.rows, dtype=bool), lambda p: drafts.failing(p, CRITERIA))
    if not (found.group >= 0).any():
        return
    assert (standing.person[found.group >= 0] >= 0).all()
    for g in range(int(found.group.max()) + 1):
        last = standing.member[standing.person[found.group == g]]
        assert np.unique(last).size <= 1
    after = drafts.posterior(found.numbered())
    both = before.to_frame().join(after.to_frame(), on=["id", "value"], how="full", suffix="_now", coalesce=True)
    moved = (both["p"].fill_null(0.0) - both["p_now"].fill_null(0.0)).abs().max()
    assert moved < 1e-6


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_trades_leave_every_group_its_values_and_lose_less(seed, turnover):
    history, table, past, proposal = situation(seed, turnover=turnover)
    standing = Standing.of(table, past, joint(history))
    found = traded(table, past, standing, proposal)
    assert lost(table, found.group) <= lost(table, proposal.group) + 1e-6
    assert (found.group < 0).tolist() == (proposal.group < 0).tolist()
    for g in range(8):
        mine = (sorted(past.value[p.group == g].tolist()) for p in (found, proposal))
        assert next(mine) == next(mine)
    told = {i: tuple(sorted(zip(v, p, strict=True))) for i, v, p in _rows(joint(history))}
    ids = table.frame["id"].to_list()
    moved = np.flatnonzero(found.group != proposal.group)
    left = sorted((int(proposal.group[r]), int(past.value[r]), told.get(ids[r], ())) for r in moved)
    came = sorted((int(found.group[r]), int(past.value[r]), told.get(ids[r], ())) for r in moved)
    assert left == came  # whoever goes is followed by somebody of whom the same is believed


def _rows(post):
    frame = post.to_frame().filter(pl.col("p") > 0).with_columns(pl.col("p").round(6))
    return frame.group_by("id").agg("value", "p").select("id", "value", "p").rows()


def test_newcomers_of_a_value_go_where_they_fit():
    """Two groups of two, whose newcomers were given out the wrong way round."""
    frame = pl.DataFrame({"id": list("abcd"), "age": [20, 70, 21, 71], "zip": ["z"] * 4, "value": ["x", "x", "y", "y"]})
    table = prepare(frame, shape=Shape(), **ROLES)
    other = anonymize(frame.with_columns(id=pl.col("id") + "0"), method="anatomy", criteria=CRITERIA[1:], **ROLES)
    past = Past.of(table, [other])
    standing = Standing.of(table, past, joint([other]))
    found = traded(table, past, standing, Proposal(np.array([0, 1, 1, 0], dtype=np.int32)))
    assert found.group[0] == found.group[2] != found.group[1] == found.group[3]


@pytest.mark.parametrize("seed", range(6))
def test_without_holding_back_the_guard_goes_on_too(seed):
    """Where nothing has to be withheld, holding nothing back gets as narrow cells and pays as much."""
    tables = list(raw_tables(seed, persons=120, values=5, releases=3, turnover=0.15))
    made = {"method": "local-recoding", "criteria": CRITERIA, "output": "generalized", **ROLES}
    history = [anonymize(t, name=f"R{k}", seed=k, **made) for k, t in enumerate(tables[:2])]
    guard = {"strategy": "guarded", "policy": Policy(max_posterior=0.6, integral="no"), "exposed": "accept"}
    held = anonymize(tables[2], name="R2", history=history, hold_back=True, **guard, **made)
    if held.made.suppressed:
        return
    free = anonymize(tables[2], name="R2", history=history, **guard, **made)
    assert not free.made.suppressed
    assert free.made.counterfeits <= held.made.counterfeits
    cells, least = (next(r.figures["gcp"] for r in one.made.remarks if r.kind == "price") for one in (free, held))
    assert cells <= 1.2 * least
