"""Priors: the slides' example, what a frame may leave out, and what is refused."""

from __future__ import annotations

import polars as pl
import pytest

import showthrough as st
from showthrough.errors import ContradictionError, InputError
from tests.saying import refusing


def hospital(**more) -> st.Release:
    """The class of Don and Sue in the slides on Bayes-optimal privacy."""
    frame = pl.DataFrame({"id": ["Don", "Sue"], "ill": ["Cold", "HIV"], "group": [1, 1]})
    return st.Release.bucketized(frame, id="id", sensitive="ill", group="group", name="V", **more)


SLIDES = pl.DataFrame(
    {
        "id": ["Don"] * 3 + ["Sue"] * 3,
        "ill": ["Cold", "Flu", "HIV"] * 2,
        "p": [0.4, 0.04, 0.56, 1 / 3, 1 / 3, 1 / 3],
    }
)


def test_don_by_relative_entropy_and_by_worlds():
    post = st.infer([hospital()], prior=SLIDES)
    assert post.of("Don") == pytest.approx({"HIV": 0.541960, "Cold": 0.458040}, abs=1e-6)
    worlds = {(i, v): p for i, v, p in post.worlds().select("id", "value", "p").iter_rows()}
    assert worlds["Don", "Cold"] == pytest.approx(5 / 12)
    assert worlds["Don", "HIV"] == pytest.approx(7 / 12)
    assert post.certificate.status == "exact"


def test_what_is_not_listed_gets_what_is_left():
    listed = pl.DataFrame({"id": ["Don"], "value": ["Cold"], "p": [0.4]})
    whole = pl.DataFrame({"id": ["Don", "Don"], "value": ["Cold", "HIV"], "p": [0.4, 0.6]})
    assert st.infer([hospital()], prior=listed).of("Don") == st.infer([hospital()], prior=whole).of("Don")


def test_a_zero_of_the_prior_is_belief_and_no_proof():
    frame = pl.DataFrame({"id": [1, 2, 3], "v": ["a", "b", "c"], "g": [1, 1, 1]})
    release = st.Release.bucketized(frame, id="id", sensitive="v", group="g", name="D")
    believed = pl.DataFrame({"id": [1, 1, 1], "value": ["a", "b", "c"], "p": [0.0, 0.5, 0.5]})
    post = st.infer([release], prior=believed)
    row = post.to_frame().filter((pl.col("id") == 1) & (pl.col("value") == "a"))
    assert row["p"].to_list() == [0.0]
    assert not post.proven().height
    assert not post.certain().any()


def test_a_prior_that_excludes_what_counts_require_is_a_contradiction_of_its_island():
    never = pl.DataFrame({"id": ["Don", "Sue"], "value": ["Cold", "Cold"], "p": [0.0, 0.0]})
    with refusing(ContradictionError, "prior excludes what the counts require"):
        st.infer([hospital()], prior=never, contradictions="refuse")
    frame = pl.DataFrame({"id": ["Don", "Sue", "Ann", "Bob"], "ill": ["Cold", "HIV"] * 2, "group": [1, 1, 2, 2]})
    both = st.Release.bucketized(frame, id="id", sensitive="ill", group="group", name="V")
    post = st.infer([both], prior=never)
    found = dict(zip(post.ids.to_list(), post.states().to_list(), strict=True))
    assert found == {"Don": "contradictory", "Sue": "contradictory", "Ann": "exact", "Bob": "exact"}
    assert len(post.contradictions) == 1
    assert post.of("Ann") == pytest.approx({"Cold": 0.5, "HIV": 0.5})


def test_priors_by_quasi_identifiers_and_cells():
    register = pl.DataFrame({"id": ["Don", "Sue"], "age": ["22", "28"]})
    exact = pl.DataFrame({"age": ["22"], "value": ["HIV"], "p": [0.9]})
    cells = pl.DataFrame({"age": ["20-25"], "value": ["HIV"], "p": [0.9]})
    wanted = st.infer([hospital()], prior=pl.DataFrame({"id": ["Don"], "value": ["HIV"], "p": [0.9]})).of("Don")
    for given in (exact, cells):
        assert st.infer([hospital()], register=register, prior=given).of("Don") == pytest.approx(wanted)


