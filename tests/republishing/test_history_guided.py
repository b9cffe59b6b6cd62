"""History-guided re-publishing: what it promises, what it gives away, and what the repairs do about it."""

import gzip
import os
from collections import Counter
from csv import DictReader
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from showthrough import FrequencyLDiversity, anonymize, infer
from showthrough.anonymizers.anatomy import anatomy
from showthrough.errors import InputError
from showthrough.republishing.history_guided import history_guided
from tests.republishing.dynamic import release

DATA = Path(os.environ.get("SHOWTHROUGH_DATA", Path(__file__).parents[3] / "shared" / "data"))
ADULT = DATA / "adult" / "adult_kdd08.csv.gz"
SAFE = ("counterfeits", "hold")
REPAIRS = ("report", "dissolve", *SAFE)


class Pair:
    """Two tables: groups of the first by Anatomy, then some leave and others come."""

    def __init__(self, value, l, first, second, *, group=None, seed=0):
        self.value, self.l, self.first, self.second, self.seed = value, l, first, second, seed
        made = anatomy(value[first], l, seed=seed, suppression_limit=len(first)).group if group is None else group
        self.first, self.group = first[made >= 0], made[made >= 0]
        of_person = dict(zip(self.first.tolist(), self.group.tolist(), strict=True))
        self.old = np.array([of_person.get(int(p), -1) for p in second], dtype=np.int32)
        self.departed = self.first[~np.isin(self.first, second)]
        self.slot_group = np.array([of_person[int(p)] for p in self.departed], dtype=np.int32)

    def next(self, repair):
        return history_guided(
            self.value[self.second],
            self.l,
            old_group=self.old,
            slot_group=self.slot_group,
            slot_value=self.value[self.departed],
            repair=repair,
            seed=self.seed,
        )

    def releases(self, result):
        fakes = result.counterfeit_group, result.counterfeit_value
        return [
            release(self.first, self.value[self.first], self.group, name="D1"),
            release(self.second, self.value[self.second], result.group, fakes=fakes, name="D2"),
        ]


def top(posterior):
    """The highest probability of each person."""
    return dict(posterior.to_frame().group_by("id").agg(pl.col("p").max()).iter_rows())


@st.composite
def pairs(draw, *, least=2, most=4):
    l = draw(st.integers(least, most))
    persons = draw(st.integers(4 * l, 60))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    value = generator.integers(0, l + draw(st.integers(0, 3)), persons).astype(np.int32)
    first = np.flatnonzero(generator.random(persons) < 0.7)
    second = np.flatnonzero(generator.random(persons) < 0.7)
    assume(len(first) >= l and len(np.unique(value[first])) >= l)
    return Pair(value, l, first, second, seed=draw(st.integers(0, 99)))


@settings(max_examples=60, deadline=None)
@given(pairs(), st.sampled_from(REPAIRS))
def test_old_groups_keep_their_values(pair, repair):
    result = pair.next(repair)
    old_groups = int(pair.group.max()) + 1
    value = pair.value[pair.second]
    before = [Counter(pair.value[pair.first[pair.group == g]].tolist()) for g in range(old_groups)]
    now = [Counter() for _ in range(result.groups)]
    for v, g in zip(value.tolist(), result.group.tolist(), strict=True):
        if g >= 0:
            now[g][v] += 1
    for g, v in zip(result.counterfeit_group.tolist(), result.counterfeit_value.tolist(), strict=True):
        now[g][v] += 1
    extra = [Counter() for _ in range(old_groups)]
    for row in result.placed.tolist():
        extra[result.group[row]][int(value[row])] += 1
    lost = [Counter() for _ in range(old_groups)]
    for slot in result.unfilled.tolist():
        lost[pair.slot_group[slot]][int(pair.value[pair.departed[slot]])] += 1
    for g in range(old_groups):
        if g in result.given_up:
            assert now[g] <= before[g]
        else:
            assert now[g] == before[g] - lost[g] + extra[g]
    for g in range(old_groups, result.groups):
        assert len(now[g]) == now[g].total() >= pair.l
    stays = (pair.old >= 0) & (result.group >= 0) & (result.group < old_groups)
    assert np.array_equal(result.group[stays], pair.old[stays])
    assert np.array_equal(result.held, np.flatnonzero(result.group < 0))
    for slot, row in enumerate(result.filled.tolist()):
        if row >= 0:
            assert pair.old[row] == -1
            assert value[row] == pair.value[pair.departed[slot]]
            assert result.group[row] == pair.slot_group[slot]
    if repair in ("report", "counterfeits"):  # as many slots are filled as can be
        new = Counter(value[pair.old < 0].tolist())
        wanted = Counter(pair.value[pair.departed].tolist())
        assert np.count_nonzero(result.filled >= 0) == (new & wanted).total()


