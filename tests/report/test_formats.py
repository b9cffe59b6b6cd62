"""Formats for other programs: as their schemas want them, the same alerts from run to run, nothing of the data."""

import datetime as dt
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

import showthrough as st
from showthrough.examples import figure1
from showthrough.policy.decision import Reason, decision
from showthrough.policy.rules_file import parse
from showthrough.report.content import content
from showthrough.report.formats import Judgement
from showthrough.report.junit import junit
from showthrough.report.markdown import markdown
from showthrough.report.origin import Origin, without_folders
from showthrough.report.sarif import sarif
from tests.oracles.junit import faults

SARIF = Draft7Validator(json.loads((Path(__file__).parents[1] / "schemas" / "sarif-2.1.0.json").read_text("utf-8")))
AUDIT = Draft202012Validator(json.loads((files("showthrough.report") / "audit.schema.json").read_text("utf-8")))
FILE = """[block]
certain = 0
max_posterior = 0.5
k = 3
[review]
max_gain = 0.1
impossible = 3
epsilon = 1.0
[[exceptions]]
rule = "certain"
reason = "a <b>paper</b> | of *old* & \\u0000"
owner = "who"
expires = 2999-01-01
[[exceptions]]
rule = "k"
reason = "gone"
owner = "who"
expires = 2001-01-01
"""


def judgements():
    """Decisions of every kind: of the worked example under rules, and put together from all outcomes."""
    rules = parse(FILE.replace("\\u0000", "x"), "policy.toml")
    audited = st.audit(figure1.releases(), policy=rules)
    yield Judgement("audit", audited.decision, ["Figures."], Origin.now(), "a folder/policy.toml", lines=True)
    for severity in ("block", "review"):
        for outcome in ("within", "over", "open", "excepted"):
            reason = Reason(
                "k", severity, outcome, 5, 3.0, 4, 1, "D\x00 1 |\n<x>: \ud800 fails.", release="D\x01 1\n<x>"
            )
            for doubts in ((), ("Something\x02 is open.", "And more.")):
                yield Judgement("check", decision([reason], doubts=doubts), [], Origin.now(), "D 1.csv", lines=False)


ALL = list(judgements())


@pytest.mark.parametrize("number", range(len(ALL)))
def test_formats_keep_to_their_schemas(number):
    told = ALL[number]
    SARIF.validate(json.loads(sarif(told)))
    assert faults(junit(told)) == []
    assert markdown(told).decode().startswith("# showthrough")


def test_the_checks_can_fail():
    good = junit(ALL[0])
    for old, new in (
        (b'tests="', b'tests="9'),
        (b'hostname="localhost" ', b""),
        (b"<system-err />", b""),
        (b'time="0"', b'time="x"'),
    ):
        assert old in good
        assert faults(good.replace(old, new, 1)), old
    log = json.loads(sarif(ALL[0]))
    log["runs"][0]["results"][0]["level"] = "block"
    assert not SARIF.is_valid(log)


def test_alerts_stand_on_lines_and_stay_the_same():
    first, again = (json.loads(sarif(told))["runs"][0]["results"] for told in (ALL[0], next(judgements())))
    assert [r["partialFingerprints"] for r in first] == [r["partialFingerprints"] for r in again]
    prints = [r["partialFingerprints"]["limit/v1"] for r in first]
    assert len(set(prints)) == len(prints)
    lines = {r["ruleId"]: r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in first}
    assert lines == {"certain": 2, "max_posterior": 3, "k": 4, "max_gain": 6, "impossible": 7, "epsilon": 8}
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in first}
    assert places == {"a%20folder/policy.toml"}
    excused = next(r for r in first if r["ruleId"] == "certain")
    assert excused["suppressions"][0]["status"] == "accepted"


def test_markdown_cannot_be_broken_into():
    text = markdown(ALL[0]).decode()
    assert "<b>" not in text
    assert "\\<b\\>paper" in text
    odd = replace(ALL[1], summary=["| a | [x](http://y) <script>"])
    assert "\\[x\\]" in markdown(odd).decode()


def test_json_of_a_decision_keeps_to_the_schema():
    rules = parse(FILE.replace("\\u0000", "x"), "policy.toml")
    for policy in (rules, st.Policy(max_posterior=0.9, proximity=None), None):
        found = content(st.audit(figure1.releases(), policy=policy))
        for made in (None, Origin.now([Path(__file__)]), Origin.now().by(["showthrough", "audit", "/a b/c.csv"])):
            told = json.loads(json.dumps(replace(found, made=made).as_dict()))
            AUDIT.validate(told)
            assert (told["decision"] is None) == (policy is None)
    told["decision"] = {"verdict": "fine"}
    assert not AUDIT.is_valid(told)


def test_origins_tell_no_folders(tmp_path):
    home = tmp_path / "secret"
    (home / "R1").mkdir(parents=True)
    (home / "R1" / "data.csv").write_text("x")
    (home / "a.csv").write_text("")
    made = Origin.now([home / "a.csv", home / "R1", home / "none.csv", home / "a.csv"])
    assert [f.name for f in made.files] == ["a.csv", "R1/data.csv"]
    assert made.files[0].sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert dt.datetime.fromisoformat(made.date).tzinfo is not None
    command = made.by(["showthrough", "audit", str(home / "a.csv"), "--hierarchy", f"zip={home}/z.csv"]).command
    assert command == "showthrough audit a.csv --hierarchy zip=z.csv"
    assert without_folders("C:\\secret\\a.csv") == "a.csv"
    for address in (
        "postgresql://u:secret@h",
        "postgresql://h/d?password=secret",
        "postgresql://u:se=cret@h/d?x=secret",
    ):
        assert without_folders(address) == "postgresql://…"
        assert without_folders(f"--ledger={address}") == "--ledger=postgresql://…"
