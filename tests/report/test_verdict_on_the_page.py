"""The verdict on the page is the one of the audit, whatever the policy and the state of the answer."""

from __future__ import annotations

import re

import pytest

import showthrough as st
from showthrough.report import html
from tests.report.histories_to_show import worked_example
from tests.report.test_open_pages import contradictory, tolerated, untied
from tests.report.test_page import words

POLICIES = {
    "nobody certain": st.Policy(certain=0),
    "three certain": st.Policy(certain=3),
    "half": st.Policy(max_posterior=0.5, certain=3),
    "everything": st.Policy(max_posterior=1.0, certain=None),
    "large groups": st.Policy(certain=None, k=4),
    "small groups": st.Policy(certain=None, k=3),
}
HISTORIES = {"worked example": worked_example, "untied": untied, "contradictory": contradictory, "tolerated": tolerated}


def review(policy: st.Policy):
    from showthrough.policy.rules import Rules

    return Rules(review=policy)


@pytest.mark.parametrize("audience", ["shareable", "internal"])
@pytest.mark.parametrize("softer", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("history", HISTORIES)
def test_the_page_has_the_verdict_of_the_audit(history, policy, softer, audience, monkeypatch):
    monkeypatch.setattr("showthrough.report.charts.drawing.available", lambda: False)  # charts have tests of their own
    given = HISTORIES[history]()
    rules = review(POLICIES[policy]) if softer else POLICIES[policy]
    changed = "tolerate" if history == "tolerated" else "refuse"
    audit = st.audit(given.posterior.releases, policy=rules, changed=changed)
    page = html.page(audit, audience=audience, seconds=5)
    verdict = str(audit.verdict)
    assert re.findall(r'<span class="badge (\w+)">', page) == ["open" if verdict == "inconclusive" else verdict]
    text = words(page)
    assert f"{verdict.upper()}" in text
    assert text.split(": ")[0].strip() == verdict.capitalize(), "the title of the page"
    assert "No policy was given" not in text
    assert len(re.findall(r"<th scope=\"col\">If over, it</th>", page)) == 1
    for reason in audit.decision.reasons:
        assert words(f"<p>{reason.said}</p>").strip() in text


def test_every_verdict_occurs():
    found = {
        st.audit(worked_example().posterior.releases, policy=rules).verdict
        for policy in POLICIES.values()
        for rules in (policy, review(policy))
    }
    assert found == {"pass", "review", "block"}
