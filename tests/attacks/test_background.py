"""Rules one by one: the first that gives somebody away, against linear programs."""

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.attacks.background import EVERY
from tests.oracles import factored
from tests.oracles.factored import Case, Row, Statement


def random_case(seed, persons=9):
    random = np.random.default_rng(seed)
    people = [f"p{i}" for i in range(persons)]
    frame = pl.DataFrame(
        {
            "id": people,
            "sex": random.choice(list("fm"), persons),
            "town": random.choice(list("xyz"), persons),
            "g": np.arange(persons) // 3,
            "v": random.choice(list("abc"), persons),
        }
    )
    release = st.Release.bucketized(frame, id="id", sensitive="v", group="g")
    rules = st.knowledge.mine(frame, sensitive="v", quasi=["sex", "town"], columns=2, support=1, positive=2, negative=3)
    return frame, release, rules


def as_row(rule, frame):
    fits = frame
    for column, cells, _ in rule.where.columns:
        fits = fits.filter(pl.col(column) == cells[0])
    have = int(rule.least * fits.height)
    return Statement({(who, rule.values[0]): 1 for who in fits["id"]}, have, have)


def certain(frame, statements):
    """Who has one value left, by linear programs."""
    counts = frame.group_by("g", "v").len().rows()
    fits = {who: [[g]] for who, g in frame.select("id", "g").rows()}
    case = Case(sorted(set(frame["v"])), fits, [Row(0, g, v, n, n) for g, v, n in counts], statements)
    return {key[0] for key, (low, _) in factored.bounds(case).items() if len(key) == 2 and low > 1 - 1e-7}


@pytest.mark.parametrize("seed", [*range(8), *range(600, 604)])
def test_the_first_rule_that_proves_something(seed):
    frame, release, rules = random_case(seed)
    found = st.attacks.background(release, rules)
    rows = [as_row(rule, frame) for rule in rules]
    before = certain(frame, [])
    sure = [certain(frame, rows[:many]) for many in range(len(rows) + 1)]
    expected = next((many for many, own in enumerate(sure) if own - before), None)
    assert (found.first, found.exact) == (expected, True)
    assert found.curve["certain"].to_list() == [len(own) for own in sure]
    assert found.curve["new"].to_list() == [len(own - before) for own in sure]
    assert found.rates["persons"].to_list() == [len(sure[-1])]
    assert found.baseline["persons"].to_list() == [len(before)]


def test_probabilities_and_scores():
    frame, release, rules = random_case(3)
    found = st.attacks.background(release, rules, 0.6)
    post = st.infer([release], knowledge=rules)
    mine = {(who, v): p for who, v, p in found.people.select("id", "value", "informed").rows() if p}
    assert mine == pytest.approx({(who, v): p for who, v, p in post.to_frame().rows() if p})
    assert found.curve["persons"][-1] == int((post.largest() > 0.6 + 1e-9).sum())
    truth = frame.select("id", value=pl.col("v"))
    scored = found.score(truth).table
    assert scored["belief"].to_list() == ["informed", "release"]
    assert scored["brier"][0] <= scored["brier"][1] + 1e-9  # rules of the truth do not mislead on the whole here


def test_many_rules_are_halved():
    """Of 40 rules the 23rd gives somebody away: the first 22 say nothing new."""
    frame = pl.DataFrame({"id": list("1234"), "g": [1, 1, 2, 2], "v": list("abab")})
    release = st.Release.bucketized(frame, id="id", sensitive="v", group="g")
    idle = [st.knowledge.share("a", ids=list("1234"), at_least=k / 100) for k in range(22)]
    telling = [st.knowledge.excluded("1", "b")]
    rest = [st.knowledge.share("b", ids=list("34"), at_most=1 - k / 1000) for k in range(17)]
    found = st.attacks.background(release, [*idle, *telling, *rest])
    assert len([*idle, *telling, *rest]) > EVERY
    assert (found.first, found.exact) == (23, True)
    assert found.curve["rules"].to_list() == sorted({0, 1, 2, 4, 8, 16, 32, 24, 20, 22, 23, 40})
    assert "23 rules put somebody over the limit who is not without them; fewer do not." in str(found)
    likely = st.attacks.background(release, [*idle, *telling, *rest], 0.9)
    assert (likely.first, likely.exact) == (23, False)
    assert "fewer may do" in str(likely)


def test_rules_that_tell_nothing():
    frame = pl.DataFrame({"id": list("1234"), "g": [1, 1, 2, 2], "v": list("abab")})
    release = st.Release.bucketized(frame, id="id", sensitive="v", group="g")
    found = st.attacks.background([release], [st.knowledge.share("a", ids=list("12"), equals=0.5)])
    assert found.first is None
    assert "Not even 1 rules" not in str(found)
    assert "No rule puts anybody over the limit" in str(found)
    assert st.attacks.background(release, []).first is None


def test_rules_of_another_table_contradict_and_may_give_way():
    frame = pl.DataFrame({"id": list("1234"), "sex": list("ffmm"), "g": [1, 1, 2, 2], "v": list("abab")})
    release = st.Release.bucketized(frame, id="id", sensitive="v", group="g")
    wrong = [st.knowledge.share("a", where={"sex": "f"}, equals=1)]
    with pytest.raises(st.errors.ContradictionError):
        st.attacks.background(release, wrong)
    assert st.attacks.background(release, wrong, elastic=True).first is None


@pytest.mark.parametrize("limit", [0, 2, "1", None, True])
def test_wrong_limits(limit):
    with pytest.raises(st.errors.ParameterError, match="limit"):
        st.attacks.background(random_case(1)[1], [], limit)
