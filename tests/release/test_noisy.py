"""Noisy releases: read, saved and read again, taken apart into their tables, refused where exact counts are needed."""

import itertools
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.errors import InputError, ReleaseError
from showthrough.release.noisy import layers
from tests.release.alike import VALUES, alike, refused

COUNTS = [3, -1, 4, 2, 0, 7, -5, 1]
CELLS = list(itertools.product(["0-39", "40+"], ["f", "m"], ["flu", "gout"]))
FRAME = pl.DataFrame(
    [(*cell, n) for cell, n in zip(CELLS, COUNTS, strict=True)], schema=["age", "sex", "ill", "count"], orient="row"
)
LAW = {"mechanism": "geometric", "scale": 4.0, "neighbours": "replace-one"}
some = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def one(frame=FRAME, **changed) -> st.Release:
    return st.Release.noisy(frame, **{"sensitive": "ill", **LAW, **changed})


def several() -> st.Release:
    tables = (["age"], ["sex"], [])
    rows = pl.concat(
        FRAME.group_by(*own, "ill", maintain_order=True)
        .agg(pl.col("count").sum())
        .select(
            *(pl.col(c) if c in own else pl.lit(None, dtype=pl.String).alias(c) for c in ("age", "sex")), "ill", "count"
        )
        for own in tables
    ).with_columns(count_nonnegative=pl.col("count").clip(0))
    shares = [
        {"quasi": own, "epsilon": 2 / scale, "scale": scale} for own, scale in zip(tables, (4.0, 4.0, 8.0), strict=True)
    ]
    return one(rows, scale=None, marginals=shares, processed=["count_nonnegative"], name="three")


def test_one_table():
    release = one()
    assert repr(release) == "<noisy release: about 11 persons, 4 groups, 2 values>"
    assert release.counts().rows()[:3] == [(1, "flu", 3), (1, "gout", -1), (2, "flu", 4)]
    assert release.to_frame().rows() == FRAME.rows()
    assert dict(release.parameters) == {
        "mechanism": "geometric",
        "epsilon": 0.5,
        "delta": 0.0,
        "sensitivity": 2.0,
        "neighbours": "replace-one",
        "scale": 4.0,
    }
    assert layers(release) == (release,)
    assert release.noise is not None
    assert st.Release.counted(FRAME.with_columns(count=1), sensitive="ill").noise is None


def test_several_tables_are_taken_apart():
    release = several()
    assert release.parameters["epsilon"] == 1.25
    assert release.to_frame()["count_nonnegative"].min() == 0
    age, sex, values = layers(release)
    assert [r.roles.quasi for r in (age, sex, values)] == [("age",), ("sex",), ()]
    assert [r.noise.scale for r in (age, sex, values)] == [4, 4, 8]
    assert [r.parameters["epsilon"] for r in (age, sex, values)] == [0.5, 0.5, 0.25]
    assert age.to_frame().select("age", "ill", "count").rows() == [
        ("0-39", "flu", 7), ("0-39", "gout", 1), ("40+", "flu", -5), ("40+", "gout", 8),
    ]  # fmt: skip
    assert values.counts().select("value", "n").rows() == [("flu", 2), ("gout", 9)]
    assert values.cells().height == 1
    assert {r.members for r in (release, age, sex, values)} == {11}
    assert len({r.fingerprint() for r in (release, age, sex, values)}) == 4


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("make", [one, several])
def test_folders_keep_everything_and_no_more(tmp_path, make, format):
    release = make()
    release.save(tmp_path / "N", format=format)
    back = st.read_release(tmp_path / "N")
    alike(back, release)
    assert back.noise == release.noise
    assert back.fingerprint() == release.fingerprint()
    assert back.parameters == release.parameters
    told = (tmp_path / "N" / "release.toml").read_text("utf-8")
    assert 'kind = "noisy"' in told
    assert "seed" not in told
    assert {p.name for p in (tmp_path / "N").iterdir()} == {"release.toml", f"rows.{format}"}


@some
@given(
    counts=hs.lists(hs.floats(-1e9, 1e9, allow_nan=False).map(float), min_size=4, max_size=4),
    values=hs.lists(VALUES, min_size=2, max_size=2, unique=True),
    mechanism=hs.sampled_from(["laplace", "gaussian"]),
)
def test_broken_counts_come_back(tmp_path_factory, counts, values, mechanism):
    cells = list(itertools.product(["1", "2"], values))
    frame = {"zip": [c for c, _ in cells], "ill": [v for _, v in cells], "count": counts}
    release = one(frame, mechanism=mechanism, epsilon=9.0, delta=1e-6)
    home = tmp_path_factory.mktemp("noisy") / "N"
    release.save(home)
    alike(st.read_release(home), release)
    assert sorted(release.counts()["n"]) == sorted(counts)


