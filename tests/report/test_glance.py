"""What a terminal shows first: the figures are those of the audit, whatever the history."""

import re

import numpy as np
import pytest

import showthrough as st
from showthrough import audit
from showthrough.auditing.further import Further
from showthrough.report.glance import glance
from tests.histories import FIGURE1, release, releases


def history(seed):
    rng = np.random.default_rng(seed)
    people, found = [f"p{k}" for k in range(40)], []
    truth = dict(zip(people, rng.choice(list("abcde"), 40), strict=True))
    for r in range(int(rng.integers(1, 5))):
        here = [p for p in people if rng.random() < 0.9]
        rng.shuffle(here)
        groups = [(list(part), [str(truth[p]) for p in part]) for part in np.array_split(here, 9)]
        found.append(release(groups, f"D{r + 1}"))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_figures_are_those_of_the_audit(seed):
    given = history(seed)
    found = audit(given)
    told = dict(glance(found, Further(found, 60.0)).lines(plain=True))
    j = found.joint
    said = " ".join(told.values())
    assert f"{j.certain if j.certain else 'nobody'} of {j.persons} persons" in said
    assert f"at least 90 %: {j.best_guess_at_least['0.9']}" in said
    assert f"at least 50 %: {j.best_guess_at_least['0.5']}" in said
    assert said.isascii()
    if len(given) > 1:
        added = re.findall(r"D\d (nobody|[+-]?\d+)", told["since"])
        assert sum(0 if n == "nobody" else int(n) for n in added) == j.certain
        earlier = audit(given[:-1]).joint
        change = j.certain - earlier.certain
        assert (f"({abs(change)} {'more' if change > 0 else 'fewer'} than before)" if change else "(as before)") in said
    else:
        assert "since" not in told


def test_bars_say_how_many_are_certain():
    found = audit(releases(FIGURE1))
    first = glance(found, Further(found, 60.0))
    assert first.heights[-1] > 0
    assert max(first.heights) == 8
    assert dict(first.lines(plain=False))["sure"].startswith("50 % █")


def test_without_an_answer_it_is_inconclusive():
    found = audit(releases(FIGURE1), seconds=0)
    told = glance(found, Further(found, 0.0))
    assert told.verdict == "INCONCLUSIVE" or found.posterior.certificate.status.certain


def test_the_verdict_is_that_of_the_policy():
    for limit, word in ((0, "BLOCK"), (3, "PASS")):
        found = audit(releases(FIGURE1), policy=st.Policy(certain=limit))
        assert glance(found, Further(found, 60.0)).verdict == word
