"""One verdict in every format, over a grid of policies and states of certification; and it never passes wrongly."""

import datetime as dt
import io
import json
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

import showthrough as st
from showthrough.auditing.deciding import decide
from showthrough.inference.certificate import STATES, Status
from showthrough.policy.rules import Rules
from showthrough.report.formats import Judgement
from showthrough.report.junit import junit
from showthrough.report.markdown import markdown
from showthrough.report.origin import Origin
from showthrough.report.sarif import sarif
from showthrough.report.terminal import show_decision
from tests.histories import releases
from tests.inference.test_tolerance import changed_history
from tests.oracles import verdicts
from tests.policy.test_policy import history, posterior
from tests.policy.test_verdicts import with_states

CODES = {"pass": 0, "review": 3, "block": 1, "inconclusive": 4}
GRID = {
    "half": ({"max_posterior": 0.5, "certain": None}, None),
    "few over half": ({"max_posterior": 0.5, "certain": None, "over_posterior": 3}, {"max_posterior": 0.4}),
    "share over half": ({"max_posterior": 0.5, "certain": None, "over_posterior": 0.3}, None),
    "nobody certain": ({"certain": 0}, {"max_posterior": 0.7}),
    "two certain": ({"certain": 2}, {"certain": 0}),
    "uncertain": ({"min_anonymity": 2, "certain": None}, {"min_anonymity": 3}),
    "gain": ({"max_gain": 0.2, "certain": None}, {"max_gain": 0.05}),
    "groups": ({"k": 3, "certain": None}, {"k": 5}),
    "all within": ({"max_posterior": 1.0, "certain": 100}, {"min_anonymity": 1}),
    "review alone": (None, {"max_posterior": 0.6}),
}


def rules_of(name):
    made = [None if t is None else st.Policy(**{"certain": None, "integral": "no", **t}) for t in GRID[name]]
    return Rules(*made)


def said_by_formats(decided):
    """The verdict as somebody reads it out of each format who knows nothing of the others."""
    told = Judgement("audit", decided, ["A figure."], Origin.now(), "policy.toml", lines=True)
    found = {"exit code": next(v for v, code in CODES.items() if code == decided.verdict.exit_code)}
    stream = io.StringIO()
    show_decision(Console(file=stream, width=200), decided)
    found["text"] = stream.getvalue().split()[0].lower()
    found["json"] = json.loads(json.dumps(decided.as_dict()))["verdict"]
    suite = ET.fromstring(junit(told)).find("testsuite")
    kinds = [bad.get("type") for bad in suite.iter("failure")]
    errors = len(list(suite.iter("error")))
    assert (int(suite.get("failures")), int(suite.get("errors"))) == (len(kinds), errors)
    assert int(suite.get("tests")) == len(list(suite.iter("testcase")))
    found["junit"] = "block" if "block" in kinds else "inconclusive" if errors else "review" if kinds else "pass"
    log = json.loads(sarif(told))["runs"][0]
    bad = [r for r in log["results"] if r["kind"] == "fail" and "suppressions" not in r]
    opened = [r for r in bad if r["message"]["text"].startswith("Inconclusive: ")]
    levels = {r["level"] for r in bad}
    found["sarif"] = "block" if "error" in levels else "inconclusive" if opened else "review" if bad else "pass"
    assert CODES[found["sarif"]] == log["invocations"][0]["exitCode"]
    found["markdown"] = markdown(told).decode().split("\n## ")[1].split()[1].lower()
    return found


def check_formats(decided):
    found = said_by_formats(decided)
    assert set(found.values()) == {str(decided.verdict)}, found


def truth(name, exact, before, groups):
    """What the tiny judge says of each table, knowing everything."""
    people = {id: exact.of(id) for id in exact.ids}
    old = {id: before.of(id) for id in before.ids}
    sizes = [len(members) for one in groups for members, _ in one]
    return [set() if t is None else verdicts.broken(drop_none(t), people, old, sizes) for t in GRID[name]]


