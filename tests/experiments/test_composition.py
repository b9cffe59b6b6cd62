"""The intersection of two releases beside plain sets, and what figures of the composition paper say of themselves."""

import numpy as np
import polars as pl
import pytest

from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import EntropyLDiversity
from showthrough.experiments.composition_pairs import (
    BEYOND,
    CONFIDENCES,
    MDAV,
    ORDERED,
    OWN,
    OWN_RELAXED,
    RELAXED,
    STRICT,
    MeasuredPairs,
    PairSetting,
    Scenario,
    StudiedPopulation,
    breached,
)  # fmt: skip
from showthrough.experiments.diverse_partitions import DiversePartitions
from showthrough.experiments.intersection_breach import IntersectionBreach
from showthrough.experiments.partition_sizes import AnonymityDrop, PartitionSizes
from showthrough.experiments.study_data import ID, StudyData
from showthrough.progress import Progress
from showthrough.release.release import Release

SMALL = StudyData.synthetic()


@pytest.fixture(scope="module")
def adult():
    return StudiedPopulation.of(SMALL, "adult")


def test_parts_share_exactly_the_persons_in_both():
    setting = PairSetting("adult", 50, 20, Scenario.both(STRICT, 5))
    first, second = setting.drawn(200, 3)
    assert len(set(first)) == len(set(second)) == 50
    assert len(set(first) & set(second)) == 20
    again = PairSetting("adult", 50, 20, Scenario.both(RELAXED, 2)).drawn(200, 3)
    assert (first.tolist(), second.tolist()) == tuple(part.tolist() for part in again), "every scenario has the same"


@pytest.mark.parametrize("scheme", [STRICT, ORDERED, RELAXED, MDAV, OWN, OWN_RELAXED])
def test_every_scheme_keeps_k(adult, scheme):
    rows = adult.table[:300]
    sizes = adult.published(rows, scheme, [KAnonymity(4)]).size
    assert sizes.sum() == 300
    assert min(sizes) >= 4


def test_criteria_hold_in_every_group(adult):
    made = adult.published(adult.table[:300], STRICT, [KAnonymity(4), EntropyLDiversity(3)])
    assert EntropyLDiversity(3).check(made).holds


def test_figures_of_a_pair_by_plain_sets():
    random = np.random.default_rng(5)
    value = {person: str(random.integers(0, 5)) for person in range(60)}
    groups = [{p: int(random.integers(0, 12)) for p in people} for people in (range(40), range(20, 60))]
    releases = [
        Release.bucketized(
            pl.DataFrame({"id": list(own), "g": list(own.values()), "v": [value[p] for p in own]}),
            id="id", sensitive="v", group="g", quasi=[], name=f"R{k}",
        )
        for k, own in enumerate(groups)
    ]  # fmt: skip
    found = breached(releases, beyond=True)
    sets = [{p: {value[q] for q in own if own[q] == own[p]} for p in own} for own in groups]
    both = range(20, 40)
    left = {p: sets[0][p] & sets[1][p] for p in both}
    least = {p: min(len(sets[0][p]), len(sets[1][p])) for p in both}
    for confidence in CONFIDENCES:
        told = found[f"at_{100 * confidence:.0f}"]
        assert told == pytest.approx(np.mean([1 / len(left[p]) >= confidence - 1e-9 for p in both]))
    assert found["homogeneous"] == pytest.approx(np.mean([least[p] == 1 for p in both]))
    assert found["vulnerable"] == pytest.approx(np.mean([len(left[p]) < least[p] for p in both]))
    assert found["posterior"] == pytest.approx(np.mean([len(left[p]) for p in both]))
    assert found["least_prior"] == pytest.approx(np.mean(list(least.values())))
    sizes = [[sum(own[q] == own[p] for q in own) for p in both] for own in groups]
    assert found["size"] == pytest.approx(np.mean(sizes))
    assert found["size_by_group"] == pytest.approx(np.mean([len(own) / len(set(own.values())) for own in groups]))
    assert found["certain"] == pytest.approx(found["at_100"] + found["only_by_counts"])
    assert set(BEYOND) <= found.keys()


def test_own_group_by_the_nearest_centroid(adult):
    apart = pl.DataFrame({ID: [str(k) for k in range(12)], "age": [20] * 6 + [70] * 6})
    same = adult.table[:12].drop(ID, "age").with_columns(pl.col(c).first() for c in adult.quasi if c != "age")
    assert adult.located(pl.concat([apart, same], how="horizontal"), 6) == 1.0


def test_means_over_draws_lie_between_the_least_and_the_most():
    grid = MeasuredPairs(SMALL, 3, 0, Progress()).grid([PairSetting("adult", 200, 100, Scenario.both(RELAXED, 3))])
    row = grid.row(0, named=True)
    assert row["least_perfect"] <= row["at_100"] <= row["most_perfect"]
    assert row["least_perfect"] < row["most_perfect"]


def test_shares_grow_with_less_confidence_and_with_proofs():
    found = IntersectionBreach.quick().run(SMALL, Progress(), 1)
    tables = {table.name: table.frame for table in found.tables}
    levels = tables["partial"].select(pl.col("^at_.*$")).to_numpy()
    assert (np.diff(levels, axis=1) >= 0).all()
    perfect = tables["figure-1"]
    assert (perfect["perfect"] >= perfect["already_homogeneous"]).all()
    joint = tables["beyond-sets"]
    assert (joint["certain"] >= joint["perfect_by_sets"]).all()
    assert all(claim.holds for claim in found.claims if claim.holds is not None)


@pytest.mark.parametrize("figure", [PartitionSizes, AnonymityDrop, DiversePartitions])
def test_what_the_paper_says_of_its_curves_holds_on_another_seed(figure):
    found = figure.quick().run(SMALL, Progress(), 2)
    assert all(claim.holds for claim in found.claims if claim.holds is not None)
