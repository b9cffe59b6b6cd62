"""Where no grouping of a table satisfies a criterion the guard adds counterfeits instead of giving up."""

import numpy as np
import polars as pl
import pytest

from showthrough import FrequencyLDiversity, KAnonymity, MUniqueness, Policy, anonymize, infer
from showthrough.anonymizers.table import Shape, prepare
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.filled import cheapest, filled, parted, thinned
from showthrough.republishing.kept_cells import all_back
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}
GUARD = {"strategy": "guarded", "exposed": "accept", "seconds": 20, "name": "R2", **ROLES}
VALUES = ["flu"] * 8 + ["cold"] * 8 + ["HIV"] * 2 + ["gout"] * 2


def table():
    """Two of four values make up four fifths."""
    many = range(len(VALUES))
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in many], "age": [20 + 7 * i % 40 for i in many], "zip": [f"z{i % 4}" for i in many],
            "value": VALUES,
        }
    )  # fmt: skip


def ready():
    return prepare(table(), shape=Shape(), **ROLES)


def too_frequent(release, l):
    shares = release.counts().group_by("group").agg(pl.col("n").max() / pl.col("n").sum())["n"]
    return [share for share in shares if share > 1 / l + 1e-9]


@pytest.mark.parametrize("hold_back", [True, False])
def test_a_guard_keeps_a_criterion_that_no_grouping_satisfies(hold_back):
    criteria = [MUniqueness(2)]
    past = [anonymize(table(), strategy="m-invariance", method="anatomy", criteria=criteria, name="R1", **ROLES)]
    policy = Policy(max_posterior=1 / 3, integral="no")
    release = anonymize(
        table(), method="local-recoding", criteria=[FrequencyLDiversity(3)], history=past, policy=policy,
        hold_back=hold_back, output="bucketized", **GUARD,
    )  # fmt: skip
    assert not too_frequent(release, 3)
    assert release.made.guard.review.holds
    assert release.made.suppressed <= 2 * hold_back
    assert release.made.suppressed + release.made.counterfeits == 4  # 24 records, of which 8 are a third
    post = infer([*past, release])
    over = set(post.ids.filter(pl.Series(post.largest() > 1 / 3 + 2e-5)))
    assert over <= set(release.made.exposed)


@pytest.mark.parametrize("hold_back", [True, False])
def test_so_does_a_guard_against_readers_who_locate(hold_back):
    past = [anonymize(table(), method="mondrian", criteria=[KAnonymity(5)], output="generalized", name="R1", **ROLES)]
    release = anonymize(
        table(), method="mondrian", criteria=[FrequencyLDiversity(3)], history=past, readers="located",
        policy=Policy(max_posterior=0.5, integral="no"), hold_back=hold_back, output="generalized", **GUARD,
    )  # fmt: skip
    assert not too_frequent(release, 3)
    assert release.made.guard.review.holds


def test_counterfeits_are_of_what_is_rarest_in_a_group():
    past = Past.of(ready(), [])
    drafts = Drafts(ready(), past, None)

    def failing(one):
        return drafts.failing(one, [FrequencyLDiversity(2)])

    row = {v: np.flatnonzero(past.values.to_numpy()[past.value] == v) for v in ("flu", "cold", "gout")}
    group = np.full(20, -1, dtype=np.int32)
    group[row["flu"][:3]], group[row["cold"][:1]] = 0, 0
    group[[row["flu"][3], row["cold"][1]]] = 1
    found = filled(past, Proposal(group), failing)
    assert found.counterfeit_group.tolist() == [0, 0]
    assert sorted(past.values.gather(found.counterfeit_value)) == ["HIV", "gout"]
    assert cheapest([Proposal(group), found], failing) is found


def test_what_is_most_frequent_is_withheld_before_counterfeits_are_added():
    past = Past.of(ready(), [])
    drafts = Drafts(ready(), past, None)

    def failing(one):
        return drafts.failing(one, [FrequencyLDiversity(3)])

    whole = Proposal(np.zeros(20, dtype=np.int32))
    one, several = (thinned(past, whole, failing, most) for most in (1, 2))
    held = [sorted(past.values.gather(past.value[p.group < 0])) for p in (one, several)]
    assert held[0] in (["flu"], ["cold"])
    assert held[1] == ["cold", "flu"]
    assert [filled(past, p, failing).price for p in (whole, one, several)] == [4, 6, 5]


def test_groups_come_in_parts_where_no_value_may_stand_twice():
    past = Past.of(ready(), [])
    drafts = Drafts(ready(), past, None)

    def failing(one):
        return drafts.failing(one, [MUniqueness(2)])

    group = np.zeros(20, dtype=np.int32)
    own = np.flatnonzero(past.value == past.value[0])[:1], np.flatnonzero(past.value != past.value[0])[:1]
    group[np.concatenate(own)] = 1  # fine as it is
    found = filled(past, parted(past, Proposal(group), failing), failing)
    assert not failing(found).any()
    assert found.group.max() == 7  # one group for each of the most frequent value
    assert (found.group == found.group[own[0]]).sum() == 2
    assert not found.held


@pytest.mark.parametrize("hold_back", [True, False])
def test_a_guard_keeps_groups_without_equal_values_where_one_is_too_frequent(hold_back):
    skewed = table().with_columns(value=pl.Series(["flu"] * 15 + ["cold"] * 5))
    past = [anonymize(skewed, method="mondrian", criteria=[KAnonymity(4)], output="bucketized", name="R1", **ROLES)]
    release = anonymize(
        skewed, method="anatomy", criteria=[MUniqueness(2)], history=past, hold_back=hold_back,
        policy=Policy(max_posterior=0.5, integral="no"), **GUARD,
    )  # fmt: skip
    assert release.counts()["n"].max() == 1
    assert release.made.suppressed <= 2
    assert release.made.suppressed + release.made.counterfeits == 10


def test_what_counterfeits_do_not_help_is_left_as_it_is():
    past = Past.of(ready(), [])
    drafts = Drafts(ready(), past, None)
    whole = Proposal(np.zeros(20, dtype=np.int32))
    unlike = filled(past, whole, lambda one: drafts.failing(one, [MUniqueness(2)]))
    assert unlike is whole


def test_everybody_comes_back_where_cells_widen_least():
    places = ready()
    group = (places.frame["age"].to_numpy() >= 40).astype(np.int32)
    held = group.copy()
    held[[1, 4]] = -1  # between others of their groups
    back = all_back(places, Proposal(held))
    assert (back.group >= 0).all()
    assert (back.group == group).all()


def test_newcomers_with_one_value_are_published_beside_counterfeits_rather_than_withheld():
    before = table()
    past = [anonymize(before, strategy="m-invariance", method="anatomy", criteria=[MUniqueness(2)], name="R1", **ROLES)]
    new = [(f"n{i}", 20 + i, f"z{i % 4}", "flu") for i in range(30)]
    now = pl.concat([before, pl.DataFrame(new, schema=before.schema, orient="row")])
    release = anonymize(
        now, method="mondrian", criteria=[KAnonymity(2)], output="bucketized", history=past, hold_back=True,
        policy=Policy(max_posterior=0.5, integral="no"), **GUARD,
    )  # fmt: skip
    assert release.made.guard.review.holds
    assert release.made.suppressed <= 5  # a tenth
    assert release.made.suppressed + release.made.counterfeits <= 30
