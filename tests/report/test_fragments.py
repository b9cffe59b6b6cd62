"""What notebooks show: the same style and words as the page, counts only unless a person was asked for."""

from __future__ import annotations

import re

import showthrough as st
from tests.report.histories_to_show import two_hospitals, worked_example


def text(shown) -> str:
    found = shown._repr_html_()
    assert "<script" not in found
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", found, flags=re.DOTALL)


def test_audits_show_their_finding():
    found = text(two_hospitals())
    assert "certain of the condition of 7 of 16 persons" in found
    assert "Alice" not in found


def test_posteriors_show_counts():
    found = text(two_hospitals().posterior)
    assert "What 2 releases tell of 16 persons" in found
    assert "Alice" not in found


def test_checks_show_whether_they_hold():
    release = worked_example().posterior.releases[0]
    assert "HOLDS" in text(st.KAnonymity(3).check(release))
    assert "FAILS" in text(st.KAnonymity(4).check(release))


def test_proofs_name_whom_they_are_about():
    proof = worked_example().posterior.explain("10", "Lung Cancer")
    found = text(proof)
    assert "Lung Cancer is certain for 10" in found
    assert "Group 3 of D1 publishes 1 × Lung Cancer" in found
