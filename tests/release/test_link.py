"""The private link beside a release folder: what it holds, what it is checked against, and what it goes with."""

import datetime as dt
import hashlib
import json

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import FileError
from showthrough.release import link
from tests.release.alike import refused

ROWS = 12


def table(ids):
    return pl.DataFrame(
        {
            "who": ids,
            "age": [20 + 7 * n % 40 for n in range(ROWS)],
            "ill": [("flu", "gout", "mumps")[n % 3] for n in range(ROWS)],
        }
    )


def made(ids=None, **options):
    rows = table([f"zq-{n}" for n in range(ROWS)] if ids is None else ids)
    return st.anonymize(
        rows, method="anatomy", id="who", sensitive="ill", criteria=[st.DistinctLDiversity(3)], **options
    )


def test_two_tables_without_ids(tmp_path):
    made().save(tmp_path / "D")
    assert {p.name for p in (tmp_path / "D").iterdir()} == {"release.toml", "records.csv", "values.csv"}
    for file in (tmp_path / "D").iterdir():
        assert b"zq-" not in file.read_bytes()
    assert pl.read_csv(tmp_path / "D" / "records.csv").columns == ["age", "group"]
    assert pl.read_csv(tmp_path / "D" / "values.csv").columns == ["group", "ill", "count"]
    back = st.read_release(tmp_path / "D")
    assert back.roles.id is None
    assert back.groups().sort("id").equals(made().groups().sort("id"))
    assert st.infer([back]).of("zq-0") == pytest.approx(dict.fromkeys(("flu", "gout", "mumps"), 1 / 3), abs=1e-6)


