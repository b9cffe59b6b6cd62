"""The public face of a posterior against the frames that it always gave."""

from functools import cache, partial

import numpy as np
import polars as pl
import pytest

from showthrough import Release, infer
from showthrough.errors import Cancelled, InputError
from showthrough.examples import figure1, hospitals
from showthrough.progress import Progress
from tests.located_cases import located


def bucketized(groups, name):
    rows = [(i, g, v) for g, (ids, values) in groups.items() for i, v in zip(ids, values, strict=True)]
    frame = pl.DataFrame(rows, schema=["id", "g", "v"], orient="row")
    return Release.bucketized(frame, id="id", group="g", sensitive="v", name=name)


FIRST = {1: ("ab", "xy"), 2: ("cd", "xz")}
MAKE = {
    "figure 1": lambda: infer(figure1.releases()),
    "hospitals": lambda: infer(hospitals.releases(), register=hospitals.register()),
    "two": lambda: infer([bucketized(FIRST, "D1"), bucketized({1: ("ad", "xz"), 2: ("bce", "yxx")}, "D2")]),
    "split": lambda: infer(
        [bucketized(FIRST, "D1"), bucketized({1: ("ab", "zw"), 2: ("cd", "xz")}, "D2")], changed="split"
    ),
    **{
        f"located {seed}": partial(lambda case: infer(case.releases, register=case.register), located(seed))
        for seed in (0, 1, 2, 4, 6, 7, 1122)
    },
}


@cache
def made(name):
    return MAKE[name]()


@pytest.fixture(params=MAKE)
def post(request):
    return made(request.param)


def test_figures_per_person_are_those_of_the_frame(post):
    frame = post.to_frame()
    who = [c for c in ("id", "release") if c in frame.columns]
    of_person = frame.group_by(who, maintain_order=True).agg(
        pl.col("p").max().alias("largest"),
        (pl.len() == 1).alias("certain"),
        -(pl.col("p") * pl.col("p").log()).fill_nan(0).sum().alias("entropy"),
    )
    best = post.best()
    assert best.columns == [*who, "value", "p", "certain"]
    assert best.select(who).equals(of_person.select(who))
    assert best["id"].equals(post.ids, check_names=False)
    assert post.largest().tolist() == of_person["largest"].to_list() == best["p"].to_list()
    assert post.certain().tolist() == of_person["certain"].to_list() == best["certain"].to_list()
    assert post.entropies() == pytest.approx(of_person["entropy"].to_numpy(), abs=1e-12)
    assert post.entropy == pytest.approx(post.entropies().sum(), abs=1e-9)
    joined = best.join(frame, on=[*who, "value", "p"], how="semi", nulls_equal=True)
    assert joined.height == best.height


def test_facts_are_counted_as_they_are_listed(post):
    facts, found = post.proven(), post.fact_counts()
    assert found.certain == (facts["fact"] == "certain").sum() == post.certain().sum()
    impossible = facts.filter(pl.col("fact") == "impossible")
    assert found.impossible_by_sets == (impossible["by"] == "sets").sum()
    assert found.impossible_by_counts == (impossible["by"] == "counts").sum()


def test_every_value_that_is_possible_or_excluded_stands_in_a_group_of_the_person(post):
    """A second way to the facts by sets: the values of all groups that somebody can be in."""
    stands = []
    for name, release in zip(post.names, post.releases, strict=True):
        groups = post.groups_of(name)
        kind = release.labels.dtype
        counts = release.counts().select(pl.col("group").cast(kind), pl.col("value").cast(post.values.dtype))
        stands.append(groups.drop_nulls("group").join(counts, on="group").drop("group"))
        assert groups["group"].dtype == kind
    stands = pl.concat(stands).unique()
    who = [c for c in ("id", "release") if c in stands.columns]
    told = pl.concat([post.to_frame().drop("p"), post.proven().drop("fact", "by")]).unique()
    missing = stands.join(told, on=[*who, "value"], how="anti", nulls_equal=True)
    assert missing.height == 0
    impossible = post.proven().filter(pl.col("fact") == "impossible")
    assert impossible.join(stands, on=[*who, "value"], how="anti", nulls_equal=True).height == 0


