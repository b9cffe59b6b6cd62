"""Persons located by quasi-identifiers: the hospitals of the composition paper, and mixed histories."""

import polars as pl
import pytest

from showthrough import Register, Release, infer
from showthrough.errors import ContradictionError, InputError
from showthrough.examples import hospitals
from tests.oracles import seats
from tests.oracles.seats import Seating


def by_pair(frame: pl.DataFrame) -> dict:
    return {row[:2]: row[2] for row in frame.iter_rows()}


def agrees(post, case: Seating) -> None:
    """Probabilities, bounds, worlds and facts are those of the dense program and of enumeration."""
    named = set(post.ids)
    truth = {pair: p for pair, p in seats.maximum_entropy(case).items() if pair[0] in named}
    found = by_pair(post.to_frame())
    for pair in truth.keys() | found.keys():
        assert found.get(pair, 0.0) == pytest.approx(truth.get(pair, 0.0), abs=1e-9)
    limits = {row[:2]: row[2:4] for row in post.bounds().iter_rows()}
    for pair, (low, high) in seats.bounds(case).items():
        if pair[0] in named:
            assert limits.get(pair, (0.0, 0.0)) == pytest.approx((low, high), abs=1e-6)
    shares, counted = seats.posterior(case), by_pair(post.worlds())
    for pair in counted:
        assert counted[pair] == pytest.approx(float(shares.get(pair, 0)), abs=1e-12)


def test_alice_is_hidden_among_three_and_four_values_and_then_alone():
    h1, h2 = hospitals.releases()
    register = hospitals.register()
    assert len(infer([h1], register=register).of("Alice")) == 3
    assert len(infer([h2], register=register).of("Alice")) == 4
    post = infer([h1, h2], register=register)
    assert post.of("Alice") == {"AIDS": 1.0}
    assert len(set(post.to_frame()["id"])) == 16
    proof = post.explain("Alice", "AIDS")
    assert proof.verify([h1, h2], register=register)
    assert not proof.verify([h1, h1], register=register)


def test_a_neighbour_who_knows_only_alice():
    h1, h2 = hospitals.releases()
    alice = pl.DataFrame({"id": ["Alice"], "zip": ["13012"], "age": [28], "nationality": [None]})
    post = infer([h1, h2], register=alice)
    assert post.of("Alice") == {"AIDS": 1.0}
    assert post.to_frame()["id"].unique().to_list() == ["Alice"]
    one = infer([h1], register=alice)
    assert one.of("Alice") == pytest.approx({"Viral Infection": 1 / 2, "AIDS": 1 / 4, "Heart Disease": 1 / 4})


def test_without_presence_more_people_than_rows_may_be_outside():
    release = Release.generalized({"age": ["2*", "2*"], "v": ["a", "b"]}, sensitive="v", quasi=["age"], name="G")
    people = pl.DataFrame({"id": [1, 2, 3], "age": ["21", "22", "23"]})
    post = infer([release], register=people)
    case = Seating([[["a", "b"]]], {i: [[None, 0]] for i in (1, 2, 3)})
    agrees(post, case)
    known = infer([release], register=Register.of(people, present={"G": [1, 2]}))
    assert known.of(1) == pytest.approx({"a": 0.5, "b": 0.5})
    assert known.ids.to_list() == [1, 2]
    wider = infer([release], register=people, domain=["c"])
    assert wider.of(1)["c"] == pytest.approx(
        seats.maximum_entropy(
            Seating([[["a", "b"]], [["c"]]], {**{i: [[None, 0], [None]] for i in (1, 2, 3)}, 9: [[None], [0]]})
        )[1, "c"]
    )


