"""The command that a page gives for the next step: it is run as it stands, for histories of many kinds."""

from __future__ import annotations

import html
import re
import shlex

import polars as pl
import pytest

import showthrough as st
from showthrough.examples import figure1, hospitals
from tests.cli.running import ROLES, Done, run
from tests.republishing.changing import raw_tables

METHODS = {
    "mondrian": ("--k", "3", "--frequency-l", "1.2"),
    "local-recoding": ("--k", "2"),
    "anatomy": ("--distinct-l", "2"),
    "mdav": ("--k", "3"),
}


def told(page) -> str:
    """The command on a page."""
    found = re.search(r'aria-label="What to type"><code>(.*?)</code>', page.read_text(), re.S)
    assert found is not None
    return html.unescape(found[1])


def pasted(command: str) -> Done:
    """What a shell makes of it."""
    words = shlex.split(command.replace("\\\n", " "))
    assert words[0] == "showthrough"
    return run(*words[1:])


def test_worked_example_from_plain_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure1.write(tmp_path)
    pl.read_csv("D2.csv", infer_schema=False).drop("group").write_csv("TABLE.csv")
    run("audit", "D1.csv", "D2.csv", *ROLES, "-o", "page.html")
    command = told(tmp_path / "page.html")
    assert "--history D1.csv" in command
    assert "--group group" in command
    assert "--publish-ids" in command
    done = pasted(command)
    assert done.code == 0, done.err
    after = run("audit", "D1.csv", "NEW", *ROLES, "--max-posterior", "0.5")
    assert after.code == 0, after.err + after.out


def test_two_hospitals_without_ids_in_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hospitals.write(tmp_path)
    roles = ["--sensitive", "condition", "--quasi", "zip,age,nationality", "--register", "people.csv"]
    run("audit", "H1.csv", "H2.csv", *roles, "-o", "page.html")
    command = told(tmp_path / "page.html")
    assert "guarded" not in command
    assert "--id" not in command
    assert "--method mondrian" in command
    assert "--quasi zip,age \\" in command  # of nationality H2 tells nothing
    people = pl.read_csv("people.csv", infer_schema=False).filter(pl.col("in_H2") == "yes").drop("in_H1", "in_H2")
    values = pl.read_csv("H2.csv", infer_schema=False)["condition"]
    assert people.height == values.len()
    people.with_columns(values.alias("condition")).write_csv("TABLE.csv")
    done = pasted(command)
    assert done.code == 0, done.err


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", METHODS)
def test_histories_of_folders_with_links(tmp_path, monkeypatch, seed, method):
    monkeypatch.chdir(tmp_path)
    tables = [t.rename({"id": "per son"}) for t in raw_tables(seed, persons=60, values=4, releases=3, turnover=0.1)]
    for k, table in enumerate(tables):
        table.write_csv(f"t{k}.csv")
        common = ["--id", "per son", "--sensitive", "value", "--seed", k, "-o", f"R {k}"]
        done = run("publish", f"t{k}.csv", *common, "--method", method, *METHODS[method])
        assert done.code == 0, done.err
    tables[-1].write_csv("TABLE.csv")
    limits = [["--max-posterior", "0.6"], ["--certain", "2"], []][seed % 3]
    run("audit", "R 0", "R 1", "R 2", *limits, "-o", "page.html")
    command = told(tmp_path / "page.html")
    assert "--id 'per son'" in command
    assert "--history 'R 0/'" in command
    assert f"--method {'mondrian' if method == 'mdav' else method}" in command
    assert " ".join(limits or ["--max-posterior", "0.5"]) in command
    done = pasted(command)
    assert "--accept" not in done.err, done.err  # what would do was known before
    refused = done.code == 2 and "This would do: --hold-back" in done.err  # the guard says that it cannot, and why
    assert done.code == 0 or refused, done.err


def test_a_noisy_release_is_to_have_more_noise_and_no_command_makes_groups_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 3, "ill": ["flu", "HIV", "gout"] * 2})
    noise = {"mechanism": "geometric", "scale": 1.0, "neighbours": "replace-one"}
    for name, counts in (("N1", [1] * 6), ("N2", [30, -20, -20, 1, 1, 1])):
        rows = cells.with_columns(count=pl.Series(counts))
        st.Release.noisy(rows, sensitive="ill", quasi=["sex"], name=name, **noise).save(name)
    pl.DataFrame({"id": ["a", "b"], "sex": ["f", "f"]}).write_csv("people.csv")
    done = run("audit", "N1", "N2", "--register", "people.csv", "-o", "page.html")
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Publish N2 with more noise, or fewer cells." in page
    assert "--method" not in page