def test_what_a_posterior_is_about():
    post = infer(figure1.releases())
    assert post.names == tuple(r.name for r in post.releases)
    assert post.reader.register is None
    assert set(post.to_frame()["value"]) <= set(post.values)
    assert post.as_dict()["facts"]["certain"] == post.certain().sum()
    assert not hasattr(post, "history")


def test_groups_of_some_persons_of_one_release():
    post = made("two")
    chosen = np.array(post.ids.is_in(["a", "d"]))
    assert post.groups_of("D1", people=chosen).rows() == [("a", 1), ("d", 2)]
    with pytest.raises(InputError, match="no release 'D3': the releases are D1, D2"):
        post.groups_of("D3")


def test_a_person_who_may_be_absent_has_an_empty_group_and_who_is_absent_no_row():
    told = Release.generalized(
        pl.DataFrame({"age": ["20-29", "20-29", "30-39"], "v": ["x", "y", "x"]}),
        sensitive="v",
        quasi=["age"],
        name="G",
    )
    named = bucketized({1: ("abcd", "xyxz")}, "D")
    people = pl.DataFrame({"id": list("abcd"), "age": ["21", "22", "23", "35"]})
    post = infer([told, named], register=people)
    assert post.groups_of("G").rows() == [
        ("a", None), ("a", 1), ("b", None), ("b", 1), ("c", None), ("c", 1), ("d", 2),
    ]  # fmt: skip
    assert post.groups_of("D")["id"].to_list() == list("abcd")
    later = post.extend(bucketized({1: ("de", "xx")}, "E"))
    assert later.groups_of("E")["id"].to_list() == ["d", "e"]


def test_probability_near_a_value():
    rows = pl.DataFrame({"id": list("abcd"), "g": [1, 1, 1, 1], "v": [10, 12, 30, 40]})
    post = infer([Release.bucketized(rows, id="id", group="g", sensitive="v", name="D")])
    near = post.within(2).filter(pl.col("id") == "a")
    assert dict(near.select("value", "p").rows()) == pytest.approx({10: 0.5, 12: 0.5, 30: 0.25, 40: 0.25})
    assert post.within(2, above=0.3)["value"].unique().sort().to_list() == [10, 12]
    with pytest.raises(InputError, match="numbers as values"):
        infer(figure1.releases()).within(1)


def test_what_each_release_tells_by_itself(post):
    alone = post.alone()
    assert alone.largest.shape == alone.entropy.shape == (len(post.releases), post.ids.len())
    for r, name in enumerate(post.names):
        single = infer([post.releases[r].called(name)], register=post.reader.register, domain=post.reader.domain)
        figures = dict(zip(single.ids, zip(single.largest(), single.entropies(), strict=True), strict=True))
        parts = post.best()["release"] if "release" in post.best().columns else [None] * post.ids.len()
        for k, (person, part) in enumerate(zip(post.ids, parts, strict=True)):
            if person not in figures or part not in (None, name):
                assert np.isnan(alone.largest[r, k])
                continue
            assert (alone.largest[r, k], alone.entropy[r, k]) == pytest.approx(figures[person], abs=1e-6)


def test_the_solver_of_an_answer_is_asked_for_the_next_one():
    post = infer(figure1.releases())
    told = []
    more = post.extend(post.releases[0].called("again"), progress=told.append)
    assert more.names == (*post.names, "again")
    assert "reading groups" in told
    stopped = Progress()
    stopped.cancel()
    with pytest.raises(Cancelled):
        post.extend(post.releases[0].called("again"), progress=stopped)
    with pytest.raises(InputError, match="Expected releases, got str"):
        post.extend("D3")
