"""Pages of audits that are not conclusive say so first, and name no verdict that they do not have."""

from __future__ import annotations

import polars as pl
import pytest

import showthrough as st
from showthrough.report import html
from tests.report.histories_to_show import worked_example
from tests.report.test_page import words


def release(rows: list[tuple[str, str, str]], name: str) -> st.Release:
    frame = pl.DataFrame(rows, schema=["id", "g", "v"], orient="row")
    return st.Release.bucketized(frame, id="id", sensitive="v", group="g", name=name)


def untied() -> st.Audit:
    one = release([("1", "a", "x"), ("2", "a", "y")], "one")
    return st.audit([one, release([("3", "a", "x"), ("4", "a", "y")], "other")])


def contradictory() -> st.Audit:
    one = release([("1", "a", "x"), ("2", "a", "y"), ("3", "b", "x"), ("4", "b", "y")], "one")
    other = release([("1", "a", "x"), ("3", "a", "x"), ("2", "b", "x"), ("4", "b", "y")], "other")
    return st.audit([one, other], contradictions="explain", changed="refuse")


def tolerated() -> st.Audit:
    one = release([("1", "a", "x"), ("2", "a", "y")], "one")
    return st.audit([one, release([("1", "a", "z"), ("2", "b", "y")], "other")], changed="tolerate")


def unfinished() -> st.Audit:
    from tests.report.histories_to_show import republished

    return st.audit(republished(600, seed=2), seconds=0)


@pytest.mark.parametrize("audience", ["shareable", "internal"])
@pytest.mark.parametrize(
    ("made", "said"),
    [
        (untied, "Nothing ties the persons of one and other together"),
        (contradictory, "Settle the contradictions."),
        (tolerated, "Tell whose value changed."),
        (unfinished, "Give it more time."),
    ],
)
def test_open_audits_say_so(made, said, audience):
    audit = made()
    page = html.page(audit, audience=audience, seconds=5)
    text = words(page)
    assert text.index("INCONCLUSIVE") < text.index("In short")
    assert "Inconclusive." in text
    assert said in text
    assert 'class="badge open"' in page
    if audit.joint.answered < audit.joint.persons:
        assert "have no certified answer" in text
        assert "Not certified for everybody" in text


def test_one_release_is_no_history():
    text = words(html.page(st.audit([worked_example().posterior.releases[0]]), audience="internal"))
    assert "D1 alone lets a reader be certain of the disease of nobody of 13 persons" in text
    assert "channels" not in text.lower().split("glossary")[0]
    assert "What each release added" not in text


def test_a_history_without_exposure():
    one = release([(str(k), str(k // 4), "wxyz"[k % 4]) for k in range(40)], "one")
    text = words(html.page(st.audit([one, one.called("again")]), audience="internal"))
    assert "nobody of 40 persons" in text
    assert "Keep this page with the release" in text
    assert "The worst place" not in text
