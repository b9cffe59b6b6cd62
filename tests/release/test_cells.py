"""Cells as printed: read, described, and the values they cover."""

import datetime
from pathlib import Path

import polars as pl
import pytest

from showthrough.errors import InputError, ReleaseError
from showthrough.release.cells import CellKind, ColumnKind, covers, read_cells, understood
from showthrough.table.files import read_table
from showthrough.table.hierarchy import Hierarchy
from tests.saying import refusing

FIXTURES = Path(__file__).parent / "fixtures"


def text(values):
    return pl.Series(list(values), dtype=pl.String)


def column(cells, domain=None, **more):
    values = None if domain is None else text(domain)
    return read_cells(
        cells if isinstance(cells, pl.Series) else text(cells), name="q", where="d.csv", domain=values, **more
    )


def covered(cells, values, **more):
    """For each row of ``cells`` the values it covers, or True for all of them."""
    read = column(cells, values, **more)
    start, code = covers(read, text(values))
    spans = [[values[k] for k in code[start[c] : start[c + 1]]] for c in range(len(read.cells))]
    return [True if read.any[c] else spans[c] for c in read.codes]


AGES = ["18", "30", "17", "29.5", "30.0", "65", "-5", "-3.10", "3"]


@pytest.mark.parametrize(
    ("printed", "inside"),
    [
        ("*", True),
        ("***", True),
        ("", True),
        (None, True),
        ("NA", True),
        ("NaN", True),
        ("null", True),
        (" * ", True),
        ("30", ["30", "30.0"]),
        (" 30.00 ", ["30", "30.0"]),
        ("3*", ["30", "30.0"]),
        ("3*.*", ["30.0"]),
        ("-*", ["-5"]),
        ("<18", ["17", "-5", "-3.10", "3"]),
        ("<=18", ["18", "17", "-5", "-3.10", "3"]),
        ("≤ 18", ["18", "17", "-5", "-3.10", "3"]),
        (">30", ["65"]),
        (">=30", ["30", "30.0", "65"]),
        ("≥30", ["30", "30.0", "65"]),
        ("30+", ["30", "30.0", "65"]),
        ("[18, 30]", ["18", "30", "29.5", "30.0"]),
        ("[18, 30[", ["18", "29.5"]),
        ("[18, 30)", ["18", "29.5"]),
        ("]18, 30]", ["30", "29.5", "30.0"]),
        ("(18,30]", ["30", "29.5", "30.0"]),
        ("(18;30)", ["29.5"]),
        ("[18-30]", ["18", "30", "29.5", "30.0"]),
        ("(30, Inf]", ["65"]),
        ("(-Inf,-5]", ["-5"]),
        ("(-∞, ∞)", True),
        ("18-30", ["18", "30", "29.5", "30.0"]),
        ("18–30", ["18", "30", "29.5", "30.0"]),
        ("18 - 30", ["18", "30", "29.5", "30.0"]),
        ("18 to 30", ["18", "30", "29.5", "30.0"]),
        ("18..30", ["18", "30", "29.5", "30.0"]),
        ("-5--3", ["-5", "-3.10"]),
        ("−5 – −3.1", ["-5", "-3.10"]),
        ("-3.1", ["-3.10"]),
        ("1e+1-2e+1", ["18", "17"]),
        ("{18, 30}", ["18", "30", "30.0"]),
        ("18,30", ["18", "30", "30.0"]),
        ("18~65", ["18", "65"]),
        ("{18, NA}", True),
        ("99", []),
    ],
)
def test_numbers(printed, inside):
    assert column([printed], AGES).kind is ColumnKind.NUMBER
    assert covered([printed], AGES) == [inside]


@pytest.mark.parametrize(
    ("printed", "inside"),
    [
        ("130**", ["13053", "13068"]),
        ("1**53", ["13053"]),
        ("**053", ["13053", "02053"]),
        ("02053", ["02053"]),
        ("2053", []),
        ("02000-02999", ["02053"]),
        ("[02053, 13068[", ["13053", "02053"]),
        (">=13000", ["13053", "13068"]),
        ("{02053, 13053}", ["13053", "02053"]),
    ],
)
def test_codes(printed, inside):
    values = ["13053", "13068", "02053"]
    assert column([printed], values).kind is ColumnKind.CODE
    assert covered([printed], values) == [inside]


