"""One person from every side: the figures are those that the whole posterior gives."""

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough import infer
from showthrough.errors import UnknownPersonError, UnknownValueError
from showthrough.examples import figure1
from showthrough.inference.story import story
from tests.histories import release


def history(seed, releases=3):
    rng = np.random.default_rng(seed)
    people = [f"p{k}" for k in range(int(rng.integers(8, 20)))]
    truth = dict(zip(people, rng.choice(list("abcd"), len(people)), strict=True))
    found = []
    for r in range(releases):
        here = [p for p in people if rng.random() < 0.8]
        rng.shuffle(here)
        parts = [list(part) for part in np.array_split(here, max(1, len(here) // 4)) if len(part)]
        found.append(release([(part, [str(truth[p]) for p in part]) for part in parts], f"D{r + 1}"))
    return found


@pytest.mark.parametrize("seed", range(15))
def test_figures_are_those_of_posteriors_of_parts_of_the_history(seed):
    releases = history(seed)
    post = infer(releases)
    for person in post.ids.to_list()[:6]:
        told = story(post.views(), person)
        own = {str(v): p for v, p in post.of(person).items()}
        assert {str(one.value): one.p for one in told.values if one.fact != "impossible"} == pytest.approx(own)
        for k in range(3):
            for some, figure in ((releases[k : k + 1], "alone"), (releases[: k + 1], "up_to")):
                part = infer(some)
                known = {str(v): p for v, p in part.of(person).items()} if person in part.ids else None
                for one in told.values:
                    p = getattr(one, figure)[k]
                    assert p == (None if known is None else pytest.approx(known.get(str(one.value), 0.0), abs=1e-6))


@pytest.mark.parametrize("seed", range(20, 32))
def test_the_fewest_releases_that_make_somebody_certain(seed):
    post = infer(history(seed))
    sets = post.smallest_sets()
    for person, names in sets.select("id", "releases").iter_rows():
        told = story(post.views(), person)
        assert told.best.fact == "certain"
        assert told.smallest
        assert len(told.needed) == len(names)
        since = told.since(told.best, 1.0)
        before, after = post.attribution().filter((pl.col("id") == person) & (pl.col("release") == since)).row(0)[-2:]
        assert after == 1
        assert before is None or before < 1


def test_the_papers_example():
    post = infer(figure1.releases())
    told = story(post.views(), "10")
    assert (told.best.value, told.best.fact, told.needed) == ("Lung Cancer", "certain", ("D1", "D2"))
    with pytest.raises(UnknownPersonError):
        story(post.views(), "99")
    with pytest.raises(UnknownValueError):
        story(post.views(), "10", value="Flux")


def test_an_id_that_was_split_is_told_by_its_release():
    releases = [
        release([(["x", "y"], ["a", "b"])], "D1"),
        release([(["x", "z"], ["c", "d"])], "D2"),
    ]
    post = st.infer(releases, changed="split")
    told = story(post.views(), "x", release="D1")
    assert {str(one.value) for one in told.values} == {"a", "b"}
    assert told.release == "D1"
    with pytest.raises(UnknownPersonError):
        story(post.views(), "x")


def test_an_audit_tells_the_same():
    found = st.audit(figure1.releases())
    told = found.person("11", "HIV", seconds=60)
    assert told == story(found.posterior.views(), "11", value="HIV")
    assert told.of("HIV").p == pytest.approx(0.5)
    assert told.since(told.of("HIV"), 0.5) == "D2"
    assert told.since(told.of("HIV"), 0.9) is None
