"""A kind of release is one file and one line: nobody else compares names of kinds, and a new one works everywhere."""

import ast
import json
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from jsonschema import Draft202012Validator

import showthrough as st
from showthrough.errors import InputError
from showthrough.inference.history import encode
from showthrough.measuring.utility import utility
from showthrough.release import grouped
from showthrough.release.bucketized import BucketizedKind
from showthrough.release.columns import cell_text
from showthrough.release.kind import Kind, Shows
from showthrough.release.kinds import KINDS
from showthrough.release.parts import Parts, Source
from tests.cli.running import run
from tests.release.alike import alike

ROOT = Path(st.__file__).parent
HOMES = {ROOT / "release" / f"{name}.py" for name in KINDS}
AUDIT = Draft202012Validator(json.loads((files("showthrough.report") / "audit.schema.json").read_text("utf-8")))


def compared(text: str) -> list[str]:
    """Where source code decides by the name (or the class) of a kind."""
    names, classes = set(KINDS), {type(kind).__name__ for kind in KINDS.values()}

    def names_a_kind(node: ast.AST | None) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and node.value in names
        if isinstance(node, ast.Attribute) and node.attr == "name":
            node = node.value
        return isinstance(node, ast.Name) and node.id in classes

    def looked_at(node: ast.AST) -> list[ast.AST | None]:
        """The parts of a node that would make it a decision if they named a kind."""
        if isinstance(node, ast.Compare):
            return [node.left, *node.comparators]
        if isinstance(node, ast.MatchValue):
            return [node.value]
        if isinstance(node, ast.Subscript):
            return [node.slice]
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):  # something is looked up in it
            return [part for part in node.elts if isinstance(part, ast.Constant)]
        if isinstance(node, ast.Dict):
            return [key for key in node.keys if isinstance(key, ast.Constant)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            return list(node.args)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKS:
            return list(node.args)
        return []

    tree = ast.parse(text)
    return [ast.unparse(node) for node in ast.walk(tree) if any(names_a_kind(part) for part in looked_at(node))]


_ASKS = ("get", "startswith", "endswith", "index", "count", "pop")


@pytest.mark.parametrize("path", sorted(set(ROOT.rglob("*.py")) - HOMES), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_kind_is_told_by_its_name_outside_its_file(path):
    assert compared(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x.kind == 'bucketized'", 1),
        ("'counted' != x", 1),
        ("_CELLS = ('generalized', 'counted')", 1),
        ("x in {'generalized'}", 1),
        ("MAKE = {'counted': f}", 1),
        ("MAKE['counted']", 1),
        ("MAKE.get('counted')", 1),
        ("x == CountedKind.name", 1),
        ("isinstance(x.form, CountedKind)", 1),
        ("match x:\n    case 'counted': pass", 1),
        ("from_source('counted', source)", 0),
        ("{CountedKind.name: CountedKind()}", 0),
        ("x.form.shows is Shows.CELLS", 0),
        ("counted == 3", 0),
    ],
)
def test_the_search_finds_what_it_should(text, found):
    assert len(compared(text)) == found


def test_every_kind_stands_in_a_file_of_its_name():
    for name, kind in KINDS.items():
        assert name == kind.name
        assert type(kind).__module__ == f"showthrough.release.{name}"


class Listed(Kind):
    """A row per group, with its values and how often each occurs in one text: "flu 2, gout 1"."""

    name = "listed"
    shows = Shows.CELLS
    needs = ("sensitive", "quasi")

    def make(self, source: Source) -> Parts:
        """The parts of a release from its rows."""
        roles = source.roles
        assert roles.sensitive is not None
        grouped.check(source)
        own = [c for c in source.rows.columns if c != roles.sensitive]
        items = source.rows.select(*own, pl.col(roles.sensitive).str.split(", ")).explode(roles.sensitive)
        value, count = (items[roles.sensitive].str.split(" ").list.get(k).alias("part") for k in (0, 1))
        rows = pl.DataFrame({**{c: items[c] for c in own}, roles.sensitive: value, roles.count: count})
        cells = {c: cell_text(rows[c], source.where) for c in roles.quasi}
        return grouped.parts_of_counts(Source(rows, roles, source.where), cells, roles.sensitive)

    def rows(self, release: st.Release) -> pl.DataFrame:
        """One row per group."""
        text = pl.concat_str("value", pl.lit(" "), "n").str.join(", ")
        told = release.tally.group_by("group", maintain_order=True).agg(text.alias("text"))["text"]
        return release.records.with_columns(told.alias(release.roles.sensitive))


class Sealed(BucketizedKind):
    """Bucketized by another name: what it takes to be published, it has by its facts."""

    name = "sealed"


TABLE = {
    "zip": ["13053", "13068", "13053", "14850", "14853"],
    "disease": ["flu", "flu", "gout", "asthma", "flu"],
}
REGISTER = {"id": ["Ann", "Bob", "Cyd", "Dan", "Eve"], "zip": TABLE["zip"]}
ROWS = {"zip": ["130**", "148**"], "disease": ["flu 2, gout 1", "asthma 1, flu 1"]}
ROLES = {"sensitive": "disease", "quasi": ["zip"]}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(ROWS).write_csv("list.csv")
    pl.DataFrame(TABLE).write_csv("table.csv")
    pl.DataFrame(REGISTER).write_csv("register.csv")
    return tmp_path


@pytest.fixture
def listed(home, monkeypatch):
    monkeypatch.setitem(KINDS, "listed", Listed())  # the one line
    return st.read_release("list.csv", kind="listed", **ROLES)


def test_a_kind_that_nobody_knows_is_refused(home):
    with pytest.raises(InputError, match="is said to be of kind 'listed'; this showthrough reads: bucketized"):
        st.read_release("list.csv", kind="listed", **ROLES)


def test_a_new_kind_is_read_and_saved(listed):
    assert repr(listed) == "<listed release 'list': 5 persons, 2 groups, 3 values>"
    assert listed.counts().rows() == [(1, "flu", 2), (1, "gout", 1), (2, "asthma", 1), (2, "flu", 1)]
    assert listed.to_frame().to_dict(as_series=False) == ROWS
    listed.save("L")
    assert 'kind = "listed"' in Path("L/release.toml").read_text("utf-8")
    alike(st.read_release("L"), listed)
    with pytest.raises(InputError, match="a listed release needs quasi="):
        st.read_release("list.csv", kind="listed", sensitive="disease")
    with pytest.raises(InputError, match="only a bucketized release has a second table of values, not a listed one"):
        st.read_release("list.csv", "list.csv", kind="listed", **ROLES)
    with pytest.raises(InputError, match="taken for a listed release, but ordinal describes a microaggregated one"):
        st.read_release("list.csv", kind="listed", ordinal={"zip": ["1", "2"]}, **ROLES)


def test_a_new_kind_is_audited_like_the_one_that_publishes_the_same(listed):
    counts = listed.counts().with_columns(zip=pl.Series(["130**", "130**", "148**", "148**"]))
    counted = st.Release.counted(
        counts.select("zip", pl.col("value").alias("disease"), pl.col("n").alias("count")), name="list", **ROLES
    )
    mine, theirs = (st.infer([release], register=REGISTER) for release in (listed, counted))
    assert mine.to_frame().equals(theirs.to_frame())
    assert mine._solved.history.group_name(1) == "2 (148**)" == theirs._solved.history.group_name(1)
    assert encode([listed]).row_count.tolist() == [2, 1, 1, 1]
    found = st.audit([listed], register=REGISTER)
    assert found.releases[0].kind == "listed"
    assert found.joint.persons == 5
    for criterion in (st.KAnonymity(2), st.DistinctLDiversity(2), st.TCloseness(0.5)):
        assert criterion.check(listed).sentence == criterion.check(counted).sentence
    assert utility(listed, TABLE, workload=20) == utility(counted, TABLE, workload=20)


@pytest.mark.parametrize("command", ["audit", "check"])
def test_the_commands_take_a_new_kind(listed, command):
    listed.save("L")
    more = ["--register", "register.csv", "--id", "id"] if command == "audit" else ["--k", 2]
    done = run(command, "L", *more, "--json", "-")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["releases"][0]["kind"] == "listed"
    assert command == "check" or AUDIT.is_valid(found)


def test_a_new_kind_is_published_as_its_facts_say(listed, monkeypatch):
    monkeypatch.setitem(KINDS, "sealed", Sealed())
    table = {"pid": [1, 2, 3, 4, 5, 6], "zip": ["1", "1", "2", "2", "3", "3"], "disease": list("abcabc")}
    roles = {"id": "pid", "sensitive": "disease", "quasi": ["zip"]}
    with pytest.raises(InputError, match="output is one of bucketized, generalized, microaggregated, sealed, not"):
        st.anonymize(table, criteria=[st.KAnonymity(2)], output="listed", **roles)
    alone = st.anonymize(table, criteria=[st.KAnonymity(2)], output="sealed", **roles)
    assert (alone.kind, alone.groups().height) == ("sealed", 6)
    after = st.anonymize(
        table, criteria=[st.MUniqueness(2)], history=[alone], strategy="m-invariance", output="sealed", **roles
    )
    assert after.kind == "sealed"
    assert st.infer([alone, after]).certificate is not None


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_of_audits_takes_every_kind(home, kind):
    one = {
        "bucketized": lambda: st.Release.bucketized({**TABLE, "g": [1, 1, 1, 2, 2]}, sensitive="disease", group="g"),
        "generalized": lambda: st.Release.generalized(TABLE, **ROLES),
        "counted": lambda: st.Release.counted({**TABLE, "count": [1] * 5}, **ROLES),
        "microaggregated": lambda: st.Release.microaggregated(TABLE, **ROLES),
        "noisy": lambda: st.Release.noisy(
            {**TABLE, "count": [1] * 5}, mechanism="geometric", scale=4.0, neighbours="replace-one", **ROLES
        ),
    }
    release = one[kind]()
    release.save(kind)
    done = run("audit", kind, "--json", "-")
    if release.noise is not None:  # it names nobody, which is said
        assert (done.code, done.out) == (2, "")
        assert "Noisy counts name nobody" in done.err
        pl.DataFrame({"id": ["1", "2"], **{c: TABLE[c][:2] for c in ROLES["quasi"]}}).write_csv("people.csv")
        done = run("audit", kind, "--register", "people.csv", "--json", "-")
        assert json.loads(done.out)["certificate"]["status"] == "believed"
    found = json.loads(done.out)
    assert [e.message for e in AUDIT.iter_errors(found)] == []
    assert found["releases"][0]["kind"] == kind