@settings(max_examples=25, deadline=None)
@given(pairs(), st.sampled_from(SAFE))
def test_repaired_releases_keep_everybody_at_one_in_l(pair, repair):
    result = pair.next(repair)
    if (result.group >= 0).any():
        posterior = infer(pair.releases(result))
        assert posterior.to_frame()["p"].max() <= 1 / pair.l + posterior.certificate.error_bar + 1e-12


@settings(max_examples=15, deadline=None)
@given(
    l=st.integers(2, 3),
    persons=st.integers(20, 50),
    large=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    repair=st.sampled_from(SAFE),
)
def test_eight_releases_in_a_row(l, persons, large, seed, repair):
    generator = np.random.default_rng(seed)
    value = generator.integers(0, 3 * l if large else l + 2, persons).astype(np.int32)
    size = 2 * l + 1 if large else l  # large groups can be withheld in part
    standing, slot_group, slot_value = {}, np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    there, left, releases = generator.random(persons) < 0.6, np.zeros(persons, dtype=bool), []
    for round_ in range(8):
        rows = np.flatnonzero(there & ~left)
        old = np.array([standing.get(int(p), -1) for p in rows], dtype=np.int32)
        result = history_guided(
            value[rows],
            l if round_ else size,
            old_group=old,
            slot_group=slot_group,
            slot_value=slot_value,
            repair=repair,
            seed=round_,
        )
        if (result.group >= 0).any():
            fakes = result.counterfeit_group, result.counterfeit_value
            releases.append(release(rows, value[rows], result.group, fakes=fakes, name=f"r{round_}"))
            posterior = infer(releases)
            assert posterior.to_frame()["p"].max() <= 1 / l + posterior.certificate.error_bar + 1e-9
        standing |= dict(zip(rows.tolist(), result.standing.tolist(), strict=True))
        leave = rows[generator.random(len(rows)) < 0.2]  # for good
        left[leave] = True
        known = [p for p in leave.tolist() if standing[p] >= 0]
        again = result.slot_standing >= 0
        slot_group = np.concatenate([result.slot_standing[again], [standing[p] for p in known]]).astype(np.int32)
        slot_value = np.concatenate([slot_value[again], value[known]]).astype(np.int32)
        there |= generator.random(persons) < 0.3


@settings(max_examples=25, deadline=None)
@given(pairs())
def test_with_all_slots_filled_the_joint_entropy_is_that_of_the_single_releases(pair):
    result = pair.next("counterfeits")
    if not (result.group >= 0).any() or len(result.placed):
        return
    first, second = pair.releases(result)
    joint = infer([first, second])
    alone = infer([first]).entropy
    later = infer([second]).to_frame().filter(~pl.col("id").is_in(first.groups()["id"].implode()))
    assert joint.entropy == pytest.approx(alone + float(-(later["p"] * later["p"].log()).sum()), abs=1e-6)


@pytest.mark.parametrize("repair", REPAIRS)
def test_newcomers_with_the_values_of_the_departed_fill_every_slot(repair):
    value = np.tile(np.random.default_rng(5).integers(0, 7, 300), 2).astype(np.int32)
    leaves = np.random.default_rng(6).random(300) < 0.2
    second = np.where(leaves, np.arange(300, 600), np.arange(300))
    pair = Pair(value, 3, np.arange(300), second)
    result = pair.next(repair)
    assert (result.filled >= 0).all()
    assert (len(result.unfilled), len(result.given_up), len(result.counterfeit_group), len(result.held)) == (0,) * 4
    releases = pair.releases(result)
    joint = infer(releases).to_frame()
    alone = infer(releases[1:])
    assert infer(releases[:1]).entropy == pytest.approx(alone.entropy)
    there = joint.filter(pl.col("id").is_in([f"p{p}" for p in second]))
    assert float(-(there["p"] * there["p"].log()).sum()) == pytest.approx(alone.entropy)


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_the_report_finds_the_departed_whom_the_release_exposes(pair):
    result = pair.next("report")
    if not (result.group >= 0).any():
        return
    posterior = infer(pair.releases(result))
    highest = top(posterior)
    limit = 1 / pair.l + posterior.certificate.error_bar + 1e-9
    exposed = {slot for slot, person in enumerate(pair.departed.tolist()) if highest[f"p{person}"] > limit}
    assert exposed == set(result.at_risk.tolist())
    members = {f"p{p}": g for p, g in zip(pair.second.tolist(), result.group.tolist(), strict=True) if g >= 0}
    assert {members[i] for i, p in highest.items() if i in members and p > limit} == set(result.thin.tolist())


def test_groups_larger_than_two_l_are_held_back_in_part():
    value = np.arange(6, dtype=np.int32)
    pair = Pair(value, 2, np.arange(6), np.arange(1, 6), group=np.zeros(6, dtype=np.int32))
    result = pair.next("hold")
    assert len(result.held) == 1  # one more than the departed, so that two share two values
    highest = top(infer(pair.releases(result)))
    assert highest["p0"] == pytest.approx(1 / 2)
    assert max(highest.values()) == pytest.approx(1 / 2)
    assert pair.next("report").at_risk.tolist() == [0]


