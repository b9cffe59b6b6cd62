"""Frames of every library, columns of every kind."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from showthrough.errors import InputError
from showthrough.table.frames import need_columns, one_kind, scalar, to_polars
from tests.saying import refusing

COLUMNS = {"id": ["1", "2"], "age": [30, None]}


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, dtype=object),
        pd.DataFrame(COLUMNS, index=[7, 7]),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).astype("category"),
        pa.table(COLUMNS),
        pa.table(COLUMNS).to_batches()[0],
        COLUMNS,
        {"id": np.array(["1", "2"]), "age": pl.Series([30, None])},
        {"id": ("1", "2"), "age": (30, None)},
    ],
)
def test_every_library(frame):
    found = to_polars(frame)
    assert found.columns == ["id", "age"]
    assert scalar(found["id"], "id").to_list() == ["1", "2"]
    assert scalar(found["age"], "age").to_list() == [30, None]


def test_a_polars_frame_is_taken_as_it_is():
    frame = pl.DataFrame(COLUMNS)
    assert to_polars(frame) is frame


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
def test_gaps_of_pandas(gap):
    assert to_polars(pd.DataFrame({"a": pd.Series(["x", gap, "y"], dtype=object)}))["a"].to_list() == ["x", None, "y"]


@pytest.mark.parametrize(
    ("column", "kind", "entries"),
    [
        (pd.Series(["02139", None], dtype="string"), pl.String, ["02139", None]),
        (pd.Series([1, None], dtype="Int64"), pl.Int64, [1, None]),
        (pd.Series([1.0, np.nan]), pl.Int64, [1, None]),
        (pd.Series([1.5, np.nan]), pl.Float64, [1.5, None]),
        (pd.Series([True, None], dtype="boolean"), pl.Boolean, [True, None]),
        (pd.Series(["x", None], dtype="category"), pl.String, ["x", None]),
        (pd.Series([3, 4], dtype="category"), pl.Int64, [3, 4]),
        (pd.Series([dt.date(2020, 1, 2), None], dtype=object), pl.Date, [dt.date(2020, 1, 2), None]),
        (pd.Series([Decimal("1.50"), None], dtype=object), pl.Decimal(38, 2), [Decimal("1.50"), None]),
        (pd.to_datetime(pd.Series(["2020-01-02", None])), pl.Datetime("us"), [dt.datetime(2020, 1, 2), None]),
        (pd.Series(pd.to_datetime(["2020-01-02"])).dt.as_unit("ns"), pl.Datetime("us"), [dt.datetime(2020, 1, 2)]),
        (pd.Series(pd.to_datetime(["2020-01-02"])).dt.as_unit("s"), pl.Datetime("us"), [dt.datetime(2020, 1, 2)]),
        (pd.to_timedelta(pd.Series(["1 day", None])), pl.String, ["P1D", None]),
        (pd.Series([2**63], dtype="uint64"), pl.String, [str(2**63)]),
        (pd.Series([None, None], dtype=object), pl.String, [None, None]),
    ],
)
def test_kinds_of_pandas(column, kind, entries):
    found = scalar(to_polars(pd.DataFrame({"a": column}))["a"], "a")
    assert found.dtype == kind
    assert found.to_list() == entries


def test_nanoseconds_are_not_lost():
    day = "2020-01-02 03:04:05.000000"
    column = pd.Series(pd.to_datetime([f"{day}001", f"{day}002"])).dt.as_unit("ns")
    found = scalar(to_polars(pd.DataFrame({"a": column}))["a"], "a")
    assert found.dtype == pl.String
    assert found.n_unique() == 2


def test_the_first_nanoseconds_that_can_be_counted_have_a_text():
    column = pl.Series("a", [-(2**63), -(2**63) + 1, 2**63 - 1], dtype=pl.Int64).cast(pl.Datetime("ns"))
    found = scalar(column, "a")
    assert found.dtype == pl.String
    assert found[1] == "1677-09-21 00:12:43.145224193"


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"]])
def test_pandas_with_the_same_column_twice(names):
    with pytest.raises(InputError, match=r"The frame has the column '(a|1)' more than once"):
        to_polars(pd.DataFrame([[1, 2]], columns=names))


def test_pandas_with_numbers_for_names():
    assert to_polars(pd.DataFrame([["x", "y"]])).columns == ["0", "1"]


def test_arrow_with_the_same_column_twice():
    with refusing(InputError, match=r"^The frame cannot be read: .*more than once"):
        to_polars(pa.table([[1], [2]], names=["a", "a"]))


@pytest.mark.parametrize("frame", [None, "d.csv", 3, [1, 2], np.zeros((2, 2)), pd.DataFrame, object()])
def test_not_a_frame(frame):
    with pytest.raises(InputError, match=r"^(Expected a frame|The frame cannot be read)"):
        to_polars(frame)


@pytest.mark.parametrize("frame", [pd.Series([1]), pa.chunked_array([[1]])])
def test_a_column_is_no_frame(frame):
    with pytest.raises(InputError, match=r"^The frame cannot be read"):
        to_polars(frame)


@pytest.mark.parametrize("make", [pd.DataFrame, dict])
@pytest.mark.parametrize("entries", [[1, "zq-person-17"], ["zq-person-17", 1.5], [True, "x"], [1, 2**130]])
def test_mixed_types(make, entries):
    with pytest.raises(InputError, match="Column 'a' mixes types or holds numbers that are too large") as caught:
        to_polars(make({"a": entries}))
    assert "zq" not in caught.value.internal


@pytest.mark.parametrize("make", [pd.DataFrame, dict])
def test_whole_and_decimal_numbers_mix(make):
    column = pd.Series([1, 2.5, None], dtype=object) if make is pd.DataFrame else [1, 2.5, None]
    assert to_polars(make({"a": column}))["a"].to_list() == [1.0, 2.5, None]


def test_whole_numbers_that_a_decimal_number_cannot_hold():
    with pytest.raises(InputError, match="mixes types"):
        to_polars({"a": [2**53 + 1, 1.5]})


def test_faults_of_other_libraries_do_not_share_data():
    lazy = pl.LazyFrame({"a": ["zq-person-17"]}).with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(InputError) as caught:
        to_polars(lazy)
    assert "zq-person-17" in caught.value.internal
    assert caught.value.shareable == "The frame cannot be read."


def test_columns_of_different_lengths():
    with pytest.raises(InputError, match=r"^The frame cannot be read"):
        to_polars({"a": [1], "b": [1, 2]})


def test_pandas_without_pyarrow():
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd, datetime as dt
from showthrough import Release, infer
frame = pd.DataFrame({
    "id": pd.array([1, 2, 3, 4], dtype="Int64"), "g": pd.Categorical(["a", "a", "b", "b"]),
    "v": ["x", "y", "x", "x"], "q": [1.0, None, 2.0, 3.0], "d": pd.to_datetime(["2020-01-01"] * 3 + [None]),
})
release = Release.bucketized(frame, id="id", sensitive="v", group="g")
print(infer([release]).of(3), release.records["q"].to_list())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout == "{'x': 1.0} [1, None, 2, 3]\n", done.stderr


@pytest.mark.parametrize(
    ("column", "kind", "entries"),
    [
        (pl.Series(["a"], dtype=pl.Categorical), pl.String, ["a"]),
        (pl.Series(["a"], dtype=pl.Enum(["a"])), pl.String, ["a"]),
        (pl.Series([1], dtype=pl.UInt8), pl.Int64, [1]),
        (pl.Series([None], dtype=pl.Int32), pl.Int64, [None]),
        (pl.Series([2**63 - 1], dtype=pl.UInt64), pl.Int64, [2**63 - 1]),
        (pl.Series([1, 2**63], dtype=pl.UInt64), pl.String, ["1", str(2**63)]),
        (pl.Series([-(2**70), None], dtype=pl.Int128), pl.String, [str(-(2**70)), None]),
        (pl.Series([1.0, 2.0]), pl.Int64, [1, 2]),
        (pl.Series([1.0, float("nan")]), pl.Int64, [1, None]),
        (pl.Series([1.0, 2.5], dtype=pl.Float32), pl.Float64, [1.0, 2.5]),
        (pl.Series([1.0, float("inf")]), pl.Float64, [1.0, float("inf")]),
        (pl.Series([2.0**60]), pl.Float64, [2.0**60]),
        (pl.Series([None, None]), pl.String, [None, None]),
        (pl.Series([True]), pl.Boolean, [True]),
        (pl.Series([dt.time(1, 2)]), pl.Time, [dt.time(1, 2)]),
        (pl.Series([dt.datetime(2020, 1, 1)], dtype=pl.Datetime("ms")), pl.Datetime("us"), [dt.datetime(2020, 1, 1)]),
        (pl.Series([1], dtype=pl.Datetime("ns")), pl.String, ["1970-01-01 00:00:00.000000001"]),
        (pl.Series([1001], dtype=pl.Int64).cast(pl.Time), pl.String, ["00:00:00.000001001"]),
        (pl.Series([Decimal("1.50")]), pl.Decimal(38, 2), [Decimal("1.50")]),
    ],
)
def test_scalar_kinds(column, kind, entries):
    found = scalar(column, "c")
    assert found.dtype == kind
    assert found.to_list() == entries


@pytest.mark.parametrize("entries", [[[1]], [b"x"], [{"a": 1}], [object()]])
def test_columns_that_are_no_scalars(entries):
    with pytest.raises(InputError, match=r"^Column 'c' holds \w+.*: expected text, whole numbers"):
        scalar(pl.Series("c", entries), "Column 'c'")


def kinds(*columns):
    return [c.to_list() for c in one_kind([pl.Series(c) for c in columns], "ids", ["D1", "D2"])]


def test_one_kind():
    assert kinds([11], ["11"]) == [["11"], ["11"]]
    assert kinds([1], [2.5]) == [[1.0], [2.5]]
    assert kinds(["a"], ["b"]) == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([dt.date(2020, 1, 1)], ["2020-01-01"]),
        ([True], [1]),
        ([2.5], ["2.5"]),
        ([Decimal("1.5")], [1.5]),
        ([2**53 + 1], [2.5]),
        ([-(2**63)], [2.5]),
    ],
)
def test_different_kinds_are_not_guessed_at(first, second):
    with pytest.raises(InputError, match=r"^The ids are of different types \(D1: .*; D2: .*\): make them the same\.$"):
        kinds(first, second)


FRAME = pl.DataFrame({"Pseudonym": [1], "group": [1], " disease ": ["Flu"]})


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("pseudonym", " Did you mean 'Pseudonym'?"),
        ("disease", " Did you mean ' disease '?"),
        ("groups", " Did you mean 'group'?"),
        ("x", ""),
    ],
)
def test_missing_column_says_which_exist(asked, hint):
    with pytest.raises(InputError) as caught:
        need_columns(FRAME, ["group", asked], "d.csv")
    assert caught.value.internal == (
        f"d.csv has no column {asked!r}.{hint} Its columns are: 'Pseudonym', 'group', ' disease '."
    )
    assert caught.value.shareable == caught.value.internal


def test_a_first_row_that_may_be_a_person_is_not_shared():
    frame = pl.DataFrame({"id17": ["id18"], "1": ["1"], "Flu": ["HIV"]})
    with pytest.raises(InputError) as caught:
        need_columns(frame, ["id", "group"], "d.csv")
    assert "'id17', '1', 'Flu'" in caught.value.internal
    assert caught.value.shareable == (
        "d.csv has no column 'id'. None of the columns asked for is there: "
        "does its first row hold the names of the columns?"
    )


def test_no_column_is_missing():
    assert need_columns(FRAME, ["group", "Pseudonym"], "d.csv") is None
