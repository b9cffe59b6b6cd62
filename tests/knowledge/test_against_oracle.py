"""Answers with statements and priors against dense solvers, linear programs and enumeration."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog, minimize

import showthrough as st
from showthrough.errors import ContradictionError
from tests.knowledge.cases import made
from tests.oracles import factored
from tests.oracles.factored.linear import linear

SEEDS = range(60)
TOLD = range(1000, 1040)


def oracle_face(known):
    """What linear programs leave: the largest share of each pair."""
    return {pair: most for pair, (_, most) in factored.bounds(known.case).items() if len(pair) == 2}


@pytest.mark.parametrize("seed", SEEDS)
def test_probabilities_are_those_of_a_dense_solver(seed: int):
    known = made(seed)
    if not factored.feasible(known.case, prior=True):
        with pytest.raises(ContradictionError):
            known.infer(contradictions="refuse")
        return
    post, wanted = known.infer(), factored.maximum_entropy(known.case).x
    assert post.certificate.status in ("exact", "certified")
    for person in known.case.fits:
        found = post.of(person)
        for value in known.case.values:
            assert found.get(value, 0.0) == pytest.approx(wanted[person, value], abs=1e-7)


@pytest.mark.parametrize("seed", TOLD)
def test_contradictions_are_those_of_a_linear_program(seed: int):
    known = made(seed, honest=False, prior=False)
    if factored.feasible(known.case):
        assert known.infer(contradictions="refuse").certificate.status == "exact"
    else:
        with pytest.raises(ContradictionError) as found:
            known.infer(contradictions="refuse")
        assert "tatement" in str(found.value)
        clash = found.value.contradiction
        if clash is not None:
            given = {"register": known.register, "membership": known.membership}
            assert clash.verify(known.releases, **given, knowledge=known.knowledge)
            assert not clash.verify(known.releases, **given)


@pytest.mark.parametrize("seed", SEEDS)
def test_facts_are_those_of_linear_programs_and_their_proofs_are_replayed(seed: int):
    known = made(seed, prior=False)
    post, most = known.infer(), oracle_face(known)
    facts = post.proven()
    gone = {(i, v) for i, v in facts.filter(pl.col("fact") == "impossible").select("id", "value").rows()}
    for person, value in known.case.pairs():
        if person in post.ids.to_list() and most[person, value] > 1e-9:
            assert (person, value) not in gone
    zero = {pair for pair, top in most.items() if top < 1e-9}
    published = {(i, v) for i, v in post.to_frame().select("id", "value").rows()}
    assert not published & zero
    given = {"register": known.register, "membership": known.membership}
    for person, value, fact, by in facts.select("id", "value", "fact", "by").rows():
        proof = post.explain(person, value)
        assert proof.fact == fact
        assert proof.verify(known.releases, **given, knowledge=known.knowledge)
        if by == "knowledge" and proof.by == "knowledge":
            assert not proof.verify(known.releases, **given)
        else:
            assert by in (proof.by, "knowledge")


@pytest.mark.parametrize("seed", SEEDS)
def test_what_takes_no_statement_is_not_called_knowledge(seed: int):
    known = made(seed, prior=False)
    post = known.infer()
    bare = {
        (i, v) for i, v in _bare(known).proven().filter(pl.col("fact") == "impossible").select("id", "value").rows()
    }
    told = post.proven().filter((pl.col("by") == "knowledge") & (pl.col("fact") == "impossible"))
    assert not bare & set(told.select("id", "value").rows())


def _bare(known):
    return st.infer(known.releases, register=known.register, membership=known.membership)


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_those_of_linear_programs(seed: int):
    known = made(seed, prior=False)
    wanted = {pair: ends for pair, ends in factored.bounds(known.case).items() if len(pair) == 2}
    for person, value, low, high in known.infer().bounds().select("id", "value", "lower", "upper").rows():
        assert (low, high) == pytest.approx(wanted[person, value], abs=1e-7)


@pytest.mark.parametrize("seed", range(40))
def test_worlds_weigh_by_the_prior(seed: int):
    known = made(seed)
    if not factored.feasible(known.case, prior=True):
        return
    total, share = factored.worlds(known.case)
    if not total:
        return
    for person, value, p in known.infer().worlds().select("id", "value", "p").rows():
        assert p == pytest.approx(float(share.get((person, value), 0)), abs=1e-9)


@pytest.mark.parametrize("seed", [*range(2000, 2030), 9029])
def test_statements_that_give_way_give_as_little_as_they_can(seed: int):
    known = made(seed, honest=False, prior=False)
    post = known.infer(elastic=True)
    if factored.feasible(known.case):
        assert not post.relaxed.height
        assert post.certificate.status == "exact"
        return
    if len({str(one) for one in known.knowledge}) < len(known.knowledge):
        return  # what is said twice counts once here, and twice for the oracle
    least, entropy = _least(known)
    missed = float(post.relaxed["by"].sum())
    assert missed == pytest.approx(least, abs=2e-3)
    assert post.certificate.persons_by_state.get("relaxed", 0) > 0
    p = post.to_frame(uncertified=True)["p"].to_numpy()
    p = p[p > 0]
    assert float(-(p * np.log(p)).sum()) >= entropy - 1e-3


def _least(known):
    """The least total by which statements are missed, and the most entropy with it, by SciPy on a dense problem."""
    case, model = known.case, linear(known.case)
    v, s, r = len(model.keys), len(case.statements), len(case.rows)
    M, each = model.activity.toarray(), [max(said.terms.values()) for said in case.statements]
    A = np.hstack([np.vstack([model.A.toarray(), M[:r]]), np.zeros((model.b.size + r, 2 * s))])
    b = np.concatenate([model.b, model.lower[:r]])
    told, scale = M[r:] / np.array(each)[:, None], 1 / np.array(each)
    none = np.zeros((s, s))
    G = np.vstack([np.hstack([told, -np.eye(s), none]), np.hstack([-told, none, -np.eye(s)])])
    h = np.concatenate([model.upper[r:] * scale, -model.lower[r:] * scale])
    price = np.concatenate([np.zeros(v), np.ones(2 * s)])
    least = linprog(price, A_ub=G, b_ub=h, A_eq=A, b_eq=b)
    G, h = np.vstack([G, price]), np.append(h, least.fun + 1e-9)
    counted = np.array([float(len(key) == 2) for key in model.keys] + [0.0] * (2 * s))

    def loss(z):
        p = np.clip(z, 1e-12, None)
        return float((counted * p * np.log(p)).sum())

    best = minimize(
        loss, np.clip(least.x, 1e-6, None), jac=lambda z: counted * (np.log(np.clip(z, 1e-12, None)) + 1),
        method="SLSQP", bounds=[(0, None)] * (v + 2 * s), options={"maxiter": 400, "ftol": 1e-12},
        constraints=[
            {"type": "eq", "fun": lambda z: A @ z - b, "jac": lambda _: A},
            {"type": "ineq", "fun": lambda z: h - G @ z, "jac": lambda _: -G},
        ],
    )  # fmt: skip
    found = np.abs(A @ best.x - b).max() < 1e-6 and (G @ best.x - h).max() < 1e-6
    return float(least.fun), -loss(best.x) if found else -np.inf