def test_too_many_of_one_value_join_groups_without_older_members():
    value = np.array([0, 1, 2, 0, 1, 2, 3, 3], dtype=np.int32)  # all three leave, three with their values come
    pair = Pair(value, 3, np.arange(3), np.arange(3, 8), group=np.zeros(3, dtype=np.int32))
    result = pair.next("report")
    assert len(result.placed) == 1
    assert sorted(result.group.tolist()) == [-1, 0, 0, 0, 0]
    posterior = infer(pair.releases(result))
    assert max(top(posterior).values()) == pytest.approx(1 / 3)
    stays = Pair(value, 3, np.arange(3), np.array([0, 1, 5, 6, 7]), group=np.zeros(3, dtype=np.int32))
    assert len(stays.next("report").placed) == 0  # older members cannot have the value


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"repair": "pray"}, "repair is one of report, counterfeits, dissolve, hold"),
        ({"old_group": np.array([0])}, "2 values but 1 old groups"),
        ({"slot_value": np.array([0, 1])}, "slots have 1 groups but 2 values"),
        ({"slot_group": np.array([-1])}, "the group of a slot is never -1"),
        ({"slot_value": np.array([-1])}, "0 or more"),
    ],
)
def test_refused(changed, message):
    given = {"old_group": np.array([0, -1]), "slot_group": np.array([0]), "slot_value": np.array([1])}
    with pytest.raises(InputError, match=message):
        history_guided(np.array([0, 1]), 2, **{**given, **changed})
    with pytest.raises(InputError, match="l must be at least 1"):
        history_guided(np.array([0, 1]), 0, **given)


def occupations():
    with gzip.open(ADULT, "rt", encoding="utf-8") as file:
        return np.unique([row["occupation"] for row in DictReader(file)], return_inverse=True)[1].astype(np.int32)


@pytest.mark.skipif(not ADULT.is_file(), reason="Adult is not there: set SHOWTHROUGH_DATA to its folder")
@pytest.mark.parametrize("l", [2, 3, 5])
def test_the_size_of_the_paper(l):
    value = occupations()
    order = np.random.default_rng(l).permutation(len(value))
    pair = Pair(value, l, order[:7200], order[1200:8400])
    result = pair.next("report")
    highest = top(infer(pair.releases(result)))
    certain = {slot for slot, p in enumerate(pair.departed.tolist()) if highest[f"p{p}"] > 0.999}
    assert 15 <= len(certain) <= 90
    alone = np.bincount(pair.slot_group)[pair.slot_group] == 1
    assert certain == set(result.unfilled[alone[result.unfilled]].tolist())
    assert certain <= set(result.at_risk.tolist())
    for repair in SAFE:
        fixed = pair.next(repair)
        assert max(top(infer(pair.releases(fixed))).values()) <= 1 / l + 1e-5
    assert pair.next("counterfeits").counterfeit_group.size == len(result.unfilled)


def test_a_group_that_is_gone_as_a_whole_needs_no_counterfeits():
    gone, kept = {"slot_group": np.array([0, 0, 1]), "slot_value": np.array([0, 1, 0])}, np.array([1, -1, -1])
    result = history_guided(np.array([1, 2, 3]), 2, old_group=kept, repair="counterfeits", **gone)
    assert result.counterfeit_group.tolist() == [1]
    assert result.counterfeit_value.tolist() == [0]
    assert result.unfilled.tolist() == [0, 1]
    assert result.slot_standing[:2].tolist() == [-1, -1]


def test_a_release_after_a_group_has_gone_can_be_measured():
    columns = {
        "pid": list("abcdefgh"),
        "sex": ["f"] * 8,
        "illness": ["flu", "cold", "flu", "gout", "cold", "hiv", "hiv", "gout"],
    }
    table = pl.DataFrame(columns)
    shared = {"id": "pid", "sensitive": "illness", "quasi": ["sex"], "criteria": [FrequencyLDiversity(2)], "seed": 0}
    shared |= {"publish_ids": True, "method": "anatomy"}
    first = anonymize(table[:4], name="D1", **shared)
    group = first.groups()["group"][0]
    stay = first.groups().filter(pl.col("group") != group)["id"].to_list()
    second = pl.concat(
        [table[:4].filter(pl.col("pid").is_in(stay)), table.filter(pl.col("illness") == "hiv")[:1], table[7:]]
    )
    made = anonymize(
        second, name="D2", strategy="history-guided", repair="counterfeits", history=[first], hold_back=True, **shared
    )
    assert made.made.counterfeits == 0
    assert set(stay) <= set(made.groups()["id"])