def test_a_mixed_history_of_three_kinds_with_overlapping_cells():
    people = pl.DataFrame(
        {
            "id": ["p1", "p2", "p3", "p4", "p5", "p6"],
            "age": [20, 28, 31, 39, 45, 58],
            "zip": ["11", "11", "12", "12", "13", "13"],
        }
    )
    bucketized = Release.bucketized(
        {"id": ["p1", "p2", "p3", "p4", "p5", "p6"], "g": [1, 1, 1, 2, 2, 2], "v": ["a", "b", "c", "a", "b", "b"]},
        id="id",
        sensitive="v",
        group="g",
        name="B",
    )
    generalized = Release.generalized(
        {
            "age": ["[20, 40]", "[20, 40]", "[20, 40]", "[30, 60]", "[30, 60]", "[30, 60]"],
            "v": ["a", "b", "a", "c", "b", "b"],
        },
        sensitive="v",
        quasi=["age"],
        name="G",
    )
    microaggregated = Release.microaggregated(
        {"age": [24.0, 24.0, 35.0, 35.0, 51.5, 51.5], "v": ["a", "b", "a", "c", "b", "b"]},
        sensitive="v",
        quasi=["age"],
        name="M",
    )
    post = infer([bucketized, generalized, microaggregated], register=people)
    # p3 and p4 fit both generalized groups; the nearest centroid tells everybody's third group
    fits = {
        "p1": [[0], [0], [0]],
        "p2": [[0], [0], [0]],
        "p3": [[0], [0, 1], [1]],
        "p4": [[1], [0, 1], [1]],
        "p5": [[1], [1], [2]],
        "p6": [[1], [1], [2]],
    }
    counts = [
        [["a", "b", "c"], ["a", "b", "b"]],
        [["a", "b", "a"], ["c", "b", "b"]],
        [["a", "b"], ["a", "c"], ["b", "b"]],
    ]
    agrees(post, Seating(counts, fits))
    table = post.locatability().filter(pl.col("persons") > 0)
    assert table.filter(pl.col("release") == "G").select("fits", "persons").rows() == [
        ("one group", 4),
        ("several groups", 2),
    ]


def test_overlapping_cells_of_local_recoding():
    release = Release.generalized(
        {"age": ["[20, 30]", "[20, 30]", "[25, 40]", "[25, 40]"], "v": ["a", "b", "a", "c"]},
        sensitive="v",
        quasi=["age"],
        name="G",
    )
    people = pl.DataFrame({"id": [1, 2, 3, 4], "age": [21, 27, 29, 38]})
    post = infer([release], register=people)
    agrees(post, Seating([[["a", "b"], ["a", "c"]]], {1: [[0]], 2: [[0, 1]], 3: [[0, 1]], 4: [[1]]}))


def test_counterfeits_are_anonymous_persons_of_their_group():
    rows = {"id": ["1", "2", None, None], "g": [1, 1, 1, 1], "v": ["a", "a", "a", "b"]}
    release = Release.bucketized(rows, id="id", sensitive="v", group="g", counterfeits={1: 2}, name="D")
    post = infer([release])
    assert post.of("1") == pytest.approx({"a": 0.75, "b": 0.25})  # not 0.5, as slack without entropy would say
    assert post.ids.to_list() == ["1", "2"]
    assert post.worlds().filter(pl.col("value") == "a")["p"].to_list() == pytest.approx([0.75, 0.75])


def test_suppressed_rows_fit_everybody():
    release = Release.generalized(
        {"age": ["2*", "2*", "*"], "zip": ["11", "11", "*"], "v": ["a", "b", "c"]},
        sensitive="v",
        quasi=["age", "zip"],
        name="G",
    )
    people = pl.DataFrame({"id": [1, 2, 3], "age": ["21", "22", "50"], "zip": ["11", "11", "12"]})
    post = infer([release], register=people)
    agrees(post, Seating([[["a", "b"], ["c"]]], {1: [[0, 1]], 2: [[0, 1]], 3: [[1]]}))
    assert post.of(3) == {"c": 1.0}


def test_a_release_without_values_acts_as_a_register():
    h1, h2 = hospitals.releases()
    mute = Release.generalized(
        {"id": ["Alice", "Bob"], "zip": ["13012", "13068"], "age": ["28", "51"], "nationality": ["*", "*"]},
        sensitive=None,
        quasi=hospitals.QUASI,
        id="id",
        name="later",
    )
    assert infer([h1, h2, mute]).of("Alice") == {"AIDS": 1.0}
    with pytest.raises(InputError, match="nothing to infer"):
        infer([mute])


def test_releases_without_ids_and_register_have_a_person_per_row():
    h1, h2 = hospitals.releases()
    post = infer([h1, h2])
    assert post.ids.len() == 24
    assert post.ids[0] == "H1 #1"


def test_a_register_that_contradicts_the_release_is_refused_without_naming_anybody():
    h1, _ = hospitals.releases()
    people = pl.DataFrame({"id": ["Ann", "Ben"], "zip": ["99999", "13012"], "age": [25, 25], "nationality": ["x", "x"]})
    with pytest.raises(ContradictionError) as caught:
        infer([h1], register=Register.of(people, present={"H1": ["Ann"]}), contradictions="refuse")
    assert "Ann" not in str(caught.value)
    with pytest.raises(InputError, match="none of the quasi-identifiers"):
        infer([h1], register=pl.DataFrame({"id": [1], "other": [2]}))
