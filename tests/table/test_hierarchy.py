"""Hierarchies are trees, however they were written."""

import datetime
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough.errors import FileError, InputError
from showthrough.table.hierarchy import Hierarchy
from tests.saying import refusing

DATA = Path(os.environ.get("SHOWTHROUGH_DATA", Path(__file__).parents[3] / "shared" / "data"))


def written(tmp_path, text):
    path = tmp_path / "age.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_arx_file(tmp_path):
    h = Hierarchy.read(written(tmp_path, "1;0-4;0-9;*\n2;0-4;0-9;*\n7;5-9;0-9;*\n\n"))
    assert h.leaves == ("1", "2", "7")
    assert h.height == 3
    assert h.labels(1) == ["0-4", "5-9"]
    assert h.codes(1).tolist() == [0, 0, 1]
    assert h.codes(1).dtype == np.int32
    assert h.leaves_under(1).tolist() == [2, 1]
    assert h.leaves_of("0-9") == {"1", "2", "7"}
    assert h.index(pl.Series(["7", "1", "7"])).tolist() == [2, 0, 2]
    assert h.index(pl.Series([7.0, 1.0])).tolist() == [2, 0]
    assert h.rule.endswith("age.csv")


@pytest.mark.parametrize(
    "text",
    [
        "a;[0, 5[;*\nb;[5, 9[;*\n",
        '"a","[0, 5[","*"\r\n"b", "[5, 9[", "*"\r\n',
        "a\t[0, 5[\t*\nb\t[5, 9[\t*",
        "\ufeffa;[0, 5[;*;\nb;[5, 9[;*;;\n",
        "a;[0, 5[;*\nb;[5, 9[;*\n".encode("utf-16"),
        "a;{x, y, z, u, v, w};*\nb;[5, 9[;*\n".replace("{x, y, z, u, v, w}", "[0, 5["),
    ],
)
def test_separators_quotes_and_marks(tmp_path, text):
    assert Hierarchy.read(written(tmp_path, text)).levels == (("a", "b"), ("[0, 5[", "[5, 9["), ("*", "*"))


def test_labels_full_of_the_other_separator(tmp_path):
    h = Hierarchy.read(written(tmp_path, "a;{a, b, c, d};*\ne;{e, f, g, h, i};*\n"))
    assert h.labels(1) == ["{a, b, c, d}", "{e, f, g, h, i}"]


def test_short_rows_repeat_their_leaf():
    h = Hierarchy.from_rows([["DE", "West", "Europe", "*"], ["unknown", "*"], ["JP", "Asia", "*"]])
    assert h.levels == (
        ("DE", "unknown", "JP"),
        ("West", "unknown", "JP"),
        ("Europe", "unknown", "Asia"),
        ("*", "*", "*"),
    )
    assert h.leaves_of("unknown") == {"unknown"}


def test_a_forest_gets_a_root():
    assert Hierarchy.from_rows([["a", "A"], ["b", "B"]]).levels == (("a", "b"), ("A", "B"), ("*", "*"))
    assert Hierarchy.from_rows([["a", "A"], ["b"]]).levels == (("a", "b"), ("A", "b"), ("*", "*"))
    assert Hierarchy.from_rows([["a"]]).levels == (("a",), ("*",))


def test_a_label_on_several_levels_means_all_of_them():
    h = Hierarchy.from_rows([["x", "y", "*"], ["y", "z", "*"]])
    assert h.leaves_of("y") == {"x", "y"}
    assert "z" in h
    assert "w" not in h
    with refusing(InputError, match="no label 'w'"):
        h.leaves_of("w")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a;A;*\nb;B;*\nc;A;#\n",
            r"line 3: the label of level 1 'A' is under '#', before it was under '\*' \(.*line 1\)",
        ),
        ("a;A;*\n\nb;B;*\na;B;*\n", r"age\.csv, line 4: the value 'a' stands a second time.*line 1"),
        ("a;A;*\n;B;*\n", r"line 2: the first cell is empty"),
        ("a;A;*\nb;;*\n", r"line 2: cell 2 is empty"),
    ],
)
def test_what_is_no_tree_is_told_with_its_line(tmp_path, text, message):
    if "#" in text:  # two roots would make a forest with another root above
        text = text.replace("*\n", "*;top\n").replace("#\n", "#;top\n")
    with refusing(InputError, match=message):
        Hierarchy.read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b"\n  \n", "is empty"),
        (b"a;\xff;*\n", r"is not utf-8 text \(line 1\)"),
        (b"a;b\x00;*\n", "binary data"),
        (b'a;"b;*\n', "line 1: the row cannot be read"),
    ],
)
def test_bad_files(tmp_path, raw, message):
    with refusing(FileError, match=message):
        Hierarchy.read(written(tmp_path, raw))


