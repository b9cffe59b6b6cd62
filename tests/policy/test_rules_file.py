"""Policy files: written and read back, explained, and every fault told with file, line and key."""

import datetime as dt
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showthrough import Policy, PolicyException, Rules, read_policy
from showthrough.errors import InputError
from showthrough.policy.decision import Reason
from showthrough.policy.in_words import explained
from showthrough.policy.meanings import MEANINGS
from showthrough.policy.policy import RULES
from showthrough.policy.rules_file import PRESETS, parse, preset

SHARES = st.floats(0, 1)
TEXTS = st.one_of(
    st.sampled_from(["01234", "NO", "12:30", "0x1F", "true", "2020-01-01", '"', "a = 1\n[block]", "#", "'''"]),
    st.text(min_size=1).filter(lambda text: text.strip() and "\x00" not in text),
)
LIMITS = {
    "max_posterior": SHARES, "certain": st.one_of(st.none(), st.integers(0, 10**6)),
    "impossible": st.integers(0, 10**9), "max_gain": SHARES, "min_anonymity": st.floats(1, 1e6),
    "over_posterior": st.one_of(st.integers(0, 1000), st.floats(0, 0.999)),
    "proximity": st.tuples(st.floats(0, 1e6), SHARES), "integral": st.sampled_from(["no", "checked", "required"]),
    "seconds": st.floats(0.1, 1e5), "k": st.integers(1, 50), "distinct_l": st.integers(1, 9),
    "entropy_l": st.floats(1, 20), "t": SHARES, "alpha": st.floats(0.1, 1),
    "ck_safety": st.tuples(st.floats(0.1, 1), st.integers(0, 5)),
    "skyline": st.tuples(st.floats(0.1, 1), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
    "average_risk": st.floats(0.1, 1), "uniqueness": SHARES,
    "population_uniqueness": st.tuples(SHARES, st.floats(0.1, 1)),
    "recursive": st.tuples(st.floats(0.5, 9), st.integers(2, 5)),
    "enhanced": st.booleans(), "epsilon": st.floats(0, 10), "delta": st.floats(0, 1, exclude_max=True),
}  # fmt: skip


@st.composite
def policies(draw):
    chosen = draw(st.sets(st.sampled_from(sorted(LIMITS)), min_size=1))
    return Policy(**{"max_posterior": 0.5, **{name: draw(LIMITS[name]) for name in chosen}})


EXCEPTIONS = st.builds(
    PolicyException, rule=st.sampled_from(RULES), reason=TEXTS, owner=TEXTS, expires=st.dates(dt.date(1900, 1, 1)),
    persons=st.one_of(st.none(), st.integers(0, 100)), severity=st.sampled_from([None, "block", "review"]),
    release=st.one_of(st.none(), TEXTS),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(policies(), st.one_of(st.none(), policies()), st.lists(EXCEPTIONS, max_size=3))
def test_what_is_written_is_read_back(block, review, exceptions):
    rules = Rules(block, review, exceptions)
    again = parse(rules.to_toml(), "policy.toml")
    assert again == rules
    assert parse(again.to_toml(), "again") == rules
    assert all(isinstance(line, str) for line in explained(rules))
    for severity, policy in again.tables():
        for rule in policy.limits():
            line = again.line(severity, rule)
            assert rules.to_toml().split("\n")[line - 1].startswith((f"{rule} =", f"[{severity}]"))


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name, tmp_path):
    text = preset(name)
    (tmp_path / "p.toml").write_text(text)
    rules = read_policy(tmp_path / "p.toml")
    for one in fields(Policy):  # commented or not, a user finds every limit in it
        assert one.name in text or one.name in ("distance", "reference", "enhanced", "metric", "floor"), one.name
    assert len(explained(rules)) > 5
    commented = text[text.index("# [[exceptions]]") :].replace("\n# ", "\n").removeprefix("# ")
    assert parse(text + "\n" + commented, "p").exceptions[0].owner == "review board"


def test_every_limit_has_a_meaning():
    assert set(MEANINGS) == set(RULES)


GOOD = '[[exceptions]]\nrule = "k"\nreason = "why"\nowner = "who"\nexpires = 2027-01-31\n'
K = "[block]\nk = 5\n"
FAULTS = [
    ("[block]\nmax_posteror = 0.5", "p.toml, line 2, [block]: max_posteror is unknown: did you mean max_posterior?"),
    ("[block]\n\nmax_certain = 0", "p.toml, line 3, [block]: max_certain is unknown: did you mean certain?"),
    ("[block]\nmax_posterior = 50", "p.toml, line 2, [block]: max_posterior lies between 0 and 1, not at 50: did"),
    ('[block]\nmax_posterior = "0.5"', "line 2, [block]: max_posterior lies between 0 and 1, not at …: numbers"),
    ('[block]\nmax_posterior = "50 %"', "and 50 % is 0.5."),
    ('[block]\ncertain = "none"', "p.toml, line 2, [block]: certain is a whole number of 0 or more, not …: did you"),
    ("[block]\ncertain = 0.5", "certain is a whole number"),
    ("[block]\nk = 0", "p.toml, line 2, [block]: k cannot be used"),
    ("[block]\nk = 5\nt = 0.2\ndistance = 'far'", "p.toml, line 4, [block]: distance is one of"),
    ("[block]\nproximity = [5]", "p.toml, line 2, [block]: proximity is a pair"),
    ("[block]\nover_posterior = 1.5\nmax_posterior = 0.5", "line 2, [block]: over_posterior is a whole number"),
    ("[block]\nmin_anonymity = 0.5", "min_anonymity is a number of 1 or more"),
    ("[block]\nk_map = 3", "p.toml, line 2, [block]: k_map compares with a population"),
    ("block = {k = 5, zzzzzz = 1}", "p.toml, line 1, [block]: an entry is unknown; known are max_posterior"),
    ("# a comment\nmax_posterior = 0.5", "p.toml, line 2: max_posterior stands outside of [block] and [review]"),
    ("[block]\nk = 5\n[exception]\nrule = 1", "p.toml, line 3: exception is unknown: did you mean exceptions?"),
    ("[block]\nk = 5\n[exceptions]\nrule = 'k'", "p.toml, line 3: exceptions is a list: write [[exceptions]]"),
    ("version = 2\n[block]\nk = 5", "p.toml, line 1: version is 1"),
    ("block = 5", "p.toml, line 1: block is a table of limits"),
    ("[review]\nintegral = 'no'", "p.toml, line 1, [review]: A policy without any limit"),
    ("version = 1", "p.toml: A policy without any limit"),
    (K + GOOD + GOOD.replace("rule", "ruel"), "p.toml, line 9, [[exceptions]] 2: ruel is unknown: did you mean rule?"),
    (K + GOOD.replace("2027-01-31", '"2027-01-31"'), "p.toml, line 7, [[exceptions]] 1: expires is a date"),
    (K + GOOD.replace('owner = "who"', ""), "p.toml, line 3, [[exceptions]] 1: owner is missing"),
    (K + GOOD.replace('"k"', '"kk"'), "p.toml, line 4, [[exceptions]] 1: rule is the name of a limit"),
    ("[block\nk = 5", "p.toml is not valid TOML: Expected ']' at the end of a table declaration (at line 1"),
    ("[block]\nk = 5\nover_posterior = 3", "p.toml, line 3, [block]: over_posterior says how many persons may be over"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), FAULTS)
def test_faults_say_file_line_and_key(text, told):
    with pytest.raises(InputError) as problem:
        parse(text, "p.toml")
    assert told in str(problem.value)


def reason(**changes):
    plain = {"rule": "certain", "severity": "block", "outcome": "over", "limit": 0, "found": 3, "persons": 3, "open": 0}
    return Reason(**{**plain, "said": "3 persons are certain.", **changes})


DAY = dt.date(2026, 11, 17)


def excused(**changes):
    plain = {"rule": "certain", "reason": "why", "owner": "who", "expires": DAY}
    return Rules(Policy(certain=0), exceptions=[PolicyException(**{**plain, **changes})])


@pytest.mark.parametrize(
    ("exception", "found", "doubts", "verdict", "state"),
    [
        ({}, {}, (), "pass", "used"),
        ({"expires": DAY - dt.timedelta(days=1)}, {}, (), "block", "expired"),
        ({"persons": 3}, {}, (), "pass", "used"),
        ({"persons": 2}, {}, (), "block", "unused"),
        ({"rule": "k"}, {}, (), "block", "unused"),
        ({"severity": "review"}, {}, (), "block", "unused"),
        ({"release": "D1"}, {}, (), "block", "unused"),
        ({"release": "D1"}, {"release": "D1"}, (), "pass", "used"),
        ({}, {"open": 1}, (), "block", "unused"),  # who knows how many it would have to cover
        ({}, {"outcome": "open", "persons": 0, "open": 1}, (), "inconclusive", "unused"),
        ({}, {}, ("Something is not known.",), "inconclusive", "used"),
        ({}, {"outcome": "within"}, (), "pass", "unused"),
    ],
)
def test_exceptions_excuse_what_is_known_and_nothing_else(exception, found, doubts, verdict, state):
    decided = excused(**exception).decide([reason(**found)], doubts=doubts, today=DAY)
    assert (str(decided.verdict), decided.exceptions[0].state) == (verdict, state)
    if state == "expired":
        assert "expired on 2026-11-16" in decided.exceptions[0].said
    if verdict == "pass" and state == "used":
        assert decided.said == "Within the limit of the policy, but for 1 exception."
        assert decided.reasons[0].outcome == "excepted"


def test_words_say_which_exceptions_are_over():
    days = [dt.date.today() - dt.timedelta(days=1), dt.date.today()]
    over, valid = (" ".join(explained(excused(expires=day))) for day in days)
    assert f"expired on {days[0]} and does not count" in over
    assert "may be broken" not in over
    assert f"until {days[1]} the limit certain may be broken" in valid
