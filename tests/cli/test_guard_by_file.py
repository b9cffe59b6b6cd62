"""``showthrough publish --strategy guarded --policy FILE``: the guard keeps what blocks there, no ledger needed."""

import pytest

from showthrough import infer, read_release
from tests.cli.running import run
from tests.republishing.changing import raw_tables

ROLES = ["--id", "id", "--sensitive", "value", "--quasi", "age,zip"]
MAKE = ["--method", "anatomy", *ROLES]
GUARD = [*MAKE, "--frequency-l", "2", "--strategy", "guarded", "--hold-back", "--policy", "policy.toml"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, table in enumerate(raw_tables(9, persons=40, releases=2, turnover=0.4), start=1):
        table.write_csv(f"t{k}.csv")
    assert run("publish", "t1.csv", *MAKE, "--frequency-l", "2", "-o", "R1").code == 0
    return tmp_path


def written(home, text):
    (home / "policy.toml").write_text(f"version = 1\n{text}\n")


@pytest.mark.parametrize("limit", [0.5, 0.8])
def test_the_limits_are_those_of_the_file(home, limit):
    written(home, f"[block]\nmax_posterior = {limit}\ncertain = 0")
    done = run("publish", "t2.csv", *GUARD, "--history", "R1", "-o", "R2")
    assert (done.code, done.err) == (0, "")
    by_option = run(
        "publish", "t2.csv", *[word for word in GUARD if word not in ("--policy", "policy.toml")],
        "--max-posterior", str(limit), "--history", "R1", "-o", "S2",
    )  # fmt: skip
    assert by_option.code == 0
    both = [read_release(name).to_frame().drop("group", strict=False).rows() for name in ("R2", "S2")]
    assert sorted(both[0]) == sorted(both[1])
    assert infer([read_release("R1"), read_release("R2")]).to_frame()["p"].max() <= limit + 2e-5


def test_what_each_release_must_satisfy_is_kept_too(home):
    written(home, "[block]\nmax_posterior = 0.8\nk = 6")
    words = ["mondrian" if word == "anatomy" else word for word in GUARD]
    done = run("publish", "t2.csv", *words, "--kind", "bucketized", "--history", "R1", "-o", "R2")
    assert done.code == 0, done.err
    sizes = read_release("R2").groups().group_by("group").len()["len"]
    assert sizes.min() >= 6


def test_a_dry_run_shows_the_guard_by_the_file(home):
    written(home, "[block]\nmax_posterior = 0.5")
    words = [word for word in GUARD if word not in ("--strategy", "guarded")]
    done = run("publish", "t2.csv", *words, "--history", "R1", "--dry-run")
    assert done.code == 0, done.err
    assert "guarded" in done.out
    assert not (home / "R2").exists()


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("[block]\nmax_posterior = 0.5", ["--max-posterior", "0.6"], "name no other ones"),
        ("[block]\nmax_posterior = 0.5", ["--certain", "3"], "name no other ones"),
        ("[review]\nmax_posterior = 0.5", [], "blocks nothing that all releases tell together"),
        ("[block]\nmax_posterior = 0.5", ["--strategy", "m-invariance"], "name the ledger"),
    ],
)
def test_what_does_not_go_together_is_said(home, text, more, said):
    written(home, text)
    done = run("publish", "t2.csv", *GUARD, *more, "--history", "R1", "-o", "R2")
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (home / "R2").exists()
