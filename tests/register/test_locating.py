"""A release written to CSV, read back and linked: the same groups, and everybody's own group among the candidates."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Register, Release, infer, read_release
from showthrough.errors import InputError, ReleaseError
from showthrough.examples import hospitals
from showthrough.register.locating import locate, understood

SEX = ["f", "m"]


@st.composite
def microdata(draw):
    """Persons with quasi-identifiers, a partition into groups, and how each cell is printed."""
    n = draw(st.integers(1, 12))
    people = pl.DataFrame(
        {
            "id": [f"p{k}" for k in range(n)],
            "age": draw(st.lists(st.integers(-5, 99), min_size=n, max_size=n)),
            "zip": draw(st.lists(st.sampled_from(["01234", "01299", "13053", "13068"]), min_size=n, max_size=n)),
            "sex": draw(st.lists(st.sampled_from(SEX), min_size=n, max_size=n)),
            "v": draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n)),
        }
    )
    home = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    cells: dict[str, list] = {"age": [None] * n, "zip": [None] * n, "sex": [None] * n}
    for g in sorted(set(home)):
        rows = [k for k in range(n) if home[k] == g]
        for column, printed in (
            ("age", draw(_interval([people["age"][k] for k in rows]))),
            ("zip", draw(_prefix([people["zip"][k] for k in rows]))),
            ("sex", draw(_set([people["sex"][k] for k in rows]))),
        ):
            for k in rows:
                cells[column][k] = printed
    return people, pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String))


def _interval(values):
    low, high = min(values), max(values)
    forms = [f"[{low}, {high}]", f"[{low}, {high + 1}[", f"<={high}", f"≥{low}", f"<{high + 1}", f">{low - 1}", "*", ""]
    if low >= 0:
        forms.append(f"{low}-{high}" if low < high else str(low))
    return st.sampled_from(forms)


def _prefix(values):
    kept = 0
    while kept < 5 and len({v[: kept + 1] for v in values}) == 1:
        kept += 1
    return st.integers(0, kept).map(lambda k: "*" if k == 0 else values[0][:k] + "*" * (5 - k))


def _set(values):
    each = sorted(set(values))
    return st.sampled_from(["*", "NA", "{f, m}", "{" + ", ".join(each) + "}"] + (each if len(each) == 1 else []))


@settings(max_examples=60, deadline=None)
@given(data=microdata())
def test_written_read_back_and_linked(data, tmp_path_factory):
    people, cells = data
    quasi = ["age", "zip", "sex"]
    made = Release.generalized(cells.with_columns(people["v"]), sensitive="v", quasi=quasi, name="G")
    path = tmp_path_factory.mktemp("written") / "G.csv"
    made.to_frame().write_csv(path)
    back = read_release(path, sensitive="v", quasi=quasi)
    assert back.counts().rows() == made.counts().rows()
    assert back.cells().equals(made.cells())
    register = Register.of(people.drop("v"))
    first, again = (locate(r, "G", register).candidates for r in (made, back))
    assert [first.of(p).tolist() for p in range(people.height)] == [again.of(p).tolist() for p in range(people.height)]
    published = [tuple(row) for row in made.cells().select(quasi).iter_rows()]
    for person, own in enumerate(cells.iter_rows()):
        key = tuple(None if cell == "" else cell for cell in own)
        assert published.index(key) in again.of(person).tolist()
    post = infer([back], register=register)
    assert set(post.ids) == set(people["id"])  # everybody fits, and there is a row for everybody


def test_a_cell_that_cannot_be_read_is_named_by_file_and_row(tmp_path):
    path = tmp_path / "G.csv"
    path.write_text("age,v\n2*,a\n2*,b\n30,a\n[4 to,b\n")
    release = read_release(path, sensitive="v", quasi=["age"])
    people = Register.of(pl.DataFrame({"id": [1], "age": [25]}))
    with pytest.raises(ReleaseError, match=r"G\.csv, row 4, column 'age'.*Forms understood") as caught:
        locate(release, "G", people)
    assert "[4 to" in caught.value.internal
    assert "[4 to" not in caught.value.shareable
    counted = tmp_path / "C.csv"
    counted.write_text("age,v,n\n2*,a,1\n2*,b,1\n30,a,0\n[4 to,b,1\n")
    with pytest.raises(ReleaseError, match=r"C\.csv, row 4, column 'age'"):
        locate(read_release(counted, sensitive="v", quasi=["age"], count="n"), "C", people)


def test_how_cells_were_understood_counts_rows_of_the_file():
    frame = {"age": ["2*", "2*", "30", "*"], "v": ["a", "b", "a", "b"]}
    release = Release.generalized(frame, sensitive="v", quasi=["age"], name="G")
    told = understood(release, "G")
    assert told.select("cell", "rows").rows() == [("2*", 2), ("30", 1), ("*", 1)]


def test_a_datapackage_declares_the_values_that_somebody_outside_may_have(tmp_path):
    (tmp_path / "G.csv").write_text("age,v\n2*,a\n2*,b\n")
    fields = [
        {"name": "age", "showthrough:role": "quasi"},
        {"name": "v", "showthrough:role": "sensitive", "constraints": {"enum": ["a", "b", "c"]}},
    ]
    package = {"resources": [{"name": "g", "path": "G.csv", "schema": {"fields": fields}}]}
    (tmp_path / "datapackage.json").write_text(json.dumps(package))
    release = read_release(tmp_path / "G.csv")
    people = pl.DataFrame({"id": [1, 2, 3], "age": [21, 22, 23]})
    post = infer([release], register=people)
    assert set(post.of(1)) == {"a", "b", "c"}
    bare = Release.generalized({"age": ["2*", "2*"], "v": ["a", "b"]}, sensitive="v", quasi=["age"], name="G")
    assert post.of(1) == pytest.approx(infer([bare], register=people, domain=["c"]).of(1))
    assert set(infer([release.recoded({"a": "A", "b": "B", "c": "C"})], register=people).of(1)) == {"A", "B", "C"}
    with pytest.raises(InputError, match="list of values"):
        infer([bare], register=people, domain="c")


def test_extended_by_a_release_that_only_tells_who_is_who():
    first, second = hospitals.releases()
    later = Release.generalized(
        {"id": ["Alice"], "zip": ["13012"], "age": ["28"], "nationality": ["*"]},
        sensitive=None,
        quasi=hospitals.QUASI,
        id="id",
        name="later",
    )
    someone = pl.DataFrame({"id": ["Emil"], "zip": ["13053"], "age": [47], "nationality": ["Danish"]})
    post = infer([first, second], register=someone)
    assert post.extend(later).of("Alice") == {"AIDS": 1.0}