def test_ids_on_request_alone(tmp_path):
    made(publish_ids=True).save(tmp_path / "D")
    assert "zq-3" in (tmp_path / "D" / "records.csv").read_text()
    assert {p.name for p in tmp_path.iterdir()} == {"D"}
    assert st.read_release(tmp_path / "D").roles.id == "who"
    rows = table(range(ROWS))
    options = {"criteria": [st.KAnonymity(2)], "sensitive": "ill", "publish_ids": True}
    assert "name their column with id=" in refused(lambda: st.anonymize(rows.drop("who"), **options))
    assert "not a generalized one" in refused(lambda: st.anonymize(rows, id="who", **options))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_tells_nothing(tmp_path, seed):
    rows = table([f"zq-{n}" for n in range(ROWS)])
    options = {"method": "anatomy", "id": "who", "sensitive": "ill", "criteria": [st.DistinctLDiversity(3)]}
    for name, given in (("a", rows), ("b", rows.sample(fraction=1, shuffle=True, seed=seed))):
        (tmp_path / name).mkdir()
        st.anonymize(given, **options).save(tmp_path / name / "D")
    for name in ("D/records.csv", "D/values.csv", "D.link.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    shown = pl.read_csv(tmp_path / "a" / "D" / "records.csv")
    assert shown.equals(shown.sort("group", "age"))


def test_its_hash_is_inside_itself_and_nowhere_else(tmp_path):
    made().save(tmp_path / "D")
    raw = (tmp_path / "D.link.csv").read_bytes()
    head, rows = raw.split(b"\n", 1)
    told = json.loads(head.removeprefix(b"# "))
    assert told["sha256"] == hashlib.sha256(rows).hexdigest()
    assert told["release"] == hashlib.sha256((tmp_path / "D" / "release.toml").read_bytes()).hexdigest()
    public = (tmp_path / "D" / "release.toml").read_text()
    for secret in (told["sha256"], hashlib.sha256(raw).hexdigest(), "link"):
        assert secret not in public
    (tmp_path / "D.link.csv").write_bytes(raw.replace(b"zq-1,", b"zq-x,"))
    with pytest.raises(FileError, match="not the file that was saved"):
        st.read_release(tmp_path / "D")
    assert st.read_release(tmp_path / "D", link=False).link is None


def test_the_link_of_another_release_is_refused(tmp_path):
    made().save(tmp_path / "D")
    made(seed=1).save(tmp_path / "E")
    (tmp_path / "D.link.csv").write_bytes((tmp_path / "E.link.csv").read_bytes())
    with pytest.raises(FileError, match="private link of another release"):
        st.read_release(tmp_path / "D")
    (tmp_path / "D.link.csv").write_text("id,group\n")
    with pytest.raises(FileError, match="has the name of a private link but is none"):
        st.read_release(tmp_path / "D")


def test_it_goes_with_its_release(tmp_path):
    made().save(tmp_path / "D")
    first = (tmp_path / "D.link.csv").read_bytes()
    made(seed=3).save(tmp_path / "D", overwrite=True)
    assert (tmp_path / "D.link.csv").read_bytes() != first
    made().save(tmp_path / "D", overwrite=True, link=False)
    assert {p.name for p in tmp_path.iterdir()} == {"D"}


def test_the_link_of_a_release_that_moved_away_is_not_lost(tmp_path):
    made().save(tmp_path / "D")
    (tmp_path / "D").rename(tmp_path / "out")
    with pytest.raises(FileError, match=r"D\.link\.csv exists already"):
        made(seed=1).save(tmp_path / "D")
    (tmp_path / "D.link.csv").write_text("mine")
    with pytest.raises(FileError, match="is none: nothing was written"):
        made(seed=1).save(tmp_path / "D", overwrite=True)
    assert (tmp_path / "D.link.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "ids",
    [
        list(range(ROWS)),
        [n + 0.5 for n in range(ROWS)],
        [dt.date(2020, 1, 1 + n) for n in range(ROWS)],
        [f'a "{n}", b' for n in range(ROWS)],
        [f"=-@{n}" for n in range(ROWS)],
        [f"0{n}" for n in range(ROWS)],
    ],
)
def test_ids_come_back_as_they_were(tmp_path, ids):
    release = made(ids)
    release.save(tmp_path / "D")
    back = st.read_release(tmp_path / "D").groups()
    assert back.schema == release.groups().schema
    assert back.sort("id").equals(release.groups().sort("id"))


def test_a_link_may_be_named(tmp_path):
    made().save(tmp_path / "D")
    (tmp_path / "D.link.csv").rename(tmp_path / "mine.csv")
    assert st.read_release(tmp_path / "D").link is None
    assert st.read_release(tmp_path / "D", link=tmp_path / "mine.csv").groups().height == ROWS
    plain = st.read_release(
        tmp_path / "D" / "records.csv",
        tmp_path / "D" / "values.csv",
        sensitive="ill",
        group="group",
        kind="bucketized",
        link=tmp_path / "mine.csv",
    )
    assert plain.groups().height == ROWS


def test_folders_of_earlier_versions_open(tmp_path):
    rows = {"id": ["a", "b"], "zip": ["1", "2"], "group": [1, 1], "ill": ["x", "y"]}
    st.Release.bucketized(rows, id="id", sensitive="ill", group="group").save(tmp_path / "D")
    assert {p.name for p in (tmp_path / "D").iterdir()} == {"release.toml", "rows.csv"}
    assert st.read_release(tmp_path / "D").groups().rows() == [("a", 1), ("b", 1)]


def test_a_link_that_is_somebody_elses_is_said_to_be(tmp_path, monkeypatch):
    made().save(tmp_path / "D")

    def refuses(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(link, "open", refuses, raising=False)
    with pytest.raises(FileError, match=r"cannot be read: it is its owner's\. Give link=False"):
        st.read_release(tmp_path / "D")
    assert st.read_release(tmp_path / "D", link=False).link is None
    with pytest.raises(FileError, match=r"cannot be read: it is its owner's\.$"):
        made(seed=1).save(tmp_path / "D", overwrite=True)


@pytest.mark.parametrize(
    "first", ['# {"showthrough": "link", "version": ' + "[" * 100_000, '# {"showthrough": "link", x']
)
def test_a_first_line_that_is_no_json_is_damage(tmp_path, first):
    made().save(tmp_path / "D")
    (tmp_path / "D.link.csv").write_text(f"{first}\nid,group\n")
    with pytest.raises(FileError, match="damaged private link"):
        st.read_release(tmp_path / "D")
