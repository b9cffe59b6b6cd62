"""From files to releases."""

import os
import shutil

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Hierarchy, Release, read_release
from showthrough.errors import FileError, InputError, ReleaseError
from showthrough.release.reading import fill_roles
from showthrough.release.roles import Given
from tests.release.test_bucketized import RECORDS, ROLES, ROWS, TALLY, VALUES
from tests.saying import refusing


@pytest.fixture
def home(tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "D1.csv")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "D1.parquet")
    pl.DataFrame(RECORDS).write_csv(tmp_path / "records.csv")
    pl.DataFrame(VALUES).write_csv(tmp_path / "values.csv")
    pl.DataFrame(VALUES).write_parquet(tmp_path / "values.parquet")
    return tmp_path


def test_csv_is_text(home):
    release = read_release(home / "D1.csv", **ROLES)
    assert release.name == "D1"
    assert release.counts().rows() == [(str(g), v, n) for g, v, n in TALLY]
    assert release.records["zip"].to_list() == ["02139", "02138", None, "1"]


def test_parquet_keeps_its_types(home):
    assert read_release(str(home / "D1.parquet"), **ROLES).counts().rows() == TALLY


@pytest.mark.parametrize("values", ["values.csv", "values.parquet"])
def test_pairs(home, values):
    release = read_release(home / "records.csv", home / values, **ROLES)
    assert release.shape == "pair"
    assert release.counts()["n"].to_list() == [1, 1, 2]


def test_names(home):
    os.link(home / "D1.csv", home / "D2.csv.gz")
    assert read_release(home / "D2.csv.gz", **ROLES).name == "D2"
    assert read_release(home / "D1.csv", name="May", date="2020", **ROLES).name == "May"


def test_a_file_name_that_is_no_text(home):
    odd = os.fsencode(home) + b"/D\xff.csv"
    os.link(home / "D1.csv", odd)
    assert read_release(os.fsdecode(odd), **ROLES).name == "D\ufffd"


def test_missing_roles(home):
    with pytest.raises(
        InputError, match=r"is a plain file without a release\.toml: name its columns with id=, group=\."
    ):
        read_release(home / "D1.csv", sensitive="disease")


def test_missing_file_comes_before_missing_roles(home):
    with refusing(FileError, match=r"^There is no file .*D9\.csv\.$"):
        read_release(home / "D9.csv")


def test_messages_name_the_file(home):
    (home / "sub").mkdir()
    (home / "sub" / "D1.csv").write_text("id,group,disease\n1,,Flu\n")
    with refusing(ReleaseError, match=r"sub/D1\.csv: the person in row 1 has no group"):
        read_release(home / "sub" / "D1.csv", **ROLES)
    (home / "values.csv").write_text("group,disease,count\n1,Flu,x\n")
    with refusing(ReleaseError, match=r"values\.csv: row 1 has 'x' in column 'count'"):
        read_release(home / "records.csv", home / "values.csv", **ROLES)


def test_a_release_folder_holds_its_own_values(home):
    read_release(home / "D1.csv", **ROLES).save(home / "folder")
    with refusing(InputError, match="is a release folder, which holds its own values"):
        read_release(home / "folder", home / "values.csv")


def test_encoding_is_for_both_tables(home):
    text = (home / "values.csv").read_text().replace("HIV", "Häm")
    (home / "values.csv").write_text(text, encoding="latin-1")
    with refusing(FileError, match=r"values\.csv is not utf-8 text"):
        read_release(home / "records.csv", home / "values.csv", **ROLES)
    release = read_release(home / "records.csv", home / "values.csv", encoding="latin-1", **ROLES)
    assert "Häm" in release.counts()["value"].to_list()


GENERALIZED = "zip;age;condition\n130**;<30;AIDS\n130**;<30;Flu\n148**;;Flu\n"
COUNTED = "zip,condition,count\n130**,AIDS,1\n130**,Flu,1\n148**,Flu,1\n"