def test_a_cell_with_a_leading_zero_makes_codes_of_numbers():
    assert covered(["01234", "130**"], ["13053", "1234"]) == [[], ["13053"]]


def test_text_that_looks_like_something_else():
    bands = ["18-30", "31-40", "13053-1234", "Married-civ-spouse", "a,b", "a", "<=50K", "x*y", "2021-03-05"]
    assert covered(bands, bands) == [[band] for band in bands], "what the register holds is exact"
    assert covered(["41-50"], ["18-30", "31-40"]) == [[]]
    kinds = [cell.kind for cell in column(["13053-1234", "Married-civ-spouse", "<=50K", "(other)"]).cells]
    assert kinds == [CellKind.EXACT] * 4
    assert column(["1E10", "NO"]).kind is ColumnKind.TEXT


def test_sets_of_text():
    values = ["a", "b", "b, c", "O'Neil", "d"]
    cells = ["{a, b}", '{a, "b, c"}', "{'a', 'd'}", "{O'Neil, d}", "a,d", "a~b~d", "{x}", "a,z"]
    assert covered(cells, values) == [
        ["a", "b"],
        ["a", "b, c"],
        ["a", "d"],
        ["O'Neil", "d"],
        ["a", "d"],
        ["a", "b", "d"],
        [],
        ["a"],
    ]
    assert covered(["Smith, John"], values) == [[]], "no part is known: a name"
    assert [cell.kind for cell in column(["Smith, John", "x,y"]).cells] == [CellKind.EXACT, CellKind.SET]


DATES = ["2021-03-05", "2021-03-31", "2021-04-01", "2020-12-31", "1999-01-01", "2021-02"]


@pytest.mark.parametrize(
    ("printed", "inside"),
    [
        ("2021-03-05", ["2021-03-05"]),
        ("2021-03", ["2021-03-05", "2021-03-31"]),
        ("2021-03-**", ["2021-03-05", "2021-03-31"]),
        ("2021-**-**", ["2021-03-05", "2021-03-31", "2021-04-01", "2021-02"]),
        ("****-**-01", ["2021-04-01", "1999-01-01"]),
        ("2021", ["2021-03-05", "2021-03-31", "2021-04-01", "2021-02"]),
        ("1990-1999", ["1999-01-01"]),
        ("<2021", ["2020-12-31", "1999-01-01"]),
        ("<=2020", ["2020-12-31", "1999-01-01"]),
        (">2021-03", ["2021-04-01"]),
        (">=2021-03", ["2021-03-05", "2021-03-31", "2021-04-01"]),
        ("[2020-01-01, 2020-12-31]", ["2020-12-31"]),
        ("[2020, 2021-03-31[", ["2021-03-05", "2020-12-31", "2021-02"]),
        ("]2020, 2021-03[", ["2021-02"]),
        ("2020-12-31-2021-03-05", ["2021-03-05", "2020-12-31", "2021-02"]),
        ("2020-12 to 2021-03", ["2021-03-05", "2021-03-31", "2020-12-31", "2021-02"]),
        ("{2021-03-05, 1999}", ["2021-03-05", "1999-01-01"]),
        ("2021-02-15", ["2021-02"]),
    ],
)
def test_dates(printed, inside):
    assert column([printed], DATES).kind is ColumnKind.DATE
    assert covered([printed], DATES) == [inside]


def test_typed_columns():
    days = pl.Series([datetime.date(2021, 3, 5), None])
    assert column(days).kind is ColumnKind.DATE
    assert column(pl.Series([30.0, 29.5])).texts == ["30.0", "29.5"]
    assert column(pl.Series([30, 29])).kind is ColumnKind.NUMBER
    with refusing(InputError, match="Expected the values as text"):
        covers(column(["1"]), pl.Series([1]))


