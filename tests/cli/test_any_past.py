"""Earlier releases of any form: plain files, folders without ids beside a register, history files."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from showthrough import infer, read_release
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
    first = read_release("old.csv", id="id", sensitive="value", group="group")
    believed, written, told = [], [], []
    for name, way in ways.items():
        done = publish(*way, "-o", name)
        assert done.code == 0, done.err
        assert "Independent release → guarded" in " ".join(done.out.split())
        made = read_release(name)
        told.append(made.fingerprint())
        written.append(tuple(Path(name, table).read_bytes() for table in ("records.csv", "values.csv")))
        believed.append(infer([first, made]).to_frame().sort("id", "value"))
    # each person fits one group, so the register is as good as ids
    assert len(set(told)) == len(set(written)) == 1
    for other in believed[1:]:
        assert_frame_equal(other, believed[0])
    assert believed[0]["p"].max() <= 0.6 + 2e-5
    assert publish("-o", "alone").code == 0
    assert read_release("alone").fingerprint() != told[0]  # the past has a say


def test_who_cannot_be_found_is_asked_for():
    done = publish("--history", "cells.csv", "-o", "R")
    assert done.code == 2
    assert "--register" in done.err
    done = publish("--history", "old.csv", "--history", "h.toml", "-o", "R")
    assert done.code == 2


def test_a_past_whose_rows_nobody_of_the_register_fits_is_told():
    cells = pl.read_csv("cells.csv")
    cells.with_columns(age=pl.col("age") + 0.5).write_csv("centroids.csv")  # no record: nobody is that old
    done = publish("--history", "centroids.csv", "--register", "people.csv", "-o", "R")
    assert done.code == 4
    said = " ".join(done.out.split())
    assert "32 rows of centroids fit nobody of the register, and count as persons whom it does not know" in said
    done = publish("--history", "cells.csv", "--register", "people.csv", "-o", "S")
    assert "nobody of the register" not in " ".join(done.out.split())


def test_a_table_of_counts_is_not_taken_for_records():
    old = pl.read_csv("old.csv")
    counts = old.group_by("zip", "value", maintain_order=True).len("n")
    counts.write_csv("counts.csv")
    done = publish("--history", "counts.csv", "--register", "people.csv", "-o", "R")
    assert (done.code, done.out) == (2, "")
    assert "counts.csv looks like a table of counts (column 'n')" in " ".join(done.err.split())
    assert not Path("R").exists()
    made = ["release", "make", "counts.csv", "--sensitive", "value", "--quasi", "zip", "--count", "n", "-o", "counts"]
    assert run(*made).code == 0
    done = publish("--history", "counts", "--register", "people.csv", "-o", "R")
    assert done.code in (0, 4), done.err
    numbered = pl.read_csv("cells.csv").with_row_index("row")  # one per record
    numbered.write_csv("numbered.csv")
    assert publish("--history", "numbered.csv", "--register", "people.csv", "-o", "S").code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--register", "people.csv"], "--register is for earlier releases: name them with --history."),
        (["--group", "group"], "--group is for earlier releases"),
        (["--history", "old.csv", "--group", "ward"], "and old.csv has no column 'ward'"),
        (["--history", "h.toml", "--register", "people.csv"], "--register is not for h.toml"),
        (["--strategy", "m-invariance", "--best-effort"], "--best-effort is for --strategy guarded"),
    ],
)
def test_what_would_be_left_unread_is_refused(options, words):
    Path("h.toml").write_text('[[release]]\nfile = "old.csv"\nid = "id"\nsensitive = "value"\ngroup = "group"\n')
    plain = (
        [option for option in GUARD if option not in ("--max-posterior", "0.6")] if "--strategy" in options else GUARD
    )
    done = run("publish", "t.csv", *plain, *options, "-o", "R")
    assert (done.code, done.out) == (2, "")
    assert words in " ".join(done.err.split())
    assert not Path("R").exists()


def test_a_made_folder_is_read_as_its_file():
    done = run("release", "make", "old.csv", "--id", "id", "--sensitive", "value", "--group", "group", "-o", "old")
    assert done.code == 0
    plain = read_release("old.csv", id="id", sensitive="value", group="group")
    assert read_release("old").fingerprint() == plain.fingerprint()
    again = run("release", "make", "old.csv", "--id", "id", "--sensitive", "value", "--group", "group", "-o", "old")
    assert again.code == 2


def test_a_best_effort_ends_with_one_and_a_comparison_has_it():
    options = [*GUARD[:-1], "0.19", "--history", "old.csv", "--group", "group", "--accept-exposed"]
    done = run("publish", "t.csv", *options, "-o", "R")
    assert done.code != 0
    assert not Path("R").exists()
    effort = run("publish", "t.csv", *options, "--best-effort", "-o", "R")
    # There are five values: whatever the groups, everybody has one of at least a fifth, so no release keeps 0.19.
    assert effort.code == 1, effort.err
    text = " ".join(effort.out.split())
    assert "The policy does not hold: 8 persons are over a limit." in text
    assert "Best effort: 8 persons over a limit, 0 withheld, 0 counterfeits" in text
    first = read_release("old.csv", id="id", sensitive="value", group="group")
    over = infer([first, read_release("R")]).to_frame().filter(pl.col("p") > 0.19 + 2e-5)["id"].unique()
    assert over.len() == 40  # those eight, and all of the past, who are exposed already
    compared = run("publish", "t.csv", *options, "--dry-run")
    assert compared.code == 0
    assert "guarded" in compared.out


def test_a_guard_against_readers_who_locate_persons():
    ran = ["publish", "t.csv", *ROLES, "--method", "local-recoding", "--k", "3", "--frequency-l", "2"]
    first = run(*ran, "--seed", "1", "-o", "G1")
    assert first.code == 0, first.err
    guard = ["--strategy", "guarded", "--max-posterior", "0.6", *FREE, "--history", "G1", "--kind", "generalized"]
    done = run(*ran, "--seed", "2", *guard, "--readers", "located", "-o", "G2")
    assert done.code == 0, done.err
    assert "readers who locate persons by quasi-identifiers" in " ".join(done.out.split())
    for options, words in (
        ([*guard, "--readers", "all"], "--readers is groups or located"),
        (["--readers", "located"], "is for --strategy guarded"),
        ([*guard, "--readers", "located", "--merge-overlaps"], "leave --merge-overlaps out"),
    ):
        refused = run(*ran, *options, "-o", "G3")
        assert (refused.code, refused.out) == (2, "")
        assert words in " ".join(refused.err.split())


def test_a_history_of_other_ids_is_inconclusive_and_says_so():
    pl.read_csv("t.csv").with_columns(pl.col("id").str.slice(1)).write_csv("t.csv")  # p7 is 7 here
    done = publish("--history", "old.csv", "--group", "group", "-o", "R")
    assert done.code == 4
    assert "nobody of the table is in an earlier release by id" in " ".join(done.out.split())
    quiet = publish("--history", "old.csv", "--group", "group", "-o", "Q", "--quiet")
    assert (quiet.code, quiet.out) == (4, "")
    assert "write their ids in the same way" in " ".join(quiet.err.split())
    compared = publish("--history", "old.csv", "--group", "group", "--dry-run")
    assert "m-invariance: Inconclusive: nobody of the table" in " ".join(compared.out.split())


def test_how_many_of_the_table_were_published_before_is_told():
    done = publish("--history", "old.csv", "--group", "group", "-o", "R")
    assert done.code == 0
    assert "32 of 40 persons of the table are in earlier releases." in " ".join(done.out.split())


def test_whom_the_register_knows_to_be_absent_is_tied_to_no_group():
    people = pl.read_csv("people.csv")
    pl.read_csv("cells.csv").head(4).write_csv("few.csv")  # the first four, of one age and place
    told = people.with_columns(in_few=pl.col("id").is_in([f"p{i}" for i in range(4)]))
    told.write_csv("told.csv")
    stranger = pl.DataFrame({"id": ["q"], "age": [20], "zip": ["z0"], "value": ["v0"]})
    pl.concat([pl.read_csv("t.csv")[4:], stranger]).write_csv("t.csv")
    pl.concat([told, pl.DataFrame({"id": ["q"], "age": [20], "zip": ["z0"], "in_few": [False]})]).write_csv("told.csv")
    done = publish("--history", "few.csv", "--register", "told.csv", "-o", "R")
    assert done.code == 4, done.err  # the four are not in the table, and who looks like them was not there
    assert "nobody of the table" in " ".join(done.out.split())


def test_a_register_that_takes_somebody_for_another_is_named_beside_changed_values():
    pl.DataFrame({"age": [20, 20], "zip": ["z0"] * 2, "value": ["v0", "v1"]}).write_csv("few.csv")
    people = pl.read_csv("t.csv").filter(pl.col("value") == "v2").head(1)
    pl.DataFrame({"id": people["id"], "age": [20], "zip": ["z0"]}).write_csv("one.csv")
    done = publish("--history", "few.csv", "--register", "one.csv", "-o", "R")
    assert done.code == 2
    assert "its columns in_NAME say who was." in " ".join(done.err.split())
    assert "in_NAME" not in publish("--history", "old.csv", "--group", "group", "--changed", "refuse", "-o", "S").err


@pytest.mark.parametrize("names", [{"value": "ill"}, {"id": "nr"}])
def test_a_plain_file_with_columns_of_other_names_is_refused_with_what_would_read_it(names):
    pl.read_csv("old.csv").rename(names).write_csv("other.csv")
    done = publish("--history", "other.csv", "--group", "group", "-o", "R")
    assert (done.code, done.out) == (2, "")
    text = " ".join(done.err.split())
    assert f"other.csv has no column '{next(iter(names))}': plain files of --history are read" in text
    assert "--kind" not in text  # that is about the new release


def test_anatomys_pair_without_ids_and_a_named_count_tell_their_kinds():
    assert publish("-o", "R").code == 0
    roles = ["--sensitive", "value", "--group", "group", "-o", "pair"]
    done = run("release", "make", "R/records.csv", "--values", "R/values.csv", *roles)
    assert (done.code, read_release("pair", link=False).kind) == (0, "bucketized"), done.err
    pl.DataFrame({"zip": ["z0", "z1"], "value": ["v0", "v1"], "n": ["c", "9"]}).write_csv("n.csv")
    hidden = run("release", "make", "n.csv", "--sensitive", "value", "--count", "n", "-o", "N")
    assert hidden.code == 2
    assert "--suppressed MARK=1-4" in " ".join(hidden.err.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--hold-back"], "--hold-back is for --strategy guarded or m-invariance."),
        (["--accept-exposed"], "--accept-exposed is for --strategy guarded"),
        (["--merge-overlaps"], "--merge-overlaps is for generalized output of m-invariance or guarded."),
        (["--suppress", "2.5"], "--suppress is a share below 1 or a whole number of rows, not 2.5."),
    ],
)
def test_options_that_would_do_nothing_are_refused_by_their_names(options, words):
    strategy = ["--strategy", "m-invariance"] if "--merge-overlaps" in options else []
    plain = [*ROLES, "--method", "anatomy", "--frequency-l", "2", *strategy]
    done = run("publish", "t.csv", *plain, *options, "-o", "R")
    assert (done.code, done.out) == (2, "")
    assert words in " ".join(done.err.split())
