"""Pasts that leak: with records held back the guard has an answer, and it is near what any release takes."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import FrequencyLDiversity, KAnonymity, Policy, Release, anonymize
from showthrough.errors import InputError, PolicyError
from showthrough.inference.infer import infer
from showthrough.republishing.refill import Refill, in_proportion, solved
from showthrough.republishing.tied import joint
from tests.oracles import proportions
from tests.republishing.changing import raw_tables
from tests.republishing.test_guarded import MANY, ROLES, SEEDS, guard

SLACK = 2e-5


def leaking(seed, l, base="anatomy", **more):
    """Two releases without a look at each other, and the table of the third."""
    criteria = [FrequencyLDiversity(l)] if base == "anatomy" else [KAnonymity(3), FrequencyLDiversity(l)]
    tables = list(raw_tables(seed, persons=50, values=l + 3, releases=3, **more))
    history = [
        anonymize(t, method=base, criteria=criteria, output="bucketized", name=f"R{k}", seed=seed % 1000, **ROLES)
        for k, t in enumerate(tables[:2], start=1)
    ]
    return history, tables[2], criteria


def over(releases, limit):
    post = joint(releases)
    return set(post.ids.filter(pl.Series(post.largest() > limit + SLACK)))


@settings(max_examples=MANY, deadline=None)
@given(SEEDS, st.integers(2, 3), st.sampled_from(["anatomy", "mondrian"]))
def test_there_is_an_answer_that_keeps_policy_and_criteria(seed, l, base):
    try:
        history, table, criteria = leaking(seed, l, base)
    except InputError:  # the table allows no such groups
        return
    exposed = over(history, 1 / l)
    release = guard(
        table, history, Policy(max_posterior=1 / l, integral="no"), criteria=criteria, method=base, exposed="accept",
        output="bucketized", seconds=20,
    )  # fmt: skip
    assert over([*history, release], 1 / l) <= exposed
    assert set(release.made.exposed) == exposed
    for _, counts in release.counts().group_by("group"):  # frequency l-diversity, counted here
        assert counts["n"].max() * l <= counts["n"].sum()
    paid = release.made.counterfeits + release.made.suppressed
    told = [r.figures for r in release.made.remarks if r.kind == "least"]
    assert all(figures["least"] <= paid == figures["paid"] for figures in told)
    assert paid == 0 or told


def test_the_same_seed_the_same_release_beside_a_past_that_leaks():
    history, table, criteria = leaking(4, 2, "mondrian")
    policy = Policy(max_posterior=0.5, integral="no")
    one, other = (
        guard(table, history, policy, criteria=criteria, method="mondrian", exposed="accept", seed=7) for _ in range(2)
    )
    assert one.to_frame().equals(other.to_frame())
    assert one.counts().equals(other.counts())


def test_who_is_certain_stands_anywhere_and_costs_nothing():
    """Everybody was told in two releases that share one value each; the third publishes all and tells no more."""
    ids = [f"p{i}" for i in range(8)]
    values = ["a", "b", "c", "d"] * 2
    frame = pl.DataFrame({"id": ids, "age": range(8), "zip": ["z"] * 8, "value": values})
    roles = {"id": "id", "sensitive": "value", "group": "group"}
    first = Release.bucketized(frame.with_columns(group=pl.Series([0, 0, 1, 1, 2, 2, 3, 3])), name="R1", **roles)
    again = Release.bucketized(frame.with_columns(group=pl.Series([0, 1, 1, 0, 2, 3, 3, 2])), name="R2", **roles)
    release = guard(frame, [first, again], Policy(max_posterior=0.5), exposed="accept")
    assert (release.made.counterfeits, release.made.suppressed) == (0, 0)
    assert len(release.made.exposed) == 8
    with pytest.raises(PolicyError, match="already put 8 persons over a limit") as refused:
        guard(frame, [first, again], Policy(max_posterior=0.5))
    assert "p0" not in refused.value.shareable


def test_a_best_effort_says_by_how_much_it_fails():
    history, table, criteria = leaking(11, 3, "anatomy")
    policy = Policy(max_posterior=0.12, integral="no")
    with pytest.raises(PolicyError):
        guard(table, history, policy, criteria=criteria, exposed="accept", hold_back=False)
    release = guard(table, history, policy, criteria=criteria, exposed="accept", hold_back=False, best_effort=True)
    assert not release.made.guard.review.holds
    exposed = over(history, 0.12)
    left = over([*history, release], 0.12) - exposed
    assert left
    (verdict,) = [r for r in release.made.remarks if r.kind == "verdict"]
    assert verdict.figures["over"] == len(left)
    efforts = [r.figures for r in release.made.remarks if r.kind == "effort"]
    assert efforts[0]["over"] == len(left)
    for better, cheaper in pairwise(efforts):
        assert better["over"] <= cheaper["over"]
        assert better["withheld"] + better["counterfeits"] >= cheaper["withheld"] + cheaper["counterfeits"]


@settings(max_examples=5 * MANY, deadline=None)
@given(SEEDS)
def test_what_a_refill_foresees_is_what_readers_infer(seed):
    """One old group alone: the local model is exact, so its answer must be that of a fresh inference."""
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 3, 8)
    here = int(generator.integers(4, 8))
    old = pl.DataFrame({"id": [f"p{i}" for i in range(8)], "v": [f"v{v}" for v in values], "g": [0] * 8})
    roles = {"id": "id", "sensitive": "v", "group": "g"}
    first = Release.bucketized(old, name="R1", **roles)
    share = np.bincount(values, minlength=3) / 8
    fill = generator.integers(0, 3, 3)
    refill = Refill(
        np.tile(share, (here, 1)), values[:here], np.tile(share, (8 - here, 1)), np.ones(8 - here),
        np.zeros(here), np.zeros(8 - here), fill, 0.0, np.zeros(here, dtype=bool),
    )  # fmt: skip
    fakes = np.repeat(np.arange(3), fill)
    new = pl.concat(
        [old[:here], pl.DataFrame({"id": [None] * fakes.size, "v": [f"v{v}" for v in fakes], "g": [0] * fakes.size},
                                  schema=old.schema)]
    )  # fmt: skip
    second = Release.bucketized(new, name="R2", counterfeits={0: fakes.size} if fakes.size else None, **roles)
    post = infer([first, second])
    expected = post.largest().sum()  # bounds of 0: what is over is everybody's largest probability
    filler = 0.0
    if fakes.size:
        shown = np.bincount(values[:here], minlength=3) + fill
        inside = post.to_frame().filter(pl.col("id").is_in([f"p{i}" for i in range(here)]))
        mass = [inside.filter(pl.col("value") == f"v{v}")["p"].sum() for v in range(3)]
        filler = max(shown - np.array(mass)) / fakes.size
    if np.isfinite(refill.over):
        assert refill.over == pytest.approx(expected + filler, abs=1e-3)


def test_an_even_refill_moves_nobody_and_a_lopsided_one_is_mended():
    """Two of four are gone; with both of their values back nobody moves, without them the others are over."""
    rows = np.full((2, 4), 0.25)
    none = np.zeros(2, dtype=bool)
    base = (rows, np.array([0, 1]), rows, np.ones(2), np.full(2, 0.25), np.full(2, 0.25))
    whole = Refill(*base, np.array([0, 0, 1, 1]), 0.25, none)
    assert whole.over <= 1e-6
    empty = Refill(*base, np.zeros(4, dtype=np.int64), 0.25, none)
    assert empty.over > 0.1
    found = solved(empty, most=4, slack=1e-5)
    assert found is not None
    assert found.over <= 1e-5
    assert found.price == 2


COUNTS = st.lists(st.integers(0, 4), min_size=3, max_size=4)


@settings(max_examples=MANY, deadline=None)
@given(COUNTS, COUNTS, st.integers(2, 3))
def test_no_fewer_records_keep_the_proportions(there, gone, l):
    there, gone = [*there, 0][:4], [*gone, 0][:4]
    whole = np.array(there) + np.array(gone)
    if not sum(there) or max(whole) * l > whole.sum():
        return
    row = whole / whole.sum()
    here, away = np.tile(row, (sum(there), 1)), np.tile(row, (sum(gone), 1))
    value = np.repeat(np.arange(4), there)
    some, none = np.full(sum(there), 1 / l), np.full(sum(gone), 1 / l)
    start = Refill(
        here, value, away, np.ones(sum(gone)), some, none, np.zeros(4, dtype=np.int64), 1 / l,
        np.zeros(sum(there), dtype=bool),
    )  # fmt: skip
    found = in_proportion(start)
    fewest = proportions.fewest(there, gone, Fraction(1, l))
    assert (fewest is None) == (not found)
    if fewest is None:
        return
    assert int(found[0].out.sum()) == fewest
    for one in found:
        kept = np.bincount(value[~one.out], minlength=4)
        assert max(kept) * l <= kept.sum()
        assert max(whole - kept) * l <= (whole - kept).sum()
        assert one.over < SLACK  # readers who take the nearest rows believe the same


def test_a_group_at_the_limit_goes_on_without_a_few():
    values = "aaaabbbcccdd"
    first = pl.DataFrame({"id": [f"p{n}" for n in range(12)], "age": range(20, 32), "value": list(values)})
    before = Release.bucketized(first.with_columns(g=pl.lit(1)), id="id", sensitive="value", group="g", quasi=["age"])
    table = first.filter(pl.col("id") != "p11")
    release = anonymize(
        table, method="mondrian", output="bucketized", strategy="guarded", history=[before], hold_back=True,
        policy=Policy(max_posterior=1 / 3, integral="no"), criteria=[KAnonymity(3), FrequencyLDiversity(3)],
        id="id", sensitive="value", quasi=["age"],
    )  # fmt: skip
    assert not over([before, release], 1 / 3)
    assert release.made.suppressed + release.made.counterfeits <= 2