def test_labels_come_before_every_form():
    age = Hierarchy.from_rows([[str(k), "0-4" if k <= 5 else "5-9", "*"] for k in range(1, 10)])
    values = [str(k) for k in range(1, 11)]
    assert covered(["0-4", "5-9", "*", "3", "3.0", "4-5"], values, hierarchy=age) == [
        ["1", "2", "3", "4", "5"],
        ["6", "7", "8", "9"],
        True,
        ["3"],
        ["3"],
        ["4", "5"],
    ]
    school = Hierarchy.from_rows([["9th", "None", "all"], ["10th", "Some", "all"]])
    read = column(["None", "all", "NA", "{9th, Some}", "Some,9th"], hierarchy=school, missing=("None", "NA"))
    assert [cell.kind.value for cell in read.cells] == ["label", "any", "any", "set", "set"]
    assert read.cells[3].members == ("9th", "10th")
    with refusing(ReleaseError, match=r"row 2, column 'q'.*'Many' cannot be read: it is no label of the hierarchy"):
        column(["Some", "Many"], ["9th"], hierarchy=school)


def test_missing_values_are_chosen():
    countries = ["NA", "DE"]
    assert covered(["NA", "DE"], countries) == [True, ["NA", "DE"]], "unknown values are covered by every cell"
    assert covered(["NA", "DE"], countries, missing=("",)) == [["NA"], ["DE"]]
    assert covered(["?", "1-3"], ["1", "2", "?"], missing=("?",)) == [True, ["1", "2", "?"]]
    tree = Hierarchy.flat(countries)
    assert covered(["NA", "DE"], countries, hierarchy=tree) == [["NA"], ["DE"]], "a leaf is no gap"
    with refusing(ReleaseError, match=r"'\?' cannot be read"):
        column(["?", "1-3"], ["1", "2"])


def test_numbers_beyond_any_float():
    values = ["0.1", "0.10", "0.1000000000000000055", "9007199254740993", "9007199254740992", "1" * 300]
    assert covered(["0.1", "[9007199254740993, 1e+20]", f"<{'1' * 300}"], values) == [
        ["0.1", "0.10"],
        ["9007199254740993"],
        values[:-1],
    ]
    assert column(["1" * 500, "9" * 5000]).kind is ColumnKind.TEXT


def test_unknown_register_values_are_covered_by_every_cell():
    assert covered(["1", "*", "[2, 3]"], ["1", None, "2", " "]) == [["1", None, " "], True, [None, "2", " "]]


@pytest.mark.parametrize(
    ("cells", "domain", "message"),
    [
        (["18", "[18, 30"], None, r"^d\.csv, row 2, column 'q': the cell '\[18, 30' cannot be read.*Forms understood"),
        (["[18, 30"], None, "a bracket is opened and not closed"),
        (["18, 30]"], None, "a bracket is opened and not closed, or closed and not opened"),
        (["(18, 30"], None, "a bracket is opened and not closed"),
        (["{a, b"], None, "a brace is opened and not closed"),
        (["{a, , b}"], None, "an empty member"),
        (["{}"], None, "an empty member"),
        (["[30, 18]"], ["18"], "its low end is above its high end"),
        (["30-18"], ["18"], "its low end is above its high end"),
        (["13053-1234"], ["13053"], "its low end is above its high end"),
        (["(18, 18]"], ["18"], "no value lies between"),
        (["(Inf, 18]"], ["18"], "its low end is above"),
        (["<abc"], ["18"], "the register holds numbers alone, and this is none of them"),
        (["unknown"], ["18"], "cannot be read"),
        (["x*"], ["18"], "a mask of numbers holds nothing else"),
        (["{18, x}"], ["18"], "a member is none"),
        (["{1*, 2}"], ["18"], "a set holds exact values"),
        (["2021-02-30"], ["2021-02-03"], "read as dates"),
        (["[2021-02-30, 2022]"], ["2021-02-03"], "one of its ends is no value"),
        (["1234-1300"], ["01234"], "one of its ends is no value"),
        (["[18, 30]", "Other"], None, "read as text because it holds 'Other', and text has no intervals"),
        (["18-30"], ["18", "unknown"], "read as text because the register holds 'unknown'"),
        (["a", "[1", "[2", "[3"], None, "In all, 3 different cells of this column cannot be read"),
    ],
)
def test_what_cannot_be_read(cells, domain, message):
    with refusing(ReleaseError, match=message) as caught:
        column(cells, domain)
    assert "Other" not in caught.value.shareable
    assert "unknown" not in caught.value.shareable
    assert "column 'q'" in caught.value.shareable


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("*", "any value"),
        ("30.0", "exactly 30"),
        ("[18, 30[", "from 18 up to but not including 30"),
        ("]18.50, 30]", "more than 18.5, up to and including 30"),
        ("<30", "less than 30"),
        ("<=30", "30 or less"),
        (">30", "more than 30"),
        ("65+", "65 or more"),
        ("130**", "5 characters as in 130**, two of them hidden"),
        ("{1, 2}", "one of 1, 2"),
        ("{1, 2, 3, 4, 5, 6, 7}", "one of 1, 2, 3, 4, 5 and 2 more"),
    ],
)
def test_descriptions(printed, words):
    assert column([printed], ["1"]).cells[0].describe() == words


