"""Registers: ids, quasi-identifiers, who is in which release."""

import polars as pl
import pytest

from showthrough import Register, Release, infer, read_register
from showthrough.errors import InputError, UnknownPersonError
from tests.saying import refusing

PEOPLE = pl.DataFrame({"id": ["1", "2", "3"], "age": [21, 22, None], "in_G": ["yes", "", "No"]})


def release(name: str = "G", **more) -> Release:
    frame = {"age": ["2*", "2*"], "v": ["a", "b"]}
    return Release.generalized(frame, sensitive="v", quasi=["age"], name=name, **more)


def test_presence_columns_say_yes_no_and_unknown():
    register = Register.of(PEOPLE)
    assert register.presence["G"].to_list() == [True, None, False]
    assert register.quasi.columns == ["age"]
    assert register.quasi["age"].to_list() == ["21", "22", None]
    assert len(register) == 3
    assert "presence in G" in repr(register)
    assert "21" not in repr(register)


def test_a_list_of_ids_replaces_the_column_and_numbers_find_text():
    register = Register.of(PEOPLE, present={"G": [2, 3, 99]})
    assert register.presence["G"].to_list() == [False, True, True]
    assert Register.of(register).presence["G"].to_list() == [False, True, True]
    assert Register.of(register, present={"H": ["1"]}).presence["H"].to_list() == [True, False, False]
    nobody = Register.of(PEOPLE, present={"G": []})
    assert nobody.presence["G"].to_list() == [False] * 3


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        ({"id": ["1", "1"], "age": [1, 2]}, {}, "row 2 stands there already"),
        ({"id": ["1", " "], "age": [1, 2]}, {}, "row 2 has no id"),
        ({"id": ["1", None], "age": [1, 2]}, {}, "row 2 has no id"),
        ({"id": [], "age": []}, {}, "no rows"),
        ({"name": ["1"], "age": [1]}, {}, "no column 'id'"),
        ({"id": ["1"], "age": [1]}, {"id": "pid"}, "no column 'pid'"),
        ({"id": ["1"], "age": [1]}, {"quasi": ["zip"]}, "no column 'zip'"),
        ({"id": ["1"], "in_G": ["perhaps"]}, {}, "row 1 of column 'in_G' is neither yes nor no"),
        ({"id": ["1"], "age": [1]}, {"present": {"G": ["x", "y"]}}, "None of the 2 ids said to be in G"),
    ],
)
def test_what_is_no_register(frame, options, words):
    with pytest.raises(InputError, match=words):
        Register.of(pl.DataFrame(frame), **options)


def test_the_id_column_is_the_only_one_left():
    frame = pl.DataFrame({"pid": [7], "age": [21], "in_G": [True]})
    assert Register.of(frame, quasi=["age"]).ids.to_list() == [7]
    with pytest.raises(InputError, match="name the column with the ids"):
        Register.of(frame.with_columns(pl.lit("Ann").alias("name")), quasi=["age"])


def test_from_a_file(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    register = read_register(tmp_path / "people.csv")
    assert register.presence["G"].to_list() == [True, None, False]
    with pytest.raises(InputError, match="There is no file"):
        read_register(tmp_path / "nobody.csv")


def test_ids_of_another_type_are_the_same_persons():
    ids = Release.bucketized(
        {"id": [11, 12], "g": [1, 1], "v": ["a", "c"]}, id="id", sensitive="v", group="g", name="B"
    )
    register = pl.DataFrame({"id": ["11", "13"], "age": [21, 22]})
    post = infer([ids, release()], register=register)
    assert sorted(post.ids) == ["11", "12", "13"]
    assert post.of(11) == {"a": 1.0}
    assert post.of("13") == {"b": 1.0}
    assert post.explain(11, "a").verify([ids, release()], register=register)


def test_who_is_in_no_release_does_not_appear_and_is_called_unknown():
    register = pl.DataFrame({"id": ["in", "out"], "age": [21, 99]})
    post = infer([release()], register=register)
    assert post.to_frame()["id"].unique().to_list() == ["in"]
    for stranger in ("out", "nobody", 5, None):
        with refusing(UnknownPersonError, match="No release holds a person"):
            post.of(stranger)


def test_joined_registers_fill_each_others_gaps():
    one = Register.of(pl.DataFrame({"id": [1, 2], "age": ["21", None], "in_G": ["yes", "no"]}))
    other = Register.of(pl.DataFrame({"id": ["2", "3"], "age": ["50", "60"], "zip": ["11", "12"]}))
    both = one.joined(other)
    assert both.ids.to_list() == ["1", "2", "3"]
    assert both.quasi["age"].to_list() == ["21", "50", "60"]
    assert both.quasi["zip"].to_list() == [None, "11", "12"]
    assert both.presence["G"].to_list() == [True, False, None]


def test_a_neighbour_who_knows_one_person_finds_the_nearest_centroid():
    frame = {"age": [20.0, 20.0, 50.0, 50.0], "v": ["a", "b", "c", "c"]}
    micro = Release.microaggregated(frame, sensitive="v", quasi=["age"], name="M")
    post = infer([micro], register=pl.DataFrame({"id": ["Ann"], "age": [47]}))
    assert post.of("Ann") == {"c": 1.0}


def test_locatability_beside_the_truth():
    frame = {"age": [24.0, 24.0, 35.0, 35.0], "v": ["a", "b", "a", "b"]}
    micro = Release.microaggregated(frame, sensitive="v", quasi=["age"], name="M")
    people = pl.DataFrame({"id": [1, 2, 3, 4, 5], "age": [20.0, 28.0, 29.5, 39.0, 38.0]})
    micro = micro.with_link(pl.DataFrame({"id": [1, 2, 3, 4], "group": [1, 1, 2, 2]}))
    post = infer([micro], register=people)
    assert "own" not in post.locatability().columns  # the private link is not looked at unless it is given
    table = post.locatability({"M": micro.link}).select("fits", "persons", "own", "own_share")
    assert table.rows()[:2] == [("one group", 4, 3, 0.75), ("several groups", 1, 1, 0.25)]
    wrong = pl.DataFrame({"id": ["1", "2", "77"], "group": ["2", "1", "1"]})
    assert post.locatability({"M": wrong})["own_share"][0] == 0.5
    assert post.locatability({})["own"].null_count() == 4
    for truth, words in [
        ({"X": wrong}, "located by quasi-identifiers in: M"),
        ({"M": {"id": [1], "group": [9]}}, "names the group 9"),
        ({"M": {"id": [1, 1], "group": [1, 2]}}, "each id once"),
        ({"M": {"id": [77], "group": [1]}}, "lists nobody"),
        ({"M": {"id": [1]}}, "no column 'group'"),
    ]:
        with refusing(InputError, match=words):
            post.locatability(truth)
