"""One more release, and which release told what."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from showthrough import infer
from showthrough.errors import ContradictionError
from showthrough.examples import figure1
from tests.histories import histories, release, releases
from tests.saying import refusing

some = settings(max_examples=60, deadline=None, derandomize=True)


@some
@given(histories(persons=12, least_releases=2))
def test_extending_is_inferring_from_scratch(history):
    rels = releases(history)
    whole = infer(rels)
    grown = infer(rels[:1])
    for one in rels[1:]:
        grown = grown.extend(one)
    assert grown.certificate.status == "exact"
    a, b = whole.to_frame(), grown.to_frame()
    assert a.select("id", "value").equals(b.select("id", "value"))
    assert np.abs(a["p"].to_numpy() - b["p"].to_numpy()).max() < 1e-9
    assert whole.proven().equals(grown.proven())
    for person, value, *_ in grown.proven().iter_rows():
        assert grown.explain(person, value).verify(rels)


def test_only_what_is_touched_is_solved_again():
    first = release([(list("abc"), ["x", "y", "z"]), (list("def"), ["x", "y", "z"])], "D1")
    second = release([(["a", "d", "g"], ["x", "x", "y"]), (["b", "e"], ["y", "z"])], "D2")
    far = release([(["p", "q"], ["x", "y"]), (["r", "s"], ["x", "x"])], "D3")
    post = infer([first, second])
    grown = post.extend(far)
    assert grown.certificate.newton_steps == 0
    assert grown.certificate.passes == 0
    assert grown.of("c") == post.of("c")
    assert grown.of("r") == {"x": 1.0}


def test_extending_by_a_contradiction_names_it():
    post = infer([release([([1, 2, 3], ["a", "a", "b"])], "D1")], contradictions="refuse")
    with refusing(ContradictionError, match="not enough"):
        post.extend(release([([1, 2, 3], ["a", "b", "b"])], "D2"))


def test_extending_by_a_contradiction_is_explained_as_from_scratch():
    """What the earlier releases exclude is argued by counts that the last one contradicts."""
    rels = [
        release([(["p1", "p7"], ["Asthma", "HIV"]), (["p2", "p6"], ["Flu", "Ulcer"])], "R0"),
        release([(["p1", "p2", "p3", "p4"], ["Asthma", "Flu", "Flu", "Ulcer"])], "R1"),
        release(
            [(["p5", "p6"], ["HIV", "Ulcer"]), (["p0", "p3"], ["Asthma", "Flu"]), (["p2", "p4"], ["Flu", "Ulcer"])],
            "R2",
        ),
        release([(["p0", "p2", "p5", "p6"], ["Flu", "HIV", "Ulcer", "Ulcer"]), (["p4"], ["Flu"])], "R3"),
    ]
    grown, whole = infer(rels[:3]).extend(rels[3]), infer(rels)
    assert [str(c) for c in grown.contradictions] == [str(c) for c in whole.contradictions] != []


def test_a_split_history_is_inferred_anew():
    post = infer([release([(["n"], ["x"])], "D1"), release([(["n", "o"], ["y", "z"])], "D2")], changed="split")
    grown = post.extend(release([(["o", "p"], ["z", "x"])], "D3"))
    assert grown.of("n", release="D1") == {"x": 1.0}
    assert set(grown.of("p")) <= {"x", "z"}


def test_attribution_of_the_papers_example():
    post = infer(figure1.releases())
    told = post.attribution()
    assert told.columns == ["id", "release", "p_before", "p_after"]
    ten = told.filter(pl.col("id") == "10")
    assert ten["release"].to_list() == ["D1", "D2"]
    assert ten["p_before"].to_list() == [None, pytest.approx(1 / 3)]
    assert ten["p_after"].to_list() == [pytest.approx(1 / 3), 1.0]
    without = post.leave_one_out().filter(pl.col("id") == "14")
    assert without["p_without"].to_list() == [pytest.approx(1 / 3), None]
    assert without["p_with"].to_list() == [pytest.approx(0.5), pytest.approx(0.5)]


def test_smallest_sets_of_the_papers_example():
    found = infer(figure1.releases()).smallest_sets()
    assert found.rows() == [
        ("7", "Diabetes", ["D1", "D2"], True),
        ("10", "Lung Cancer", ["D1", "D2"], True),
        ("13", "Diabetes", ["D1", "D2"], True),
    ]
    few = infer(figure1.releases()).smallest_sets(most_runs=0)
    assert few["smallest"].to_list() == [False, False, False]
    assert few["releases"].to_list() == found["releases"].to_list()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(histories(persons=7, least_releases=2, most_releases=3))
def test_smallest_sets_force_and_nothing_smaller_does(history):
    from itertools import combinations

    rels = releases(history)
    post = infer(rels)
    names = list(post.names)
    for person, value, chosen, smallest in post.smallest_sets().iter_rows():
        assert smallest
        numbers = [names.index(n) for n in chosen]
        assert infer([rels[k] for k in numbers]).of(person) == {value: 1.0}
        for fewer in combinations(range(len(rels)), len(numbers) - 1):
            if fewer:
                part = infer([rels[k] for k in fewer])
                assert person not in part.ids or len(part.of(person)) > 1


def test_channels_of_definition_2_2():
    apart = [release([(["a", "b"], ["x", "y"])], "D1"), release([(["c", "d"], ["x", "y"])], "D2")]
    assert infer(apart).channels().rows() == [("D1", "D2", False, 0, 0.0)]
    same = [release([(["a", "b"], ["x", "y"])], "D1"), release([(["a", "b"], ["x", "y"])], "D2")]
    assert not infer(same).channels()["channel"].any()
    row = infer(figure1.releases()).channels().row(0, named=True)
    assert row["channel"]
    assert row["persons"] == 15  # everybody's probabilities change from one of the two releases
    assert row["largest_change"] == pytest.approx(2 / 3)
