"""A history in one TOML file: mixed kinds, roles of their own, and every wrong entry a sentence."""

import polars as pl
import pytest

from showthrough import infer, read_history
from showthrough.errors import InputError, ShowthroughError
from showthrough.register.history_file import files_of
from tests.saying import refusing

MIXED = """
[[release]]
file = "b.csv"
id = "pid"
sensitive = "diagnosis"
group = "bucket"
name = "B"

[[release]]
file = "g.csv"
sensitive = "condition"
quasi = ["age"]
hierarchies = { age = "age.csv" }
value_map = "map.csv"

[[release]]
file = "m.csv"
kind = "microaggregated"
sensitive = "v"
quasi = ["age"]
spread = { age = "width" }
locate = "within"
date = 2025-01-01

[[release]]
file = "c.csv"
sensitive = "v"
quasi = ["age"]
count = "n"

[register]
file = "people.csv"
id = "pid"
present = { c = "in-c.txt" }
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    texts = {
        "history.toml": MIXED,
        "b.csv": "pid,bucket,diagnosis\np1,1,a\np2,1,b\np3,1,c\n",
        "g.csv": "age,condition\nyoung,A\nyoung,B\nold,C\n",
        "age.csv": "20;young\n28;young\n50;old\n",
        "map.csv": "old,new\nA,a\nB,b\nC,c\n",
        "m.csv": "age,width,v\n24,5,a\n24,5,b\n50,1,c\n",
        "c.csv": "age,v,n\n[20-30],a,1\n[20-30],b,1\n",
        "people.csv": "pid,age\np1,20\np2,28\np3,50\n",
        "in-c.txt": "p1\np2\n",
    }
    for name, text in texts.items():
        (tmp_path / "sub" / name).write_text(text.replace("[20-30]", '"[20, 30]"'))
    return tmp_path / "sub"


def test_a_mixed_history(home):
    releases, register = read_history("sub/history.toml")
    assert [(r.name, r.kind) for r in releases] == [
        ("B", "bucketized"),
        ("g", "generalized"),
        ("m", "microaggregated"),
        ("c", "counted"),
    ]
    assert releases[2].date == "2025-01-01"
    assert register.presence["c"].to_list() == [True, True, False]
    post = infer(releases, register=register)
    assert post.of("p3") == {"c": 1.0}
    assert post.of("p1") == pytest.approx({"a": 0.5, "b": 0.5})
    for row in post.proven().iter_rows():
        assert post.explain(*row[:2]).verify(releases, register=register)


def test_every_file_it_names(home):
    named = {path.name for path in files_of("sub/history.toml")}
    assert named == {"b.csv", "g.csv", "m.csv", "c.csv", "age.csv", "map.csv", "people.csv", "in-c.txt"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "lists no releases"),
        ("release = 3", "lists no releases"),
        ("= 3", "not valid TOML"),
        ("[[release]]\n[releases]", "'releases' is unknown"),
        ("[[release]]", "release 1: name its file"),
        ("[[release]]\nfile = 3", "release 1: name its file"),
        ('[[release]]\nfile = "no.csv"', "There is no file"),
        ('[[release]]\nfile = "b.csv"\nfoo = 1', "'foo' is unknown"),
        ('[[release]]\nfile = "b.csv"\nquasi = 5', "wrong type"),
        ('[[release]]\nfile = "g.csv"\nsensitive = "condition"\nquasi = ["age"]\nhierarchies = 5', "is a table"),
        ('[[release]]\nfile = "g.csv"\nsensitive = "condition"\nquasi = ["age"]\nlocate = "within"', "microaggregated"),
        ('[[release]]\nfile = "g.csv"\nsensitive = "condition"\nquasi = ["age"]\nnominal = ["age"]', "microaggregated"),
        (
            '[[release]]\nfile = "g.csv"\nsensitive = "condition"\nquasi = ["age"]\nregister = 3',
            "'register' is unknown",
        ),
        ('register = 3\n[[release]]\nfile = "g.csv"', r"expected a table \[register\]"),
    ],
)
def test_wrong_entries(home, text, words):
    (home / "history.toml").write_text(text)
    with refusing(InputError, match=words):
        read_history(home / "history.toml")


@pytest.mark.parametrize(
    ("register", "words"),
    [
        ("file = 3", "name its file"),
        ('file = "people.csv"', "no column 'id'"),
        ('file = "people.csv"\nid = 3', "no column 3|wrong type"),
        ('file = "people.csv"\nid = "pid"\npresent = 3', "present is a table"),
        ('file = "people.csv"\nid = "pid"\npresent = { c = 3 }', "wrong type"),
        ('file = "people.csv"\nid = "pid"\npresent = { c = "no.txt" }', "There is no file"),
        ('file = "people.csv"\nid = "pid"\npresent = { D9 = "in-c.txt" }', "present names 'D9', but the releases are"),
        ('file = "people.csv"\nid = "pid"\npresent = { c = "age.csv" }', "None of the 3 ids"),
        ('file = "people.csv"\nid = "pid"\npath = "x"', "'path' is unknown"),
    ],
)
def test_wrong_registers(home, register, words):
    text = MIXED[: MIXED.index("[register]")]
    (home / "history.toml").write_text(f"{text}[register]\n{register}\n")
    with refusing(ShowthroughError, match=words):
        read_history(home / "history.toml")


def test_bytes_that_are_no_text(home):
    (home / "history.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_history(home / "history.toml")
    (home / "history.toml").write_bytes(b"\xef\xbb\xbf" + MIXED.encode())  # as editors on Windows write it
    assert len(read_history(home / "history.toml")[0]) == 4
    (home / "in-c.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="one id per line"):
        read_history(home / "history.toml")


def test_counts_of_the_mixed_history_are_those_of_the_files(home):
    releases, _ = read_history(home / "history.toml")
    assert releases[1].counts()["value"].to_list() == ["a", "b", "c"]
    assert releases[3].counts().rows() == [(1, "a", 1), (1, "b", 1)]
    assert pl.read_csv(home / "people.csv").height == 3
