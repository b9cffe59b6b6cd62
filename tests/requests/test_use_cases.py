"""The same answer through a request and through the command, with progress that tells and may stop the work."""

import json
import os

import polars as pl
import pytest

from showthrough import Policy
from showthrough.errors import Cancelled, FieldError, FileError, InputError
from showthrough.examples import figure1, hospitals
from showthrough.progress import Progress
from showthrough.requests.audit import AuditRequest, run_audit
from showthrough.requests.check import CheckRequest, run_check
from showthrough.requests.demo import DemoRequest, run_demo
from showthrough.requests.publish import PublishRequest, run_publish
from showthrough.requests.publish_compare import run_compare
from showthrough.requests.understand import run_understand
from tests.cli.running import run

FIGURE1 = """
id = "pseudonym"
sensitive = "disease"
group = "group"
audience = "internal"
people = true
bounds = 0.5

[[release]]
file = "D1.csv"

[[release]]
file = "D2.csv"
"""
HOSPITALS = """
sensitive = "condition"
quasi = ["zip", "age", "nationality"]

[[release]]
file = "H1.csv"

[[release]]
file = "H2.csv"

[register]
file = "people.csv"
only_published = true
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure1.write(tmp_path)
    hospitals.write(tmp_path)
    rows = range(40)
    raw = {"id": [f"p{n}" for n in rows], "age": [18 + n * 7 % 50 for n in rows], "zip": [n * n % 9 for n in rows]}
    pl.DataFrame(raw).with_columns(v=pl.Series([("flu", "gout", "mumps")[n % 3] for n in rows])).write_csv("t.csv")
    return tmp_path


class Heard(Progress):
    """Remembers what it was told, and may stop the work at a stage."""

    def __init__(self, stop=""):
        super().__init__()
        self.stages, self.counts, self.stop = [], [], stop

    def stage(self, name):
        self.stages.append(name)
        if name == self.stop:
            self.cancel()
        super().stage(name)

    def count(self, done, of):
        self.counts.append((done, of))
        super().count(done, of)


def same(told, printed):
    """Without what depends on the clock."""
    printed = json.loads(printed)
    told = json.loads(json.dumps(told))
    for found in (told, printed):
        found.get("certificate", {}).pop("seconds", None)
        for varies in ("date", "command"):
            (found.get("made") or {}).pop(varies, None)
    assert told == printed


ROLES = ["--id", "pseudonym", "--sensitive", "disease", "--group", "group"]


def test_audit(home, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # starting workers would take longer than the work
    heard = Heard()
    result = run_audit(AuditRequest.from_toml(FIGURE1), heard)
    options = [*ROLES, "--audience", "internal", "--people", "p.csv", "--bounds", "0.5", "--json", "-"]
    done = run("audit", "D1.csv", "D2.csv", *options)
    same(result.content().as_dict(), done.out)
    assert result.people.frame().write_csv() == (home / "p.csv").read_text()
    assert heard.stages[0] == "reading"
    assert heard.stages[-2:] == ["proofs", "bounds"]
    assert heard.counts[-1][0] == heard.counts[-1][1] > 0


def test_an_audit_request_is_a_history_file_with_more_in_it(home):
    (home / "h.toml").write_text(FIGURE1.replace("bounds = 0.5\n", ""))
    done = run("audit", "h.toml", "--people", "p.csv", "--json", "-")
    same(run_audit(AuditRequest.read("h.toml")).content().as_dict(), done.out)
    assert json.loads(done.out)["audience"] == "internal"


def test_audit_of_located_persons(home):
    request = AuditRequest.from_toml(HOSPITALS)
    options = ["--sensitive", "condition", "--quasi", "zip,age,nationality", "--register", "people.csv"]
    same(run_audit(request).content().as_dict(), run("audit", "H1.csv", "H2.csv", *options, "--json", "-").out)
    seen = run_understand(request)
    assert set(seen.cells["release"]) == {"H1", "H2"}
    assert seen.locatability.filter(pl.col("fits") == "one group")["persons"].to_list() == [16, 16]
    assert {path.name for path in request.files()} == {"H1.csv", "H2.csv", "people.csv"}


def test_shared_entries_hold_where_a_release_has_none_of_its_own(home):
    (home / "H1.csv").write_text((home / "H1.csv").read_text().replace("condition", "illness", 1))
    with pytest.raises(InputError, match="no column 'condition'"):
        run_audit(AuditRequest.from_toml(HOSPITALS))
    own = HOSPITALS.replace('file = "H1.csv"', 'file = "H1.csv"\nsensitive = "illness"')
    assert run_audit(AuditRequest.from_toml(own)).audit.joint.persons == 16


@pytest.mark.parametrize(
    ("more", "field"),
    [("hierarchies = { nope = 'h.csv' }", "hierarchies"), ("value_maps = { X = 'm.csv' }", "value_maps")],
)
def test_names_that_nothing_has(home, more, field):
    (home / "h.csv").write_text("13012;130**;*\n")
    with pytest.raises(FieldError, match=f"{field} names") as caught:
        AuditRequest.from_toml(f"{more}\n{HOSPITALS}").load()
    assert caught.value.field == field


def test_check(home):
    request = CheckRequest.from_dict(
        {
            "release": [{"file": "D1.csv"}, {"file": "D2.csv"}],
            "id": "pseudonym",
            "sensitive": ["disease"],
            "group": "group",
            "criteria": {"k": 4, "entropy_l": 2},
            "negations": 1,
        }
    )
    heard = Heard()
    result = run_check(request, heard)
    options = ["--k", "4", "--entropy-l", "2", "--negations", "1"]
    done = run("check", "D1.csv", "D2.csv", *ROLES, *options, "--json", "-")
    same(result.content().as_dict(), done.out)
    assert result.content().holds is (done.code == 0)
    assert heard.stages == ["reading", "checking D1", "checking D2"]
    apart = [{"file": "D1.csv", "id": "pseudonym", "group": "group", "sensitive": "disease"}]
    one = run_check(CheckRequest.from_dict({"release": apart, "criteria": {"k": 4}}))
    assert one.releases[0].kind == "bucketized"


PUBLISH = {"table": "t.csv", "id": "id", "sensitive": "v", "criteria": {"k": 4}}
OPTIONS = ["t.csv", "--id", "id", "--sensitive", "v", "--k", "4"]


def test_publish(home):
    for place in ("a", "b"):
        (home / place).mkdir()
    heard = Heard()
    result = run_publish(PublishRequest.from_dict({**PUBLISH, "folder": "a/D"}), heard)
    assert run("publish", *OPTIONS, "-o", "b/D").code == 0
    files = {path.name: path.read_bytes() for path in (home / "a/D").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (home / "b/D").iterdir()}
    assert heard.stages[-1] == "writing"
    told = result.content().as_dict()
    assert told["figures"]["persons"] == 40
    assert [check["holds"] for check in told["checks"]] == [True]
    assert json.dumps(told)
    nowhere = run_publish(PublishRequest.from_dict(PUBLISH))
    assert nowhere.folder is None
    assert nowhere.release.to_frame().equals(result.release.to_frame())


def test_a_release_of_the_history_is_not_replaced_by_the_next(home):
    run_publish(PublishRequest.from_dict({**PUBLISH, "folder": "D"}))
    before = (home / "D.link.csv").read_bytes()
    again = {**PUBLISH, "history": ("D",), "folder": "./D/", "overwrite": True}
    with pytest.raises(FileError, match="is a release of the history"):
        run_publish(PublishRequest.from_dict(again))
    assert (home / "D.link.csv").read_bytes() == before


def test_compare(home):
    result = run_compare(PublishRequest.from_dict(PUBLISH))
    told = result.content()
    assert [s.strategy for s in told.strategies] == ["independent", "history-guided", "m-invariance", "guarded"]
    assert "policy=Policy(max_posterior=0.5)" in told.strategies[-1].remark
    assert told.as_dict()["strategies"][0]["newly_certain"] == told.strategies[0].figures["newly_certain"]
    shown = run("publish", *OPTIONS, "--dry-run").out
    assert "guarded: The guard needs a limit, such as --max-posterior 0.5." in " ".join(shown.split())
    assert {path.name for path in home.iterdir() if path.is_dir()} == set()


def test_limits_on_the_posterior_need_the_guard(home):
    with pytest.raises(InputError, match='kept by strategy="guarded"'):
        run_publish(PublishRequest("t.csv", policy=Policy(max_posterior=0.5)))
    with pytest.raises(FieldError, match="id is missing"):
        run_compare(PublishRequest("t.csv"))


def test_demo(home):
    result = run_demo(DemoRequest("there"))
    assert [path.name for path in result.files] == ["D1.csv", "D2.csv"]
    told = result.content()
    assert told.together["newly_certain"] == 3
    assert all(fact.proof for fact in told.facts.listed())


@pytest.mark.parametrize("stop", ["reading", "proofs", "bounds"])
def test_work_that_was_cancelled_ends(home, stop):
    with pytest.raises(Cancelled):
        run_audit(AuditRequest.from_toml(FIGURE1), Heard(stop))


def test_a_release_is_not_written_after_a_cancel(home):
    with pytest.raises(Cancelled):
        run_publish(PublishRequest.from_dict({**PUBLISH, "folder": "D"}), Heard("writing"))
    assert not (home / "D").exists()


def test_a_function_may_listen(home):
    heard = []
    run_check(CheckRequest.from_dict({"release": [{"file": "t.csv"}], "sensitive": "v"}), heard.append)
    assert heard == ["reading", "checking t"]