def test_understood():
    h = Hierarchy.from_rows([[c, "all letters", "*"] for c in "abcdefg"] + [["h", "h only", "*"]])
    frame = understood(column(["all letters", "h only", "a", "all letters", None], hierarchy=h))
    assert frame.rows() == [
        ("all letters", "label", "all letters: any of 7 values", 2),
        ("h only", "label", "h only: exactly h", 1),
        ("a", "exact", "exactly a", 1),
        ("", "any", "any value", 1),
    ]


def test_too_many_pairs_are_refused():
    values = [str(k) for k in range(100, 200)]
    for cells in (["<500", "<501"], ["1**", "1*0"], ["{100}", "100"]):
        read = column(cells, values)
        pairs = covers(read, text(values)).code.size
        assert covers(read, text(values), at_most=pairs).code.size == pairs
        with refusing(InputError, match="Link with fewer values"):
            covers(read, text(values), at_most=pairs - 1)


def kinds(frame, name, **more):
    return [cell.kind.value for cell in column(frame[name], **more).cells]


def test_a_file_of_arx():
    frame = read_table(FIXTURES / "arx.csv")
    assert covered(frame["age"], ["19", "20", "39", "40", "80"]) == [["20", "39"]] * 2 + [["80"], ["19"], True]
    assert covered(frame["zip"], ["13053", "14850"]) == [["13053"]] * 2 + [["14850"], ["13053"], True]
    tree = Hierarchy.from_tree(
        {"spouse present": ["Married"], "spouse not present": ["Divorced", "Widowed", "Never-married"]}
    )
    assert kinds(frame, "marital", hierarchy=tree) == ["label", "set", "exact", "any"]
    assert kinds(frame, "salary") == ["exact", "exact", "any"]


def test_a_file_of_sdcmicro():
    frame = read_table(FIXTURES / "sdcmicro.csv")
    assert covered(frame["age"], ["0", "18", "30", "31"]) == [["30"], ["0", "18"], ["31"], True]
    assert covered(frame["roof"], ["2", "4"]) == [["2"], True, ["4"], ["2"]]
    assert covered(frame["income"], ["10000", "10000.5", "99999"]) == [["10000"], ["10000.5"], ["99999"], True]


def test_a_file_of_anjana():
    frame = read_table(FIXTURES / "anjana.csv")
    assert covered(frame["age"], ["15", "20", "24"]) == [["15"], ["20", "24"], True]
    assert covered(frame["hours"], ["0", "50.5", "50.49"]) == [["0", "50.49"], ["50.5"], True]
    assert kinds(frame, "education") == ["exact", "exact", "any"]


def test_a_file_of_anonypy():
    frame = read_table(FIXTURES / "anonypy.csv")
    assert covered(frame["age"], ["17", "25", "26", "35"]) == [["17", "25"], ["26"], ["35"]]
    assert covered(frame["sex"], ["Female", "Male"]) == [["Female", "Male"], ["Male"], ["Female"]]
    assert covered(frame["workclass"], ["Private", "Local-gov"]) == [["Private"], ["Private"], ["Private", "Local-gov"]]
    assert covered(frame["balance"], ["-20", "-5", "-4.5", "10.25", "7"]) == [
        ["-20", "-5"],
        ["-4.5", "10.25", "7"],
        ["7"],
    ]
