"""Columns as a datapackage.json describes them."""

import json

import pytest

from showthrough.errors import FileError
from showthrough.table.datapackage import Field, read_datapackage

FIELDS = [
    {"name": "person", "type": "string", "showthrough:role": "id"},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}, "missingValues": ["-1"]},
    {"name": "illness", "type": "string", "constraints": {"enum": ["flu", "none"], "required": True}},
    {"name": "score", "constraints": {"enum": [1, 2.5]}},
]


def package(tmp_path, *, path="data.csv", schema=None, **more):
    schema = {"fields": FIELDS, "missingValues": ["", {"value": "NA", "label": "gone"}], "primaryKey": "person"} | more
    content = {"resources": [{"name": "other", "path": "other.csv"}, {"name": "d", "path": path, "schema": schema}]}
    (tmp_path / "datapackage.json").write_text(json.dumps(content))
    (tmp_path / "data.csv").write_text("x\n1\n")
    return tmp_path / "data.csv"


def test_everything_that_is_read(tmp_path):
    assert read_datapackage(package(tmp_path)) == {
        "person": Field("person", "string", missing=("", "NA"), primary_key=True, role="id"),
        "age": Field("age", "integer", constraints=(("minimum", 0), ("maximum", 120)), missing=("-1",)),
        "illness": Field("illness", "string", ("flu", "none"), (("required", True),), ("", "NA")),
        "score": Field("score", "any", ("1", "2.5"), missing=("", "NA")),
    }


@pytest.mark.parametrize("path", [["part1.csv", "./data.csv"], "sub/../data.csv"])
def test_the_file_is_found_however_it_is_written(tmp_path, path):
    assert read_datapackage(package(tmp_path, path=path)) is not None


def test_none_where_nothing_is_said(tmp_path):
    assert read_datapackage(tmp_path / "data.csv") is None
    assert read_datapackage(package(tmp_path, path="another.csv")) is None
    assert read_datapackage(package(tmp_path, path="https://example.org/data.csv")) is None
    (tmp_path / "other.csv").write_text("x\n")
    assert read_datapackage(tmp_path / "other.csv") is None, "a resource without schema"


def test_a_schema_in_its_own_file(tmp_path):
    (tmp_path / "datapackage.json").write_text('{"resources": [{"path": "data.csv", "schema": "schema.json"}]}')
    (tmp_path / "schema.json").write_text('{"fields": [{"name": "a"}]}')
    assert read_datapackage(tmp_path / "data.csv") == {"a": Field("a")}
    assert read_datapackage(tmp_path) == {"a": Field("a")}, "a folder with one table"
    (tmp_path / "datapackage.json").write_text('{"resources": [{"path": "data.csv", "schema": "../schema.json"}]}')
    assert read_datapackage(tmp_path / "data.csv") is None, "files elsewhere are not followed"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"resources": [}', r"datapackage\.json is not JSON: expecting value in line 1\.$"),
        ("[]", "expected a JSON object, found a list"),
        ('{"resources": {}}', "expected 'resources' to be a list of objects"),
        ('{"resources": [1]}', "expected 'resources' to be a list of objects"),
        ('{"resources": [{"path": "data.csv", "schema": 5}]}', "a 'schema' with a list of 'fields'"),
        (
            '{"resources": [{"path": "data.csv", "schema": {"fields": [{}]}}]}',
            "field 1: expected an object with a 'name'",
        ),
        ('{"resources": [{"path": "data.csv", "schema": "none.json"}]}', "There is no file"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_bad_files_are_sentences(tmp_path, text, message):
    (tmp_path / "datapackage.json").write_text(text)
    with pytest.raises(FileError, match=message):
        read_datapackage(tmp_path / "data.csv")


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"name": "a", "type": 3}, "'type' to be text, found a number"),
        ({"name": "a", "showthrough:role": ["id"]}, "to be text, found a list"),
        ({"name": "a", "constraints": []}, "'constraints' to be an object"),
        ({"name": "a", "constraints": {"enum": "x"}}, "'enum' to be a list, found text"),
        ({"name": "a", "missingValues": None}, "'missingValues' to be a list, found null"),
        ({"name": "a", "missingValues": [3]}, "the 'missingValues' to be texts"),
    ],
)
def test_bad_fields_are_sentences(tmp_path, field, message):
    with pytest.raises(FileError, match=message):
        read_datapackage(package(tmp_path, fields=[field]))


def test_a_name_twice(tmp_path):
    with pytest.raises(FileError, match="field 2: the name 'a' stands more than once"):
        read_datapackage(package(tmp_path, fields=[{"name": "a"}, {"name": "a"}]))