def test_the_checks_at_birth_fire():
    for levels, message in [
        ((), "at least one leaf"),
        (((),), "at least one leaf"),
        ((("a", "b"), ("*",)), "a label for every leaf"),
        ((("a", "a"), ("*", "*")), "every leaf once"),
        ((("a", ""), ("*", "*")), "no empty labels"),
        ((("a", "b"), ("x", "y")), "ends in one root"),
        ((("a", "b", "c"), ("x", "x", "y"), ("u", "v", "v"), ("*",) * 3), "every label has one parent"),
    ]:
        with refusing(InputError, match=message):
            Hierarchy(levels)


def test_values_that_are_missing():
    h = Hierarchy.flat(["a", "b"])
    assert h.missing(pl.Series(["a", "c", None, "c", "d", ""])) == ["c", "d"]
    h.cover(["a", "b", None], "The release")
    with refusing(
        InputError, match=r"^The release has 25 values that are not .*: 'v0', .*'v19' and 5 more\."
    ) as caught:
        h.cover([f"v{k}" for k in range(25)], "The release")
    assert "v0" not in caught.value.shareable
    with refusing(InputError, match="1 value that is not"):
        h.index(["a", "c"])
    with refusing(InputError, match="1 of the values are empty"):
        h.index(["a", None])


def test_from_a_tree():
    h = Hierarchy.from_tree({"Europe": ["DE", "FR"], "Asia": {"East": ["JP"], "Iran": None}})
    assert h.leaves == ("DE", "FR", "JP", "Iran")
    assert h.levels[1:] == (("DE", "FR", "East", "Iran"), ("Europe", "Europe", "Asia", "Asia"), ("*",) * 4)
    with refusing(InputError, match="got list"):
        Hierarchy.from_tree(["a"])
    with refusing(InputError, match="got object"):
        Hierarchy.from_tree({"a": [object()]})


def test_intervals():
    h = Hierarchy.intervals([17, 20, -3, "39.5"])
    assert h.levels == (
        ("17", "20", "-3", "39.5"),
        ("[15, 20)", "[20, 25)", "[-5, 0)", "[35, 40)"),
        ("[10, 20)", "[20, 30)", "[-10, 0)", "[30, 40)"),
        ("[0, 20)", "[20, 40)", "[-20, 0)", "[20, 40)"),
        ("*",) * 4,
    )
    assert Hierarchy.intervals(["0.3"], widths=["0.1"]).labels(1) == ["[0.3, 0.4)"], "no floats"
    assert Hierarchy.intervals([2020], widths=[10], origin=2015).labels(1) == ["[2015, 2025)"]
    for widths, message in [([], "at least one"), ([0], "above 0"), ([5, 12], "multiple"), (["x"], "must be a number")]:
        with refusing(InputError, match=message):
            Hierarchy.intervals([1], widths=widths)
    with refusing(InputError, match="'x' is none"):
        Hierarchy.intervals(["x"])


def test_prefixes():
    assert [Hierarchy.prefixes(["13053", "148"]).levels[k] for k in range(6)] == [
        ("13053", "148"),
        ("1305*", "148"),
        ("130**", "148"),
        ("13***", "14*"),
        ("1****", "1**"),
        ("*", "*"),
    ]


def test_dates():
    h = Hierarchy.dates([datetime.date(2021, 3, 5), "1999-12-31"])
    assert list(zip(*h.levels, strict=True)) == [
        ("2021-03-05", "2021-03", "2021", "2020-2029", "*"),
        ("1999-12-31", "1999-12", "1999", "1990-1999", "*"),
    ]
    with refusing(InputError, match="found '2021-02-30'"):
        Hierarchy.dates(["2021-02-30"])


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (["17", "90", "33"], "intervals of width 5, 10, 20"),
        ([17, 90, None], "intervals of width 5, 10, 20"),
        ([0.25, 0.5], "intervals of width 0.02, 0.04, 0.08"),
        ([3, 3], "intervals of width 1"),
        ([13053, 13068], "intervals of width 1, 2, 4"),
        (["13053", "13068", ""], "prefixes"),
        (["012", "345"], "prefixes"),
        (["A12", "B34"], "prefixes"),
        (["2021-03-05", "2020-01-01"], "dates"),
        ([datetime.datetime(2021, 3, 5), datetime.datetime(2021, 3, 6)], "dates"),
        (["male", "fema"], "flat"),
        (["1", "2", "?"], "flat"),
    ],
)
def test_proposed_rules(values, rule):
    assert Hierarchy.propose(pl.Series(values)).rule == rule