def test_the_law_is_part_of_what_is_published():
    assert one().fingerprint() != one(scale=5.0).fingerprint()
    assert one().fingerprint() == one(name="other", parameters={"by": "us"}).fingerprint()
    assert one(parameters={"scale": 9}).parameters["scale"] == 4.0


def test_plain_files(tmp_path):
    FRAME.write_csv(tmp_path / "n.csv")
    read = st.read_release(tmp_path / "n.csv", sensitive="ill", noise=LAW)
    alike(read, one())
    assert read.parameters["mechanism"] == "geometric"
    with pytest.raises(InputError, match="says what its noise is: mechanism, scale and neighbours"):
        st.read_release(tmp_path / "n.csv", sensitive="ill", kind="noisy")
    with pytest.raises(InputError, match="it has no column of ids"):
        st.read_release(tmp_path / "n.csv", id="age", sensitive="ill", kind="noisy", noise=LAW)
    with pytest.raises(InputError, match="but noise describes a noisy one"):
        st.read_release(tmp_path / "n.csv", sensitive="ill", quasi=["age"], kind="counted", noise=LAW)
    with pytest.raises(InputError, match="'epsilom' is unknown"):
        st.read_release(tmp_path / "n.csv", sensitive="ill", noise={**LAW, "epsilom": 1})
    Path(tmp_path / "history.toml").write_text(
        '[[release]]\nfile = "n.csv"\nsensitive = "ill"\n'
        'noise = {mechanism = "geometric", scale = 4.0, neighbours = "replace-one"}\n'
    )
    ((found,), _) = st.read_history(tmp_path / "history.toml")
    alike(found, one())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"count": [1.5] * 8}, "row 1 has 1.5 in column 'count'; expected a whole number, as the noise is whole"),
        ({"count": ["x"] * 8}, "row 1 has 'x' in column 'count'"),
        ({"count": [None] * 8}, "row 1 has no count"),
        ({"count": [1, float("inf"), *[1] * 6]}, "row 2 has inf"),
        ({"count": [1e300] * 8}, "row 1 has"),
        ({"sex": ["f"] * 8}, "lists the value 'flu' more than once"),
        ({"ill": ["flu", None, *["gout"] * 6]}, "row 2 is empty in column 'ill'"),
    ],
)
def test_tables_that_are_none(changed, message):
    frame = {c: changed.get(c, FRAME[c].to_list()) for c in FRAME.columns}
    told = refused(lambda: one(pl.DataFrame(frame, strict=False)), ReleaseError)
    assert message.replace("no count", "None") in told or message in told


def test_strange_tables_are_refused():
    share = {"epsilon": 0.5, "scale": 4.0}
    assert "belongs to none of the tables" in refused(lambda: one(marginals=[{"quasi": ["age"], **share}]))
    assert "'zip', which is not there" in refused(lambda: one(marginals=[{"quasi": ["zip"], **share}]))
    rows = several().to_frame().drop("count_nonnegative")
    assert "are empty in different columns" in refused(lambda: one(rows))  # each counts everybody: it costs three times
    assert "is named twice" in refused(lambda: one(processed=["count"]))
    assert "no column 'clean'" in refused(lambda: one(processed=["clean"]))


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda r: st.infer([r]), "name nobody: give a register"),
        (lambda r: st.audit([r]), "name nobody: give a register"),
        (lambda r: st.levels(r), "a criterion needs a table with exact counts"),
        (lambda r: st.KAnonymity(2).check(r), "a criterion needs a table with exact counts"),
        (lambda r: st.risk(r), "needs a table with exact counts"),
        (lambda r: st.worst_case(r, implications=1), "needs a table with exact counts"),
        (lambda r: st.utility(r, FRAME), "its utility needs a table with exact counts"),
        (lambda r: r.recoded({"flu": "x", "gout": "y"}), "another coding of its values needs"),
        (lambda r: r.form.by_record(r), "one row for each record needs a table with exact counts"),
        (lambda r: r.groups(), "publishes no ids"),
    ],
)
def test_who_needs_exact_counts_says_so(ask, what):
    for release in (one(name="N"), several()):
        assert what in refused(lambda r=release: ask(r))
