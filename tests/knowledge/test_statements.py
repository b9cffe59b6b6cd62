"""Statements: what they say in words, what is refused, and what a file of them says of its faults."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import showthrough as st
from showthrough import knowledge as k
from showthrough.errors import FileError, InputError
from showthrough.knowledge.condition import ColumnEntries, Condition
from showthrough.knowledge.knowledge_file import parse
from showthrough.knowledge.rational import exact, outwards
from tests.histories import FIGURE1, releases
from tests.saying import refusing

WORDS = {
    "11 has HIV": k.known("11", "HIV"),
    "14 does not have Flu": k.excluded("14", "Flu"),
    "8 has Flu or HIV": k.one_of("8", ["Flu", "HIV"]),
    "exactly one of 11 and 12 has HIV": k.exactly_one(["11", "12"], "HIV"),
    "of the persons with sex f at least 20 % and at most 40 % have HIV": k.share(
        "HIV", where={"sex": "f"}, at_least=0.2, at_most=0.4
    ),
    "of 1, 2, 3 and 2 more exactly 3 have Flu": k.count("Flu", ids=range(1, 6), equals=3),
    "of 1 and 2 at least 45 % and at most 55 % have a or b": k.share(
        ["a", "b"], ids=[1, 2], equals=0.5, tolerance=0.05
    ),
    "of the persons with age >=30 and <=39 at most 1 have a": k.count(
        "a", where={"age": {"at_least": 30, "at_most": 39}}, at_most=1
    ),
}

WRONG = {
    "at_least of a share is between 0 and 1": lambda: k.share("a", ids=[1], at_least=1.5),
    "at_least of a share is between": lambda: k.share("a", ids=[1], at_least=-0.1),
    "at_least is above at_most": lambda: k.share("a", ids=[1], at_least=0.6, at_most=0.4),
    "equals= stands alone": lambda: k.share("a", ids=[1], equals=0.5, at_most=0.4),
    "tolerance= goes with equals=": lambda: k.share("a", ids=[1], at_most=0.5, tolerance=0.1),
    "say how many": lambda: k.count("a", ids=[1]),
    "say of whom": lambda: k.count("a", equals=1),
    "either ids= or where=": lambda: k.count("a", ids=[1], where={"x": 1}, equals=1),
    "where says nothing": lambda: k.count("a", where={}, equals=1),
    "where maps columns": lambda: k.count("a", where="sex", equals=1),
    "lists nothing": lambda: k.one_of("8", []),
    "values is a list": lambda: k.one_of("8", "Flu"),
    "ids is a list": lambda: k.exactly_one("11", "HIV"),
    "value is one entry": lambda: k.known("11", None),
    "id is one entry": lambda: k.known(["11"], "HIV"),
    "is a number": lambda: k.share("a", ids=[1], at_least="much"),
    "is a finite number": lambda: k.share("a", ids=[1], at_least=float("nan")),
    "has the ends": lambda: k.share("a", where={"age": {"from": 3}}, at_least=0.1),
    "column 'age' lists nothing": lambda: k.share("a", where={"age": []}, at_least=0.1),
}


@pytest.mark.parametrize("text", WORDS)
def test_what_statements_say(text: str):
    assert str(WORDS[text]) == text


@pytest.mark.parametrize("why", WRONG)
def test_statements_that_say_nothing(why: str):
    with refusing(InputError, why):
        WRONG[why]()


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (0.2, Fraction(1, 5)),
        ("1/3", Fraction(1, 3)),
        (1 / 3, Fraction(1, 3)),
        (Decimal("0.125"), Fraction(1, 8)),
        (Fraction(2, 7), Fraction(2, 7)),
        (0.1 + 0.2, Fraction(3, 10)),
        (0.123456789, Fraction(123456789, 10**9)),
    ],
)
def test_numbers_are_exact(given, wanted):
    assert exact(given, "p") == wanted


def test_fine_bounds_move_outwards():
    fine = Fraction(123456789, 10**9)
    assert outwards(fine, up=False) <= fine <= outwards(fine, up=True)
    assert outwards(fine, up=True) - outwards(fine, up=False) <= Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({"age": 30}, [False, True, False, False]),
        ({"age": "30-39"}, [False, True, True, False]),
        ({"age": {"above": 30, "at_most": 40}}, [False, False, True, False]),
        ({"age": ["18", 39]}, [True, False, True, False]),
        ({"age": "<40"}, [True, True, True, False]),
        ({"age": "3*"}, [False, True, True, False]),
        ({"age": "*"}, [True, True, True, False]),
    ],
)
def test_who_fits_a_condition(where, wanted):
    column = ColumnEntries.of(pl.Series(["18", "30", "39", None], dtype=pl.String))
    assert Condition.of(where).fitting({"age": column}, {}, "where").tolist() == wanted


FAULTS = {
    '[[knwon]]\nid="1"\nvalue="a"\n': "line 1: 'knwon' is not known .was 'known' meant",
    '[known]\nid="1"\nvalue="a"\n': r"line 1: write \[\[known\]\]",
    '\n[[known]]\nid="1"\n': "line 2: .*needs value",
    '[[share]]\nvalue="a"\nids=["1"]\nat_lest=0.5\n': "line 4: 'at_lest' is not known .was 'at_least' meant",
    '[[known]]\nid="1"\nvalue="a"\n\n[[share]]\nvalue="a"\nids=["1"]\nat_least=7\n': "line 5: .*between 0 and 1",
    "": "holds no statement",
    "a = [": "not valid TOML",
    "known = 3\n": "line 1: write",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_of_a_file_are_told_with_their_line(text: str):
    with refusing(FileError, f"neighbour.toml.*{FAULTS[text]}"):
        parse(text, "neighbour.toml")


def test_statements_come_in_the_order_of_their_lines(tmp_path: Path):
    file = tmp_path / "k.toml"
    file.write_text(
        '[[known]]\nid = 1\nvalue = "a"\n[[count]]\nvalue = "b"\nwhere = { born = 2020-01-02 }\nequals = 1\n'
        '[[known]]\nid = 2\nvalue = "b"\n'
    )
    found = st.read_knowledge(file)
    assert [str(one) for one in found] == ["1 has a", "of the persons with born 2020-01-02 exactly 1 have b", "2 has b"]
    assert found[1].place == f"{file}, line 4"
    assert dt.date(2020, 1, 2).isoformat() in str(found[1])


NOT_THERE = {
    "neither a release nor the register holds": k.known("99", "HIV"),
    "no release publishes the value": k.known("11", "Malaria"),
    "there is no column 'sex'": k.share("HIV", where={"sex": "f"}, at_least=0.1),
    "it asks for at least 3 persons, but speaks of 2": k.count("HIV", ids=["1", "2"], at_least=3),
}


@pytest.mark.parametrize("why", NOT_THERE)
def test_statements_about_what_is_not_there(why: str):
    with refusing(InputError, why, hidden=("99", "Malaria")):
        st.infer(releases(FIGURE1), knowledge=[NOT_THERE[why]])


def test_a_share_of_nobody_is_refused():
    register = pl.DataFrame({"id": ["1"], "sex": ["m"]})
    with refusing(InputError, "nobody fits the condition", hidden=("sex f",)):
        said = [k.share("HIV", where={"sex": "f"}, at_least=0.1)]
        st.infer(releases(FIGURE1), register=register, knowledge=said)


@pytest.mark.parametrize("given", ["a", [("11", "HIV")], 3, [None]])
def test_knowledge_is_a_list_of_statements(given):
    with refusing(InputError, "knowledge is a list of statements"):
        st.infer(releases(FIGURE1), knowledge=given)


def test_a_value_that_is_said_twice_counts_once():
    """Found by the fuzzer: one of b and b weighed b twice, so that half of it was enough."""
    rows = {"id": ["1", "2", "3"], "g": [0, 0, 0], "v": ["7", "8", "8"]}
    release = st.Release.bucketized(rows, id="id", sensitive="v", group="g")
    for said in (["7", "7"], ["7", 7], ["7"]):
        assert st.infer(release, knowledge=st.knowledge.one_of("2", said)).of("2") == {"7": 1.0}
    clash = [st.knowledge.excluded("1", "8"), st.knowledge.one_of("2", ["7", "7"])]
    assert len(st.infer(release, knowledge=clash).contradictions) == 1
