"""Knowledge joins every question: extend, parts of a history, changed values, audits, policies, publishing."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import showthrough as st
from showthrough import knowledge as k
from showthrough.cli.app import app
from tests.histories import FIGURE1, release, releases
from tests.knowledge.cases import made

KNOWN = [k.known("11", "HIV"), k.excluded("14", "Diabetes")]


@pytest.mark.parametrize("seed", range(30))
def test_extend_is_infer(seed: int):
    known = made(seed, prior=False)
    if len(known.releases) < 2 or known.membership:
        return
    given = {"register": known.register, "knowledge": known.knowledge, "domain": sorted(set(known.case.values))}
    whole = st.infer(known.releases, **given)
    grown = st.infer(known.releases[:1], **given)
    for more in known.releases[1:]:
        grown = grown.extend(more)
    assert grown.to_frame().equals(whole.to_frame()) or _close(grown, whole)
    assert grown.proven().sort("id", "value").equals(whole.proven().sort("id", "value"))


def _close(one, other) -> bool:
    both = one.to_frame().join(other.to_frame(), on=["id", "value"], how="full")
    return bool(((both["p"].fill_null(0) - both["p_right"].fill_null(0)).abs() < 1e-9).all())


def test_parts_of_a_history_know_the_same():
    post = st.infer(releases(FIGURE1), knowledge=KNOWN)
    before = {i: p for i, r, p in post.attribution().select("id", "release", "p_after").rows() if r == "D1"}
    assert before["11"] == 1.0
    assert before["12"] == pytest.approx(st.infer(releases(FIGURE1)[:1], knowledge=KNOWN[:1]).largest()[11])
    assert post.alone().largest[0][post.ids.to_list().index("11")] == 1.0


def test_statements_are_about_the_newest_value():
    first = release([(["1", "2"], ["a", "b"])], "D1")
    second = release([(["1", "3"], ["b", "c"])], "D2")
    post = st.infer([first, second], changed=["1"], knowledge=[k.known("1", "c")])
    assert post.of("1", release="D2") == {"c": 1.0}
    assert post.of("1", release="D1") == pytest.approx({"a": 0.5, "b": 0.5})
    proof = post.explain("3", "b")
    assert proof.verify([first, second], knowledge=[k.known("1", "c")])


def test_exactly_one_is_whole_in_worlds():
    only = release([(["1", "2", "3", "4"], ["a", "a", "b", "b"])], "D")
    said = [k.exactly_one(["1", "2"], "a")]
    worlds = st.infer([only], knowledge=said).worlds()
    assert worlds["p"].to_list() == pytest.approx([0.5] * 8)
    more = [*said, k.exactly_one(["1", "3"], "a"), k.known("1", "a")]
    assert st.infer([only], knowledge=more).of("4") == {"a": 1.0}


def test_a_policy_does_not_count_what_is_known_before():
    only = release([(["1", "2", "3"], ["a", "b", "c"])], "D")
    post = st.infer([only], knowledge=[k.known("1", "a")])
    assert post.certain().sum() == 1
    assert st.audit([only], knowledge=[k.known("1", "a")], policy=st.Policy(max_posterior=0.5)).verdict == "pass"
    assert st.audit([only], knowledge=[k.known("1", "a")], policy=st.Policy(max_posterior=0.4)).verdict == "block"


def test_a_guard_stands_readers_who_know_something():
    table = pl.DataFrame({"id": [str(i) for i in range(40)], "age": list(range(20, 60)), "v": list("aabbccdd" * 5)})
    said = [k.known(str(i), table["v"][i]) for i in (3, 17)] + [k.excluded("9", "c")]
    given = {"method": "anatomy", "id": "id", "sensitive": "v", "quasi": ["age"], "strategy": "guarded", "seed": 1}
    limit = st.Policy(max_posterior=0.6)
    guarded = st.anonymize(table, **given, criteria=[st.FrequencyLDiversity(2)], policy=limit, knowledge=said)
    register = st.Register.of(table.select("id", "age"), id="id")
    members = {"D": guarded.link} if guarded.link is not None else None
    post = st.infer([guarded.called("D")], register=register, membership=members, knowledge=said)
    assert limit.review(post).holds
    others = post.best().filter(~pl.col("id").is_in(["3", "17"]))
    assert others["p"].max() <= 0.6 + 1e-9


def test_knowledge_is_for_the_guard():
    table = pl.DataFrame({"id": ["1", "2"], "age": [1, 2], "v": ["a", "b"]})
    with pytest.raises(st.errors.InputError, match="guarded"):
        st.anonymize(table, method="anatomy", id="id", sensitive="v", quasi=["age"], knowledge=[k.known("1", "a")])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for one in releases(FIGURE1):
        one.to_frame().write_csv(tmp_path / f"{one.name}.csv")
    (tmp_path / "neighbour.toml").write_text(
        '[[known]]\nid = "11"\nvalue = "HIV"\n\n[[excluded]]\nid = 14\nvalue = "Diabetes"\n'
    )
    (tmp_path / "prior.csv").write_text("id,value,p\n8,HIV,0.9\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ROLES = ["--id", "id", "--sensitive", "value", "--group", "group"]


def test_audit_with_files(files: Path):
    asked = ["audit", "D1.csv", "D2.csv", *ROLES, "--knowledge", "neighbour.toml", "--prior", "prior.csv"]
    ran = CliRunner().invoke(app, [*asked, "--json", "a.json", "-o", "page.html"])
    assert ran.exit_code == 0, ran.output
    told = json.loads((files / "a.json").read_text())
    assert told["together"]["certain"] == 11
    assert told["together"]["certain_by_knowledge"] == 8
    page = (files / "page.html").read_text()
    assert "knows 2 statements beside them" in page
    assert "believes a prior" in page
    for text in (ran.output, page, json.dumps(told)):
        assert "11 has HIV" not in text
        assert "Diabetes" not in text


def test_a_history_file_names_what_the_reader_knows(files: Path):
    (files / "history.toml").write_text(
        'id = "id"\nsensitive = "value"\ngroup = "group"\nknowledge = ["neighbour.toml"]\n'
        '[[release]]\nfile = "D1.csv"\n[[release]]\nfile = "D2.csv"\n'
    )
    ran = CliRunner().invoke(app, ["audit", "history.toml", "--json", "-", "--quiet"])
    assert json.loads(ran.stdout)["together"]["certain"] == 11
    told = CliRunner().invoke(app, ["explain", "8", "history.toml"])
    assert "It is known: 11 has HIV" in told.output


def test_contradictory_statements_are_told_without_names_and_give_way(files: Path):
    (files / "wrong.toml").write_text('[[known]]\nid = "11"\nvalue = "HIV"\n[[known]]\nid = "12"\nvalue = "HIV"\n')
    asked = ["audit", "D1.csv", "D2.csv", *ROLES, "--knowledge", "wrong.toml"]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 4
    assert "that statements of the reader contradict in 1 place" in " ".join(ran.output.split())
    assert "11 has" not in ran.output
    eased = CliRunner().invoke(app, [*asked, "--elastic"])
    assert eased.exit_code == 4
    assert "gave way, 2 of them by 1 in all, in persons" in " ".join(eased.output.split())


def test_guarded_publishing_by_command(files: Path):
    table = pl.DataFrame({"id": [str(i) for i in range(30)], "age": list(range(20, 50)), "v": list("abcabd" * 5)})
    table.write_csv(files / "table.csv")
    (files / "k.toml").write_text('[[known]]\nid = 3\nvalue = "a"\n')
    asked = ["publish", "table.csv", "--id", "id", "--sensitive", "v", "--quasi", "age", "--method", "anatomy"]
    asked += ["--frequency-l", "2", "--strategy", "guarded", "--max-posterior", "0.6", "--knowledge", "k.toml"]
    ran = CliRunner().invoke(app, [*asked, "-o", "out"])
    assert ran.exit_code == 0, ran.output
    beside = ["audit", "out", "--register", "table.csv", "--link", "--id", "id", "--knowledge", "k.toml"]
    judged = CliRunner().invoke(app, [*beside, "--max-posterior", "0.6", "--certain", "0"])
    assert judged.exit_code == 0, judged.output


def test_a_statement_that_nobody_can_meet_touches_its_own_island_only():
    """Nobody of 5 and 6 can have Lung Cancer: no variable hangs on the statement, and still others are answered."""
    apart = release([(["a", "b"], ["x", "y"])], "D3")
    post = st.infer([*releases(FIGURE1), apart], knowledge=[k.count("Lung Cancer", ids=["5", "6"], at_least=1)])
    states = dict(zip(post.ids.to_list(), post.states().to_list(), strict=True))
    assert {states["a"], states["b"]} == {"exact"}
    assert states["5"] in ("contradictory", "relaxed")
    assert len(post.contradictions) == 1
    eased = st.infer(
        [*releases(FIGURE1), apart], knowledge=[k.count("Lung Cancer", ids=["5", "6"], at_least=1)], elastic=True
    )
    assert eased.relaxed["by"].to_list() == [1.0]


@pytest.mark.filterwarnings("error")
def test_zeros_of_a_prior_beside_statements_are_no_numbers_in_between():
    believed = pl.DataFrame({"id": ["8", "8", "11"], "value": ["HIV", "Flu", "HIV"], "p": [0.0, 1.0, 0.9]})
    post = st.infer(releases(FIGURE1), knowledge=[k.excluded("14", "Diabetes")], prior=believed)
    assert post.of("8")["Flu"] == pytest.approx(1.0)
    assert "certain" not in post.proven().filter(pl.col("id") == "8")["fact"].to_list()


def test_a_statement_beside_a_table_with_totals():
    """Totals count several values together; the releases are looked at alone first, without the statement."""
    counts = {"r": ["s", "s", "s", "s", "t", "t", "t", "t"], "v": ["a", "b", "c", "Total"] * 2}
    table = st.Release.counted(
        {**counts, "count": ["*", "*", "0", "2", "*", "*", "*", "3"]},
        sensitive="v",
        quasi=["r"],
        suppressed={"*": (1, 2)},
        totals=["Total"],
        name="C",
    )
    groups = {"id": [0, 1, 3, 2, 4], "v": ["b", "c", "b", "a", "a"], "g": [0, 0, 0, 0, 1]}
    pair = [table, st.Release.bucketized(groups, id="id", sensitive="v", group="g", name="B")]
    register = {"id": [0, 1, 2, 3, 4], "r": ["t", "t", "s", "s", "t"]}
    post = st.infer(pair, register=register, knowledge=[k.excluded(4, "b")])
    worlds = [("b", "c", "a", "b"), ("b", "c", "b", "a"), ("c", "b", "a", "b"), ("c", "b", "b", "a")]
    for id, values in enumerate(zip(*worlds, strict=True)):
        assert post.of(id) == pytest.approx({v: values.count(v) / 4 for v in set(values)})
    assert post.of(4) == {"a": 1.0}