WRONG = {
    "is not a probability between 0 and 1": {"id": ["Don"], "value": ["HIV"], "p": [1.5]},
    "row 1 of column 'p'": {"id": ["Don"], "value": ["HIV"], "p": [None]},
    "needs a column 'value'": {"id": ["Don"], "wert": ["HIV"], "p": [0.5]},
    "says nothing of whom": {"value": ["HIV"], "p": [0.5]},
    "add up to more than 1": {"id": ["Don", "Don"], "value": ["HIV", "Cold"], "p": [0.6, 0.6]},
    "row 1 says again": {"id": ["Don", "Don"], "value": ["HIV", "HIV"], "p": [0.3, 0.3]},
    "names nobody": {"id": ["Ann"], "value": ["HIV"], "p": [0.5]},
    "has the column 'zip'": {"zip": ["1"], "value": ["HIV"], "p": [0.5]},
    "has no value": {"id": ["Don"], "value": [None], "p": [0.5]},
    "list every value, but do not add up to 1": {"id": ["Don", "Don"], "value": ["HIV", "Cold"], "p": [0.3, 0.3]},
    "is empty": {"id": [], "value": [], "p": []},
}


@pytest.mark.parametrize("why", WRONG)
def test_priors_that_are_none(why: str):
    with refusing(InputError, why):
        st.infer([hospital()], prior=pl.DataFrame(WRONG[why], strict=False))


def test_two_rows_that_fit_one_person_are_refused():
    register = pl.DataFrame({"id": ["Don", "Sue"], "age": ["22", "28"]})
    given = pl.DataFrame({"age": ["22", "20-25"], "value": ["HIV", "HIV"], "p": [0.9, 0.1]})
    with refusing(InputError, "fit the same person"):
        st.infer([hospital()], register=register, prior=given)


def test_a_policy_limits_how_far_beliefs_move():
    """Don: |β − α| is 0.058 for Cold, 0.04 for Flu, 0.018 for HIV; Sue moves further."""
    don = SLIDES.filter(pl.col("id") == "Don")
    post = st.infer([hospital()], prior=don)
    moved = {v: abs(post.of("Don").get(v, 0.0) - a) for v, a in don.select("ill", "p").rows()}
    for limit in (max(moved.values()) - 0.01, max(moved.values()) + 0.01):
        review = st.Policy(max_shift=limit, certain=None).review(post)
        wanted = {("Don", v) for v, d in moved.items() if d > limit}
        assert set(review.breaches.select("id", "value").rows()) == wanted
    audit = st.audit([hospital()], prior=SLIDES, policy=st.Policy(max_shift=0.01, certain=None))
    assert audit.verdict == "block"
    assert "what the reader believed" in audit.decision.said


def test_a_limit_on_shifts_needs_a_prior():
    with refusing(InputError, "max_shift compares with a prior"):
        st.audit([hospital()], policy=st.Policy(max_shift=0.1))


@pytest.mark.parametrize("name", ["at", "person", "k0", "^x$", "*", "^.*$"])
def test_a_quasi_identifier_may_be_called_anything(name):
    people = pl.DataFrame({"id": ["1", "2"], name: ["x", "y"]})
    release = st.Release.bucketized(
        pl.DataFrame({"id": ["1", "2"], "group": ["g", "g"], "value": ["a", "b"]}),
        id="id", sensitive="value", group="group",
    )  # fmt: skip
    prior = pl.DataFrame({name: ["x", "x"], "value": ["a", "b"], "p": [0.9, 0.1]})
    post = st.infer(release, register=people, prior=prior)
    assert post.of("1")["a"] == pytest.approx(0.75)
