"""What a report says, and that it keeps to its schema."""

import copy
import json
from importlib.resources import files

import polars as pl
import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from showthrough import audit
from showthrough.examples import figure1
from showthrough.report import content as report
from showthrough.report.people_table import people_frame
from tests.histories import FIGURE1, X1, histories, release, releases

SCHEMA = json.loads((files("showthrough.report") / "audit.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
SPLIT = [[([1, 2], ["a", "b"])], [([1], ["c"]), ([2], ["b"])]]


def checked(found, audience):
    """The content as a reader of the JSON gets it, valid."""
    made = json.loads(json.dumps(report.content(found, audience=audience).as_dict(), allow_nan=False))
    VALIDATOR.validate(made)
    return made


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["version"]["const"] == report.VERSION
    assert SCHEMA["properties"]["schema"]["const"] == report.SCHEMA
    assert tuple(SCHEMA["properties"]["audience"]["enum"]) == report.AUDIENCES
    assert f"the first {report.PROOFS} facts" in SCHEMA["$defs"]["fact"]["properties"]["proof"]["description"]


def test_every_field_is_described():
    def fields(part):
        if isinstance(part, dict):
            yield from part.get("properties", {}).items()
            for inner in part.values():
                yield from fields(inner)

    rules = dict(SCHEMA)
    rules.pop("if"), rules.pop("else")
    described = list(fields(rules))
    assert len(described) > 50
    assert [name for name, field in described if len(field.get("description", "")) < 8] == []


@pytest.mark.parametrize("audience", report.AUDIENCES)
@pytest.mark.parametrize("history", [FIGURE1, X1, [FIGURE1[0]], [[([1], ["a"])]]])
def test_both_forms_keep_to_the_schema(history, audience):
    assert checked(audit(releases(history)), audience)["audience"] == audience


@settings(deadline=None, max_examples=25)
@given(histories())
def test_any_history_keeps_to_the_schema(history):
    found = audit(releases(history))
    checked(found, "shareable")
    checked(found, "internal")


def test_split_persons_keep_to_the_schema():
    made = checked(audit(releases(SPLIT), changed="split"), "internal")
    assert {p["release"] for p in made["people"]} == {"D1", "D2", None}
    assert {f["release"] for f in made["facts"]} == {"D1", "D2", None}


@pytest.mark.parametrize("audience", report.AUDIENCES)
def test_the_schema_refuses_what_is_not_promised(audience):
    made = checked(audit(releases(FIGURE1)), audience)

    def broken(*path, value=None):
        other = copy.deepcopy(made)
        at = other
        for step in path[:-1]:
            at = at[step]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        return not VALIDATOR.is_valid(other)

    for part in ("together", "certificate"):
        assert all(broken(part, field) for field in made[part])
        assert broken(part, "new", value=1)
    assert all(broken(field) for field in made)
    assert all(broken("releases", 0, field) for field in made["releases"][0])
    assert broken("version", value=1)
    assert broken("certificate", "status", value="not_converged")
    assert broken("together", "certain", value=-1)
    if audience == "internal":
        assert all(broken("people", 0, field) for field in made["people"][0])
        assert broken("facts", 0, "by", value="magic")
    else:
        assert broken("people", value=[])
        assert broken("facts", value=[])


def test_shareable_content_names_nobody():
    history = [[([f"zq-person-{p}" for p in members], values) for members, values in groups] for groups in FIGURE1]
    found = audit(releases(history))
    assert "zq" not in json.dumps(report.content(found).as_dict())
    assert "zq-person-10" in json.dumps(report.content(found, audience="internal").as_dict())


def test_facts_in_order_of_weight():
    entries = report.facts(audit(releases(FIGURE1)), proofs=4)
    assert [(e["fact"], e["by"]) for e in entries] == (
        [("certain", "counts")] * 3 + [("impossible", "counts")] * 8 + [("impossible", "sets")] * 12
    )
    assert [k for k, e in enumerate(entries) if "proof" in e] == [0, 1, 2, 3]
    assert report.facts(audit(releases(FIGURE1)), proofs=4, limit=5) == entries[:5]


def test_certain_by_sets_comes_with_the_certain():
    entries = report.facts(
        audit(releases([[([1], ["a"]), ([2, 3], ["b", "c"])], [([1, 2, 3], ["a", "b", "c"])]])), proofs=0
    )
    assert [e["fact"] for e in entries] == sorted(e["fact"] for e in entries)
    assert entries[0] == {"id": 1, "value": "a", "fact": "certain", "by": "sets"}


def test_no_facts():
    found = audit(releases([[([1, 2], ["a", "b"])]]))
    assert report.facts(found, proofs=9) == []
    assert people_frame(found).columns == ["id", "value", "p", "fact", "by", "proof"]


def test_proofs_are_those_of_the_posterior():
    found = audit(figure1.releases())
    for entry in report.facts(found, proofs=99):
        assert entry["proof"] == str(found.posterior.explain(entry["id"], entry["value"]))


def test_people_frame_holds_every_pair_once():
    found = audit(releases(SPLIT), changed="split")
    frame = people_frame(found)
    assert frame.select("id", "release", "value").is_unique().all()
    assert frame.group_by("id", "release").agg(pl.col("p").sum())["p"].to_list() == pytest.approx([1.0] * 3)
    assert frame["proof"].null_count() == frame["fact"].null_count()


@pytest.mark.parametrize(
    ("history", "line"),
    [
        ([[([1], ["a"])]], "From this release alone a reader can be certain about 1 person of 1."),
        ([[([1, 2], ["a", "b"])]], "From this release alone a reader can be certain about nobody of 2."),
        (
            FIGURE1,
            "Laid on top of each other, the 2 releases make a reader certain about 3 persons of 15; any one of them "
            "alone about nobody.",
        ),
    ],
)
def test_summary(history, line):
    lines = report.summary(audit(releases(history)))
    assert lines[0] == line
    assert all(text.endswith(".") for text in lines)


def test_dates_are_text():
    import datetime as dt

    found = audit([release([([dt.date(2020, 1, 2)], [dt.time(3)])])])
    assert checked(found, "internal")["facts"][0] | {"proof": ""} == {
        "id": "2020-01-02",
        "value": "03:00:00",
        "fact": "certain",
        "by": "sets",
        "proof": "",
    }