@pytest.fixture
def plain(tmp_path):
    (tmp_path / "G.csv").write_text(GENERALIZED)
    (tmp_path / "C.csv").write_text(COUNTED)
    (tmp_path / "M.csv").write_text("age,width,v\n28.5,1,a\n28.5,1,b\n")
    (tmp_path / "B.csv").write_text("zip,g,v\n13012,1,a\n13013,1,b\n")
    (tmp_path / "R.csv").write_text("who,zip\nx,13012\ny,13013\n")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "roles", "kind"),
    [
        ("G.csv", {"sensitive": "condition", "quasi": ["zip", "age"]}, "generalized"),
        ("G.csv", {"sensitive": "condition", "quasi": ["zip", "age"], "count": "count"}, "generalized"),
        ("G.csv", {"quasi": ["zip", "age"]}, "generalized"),
        ("G.csv", {"sensitive": "condition", "quasi": ["zip", "age"], "kind": "bucketized", "group": "age"}, None),
        ("C.csv", {"sensitive": "condition", "quasi": ["zip"], "count": "count"}, "counted"),
        ("C.csv", {"sensitive": "condition", "group": "zip", "count": "count"}, "counted"),
        ("C.csv", {"sensitive": "condition", "kind": "counted"}, "counted"),
        ("C.csv", {"sensitive": "condition", "quasi": ["zip"]}, "generalized"),
        ("M.csv", {"sensitive": "v", "quasi": ["age"], "spread": {"age": "width"}}, "microaggregated"),
        ("M.csv", {"sensitive": "v", "quasi": ["age"], "kind": "microaggregated"}, "microaggregated"),
        ("M.csv", {"sensitive": "v", "quasi": ["age"], "ordinal": {"age": ["1", "28.5"]}}, "microaggregated"),
        ("B.csv", {"sensitive": "v", "group": "g", "kind": "bucketized"}, "bucketized"),
        ("R.csv", {"id": "who", "quasi": ["zip"]}, "generalized"),
    ],
)
def test_the_kind_of_plain_files(plain, file, roles, kind):
    if kind is None:
        with refusing(InputError, match=r"named twice|has no group"):
            read_release(plain / file, **roles)
        return
    release = read_release(plain / file, **roles)
    assert release.kind == kind
    assert release.name == file[0]
    release.save(plain / "saved")
    assert read_release(plain / "saved").to_frame().equals(release.to_frame())


@pytest.mark.parametrize(
    ("file", "roles", "message"),
    [
        ("B.csv", {"sensitive": "v", "group": "g", "quasi": ["zip"]}, "say with kind= whether it is bucketized"),
        (
            "B.csv",
            {"sensitive": "v", "group": "g"},
            r"name its columns with id=\. A release without ids needs quasi=",
        ),
        ("B.csv", {"sensitive": "v", "id": "zip", "quasi": []}, r"name its columns with group=\."),
        ("B.csv", {"kind": "bucketized", "sensitive": "v"}, r"a bucketized release needs group=\."),
        ("G.csv", {"kind": "generalized"}, r"a generalized release needs quasi=\."),
        ("C.csv", {"kind": "counted"}, r"a counted release needs sensitive=\."),
        ("C.csv", {"sensitive": "condition", "quasi": ["zip"], "count": "n"}, "has no column 'n'"),
        ("C.csv", {"sensitive": "condition", "kind": "counted", "id": "zip"}, "it has no column of ids"),
        (
            "G.csv",
            {"kind": "noisy", "sensitive": "condition", "quasi": ["zip"]},
            "has no column|says what its noise is: mechanism, scale and neighbours",
        ),
        ("G.csv", {"kind": "PRAM"}, "randomized releases .* are not covered"),
        ("G.csv", {"kind": "randomized-response"}, "randomized releases .* are not covered"),
        ("G.csv", {"kind": "synthetic"}, "this showthrough reads: bucketized, generalized, counted, microaggregated"),
    ],
)
def test_what_plain_files_need(plain, file, roles, message):
    with refusing(InputError, match=message):
        read_release(plain / file, **roles)


def test_only_bucketized_releases_are_pairs(plain):
    with refusing(InputError, match="only a bucketized release has a second table of values"):
        read_release(plain / "G.csv", plain / "C.csv", kind="generalized", sensitive="condition", quasi=["zip"])


def test_value_maps(plain):
    (plain / "map.csv").write_text("published,common\nAIDS,viral\nFlu,viral\n")
    roles = {"sensitive": "condition", "quasi": ["zip", "age"]}
    release = read_release(plain / "G.csv", value_map=plain / "map.csv", **roles)
    assert release.counts().rows() == [(1, "viral", 2), (2, "viral", 1)]
    same = read_release(plain / "G.csv", value_map={"AIDS": "viral", "Flu": "viral"}, **roles)
    assert same.counts().equals(release.counts())
    read_release(plain / "G.csv", **roles).save(plain / "folder")
    assert read_release(plain / "folder", value_map=plain / "map.csv").counts().equals(release.counts())
    for text, message in (
        ("AIDS,viral\nFlu,viral\n", r"no entry for 'AIDS'.*its first row holds the names of its columns"),
        ("a,b,c\nAIDS,viral,x\n", "has 3 columns; a value map has two"),
        ("a,b\nAIDS,viral\nAIDS,other\n", "maps 'AIDS' to more than one value"),
        ("a,b\nAIDS,\n", "row 1 has an empty cell"),
    ):
        (plain / "map.csv").write_text(text)
        with refusing(InputError, match=message):
            read_release(plain / "G.csv", value_map=plain / "map.csv", **roles)


def test_hierarchies_come_as_objects_files_or_trees(plain):
    tree = Hierarchy.flat(["13012", "13053"])
    (plain / "zip.csv").write_text("13012;*\n13053;*\n")

    def read(given):
        return read_release(plain / "G.csv", sensitive="condition", quasi=["zip"], hierarchies={"zip": given})

    assert read(tree).hierarchies["zip"] is tree
    assert read(plain / "zip.csv").hierarchies["zip"].leaves == tree.leaves
    assert read({"*": ["13012", "13053"]}).hierarchies["zip"].leaves == tree.leaves
    with refusing(InputError, match="hierarchy"):
        read(object())


