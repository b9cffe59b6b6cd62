"""The page of a history that was worked on in pieces shows what the page from one machine shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from benchmarks.version_histories import history
from benchmarks.version_worker import known, release
from hypothesis import given
from hypothesis import strategies as some

import showthrough as st
from showthrough.auditing import further
from showthrough.engines.cluster_release import published
from showthrough.engines.local import local
from showthrough.errors import InputError, ShowthroughError
from showthrough.examples import figure1, hospitals
from showthrough.inference.cluster import cutting
from showthrough.report import html
from showthrough.report.page import sure
from showthrough.report.page.assembly import page_content
from showthrough.report.page.blocks import Bullets, Chart, PageContent
from showthrough.report.page.gathered import gather
from tests.report.histories_to_show import republished

ONE_MACHINE = {"who"}  # a section that takes everybody's attributes
PIECES = "Not worked out, as the history was cut into pieces"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(cutting, "PERSONS", 3)
    monkeypatch.setattr(sure, "ROWS", 2)
    monkeypatch.setattr(further, "LEAST_SECONDS", 1e6)  # so that nothing is left out on a busy machine


def both(releases, **given_beside):
    def content(**engine) -> PageContent:
        return page_content(gather(st.audit(releases, **given_beside, **engine), audience="shareable"))

    return content(), content(engine=local())


def rounded(data):
    """What a chart draws, but for the last digits."""
    if isinstance(data, dict):
        return {name: rounded(own) for name, own in data.items()}
    if isinstance(data, list | tuple):
        return [rounded(own) for own in data]
    return round(data, 9) if isinstance(data, float) else data


def without_times(section):
    """A section but for the seconds that it took, and what is there in one of the two alone."""
    own = [b for b in section.blocks if not (isinstance(b, Bullets) and b.title == PIECES)]
    own = [b for b in own if getattr(b, "title", "") not in ("Who was found", "Noted while reading")]
    own = [b for b in own if section.anchor != "again" or hasattr(b, "rows")]
    own = [replace(b, data=rounded(b.data)) if isinstance(b, Chart) else b for b in own]
    return section.heading, section.sentences, own, () if section.anchor == "again" else section.quiet


def same(one: PageContent, wide: PageContent):
    assert (one.title, one.subject) == (wide.title, wide.subject)
    assert (one.headline.kind, one.headline.badge) == (wide.headline.kind, wide.headline.badge)
    assert one.headline.sentence == wide.headline.sentence
    assert one.headline.lead == wide.headline.lead
    assert one.figures == wide.figures
    assert (one.states.title, one.states.data) == (wide.states.title, wide.states.data)
    assert (one.states_title, one.steps, one.command) == (wide.states_title, wide.steps, wide.command)
    said = {a.question: a.answer for a in wide.answers}
    for answer in one.answers:
        assert said[answer.question] == answer.answer.replace("internal report names", "tables of persons name")
    here = {s.anchor: without_times(s) for s in one.sections if s.anchor not in ONE_MACHINE}
    there = {s.anchor: without_times(s) for s in wide.sections}
    assert here.keys() == there.keys()
    for anchor, found in here.items():
        assert found == there[anchor], anchor
    anchors = {s.anchor for s in wide.sections}
    assert {a.anchor for a in wide.answers} - {""} <= anchors


def test_the_worked_examples():
    same(*both(figure1.releases()))
    same(*both(hospitals.releases(), register=hospitals.register()))
    same(*both(figure1.releases()[:1]))


@pytest.mark.parametrize("limit", [0.3, 0.95])
def test_many_persons_with_a_verdict(limit, monkeypatch):
    monkeypatch.setattr(cutting, "PERSONS", 200)
    monkeypatch.setattr(sure, "ROWS", 70)
    one, wide = both(republished(1_200, seed=5), policy=st.Policy(max_posterior=limit, certain=5))
    same(one, wide)
    assert any(s.anchor == "where" for s in wide.sections)
    assert wide.command is not None
    assert wide.headline.kind == "block"


@pytest.mark.parametrize("seed", range(9_100, 9_130))
def test_random_histories_of_all_kinds(seed):
    data = history(seed)
    policy = st.Policy(max_posterior=0.6, certain=1, integral="no") if seed % 2 else None
    try:
        releases = [release(r) for r in data["releases"]]
        one, wide = both(releases, changed=data["changed"], policy=policy, **known(data))
    except ShowthroughError:
        return
    same(one, wide)


def contradicting() -> list[st.Release]:
    """Two groups of persons: the releases contradict each other of the first, and agree on the second."""
    return [
        bucketized("spring", "abcde", "flu flu cold ache ache"),
        bucketized("autumn", "abcde", "flu cold cold ache ache"),
    ]


def bucketized(name: str, ids: str, values: str) -> st.Release:
    frame = pl.DataFrame({"id": list(ids), "group": [1, 1, 1, 2, 2], "value": values.split()})
    return st.Release.bucketized(frame, id="id", group="group", sensitive="value", name=name)


@pytest.mark.parametrize("policy", [None, st.Policy(certain=2)])
def test_contradictions_are_inconclusive(policy):
    one, wide = both(contradicting(), changed="tolerate", policy=policy)
    same(one, wide)
    one, wide = both(contradicting(), changed="refuse", policy=policy)
    same(one, wide)
    assert wide.headline.kind == "inconclusive"


def test_releases_that_nothing_ties():
    values = "flu flu cold ache ache"
    one, wide = both([bucketized("here", "abcde", values), bucketized("there", "fghij", values)])
    same(one, wide)
    assert wide.headline.kind == "inconclusive"


def test_what_is_left_out_is_said():
    """Also of a history with a component that is too large for one worker, of which parts are not asked."""
    audit = st.audit(figure1.releases(), engine=local())
    wide, summed = (page_content(gather(one, audience="shareable")) for one in (audit, replace(audit, since=None)))
    for page, said in ((wide, "where exposure sits"), (summed, "what each release added")):
        limits = next(s for s in page.sections if s.anchor == "limits")
        told = next(b for b in limits.blocks if isinstance(b, Bullets) and b.title == PIECES)
        assert told.sentences[0].startswith(said)
    assert summed.states_title == "Alone and together"
    assert {a.anchor for a in summed.answers} - {""} <= {s.anchor for s in summed.sections}
    assert not {"since", "why"} & {s.anchor for s in summed.sections}


def test_releases_that_only_workers_read():
    wide = st.audit(figure1.releases(), engine=local())
    there = [published(name, id="id", sensitive="disease", group="group") for name in ("D1", "D2")]
    found = page_content(gather(replace(wide, sources=tuple(there)), audience="shareable"))
    assert found.headline == page_content(gather(wide, audience="shareable")).headline
    assert found.command is None
    criteria = next(s for s in found.sections if s.anchor == "criteria")
    assert "only workers read it" in criteria.sentences[0]
    assert not criteria.blocks


def test_a_page_is_written_from_the_tables(tmp_path):
    wide = st.audit(figure1.releases(), engine=local())
    wide.save_html(tmp_path / "page.html")
    assert "Before and after D2" in (tmp_path / "page.html").read_text("utf-8")
    with pytest.raises(InputError, match="no report with ids"):
        html.page(wide, audience="internal")


@given(some.lists(some.lists(some.floats(0, 1) | some.just(float("nan")), max_size=6), max_size=4))
def test_the_median_of_parts(parts):
    arrays = [np.array(part) for part in parts]
    every = np.concatenate([np.empty(0), *arrays])
    found = sure.middle(lambda: arrays)
    if np.isnan(every).all():
        assert np.isnan(found)
    else:
        assert found == pytest.approx(np.nanmedian(every), abs=1e-9)
