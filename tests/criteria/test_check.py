"""Checks and levels of releases and frames, and the traps that data set."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.beta_likeness import BetaLikeness
from showthrough.criteria.coding import codes, combine
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.delta_disclosure import DeltaDisclosure
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import DistinctLDiversity, EntropyLDiversity, FrequencyLDiversity
from showthrough.criteria.levels import levels
from showthrough.criteria.negation import after_negations
from showthrough.criteria.population import DeltaPresence, KMap
from showthrough.criteria.published import of_release
from showthrough.criteria.t_closeness import TCloseness
from showthrough.errors import InputError
from showthrough.examples import figure1
from showthrough.release.release import Release
from tests.criteria.releases import QUICK

PEOPLE = pl.DataFrame(
    {
        "zip": ["13053", "13053", "13053", "14850", "14850"],
        "age": [30, 30, 30, 50, 50],
        "disease": ["flu", "flu", "gout", "flu", "flu"],
    }
)


def of(frame: pl.DataFrame, name: str) -> float:
    return frame.filter(criterion=name)["level"].item()


def test_levels_of_a_frame():
    found = levels(PEOPLE, sensitive="disease", quasi=["zip", "age"])
    assert found.columns == ["criterion", "level", "sentence"]
    assert of(found, "k-anonymity") == 2
    assert of(found, "distinct l-diversity") == 1
    assert of(found, "frequency l-diversity") == 1
    assert of(found, "recursive (c,2)-diversity") == np.inf
    assert of(found, "t-closeness (equal)") == pytest.approx(0.2)
    assert "t-closeness (ordered)" not in found["criterion"]
    assert "kept" not in " ".join(found["criterion"])


def test_check_names_the_worst_groups():
    check = FrequencyLDiversity(1.5).check(PEOPLE, sensitive="disease", quasi=["zip", "age"])
    assert (check.holds, check.level, check.failing_groups, check.failing_persons) == (False, 1.0, 1, 2)
    assert check.worst.columns == ["zip", "age", "persons", "level"]
    assert check.worst.row(0) == ("14850", 50, 2, 1.0)
    assert str(check) == (
        "frequency 1.5-diversity does not hold for 1 of 2 groups (2 persons). "
        "Whoever guesses a person's value from its group is right with probability 1 at most."
    )
    assert not check
    good = KAnonymity(2).check(PEOPLE, quasi=["zip"])
    assert good
    assert str(good) == "2-anonymity holds. The smallest group has 2 persons."


def test_bucketized_releases_are_checked_by_their_groups():
    first, _ = figure1.releases()
    found = levels(first)
    sizes = first.tally.group_by("group").agg(pl.col("n").sum())
    assert of(found, "k-anonymity") == sizes["n"].min()
    check = DistinctLDiversity(99).check(first)
    assert set(check.worst["group"]) == set(sizes["group"])
    assert check.failing_persons == first.records.height


def test_quasi_identifiers_of_a_bucketized_release_have_no_values_beside_them():
    release = Release.bucketized(
        PEOPLE.with_columns(id=pl.Series(list("abcde")), g=1),
        id="id",
        sensitive="disease",
        group="g",
    )
    assert KAnonymity(1).check(release).level == 5
    assert KAnonymity(1).check(release, quasi=["zip", "age"]).level == 2
    with pytest.raises(InputError, match="looks at sensitive values"):
        DistinctLDiversity(1).check(release, quasi=["zip", "age"])
    assert of(levels(release, sensitive=["disease"]), "k-anonymity") == 5
    assert levels(release, quasi=["zip"])["criterion"].to_list() == ["k-anonymity"]
    with pytest.raises(InputError, match="only per group"):
        levels(release, sensitive="age")
    with pytest.raises(InputError, match="beside no person"):
        levels(release, sensitive=["disease", "age"])


@pytest.mark.parametrize("make", [pd.DataFrame, lambda x: x, pl.DataFrame])
def test_frames_of_other_libraries(make):
    check = KAnonymity(2).check(make(PEOPLE.to_dict(as_series=False)), sensitive="disease")
    assert check.level == 2


def test_suppressed_rows_count_in_the_table_only():
    frame = pl.concat([PEOPLE, PEOPLE[2:3].with_columns(zip=pl.lit("*"), age=None)]).cast({"age": pl.String})
    frame = frame.with_columns(pl.col("age").fill_null("*"))
    counted = of_release(frame, "disease", ["zip", "age"], suppressed="*")
    assert (counted.counts.groups, counted.suppressed, counted.counts.total.tolist()) == (2, 1, [4, 2])
    assert TCloseness(1, reference="all").check(counted).level == pytest.approx(1 / 3)
    assert TCloseness(1, reference="kept").check(counted).level == pytest.approx(0.2)
    names = levels(frame, sensitive="disease", quasi=["zip", "age"], suppressed="*")["criterion"].to_list()
    assert "t-closeness (equal)" in names
    assert "t-closeness (equal, kept rows)" in names
    assert KAnonymity(1).check(frame, sensitive="disease").level == 1  # without the mark it is a group
    with pytest.raises(InputError, match="no row is in a group"):
        of_release(frame.filter(zip="*"), "disease", ["zip", "age"], suppressed="*")


def test_values_against_the_table_that_the_release_comes_from():
    whole = pl.concat([PEOPLE, PEOPLE[2:3]]).with_columns(disease=pl.col("disease").replace("gout", "gout"))
    counted = of_release(PEOPLE, "disease", ["zip", "age"], reference=whole)
    assert (counted.suppressed, counted.counts.total.tolist()) == (1, [4, 2])
    published = PEOPLE.with_columns(id=pl.Series(list("abcde")), g=pl.col("zip"))
    release = Release.bucketized(published, id="id", sensitive="disease", group="g")
    for strange in ([{"a": 1}], ["x", "y"]):
        nested = whole.with_columns(disease=pl.Series([strange] * whole.height))
        with pytest.raises(InputError, match=r"are of different types|A vector holds"):
            of_release(PEOPLE, "disease", ["zip", "age"], reference=nested)
    found = levels(release, reference=pl.concat([whole, PEOPLE[:1].with_columns(disease=pl.lit("angina"))]))
    assert of(found, "t-closeness (equal)") == pytest.approx(3 / 7)


def test_several_sensitive_columns():
    frame = PEOPLE.with_columns(job=pl.Series(["a", "b", "b", "a", "a"]))
    alone = levels(frame, sensitive=["disease", "job"], quasi=["zip"])
    assert alone["sensitive"].unique(maintain_order=True).to_list() == ["disease", "job"]
    assert alone.filter(criterion="k-anonymity")["level"].to_list() == [2, 2]
    together = levels(frame, sensitive=["disease", "job"], quasi=["zip"], others="quasi")
    assert together.filter(criterion="k-anonymity")["level"].to_list() == [1, 1]
    default = levels(frame, sensitive=["disease", "job"])
    assert default.filter(criterion="k-anonymity")["level"].to_list() == [2, 2]
    assert levels(frame, sensitive=["disease"], quasi=["zip"])["sensitive"].unique().to_list() == ["disease"]
    with pytest.raises(InputError, match="alone"):
        levels(frame, sensitive=["disease", "job"], others="both")


def test_no_sensitive_column_leaves_k():
    assert levels(PEOPLE, quasi=["zip"])["criterion"].to_list() == ["k-anonymity"]
    with pytest.raises(InputError, match="name their column"):
        EntropyLDiversity(2).check(PEOPLE, quasi=["zip"])


def test_no_quasi_identifier_is_one_group():
    found = of_release(PEOPLE, "disease", [])
    assert found.counts.size.tolist() == [5]
    assert of(levels(PEOPLE, sensitive="disease", quasi=[]), "t-closeness (equal)") == 0


def test_one_row_one_value_constant_columns():
    one = PEOPLE[:1]
    found = levels(one, sensitive="disease")
    assert of(found, "k-anonymity") == 1
    assert of(found, "m-uniqueness") == 1
    assert of(found, "δ-disclosure") == 0
    assert of(found, "enhanced β-likeness") == 0
    same = PEOPLE.with_columns(disease=pl.lit(1), zip=pl.lit("x"), age=pl.lit(None))
    found = levels(same, sensitive="disease")
    assert of(found, "k-anonymity") == 5
    assert of(found, "t-closeness (ordered)") == 0


def test_gaps_are_cells_of_their_own():
    frame = pl.DataFrame({"zip": ["1", None, None, ""], "age": [None, 1.5, 1.5, 1.5], "d": ["x", None, None, "y"]})
    counted = of_release(frame, "d", ["zip", "age"])
    assert sorted(counted.counts.size.tolist()) == [1, 1, 2]
    assert counted.counts.labels.to_list() == ["x", "y", None]
    assert KAnonymity(2).check(frame, sensitive="d").failing_groups == 2


def test_two_hundred_columns_need_no_room_for_all_combinations():
    random = np.random.default_rng(3)
    rows = random.integers(0, 1000, (300, 200))
    rows = np.concatenate([rows, rows[:100]])
    frame = pl.DataFrame({f"q{k}": rows[:, k] if k % 2 else rows[:, k].astype(str) for k in range(200)})
    frame = frame.with_columns(d=pl.Series(random.integers(0, 3, 400).astype(str)))
    counted = of_release(frame, "d")
    assert np.bincount(counted.counts.size).tolist() == [0, 200, 100]
    assert counted.labelled(np.arange(3)).width == 200


def test_unicode_and_names_that_mean_something_to_polars():
    frame = pl.DataFrame({"*": ["é", "é", "é"], "^q$": ["日本", "日本", "日"], "": [1, 1, 1], "d": ["α", "β", "\x1b"]})
    check = DistinctLDiversity(2).check(frame, sensitive="d")
    assert check.failing_groups == 1
    assert check.worst.columns == ["*", "^q$", "", "persons", "level"]
    assert KMap(2, population=frame).check(frame, sensitive="d", quasi=["*"]).level == 3


def test_numbers_as_text_are_ordered_as_numbers():
    frame = pl.DataFrame({"g": [1, 1, 2], "d": ["9", "10", "100"]})
    assert of_release(frame, "d", ["g"]).counts.labels.to_list() == ["9", "10", "100"]
    assert of(levels(frame, sensitive="d"), "t-closeness (ordered)") == pytest.approx(0.5)


def test_faults_end_in_sentences():
    with pytest.raises(InputError, match="no rows"):
        levels(PEOPLE[:0], sensitive="disease")
    with pytest.raises(InputError, match="no column 'diseese'"):
        levels(PEOPLE, sensitive="diseese")
    with pytest.raises(InputError, match="sensitive and as quasi"):
        levels(PEOPLE, sensitive="disease", quasi=["zip", "disease"])
    with pytest.raises(InputError, match="numbers as values"):
        Dissimilarity(1, 0.5, 2).check(PEOPLE, sensitive="disease")
    with pytest.raises(InputError, match="1 value that is not in the hierarchy") as caught:
        TCloseness(0.1, {"x": ["flu"]}).check(PEOPLE, sensitive="disease")
    assert "gout" not in caught.value.shareable
    with pytest.raises(InputError, match="column 'zip' holds List"):
        levels(PEOPLE.with_columns(zip=pl.lit([1])), sensitive="disease")


@pytest.mark.parametrize(
    "make",
    [
        lambda: KAnonymity(0), lambda: DistinctLDiversity(0), lambda: EntropyLDiversity(0.5),
        lambda: FrequencyLDiversity(0), lambda: AlphaKAnonymity(1.5, 2), lambda: TCloseness(-0.1),
        lambda: TCloseness(0.1, "near"), lambda: TCloseness(0.1, reference="some"), lambda: BetaLikeness(-1),
        lambda: DeltaDisclosure(0), lambda: Dissimilarity(0.1, 1, 5), lambda: Dissimilarity(-1, 0.5, 5),
        lambda: DeltaPresence(0.5, 0.2),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(
    ("start", "value", "count"),
    [([0, 2], [1, 0], [1, 1]), ([0, 2], [0, 0], [1, 1]), ([0, 1, 1], [0], [1]), ([0, 1], [0], [0]), ([0, 1], [2], [1])],
)
def test_counts_check_themselves(start, value, count):
    with pytest.raises(InputError, match="Counts of groups"):
        GroupCounts(np.array(start), np.array(value, dtype=np.int32), np.array(count), np.array([1, 1]))


def test_counts_from_rows_frames_and_some_groups():
    group, value = np.array([1, 0, 1, -1, 0, 1]), np.array([2, 0, 1, 0, 0, 2])
    counts = GroupCounts.from_rows(group, value, values=3)
    assert counts.start.tolist() == [0, 1, 3]
    assert counts.value.tolist() == [0, 1, 2]
    assert counts.count.tolist() == [2, 1, 2]
    assert (counts.total.tolist(), counts.kept.tolist()) == ([3, 1, 2], [2, 1, 2])
    turned = counts.take(np.array([1, 0]))
    assert (turned.value.tolist(), turned.size.tolist()) == ([1, 2, 0], [3, 2])
    tally = pl.DataFrame({"group": ["b", "a", "b"], "value": ["y", "x", "z"], "n": [1, 2, 2]})
    assert GroupCounts.from_frame(tally).descending.tolist() == [2, 2, 1]
    with pytest.raises(InputError, match="without gaps"):
        GroupCounts.from_rows(np.array([0, 2]), np.array([0, 0]), values=1)


@QUICK
@given(
    some.lists(
        some.tuples(some.sampled_from("ab"), some.sampled_from([None, "x", "y"]), some.integers(0, 2)), min_size=1
    )
)
def test_keys_are_equal_exactly_where_all_cells_are(rows):
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String, "c": pl.Int64}, orient="row")
    key = combine(codes(frame.get_columns()), frame.height)
    assert [[bool(x) for x in key == k] for k in key] == [[other == row for other in rows] for row in rows]


def test_presence_and_k_map():
    population = pl.concat([PEOPLE, PEOPLE[:3], PEOPLE[:1].with_columns(zip=pl.lit("99999"))])
    quasi = ["zip", "age"]
    share = DeltaPresence(0, 0.9, population=population).check(PEOPLE, quasi=quasi)
    assert (share.holds, share.level) == (False, 1.0)
    assert share.worst.row(0)[0] == "14850"
    assert DeltaPresence(0, 1, population=population).check(PEOPLE, quasi=quasi)
    nobody = DeltaPresence(0.1, 1, population=population).check(PEOPLE, quasi=quasi)
    assert (nobody.holds, nobody.level) == (False, 0.0)
    assert "1 classes of the population have nobody" in nobody.sentence
    assert DeltaPresence(0.1, 1, population=population, everywhere=False).check(PEOPLE, quasi=quasi)
    half = DeltaPresence(0.6, 1, population=population, everywhere=False).check(PEOPLE, quasi=quasi)
    assert (half.holds, half.level, half.failing_groups) == (False, 0.5, 1)
    assert half.worst.row(0)[0] == "13053"
    assert KMap(3, population=population).check(PEOPLE, quasi=quasi).level == 2
    assert KMap(6, population=np.array([6, 7])).check(PEOPLE, quasi=quasi)
    with pytest.raises(InputError, match="must hold everybody"):
        KMap(1, population=PEOPLE[:2]).check(PEOPLE, quasi=quasi)
    with pytest.raises(InputError, match="give population="):
        KMap(1).check(PEOPLE, quasi=quasi)


def test_negations_in_words():
    frame = pl.DataFrame({"g": [1] * 6, "d": list("aaabbc")})
    told = after_negations(of_release(frame, "d", ["g"]), most=2)
    assert told["distinct"].to_list() == [3, 2, 1]
    assert told["frequency"].to_list() == pytest.approx([2, 4 / 3, 1])
    assert told["sentence"][1] == (
        "After excluding 1 value of a person a group leaves 2 values at worst; the likeliest has probability 0.75."
    )


def test_quasi_identifiers_named_like_ours_keep_their_cells():
    frame = pl.DataFrame({"level": ["x", "y"], "persons": ["p", "q"]})
    worst = KAnonymity(2).check(frame).worst
    assert worst.columns == ["level (cell)", "persons (cell)", "persons", "level"]
    assert set(worst["level (cell)"]) == {"x", "y"}


def test_every_kind_of_cell():
    from datetime import date, datetime
    from decimal import Decimal

    frame = pl.DataFrame(
        {
            "flag": [True, True, None, False],
            "day": [date(2020, 1, 1), date(2020, 1, 1), None, date(2024, 1, 1)],
            "time": [datetime(2020, 1, 1)] * 4,
            "amount": [Decimal("1.10"), Decimal("1.10"), None, Decimal("2")],
            "real": [0.5, 0.5, float("nan"), None],
            "huge": [2**62, 2**62, -(2**62), 0],
            "kind": pl.Series(["a", "a", "b", None], dtype=pl.Categorical),
            "empty": pl.Series([None] * 4, dtype=pl.Null),
            "d": pl.Series(["x", "y", "x", "x"], dtype=pl.Enum(["y", "x"])),
        }
    )
    counted = of_release(frame, "d")
    assert sorted(counted.counts.size.tolist()) == [1, 1, 2]
    for column in frame.columns[:-1]:
        for sensitive in frame.columns[:-1]:
            if sensitive != column:
                assert levels(frame, sensitive=sensitive, quasi=[column]).height > 10
        alone = of_release(frame.lazy().select(column, "d"), "d")
        cells = [None if cell != cell else cell for cell in frame[column].to_list()]
        assert alone.counts.groups == len(set(cells))
        assert int(alone.counts.size.sum()) == 4


def test_wide_integers_that_text_cannot_confuse():
    frame = pl.DataFrame({"a": [2**63, 2**63 + 1], "d": ["x", "x"]}, schema={"a": pl.UInt64, "d": pl.String})
    assert of_release(frame, "d").counts.groups == 2


def test_tallies_of_persons_only():
    tally = pl.DataFrame({"group": [1, 1, 2], "value": ["x", "y", "x"], "n": [2, 0, 3]})
    counts = GroupCounts.from_frame(tally)
    assert (counts.size.tolist(), counts.distinct.tolist()) == ([2, 3], [1, 1])
    assert GroupCounts.from_frame(tally.cast({"n": pl.Float64})).size.tolist() == [2, 3]
    for wrong in ([1.5, 1, 1], [-1, 2, 2], [None, 1, 1]):
        with pytest.raises(InputError, match="noise is judged"):
            GroupCounts.from_frame(tally.with_columns(n=pl.Series(wrong, dtype=pl.Float64)))
    with pytest.raises(InputError, match="no persons"):
        GroupCounts.from_frame(tally.with_columns(n=0))