def drop_none(limits):
    return {rule: limit for rule, limit in limits.items() if limit is not None}


@pytest.mark.parametrize("state", [str(s) for s in STATES])
@pytest.mark.parametrize("name", sorted(GRID))
def test_every_state_of_certification(name, state):
    seen = set()
    for seed in range(400, 405):
        groups = history(seed, persons=9, values=8, size=(4, 5))
        exact, before = posterior(groups), posterior(groups[:1])
        post, _ = with_states(exact, groups, seed, lambda number, _: state if number % 2 == 0 else "exact")
        decided = decide(rules_of(name), post, untied=(), earlier=lambda before=before: before)
        block, review = truth(name, exact, before, groups)
        known = Status(state).certain
        got = str(decided.verdict)
        seen.add(got)
        if state == "exact":
            assert got == verdicts.verdict(block, review), (seed, decided)
        if got == "block":
            assert block, (seed, decided)
        if got in ("pass", "review"):
            assert known, seed
            assert not block, (seed, decided)
        if got == "pass":
            assert not review, (seed, decided)
        if not known:
            assert got in ("block", "inconclusive"), (seed, decided)
        check_formats(decided)
    assert seen


@pytest.mark.parametrize("name", sorted(GRID))
def test_who_was_taken_for_changed_and_releases_that_nothing_ties(name):
    tolerated = 0
    for seed in range(12):
        post = st.infer(releases(changed_history(seed)), changed="tolerate")
        if not post.certificate.changed.tolerated:
            continue
        tolerated += 1
        decided = decide(rules_of(name), post, untied=(), earlier=lambda: None)
        assert str(decided.verdict) in ("block", "inconclusive")
        check_formats(decided)
    assert tolerated
    groups = history(3, persons=9)
    loose = decide(rules_of(name), posterior(groups), untied=("D1", "D2"), earlier=lambda: None)
    assert str(loose.verdict) in ("block", "inconclusive")
    ended = decide(rules_of(name), posterior(groups), untied=(), interrupted=True, earlier=lambda: None)
    assert str(ended.verdict) in ("block", "inconclusive")
    check_formats(loose)
    check_formats(ended)


def test_the_grid_gives_every_verdict():
    seen = set()
    for name in GRID:
        for seed in range(400, 405):
            groups = history(seed, persons=9, values=8, size=(4, 5))
            exact, before = posterior(groups), posterior(groups[:1])
            seen.add(verdicts.verdict(*truth(name, exact, before, groups)))
    assert seen == {"pass", "review", "block"}


def whole_values_history():
    """Releases in which two persons are certain only if values are whole, and one is anyway."""
    groups = history(331, releases=3, persons=6, values=2)
    groups[0].append(([100], [0]))
    post = posterior(groups)
    facts = post.proven(integral=True)
    by = facts.filter((facts["fact"] == "certain") & (facts["by"] == "worlds")).height
    assert (int(post.certain().sum()), by) == (1, 2)
    return post, 1, 2


def test_whole_values_count_where_they_matter():
    post, plain, more = whole_values_history()

    def decided(most, integral, *excused):
        policy = st.Policy(certain=most, integral=integral)
        found = decide(Rules(policy, exceptions=excused), post, untied=(), earlier=lambda: None)
        return str(found.verdict), found.reasons[0].persons

    assert decided(plain, "no") == ("pass", plain)
    assert decided(plain, "checked") == ("block", plain + more)
    assert decided(plain + more, "required") == ("pass", plain + more)
    assert decided(0, "checked") == ("block", plain)  # broken already: whole values are not asked
    day = dt.date(2999, 1, 1)
    for persons, verdict in ((plain, "block"), (plain + more, "pass")):  # an exception counts all of them
        excused = st.PolicyException("certain", "why", "who", day, persons=persons)
        assert decided(0, "checked", excused) == (verdict, plain + more)
