"""The reader: what stands beside the releases is checked once, where it is given."""

import pickle

import polars as pl
import pytest

from showthrough import Register, Release, infer
from showthrough.errors import InputError
from showthrough.register.reader import Reader, telling
from showthrough.table.frozen import Frozen
from tests.saying import refusing

PEOPLE = pl.DataFrame({"id": ["1", "2"], "age": ["21", "22"]})
TOLD = Release.generalized(pl.DataFrame({"age": ["21", "22"], "v": ["a", "b"]}), sensitive="v", quasi=["age"], name="G")
MUTE = Release.generalized(
    pl.DataFrame({"id": ["2", "3"], "age": ["22", "23"]}), sensitive=None, quasi=["age"], id="id"
)
MEMBERS = pl.DataFrame({"id": ["1", "2"], "group": [1, 2]})


def test_releases_without_values_join_the_register_and_declared_values_the_domain():
    from dataclasses import replace

    reader = Reader.of([MUTE, replace(TOLD, domain=("b", "c"))], register=PEOPLE, domain=["x", "b", "x"])
    assert reader.register.ids.to_list() == ["1", "2", "3"]
    assert reader.domain == ("x", "b", "c")
    assert telling([MUTE, TOLD]) == [TOLD]
    assert telling([]) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"domain": "abc"}, "The domain is a list of values, not of type str"),
        ({"domain": ["a", 1]}, r"The domain holds values of different types \(int, str\)"),
        ({"domain": [["a"]]}, "The domain holds List"),
        ({"domain": 5}, "The domain is a list of values, not of type int"),
        ({"membership": {"G": MEMBERS.drop("group")}}, "The membership of G"),
        ({"membership": {"G": pl.DataFrame({"id": [None, "1"], "group": [1, 2]})}}, "rows without an id"),
        ({"register": pl.DataFrame({"age": ["21"]})}, "no column 'id'"),
    ],
)
def test_what_makes_no_sense_is_refused_when_the_reader_is_made(given, told):
    with refusing(InputError, match=told):
        Reader.of([TOLD], **given)


def test_a_membership_of_no_release_is_refused_where_the_releases_are_known():
    with pytest.raises(InputError, match="A membership is given for 'H', but the releases are G"):
        infer([TOLD], membership={"H": MEMBERS})
    with pytest.raises(InputError, match="nothing to infer"):
        infer([MUTE])


def test_who_is_tied_to_groups():
    assert not Reader.of([TOLD]).ties(TOLD, "G")
    assert Reader.of([TOLD], membership={"G": MEMBERS}).ties(TOLD, "G")
    assert Reader.of([TOLD], register=PEOPLE).ties(TOLD, "G")
    assert "members of G" in repr(Reader.of([TOLD], membership={"G": MEMBERS}))


def test_names_are_those_of_the_releases_unless_others_are_given():
    assert Reader().names_for([TOLD, TOLD]) == ["G (1)", "G (2)"]
    assert Reader().called(["second"]).names_for([TOLD]) == ["second"]


def test_a_frozen_mapping_is_read_like_any_other_and_cannot_be_changed():
    held = Frozen({"a": 1})
    assert (held["a"], len(held), list(held), held == {"a": 1}) == (1, 1, ["a"], True)
    assert pickle.loads(pickle.dumps(held)) == held
    with pytest.raises(TypeError):
        held["b"] = 2
    assert Register.of(PEOPLE).presence == {}
