"""Earlier releases of any form: plain files, folders without ids beside a register, history files."""

import polars as pl
import pytest

from showthrough import read_release
from tests.cli.running import run

ROLES = ["--id", "id", "--sensitive", "value", "--quasi", "age,zip"]
GUARD = [*ROLES, "--method", "anatomy", "--frequency-l", "2", "--strategy", "guarded", "--max-posterior", "0.6"]
FREE = ["--hold-back", "--accept-exposed"]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(40)], "age": [20 + i // 4 for i in range(40)],
            "zip": [f"z{i // 20}" for i in range(40)], "value": [f"v{(7 * i) % 5}" for i in range(40)],
        }
    )  # fmt: skip
    people.write_csv("t.csv")
    old = people[:32].with_columns(group=pl.Series([i // 4 for i in range(32)]))
    old.write_csv("old.csv")
    old.select("age", "zip", "value").write_csv("cells.csv")
    old.select("id", "age", "zip").write_csv("people.csv")


def publish(*options):
    return run("publish", "t.csv", *GUARD, *FREE, *options)


def test_a_past_of_files_folders_and_registers_is_the_same_past():
    assert run("release", "make", "cells.csv", "--sensitive", "value", "--quasi", "age,zip", "-o", "cells").code == 0
    with open("h.toml", "w") as stream:
        stream.write(
            '[[release]]\nfile = "cells.csv"\nsensitive = "value"\nquasi = ["age", "zip"]\n'
            '[register]\nfile = "people.csv"\nid = "id"\n'
        )
    ways = {
        "ids": ["--history", "old.csv", "--group", "group"],
        "register": ["--history", "cells.csv", "--register", "people.csv"],
        "folder": ["--history", "cells", "--register", "people.csv"],
        "file": ["--history", "h.toml"],
    }
    made = {}
    for name, way in ways.items():
        done = publish(*way, "-o", name, "--overwrite")
        assert done.code == 0, done.err
        made[name] = read_release(name)
    for name in ("register", "folder", "file"):  # each person fits one group, so the register is as good as ids
        assert made[name].made is None or made[name].counts().height
        assert made[name].groups().height == made["ids"].groups().height


def test_who_cannot_be_found_is_asked_for():
    done = publish("--history", "cells.csv", "-o", "R")
    assert done.code == 2
    assert "--register" in done.err
    done = publish("--history", "old.csv", "--history", "h.toml", "-o", "R")
    assert done.code == 2


def test_a_made_folder_is_read_as_its_file():
    done = run("release", "make", "old.csv", "--id", "id", "--sensitive", "value", "--group", "group", "-o", "old")
    assert done.code == 0
    plain = read_release("old.csv", id="id", sensitive="value", group="group")
    assert read_release("old").fingerprint() == plain.fingerprint()
    again = run("release", "make", "old.csv", "--id", "id", "--sensitive", "value", "--group", "group", "-o", "old")
    assert again.code == 2


def test_a_best_effort_ends_with_one_and_a_comparison_has_it():
    options = [*GUARD[:-1], "0.21", "--history", "old.csv", "--group", "group", "--accept-exposed"]
    done = run("publish", "t.csv", *options, "-o", "R")
    assert done.code != 0
    effort = run("publish", "t.csv", *options, "--best-effort", "-o", "R")
    assert effort.code in (0, 1)
    assert ("does not hold" in effort.out) == (effort.code == 1)
    compared = run("publish", "t.csv", *options, "--dry-run")
    assert compared.code == 0
    assert "guarded" in compared.out