class Info:
    def __init__(self, role):
        self.role = role


def test_roles_from_a_description():
    described = {"who": Info("id"), "zip": Info("quasi"), "age": Info("quasi"), "v": Info("sensitive"), "x": Info(None)}
    assert fill_roles(Given(), described) == Given("who", "v", None, ("zip", "age"))
    assert fill_roles(Given(sensitive="w", quasi=["a"]), described) == Given("who", "w", None, ["a"])
    with refusing(InputError, match="2 columns are described as id: name the one that is meant with id="):
        fill_roles(Given(), {"a": Info("id"), "b": Info("id")})
    assert fill_roles(Given(id="b"), {"a": Info("id"), "b": Info("id")}).id == "b"


CHARACTERS = st.sampled_from('abn,;"\n\r\t 01.5-*<>{}[]é\ufeff\x00')
ROLE = st.sampled_from([None, "a", "b", "n", "0", ""])


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=40),
        st.text(CHARACTERS, max_size=40).map(str.encode),
        st.text(CHARACTERS, max_size=30).map(lambda t: f"a,b,n\n{t}".encode()),
        st.lists(st.tuples(*[st.sampled_from(["", "x", "y", "1", "2.5", "-1", " "])] * 3), min_size=1, max_size=5).map(
            lambda rows: ("a,b,n\n" + "".join(",".join(r) + "\n" for r in rows)).encode()
        ),
    ),
    st.fixed_dictionaries(
        {
            "id": ROLE,
            "sensitive": ROLE,
            "group": ROLE,
            "count": ROLE,
            "quasi": st.none() | st.lists(st.sampled_from("abn"), max_size=2),
            "kind": st.sampled_from([None, "bucketized", "generalized", "counted", "microaggregated", "pram", "x"]),
            "spread": st.none() | st.dictionaries(st.sampled_from("ab"), st.sampled_from("abn"), max_size=1),
            "ordinal": st.none() | st.dictionaries(st.sampled_from("ab"), st.just(["x", "y"]), max_size=1),
            "locate": st.sampled_from(["nearest", "within", "?"]),
        }
    ),
    st.booleans(),
    st.sampled_from([None, "counterfeits", "value_map", "values"]),
)
def test_whatever_is_read_only_our_errors_come_out(tmp_path_factory, raw, roles, parquet, also):
    home = tmp_path_factory.getbasetemp() / "fuzz"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    (home / "f.csv").write_bytes(raw)
    second = {} if also is None else {also: home / "f.csv"}
    try:
        release = read_release(home / "f.csv", **second, **roles)
        repr(release)
        assert release.members + int(release.counterfeits["n"].sum()) == int(release.sizes()["n"].sum())
        assert release.cells().height
        release.save(home / "D", format="parquet" if parquet else "csv")
        assert read_release(home / "D").to_frame().equals(release.to_frame())
    except InputError:  # a sentence; anything else fails the test
        return


LINES = """\
kind = "counted"
kind = "generalized"
kind = "microaggregated"
id = true
id = "q"
quasi = []
quasi = ["q", "q"]
quasi = ["v"]
group = "q"
sensitive = false
sensitive = "q"
locate = "within"
spread = []
q = "number"
v = "date"
v = "other"
role = "values"
version = 1.0
[types]
"""


@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 20),
    st.sampled_from(LINES.splitlines()),
    st.booleans(),
    st.sampled_from(["generalized", "bucketized", "microaggregated"]),
)
def test_whatever_a_manifest_says_only_our_errors_come_out(tmp_path_factory, at, line, insert, kind):
    home = tmp_path_factory.getbasetemp() / "manifests"
    shutil.rmtree(home, ignore_errors=True)
    frame = {"q": ["1", "1"], "g": ["x", "x"], "v": ["a", "b"]}
    more = {"group": "g"} if kind == "bucketized" else {}
    getattr(Release, kind)(frame, sensitive="v", quasi=["q"], counterfeits={"x" if more else 1: 1}, **more).save(home)
    path = home / "release.toml"
    lines = path.read_text().split("\n")
    at %= len(lines)
    path.write_text("\n".join([*lines[:at], line, *lines[at if insert else at + 1 :]]))
    try:
        release = read_release(home)
        repr(release), release.to_frame(), release.cells()
    except InputError:  # a sentence; anything else fails the test
        return


@pytest.mark.parametrize("shape", ["rows", "pair"])
def test_folders_of_bucketized_releases_without_ids(plain, shape):
    frame = {"zip": ["13012", "13013"], "g": [1, 1]}
    if shape == "rows":
        release = Release.bucketized({**frame, "v": ["a", "b"]}, sensitive="v", group="g")
    else:
        values = {"g": [1, 1], "v": ["a", "b"], "count": [1, 1]}
        release = Release.bucketized(frame, values=values, sensitive="v", group="g")
    release.save(plain / "D")
    assert "id = false" in (plain / "D" / "release.toml").read_text()
    back = read_release(plain / "D")
    assert back.roles == release.roles
    assert back.to_frame().equals(release.to_frame())
