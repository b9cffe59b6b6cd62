"""Noisy releases on top of a history: what all cost together, budgets that are kept, and what readers can learn."""

import polars as pl
import pytest

import showthrough as st
from showthrough.anonymizers import noisy_counts
from showthrough.errors import InputError, PolicyError

TABLE = pl.DataFrame(
    {
        "pid": [f"p{k}" for k in range(24)],
        "sex": ["f", "m"] * 12,
        "ill": ["flu", "flu", "HIV", "gout"] * 6,
    }
)
ASKED = {
    "method": "dp-counts", "id": "pid", "sensitive": "ill", "quasi": ["sex"],
    "domain": {"sex": ["f", "m"], "ill": ["flu", "HIV", "gout"]},
}  # fmt: skip


def made(epsilon, history=(), policy=None, **more) -> st.Release:
    return st.anonymize(TABLE, **{**ASKED, "epsilon": epsilon, "history": list(history), "policy": policy, **more})


def figures(release: st.Release, kind: str) -> dict:
    (found,) = [remark for remark in release.made.remarks if remark.kind == kind]
    return dict(found.figures)


@pytest.fixture(scope="module")
def first() -> st.Release:
    return made(0.5, name="N1")


def test_the_total_is_that_of_the_account(first):
    second = made(0.4, [first], name="N2")
    total = figures(second, "total")
    assert (total["before"], total["epsilon"]) == pytest.approx((0.5, 0.9))
    account = st.dp.Account.of([first, second])
    assert total["epsilon"] == pytest.approx(account.spent().epsilon)
    smooth = {"mechanism": "gaussian", "delta": 1e-6}
    third = made(0.3, [first, second], **smooth, name="N3")
    claimed = st.dp.Account.of([first, second, third]).spent(delta=1e-6)
    assert figures(third, "total")["epsilon"] == pytest.approx(claimed.epsilon)
    copies = made(0.1, [first, first], name="N4")
    assert figures(copies, "total")["before"] == pytest.approx(0.5)
    assert not [remark for remark in first.made.remarks if remark.kind in ("total", "learned")]


def test_relations_of_neighbours_are_brought_together(first):
    other = made(0.5, [first], neighbours="add-remove", name="N2")
    assert figures(other, "total")["epsilon"] == pytest.approx(1.5)  # 1 where one record is replaced


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize("marginals", [(), (["sex"], [])])
def test_what_does_not_fit_is_refused_before_any_noise(first, monkeypatch, delta, marginals):
    drawn = []
    monkeypatch.setattr(noisy_counts, "with_noise", lambda counts, law: drawn.append(law) or counts)
    policy = st.Policy(epsilon=0.85, delta=delta)
    with pytest.raises(PolicyError, match=r"over the 0\.85 .* is spent, and epsilon = 0\.3") as no:
        made(0.7, [first], policy, marginals=marginals)
    assert not drawn
    fits = float(str(no.value).split("epsilon = ")[1].split(" ")[0])
    assert figures(made(fits, [first], policy, marginals=marginals), "total")["epsilon"] <= 0.85
    with pytest.raises(PolicyError, match="nothing fits"):
        made(0.7, [first], st.Policy(epsilon=0.5))


def test_what_readers_of_everything_can_learn_is_told(first):
    pairs = pl.DataFrame({"pid": ["p0", "p2"] * 1, "g": [1, 1], "ill": ["flu", "HIV"]})
    pair = st.Release.bucketized(pairs, id="pid", sensitive="ill", group="g", name="B")
    learned = figures(made(0.5, [pair, first]), "learned")
    assert (learned["before"], learned["persons"], learned["after"]) == (0, 2, 0)  # 50 %, to 88 % with ε = 1
    assert figures(made(0.8, [pair, first]), "learned")["after"] == 2  # to 93 % with ε = 1.3 and two records
    assert "By worlds: a guarantee" in learned["assumptions"]
    strangers = st.Release.generalized(
        pl.DataFrame({"sex": ["*"] * 4, "ill": ["flu", "HIV", "flu", "gout"]}), sensitive="ill", quasi=["sex"], name="G"
    )
    assert "was not worked out" in str(made(0.5, [strangers]).made)


def test_what_is_told_does_not_depend_on_the_table(first, monkeypatch):
    monkeypatch.setattr(noisy_counts, "with_noise", lambda counts, _: counts * 0 + 7)
    pairs = pl.DataFrame({"pid": ["p0", "p2"], "g": [1, 1], "ill": ["flu", "HIV"]})
    history = [first, st.Release.bucketized(pairs, id="pid", sensitive="ill", group="g", name="B")]
    other = TABLE.with_columns(ill=pl.lit("gout")).head(5)
    asked = {**ASKED, "epsilon": 0.5, "history": history}
    assert st.anonymize(TABLE, **asked).made.notes == st.anonymize(other, **asked).made.notes


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (st.Policy(max_posterior=0.5), "not max_posterior: what readers"),
        (st.Policy(certain=3, epsilon=1.0), "not certain"),
        (st.Policy(epsilon=1.0, k=5), "not k"),
        ("policy.toml", "policy is a Policy"),
    ],
)
def test_policies_that_it_cannot_keep(policy, message):
    with pytest.raises(InputError, match=message):
        made(0.5, policy=policy)


def test_a_delta_that_is_no_probability_makes_no_policy():
    with pytest.raises(InputError, match="delta is a probability"):
        st.Policy(delta=2.0)
