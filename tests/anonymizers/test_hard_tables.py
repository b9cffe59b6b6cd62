"""`st.anonymize` on tables that are traps, and refusals that say what would do."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.anonymizers.methods import METHODS
from showthrough.errors import InputError
from tests.anonymizers.raw_tables import covered, fits, groups_of
from tests.saying import refusing

SIZES = [name for name, method in METHODS.items() if st.KAnonymity in method.enforces and name != "xcolor"]
K2 = [st.KAnonymity(2)]


def small(**columns) -> pl.DataFrame:
    rows = len(next(iter(columns.values())))
    return pl.DataFrame({"id": [f"p{n}" for n in range(rows)], **columns, "ill": [n % 3 for n in range(rows)]})


def make(table, method="mondrian", criteria=K2, **options):
    return st.anonymize(table, method=method, criteria=criteria, id="id", sensitive="ill", **options)


@pytest.mark.parametrize("method", SIZES)
def test_one_row(method):
    table = small(age=[30], job=["b"])
    made = make(table, method, [st.KAnonymity(1)])
    assert made.members == 1
    with pytest.raises(InputError, match=r"k = 2 is larger than the table \(1 rows\)"):
        make(table, method)


@pytest.mark.parametrize("method", SIZES)
def test_constant_columns(method):
    table = small(age=[30] * 6, job=["b"] * 6)
    made = make(table, method)
    assert [len(g) for g in groups_of(made)] == [6]
    assert made.to_frame()["job"].unique().to_list() == ["b"]


@pytest.mark.parametrize("method", SIZES)
def test_two_hundred_columns(method):
    numbers = np.random.default_rng(0).integers(0, 3, (200, 30))
    table = small(**{f"q{j}": row.tolist() for j, row in enumerate(numbers)})
    made = make(table, method, [st.KAnonymity(5)], passes=1)
    assert all(len(g) >= 5 for g in groups_of(made))
    assert made.members == 30


@pytest.mark.parametrize("method", SIZES)
def test_words_of_any_script(method):
    words = ["Zürich", "東京", "naïve ‘x’", "a b", "Ω", "🙂"]
    table = small(ville=words * 3, âge=list(range(18)))
    made = make(table, method, [st.KAnonymity(3)])
    assert made.members == 18
    if made.kind == "generalized":
        for cell in made.to_frame()["ville"].unique():
            assert cell == "*" or set(cell.strip("{}").split(", ")) <= set(words)


def test_commas_and_braces_in_sets(tmp_path):
    table = small(job=["smith, black", "smith, gold", "cook", "baker"] * 2)
    with pytest.raises(InputError, match=r"'job' has a value with a comma or a brace.*hierarchy") as refused:
        make(table, criteria=[st.KAnonymity(3)])
    assert "smith" not in str(refused.value)
    tree = st.Hierarchy.from_rows(
        [(j, "smith" if "smith" in j else "food", "*") for j in ("smith, black", "smith, gold", "cook", "baker")]
    )
    made = make(table, criteria=[st.KAnonymity(3)], hierarchies={"job": tree})
    assert set(made.to_frame()["job"]) == {"smith", "food"}
    made.save(tmp_path / "D")
    assert st.read_release(tmp_path / "D").to_frame().equals(made.to_frame())


def test_numbers_as_text_are_numbers():
    table = small(age=["9", "10", "11", "100", "101", "99"])
    made = make(table, criteria=[st.KAnonymity(3)])
    assert set(made.to_frame()["age"]) == {"[9, 11]", "[99, 101]"}
    assert covered(made, table.with_columns(pl.col("age").cast(pl.Int64)))
    mixed = make(small(age=["9", "10", "eleven", "100"]), criteria=[st.KAnonymity(2)])
    assert mixed.members == 4


def test_gaps_are_refused_kept_or_left_out():
    table = small(age=[20, 21, None, 40, 41, 42], job=["b", "b", "b", "", "c", None])
    with pytest.raises(InputError, match=r'3 rows have an empty cell in \'age\', \'job\': choose missing="value"'):
        make(table)
    kept = make(table, missing="value")
    assert kept.members == 6
    assert any("missing" in cell for cell in kept.to_frame()["job"])
    left = make(table, missing="suppress")
    assert left.members == 3
    assert left.made.incomplete == 3
    assert "3 rows with empty cells were left out" in str(left.made)
    with pytest.raises(InputError, match="one of refuse, value, suppress"):
        make(table, missing="guess")
    numbers = small(age=[1.0, float("nan"), 2.0, 3.0])
    with pytest.raises(InputError, match="1 row"):
        make(numbers)
    assert make(numbers, missing="suppress").members == 3
    with pytest.raises(InputError, match="nothing is left"):
        make(small(age=[None, None]), missing="suppress")
    bucketized = make(table, missing="value", output="bucketized")
    assert bucketized.to_frame()["job"].null_count() == 0


@pytest.mark.parametrize("method", SIZES)
@settings(max_examples=6, deadline=None)
@given(data=hs.data())
def test_persons_are_published_suppressed_or_incomplete(method, data):
    rows = data.draw(hs.integers(4, 20))
    cells = hs.lists(hs.sampled_from([None, "", "b", "c"]), min_size=rows, max_size=rows)
    table = small(job=data.draw(cells), age=data.draw(hs.lists(hs.integers(0, 3), min_size=rows, max_size=rows)))
    try:
        made = make(table, method, missing="suppress", suppression_limit=3)
    except InputError:
        assert table.filter(pl.col("job").is_in(["b", "c"])).height < 2
        return
    assert made.members + made.made.suppressed + made.made.incomplete == rows


def test_missing_values_and_ids():
    table = small(age=[1, 2, 3])
    with pytest.raises(InputError, match="1 rows have no value"):
        make(table.with_columns(ill=pl.Series([1, None, 2])))
    with pytest.raises(InputError, match="an id more than once"):
        make(table.with_columns(id=pl.Series(["a", "a", "b"])))
    with pytest.raises(InputError, match="no id"):
        make(table.with_columns(id=pl.Series(["a", None, "b"])))
    with pytest.raises(InputError, match="has no rows"):
        make(table[:0])
    with pytest.raises(InputError, match="'agee'"):
        make(table, quasi=["agee"])
    with pytest.raises(InputError, match="named twice"):
        make(table, quasi=["age", "ill"])
    with pytest.raises(InputError, match="'zip' is none of the quasi-identifiers"):
        make(table, weights={"zip": 2.0})


def test_a_hierarchy_that_lacks_a_value():
    tree = st.Hierarchy.from_rows([("b", "x", "*"), ("c", "x", "*")])
    with refusing(InputError, match=r"hierarchy of column 'job'.*'d'"):
        make(small(job=["b", "c", "d"]), hierarchies={"job": tree})
    with refusing(InputError, match="cannot be published as a label"):
        make(small(job=["b", "c", "d"]), shown={"job": "label"})
    with refusing(InputError, match="cannot be published as a range"):
        make(small(job=["b", "c", "d"]), shown={"job": "range"})


@pytest.mark.parametrize("method", ["mondrian", "mondrian-relaxed", "local-recoding", "full-domain"])
@settings(max_examples=10, deadline=None)
@given(data=hs.data())
def test_top_and_bottom_coding(method, data):
    rows = data.draw(hs.integers(4, 25))
    ages = data.draw(hs.lists(hs.integers(0, 12), min_size=rows, max_size=rows))
    low, high = data.draw(hs.sampled_from([(None, 8), (3, None), (3, 8), (-5, 30)]))
    table = small(age=ages, job=data.draw(hs.lists(hs.sampled_from("bc"), min_size=rows, max_size=rows)))
    made = make(table, method, limits={"age": (low, high)}, passes=1)
    assert covered(made, table)
    for cell in made.to_frame()["age"].unique():
        # a cell that covers a coded value covers everything beyond it, and no cell shows a number beyond
        if low is not None and fits(cell, low):
            assert fits(cell, -1000)
        if high is not None and fits(cell, high):
            assert fits(cell, 1000)
        for number in cell.strip("[]<>=*").split(", "):
            if number:
                assert low is None or float(number) >= low
                assert high is None or float(number) <= high


def test_codings_that_make_no_sense():
    table = small(age=[1, 2, 3, 4], job=["b", "c", "b", "c"])
    with pytest.raises(InputError, match="must be below"):
        make(table, limits={"age": (3, 2)})
    with pytest.raises(InputError, match="holds no numbers"):
        make(table, limits={"job": (3, None)})
    with pytest.raises(InputError, match="bucketized"):
        make(table, limits={"age": (None, 3)}, output="bucketized")
    with pytest.raises(InputError, match="published as ranges"):
        make(table, limits={"age": (2, 3)}, shown={"age": "set"})


def test_a_requirement_out_of_reach_names_the_value_and_what_would_do():
    table = small(age=list(range(10))).with_columns(ill=pl.Series(["flu"] * 7 + ["gout"] * 2 + ["mumps"]))
    for method in ("mondrian", "local-recoding", "full-domain"):
        with refusing(InputError) as refused:
            make(table, method, [st.FrequencyLDiversity(2)])
        said = refused.value.internal
        assert "'flu', makes up 70.0 % of the 10 rows" in said
        assert "lower frequency l-diversity to 1.428" in said.lower()
        assert "leave out 4 rows with that value" in said
        assert "flu" not in refused.value.shareable
    left = table.filter(pl.col("id").is_in(["p0", "p1", "p2", "p3"]).not_())
    assert make(left, criteria=[st.FrequencyLDiversity(2)]).members == 6
    with refusing(InputError, match=r"'flu' has 7 of 10: at most 5 are possible. Lower l to 1, or allow 4 supp"):
        make(table, "anatomy", [st.DistinctLDiversity(2)])
    assert make(table, "anatomy", [st.DistinctLDiversity(2)], suppression_limit=4).members == 6
    with refusing(InputError, match=r"distinct 4-diversity: already .* 3 different values"):
        make(table, criteria=[st.DistinctLDiversity(4)])
    with refusing(InputError, match=r"leave out \d+ rows"):
        make(table, criteria=[st.AlphaKAnonymity(0.5, 2)])
    with refusing(InputError, match="no c is large enough"):
        make(table, criteria=[st.RecursiveLDiversity(2, 4)])
    by_job = table.with_columns(age=pl.Series([1] * 6 + [2] * 4))
    assert make(by_job, "full-domain", [st.FrequencyLDiversity(2)], suppression_limit=6).members == 4
    with refusing(InputError, match="leave out 4 rows"):
        make(table, "full-domain", [st.FrequencyLDiversity(2)], suppression_limit=9)


@pytest.mark.parametrize("method", ["mondrian", "mondrian-relaxed", "local-recoding", "full-domain"])
@pytest.mark.parametrize(
    ("criterion", "weaker"),
    [
        (st.DistinctLDiversity(3), "Lower distinct l-diversity to 2"),
        (st.EntropyLDiversity(3), "Lower entropy l-diversity to 1.842"),
        (st.FrequencyLDiversity(3), "Lower frequency l-diversity to 1.428"),
    ],
)
def test_where_values_are_too_few_no_limit_of_suppressed_rows_is_asked_for(method, criterion, weaker):
    table = small(age=list(range(10))).with_columns(ill=pl.Series(["flu"] * 7 + ["gout"] * 3))
    for limit in (1, 5, 9, 0.4):
        with refusing(InputError, match="already the whole table as one group fails it") as refused:
            make(table, method, [criterion], suppression_limit=limit)
        assert weaker in refused.value.internal
        assert "leave out" not in refused.value.internal
        assert "raise the limit" not in refused.value.internal


def test_words_that_are_unknown():
    table = small(age=[1, 2, 3, 4])
    with pytest.raises(InputError, match=r"one of mondrian, .* not 'magic'"):
        make(table, "magic")
    with pytest.raises(InputError, match="Say what the release must satisfy"):
        make(table, criteria=[])
    with pytest.raises(InputError, match="criteria is a list"):
        make(table, criteria=st.KAnonymity(2))
    with pytest.raises(InputError, match="share below 1 or a whole number"):
        make(table, suppression_limit=1.5)
    with pytest.raises(InputError, match="seed"):
        make(table, seed=-1)
    with pytest.raises(InputError, match="output is one of"):
        make(table, output="pdf")
    with pytest.raises(InputError, match="Only the method mdav"):
        make(table, output="microaggregated")
    with pytest.raises(InputError, match="looks at sensitive values: name their column"):
        st.anonymize(table.drop("ill"), criteria=[st.EntropyLDiversity(2)], id="id")
    with pytest.raises(InputError, match="exactly one"):
        make(table, "xcolor", K2)


@pytest.mark.parametrize("method", ["mondrian", "mondrian-relaxed", "local-recoding"])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_ranges_cover_numbers_of_many_digits(method, size):
    """Fifteen digits are not enough: an end that is rounded inwards leaves its own person out."""
    numbers = np.random.default_rng(3).random(120) * size
    table = pl.DataFrame({"id": range(120), "q": numbers, "v": ["x", "y", "z"] * 40})
    release = st.anonymize(table, method=method, id="id", sensitive="v", quasi=["q"], criteria=[st.KAnonymity(5)])
    assert st.infer([release], register=table.select("id", "q")).ids.len() == 120