@pytest.mark.parametrize("values", [["a", "b"], [1, 2, 30], ("02139", "02140"), ["2024-01-31", None]])
def test_a_list_is_a_column(values):
    listed, column = Hierarchy.propose(values), Hierarchy.propose(pl.Series(values))
    assert (listed.levels, listed.rule) == (column.levels, column.rule)


@pytest.mark.parametrize(
    ("values", "told"), [("abc", "of type str"), (None, "of type NoneType"), ([1, "a"], "int, str")]
)
def test_what_is_no_column(values, told):
    with refusing(InputError, match=told):
        Hierarchy.propose(values)


def test_nothing_to_propose():
    with refusing(InputError, match="at least one value"):
        Hierarchy.propose(pl.Series([None, ""], dtype=pl.String))


def test_drawn():
    assert str(Hierarchy.from_rows([["DE", "Europe", "*"], ["FR", "Europe", "*"], ["unknown", "*"]])) == (
        "*\n├── Europe\n│   ├── DE\n│   └── FR\n└── unknown"
    )
    assert repr(Hierarchy.flat(["a", "b"])) == "Hierarchy(2 leaves, height 1, flat)"


@given(st.integers(1, 200), st.integers(1, 50))
@settings(max_examples=50, deadline=None)
def test_drawings_are_capped_and_count_what_they_hide(n, lines):
    drawn = Hierarchy.intervals(range(n)).tree(lines).splitlines()
    assert len(drawn) <= max(lines, 2)
    if lines > 2 * n + 60:
        assert not any("more" in line for line in drawn)


@st.composite
def trees(draw):
    """A random tree as rows, with leaves at different depths."""
    rows, number = [], iter(range(10_000))

    def grow(path):
        for _ in range(draw(st.integers(1, 3))):
            label = f"n{next(number)}"
            if len(path) < 4 and draw(st.booleans()):
                grow([label, *path])
            else:
                rows.append([label, *path])

    grow(["*"])
    return draw(st.permutations(rows))


@given(trees())
@settings(max_examples=60, deadline=None)
def test_arrays_agree_with_the_rows(rows):
    h = Hierarchy.from_rows(rows)
    assert h.leaves == tuple(row[0] for row in rows)
    assert h.height == max(len(row) for row in rows) - 1
    for row in rows:
        for label in row:
            assert h.leaves_of(label) == {other[0] for other in rows if label in other}
    for level in range(h.height + 1):
        labels, codes = h.labels(level), h.codes(level)
        assert tuple(labels[c] for c in codes) == h.levels[level]
        assert h.leaves_under(level).tolist() == [h.levels[level].count(label) for label in labels]
    assert h.labels(h.height) == ["*"]


@given(trees(), st.sampled_from([";", ",", "\t"]))
@settings(max_examples=30, deadline=None)
def test_files_come_back(tmp_path_factory, rows, separator):
    path = tmp_path_factory.mktemp("h") / "h.csv"
    path.write_text("\n".join(separator.join(row) for row in rows))
    assert Hierarchy.read(path).levels == Hierarchy.from_rows(rows).levels


@given(st.binary(max_size=60) | st.text(alphabet='a;,"\n*\t ', max_size=40).map(str.encode))
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_a_tree_or_a_sentence(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("h") / "h.csv"
    path.write_bytes(raw)
    try:
        h = Hierarchy.read(path)
    except InputError:
        return
    assert len(set(h.levels[-1])) == 1
    str(h)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30), st.sampled_from(["5", "0.5", "100"]))
@settings(max_examples=60, deadline=None)
def test_intervals_hold_their_values(values, width):
    h = Hierarchy.intervals(values, widths=[width, f"{float(width) * 4:g}"])
    for level in (1, 2):
        for leaf, label in zip(h.leaves, h.levels[level], strict=True):
            low, high = label.strip("[)").split(", ")
            assert float(low) <= float(leaf) < float(high)


@pytest.mark.skipif(not DATA.is_dir(), reason="the data files are not here (set SHOWTHROUGH_DATA)")
def test_the_hierarchies_of_adult_and_ipums():
    files = sorted(DATA.glob("*/hierarchies/*.csv"))
    assert len(files) > 10
    for path in files:
        assert Hierarchy.read(path).root == "*"
    age = Hierarchy.read(DATA / "adult" / "hierarchies" / "age.csv")
    assert age.leaves_of("0-4") == {"1", "2", "3", "4", "5"}, "as ARX ships it"
