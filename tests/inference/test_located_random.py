"""Random histories of all kinds with a register, against a dense program built by comparing all with all."""

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from showthrough import infer
from showthrough.errors import ContradictionError
from tests.located_cases import located
from tests.oracles import register as oracle
from tests.oracles import seats


def expected(case, changed):
    """The dense program, or None if nothing fits."""
    found = oracle.with_strangers(case.tables, domain=case.domain, split=changed == "split")
    return found[0] if found is not None and seats.feasible(found[0]) else None


def identified(post, row):
    """A row with the part of a split id as the oracle calls it."""
    if post._solved.history.split_release is None:
        return row
    id, release, *rest = row
    return (id if release is None else ("part", id, post.names.index(release)), *rest)


def is_named(person):
    return isinstance(person, str) or person[0] == "part"


@settings(max_examples=40, deadline=None)
@example(616, "split", True)  # an id that is split, not taken for absent
@given(st.integers(0, 2**32), st.sampled_from(["refuse", "split"]), st.booleans())
def test_probabilities_facts_and_contradictions(seed, changed, tampered):
    case = located(seed, tampered=tampered)
    known = {"register": case.register, "domain": case.domain}
    form = expected(case, changed)
    if form is None:
        with pytest.raises(ContradictionError) as caught:
            infer(case.releases, changed=changed, **known, contradictions="refuse")
        clash = caught.value.contradiction
        assert clash is None or clash.verify(case.releases, **known)
        return
    post = infer(case.releases, changed=changed, **known)
    truth = {pair: p for pair, p in seats.maximum_entropy(form).items() if is_named(pair[0])}
    found = {row[:2]: row[2] for row in (identified(post, r) for r in post.to_frame().iter_rows())}
    for pair in truth.keys() | found.keys():
        assert found.get(pair, 0.0) == pytest.approx(truth.get(pair, 0.0), abs=1e-8)
    limits = seats.bounds(form)
    for row in post.proven().iter_rows(named=True):
        release = row.get("release")
        person = row["id"] if release is None else ("part", row["id"], post.names.index(release))
        low, high = limits.get((person, row["value"]), (0.0, 0.0))
        assert low > 1 - 1e-7 if row["fact"] == "certain" else high < 1e-7
        assert post.explain(row["id"], row["value"], release=release).verify(case.releases, **known)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_parts_of_the_history(seed):
    case = located(seed, most_releases=3)
    known = {"register": case.register, "domain": case.domain}
    if expected(case, "refuse") is None:
        return
    post = infer(case.releases, **known)
    told = post.attribution()
    for k, name in enumerate(post.names, start=1):
        prefix = infer(case.releases[:k], **known)
        best = {i: max(prefix.of(i).values()) for i in prefix.ids}
        rows = told.filter(pl.col("release") == name)
        assert dict(zip(rows["id"], rows["p_after"], strict=True)) == pytest.approx(best, abs=1e-8)
    assert post.channels()["largest_change"].is_between(0, 1).all()
    assert post.leave_one_out()["p_with"].is_between(0, 1.0 + 1e-12).all()
    assert post.smallest_sets().height == post.proven().filter(pl.col("fact") == "certain").height
    if len(case.releases) > 1:
        grown = infer(case.releases[:-1], **known).extend(case.releases[-1])
        assert dict(_pairs(grown)) == pytest.approx(dict(_pairs(post)), abs=1e-8)


def _pairs(post):
    return ((row[:2], row[2]) for row in post.to_frame().iter_rows())


def test_nobody_in_the_register_is_in_any_release():
    case = located(1479)
    post = infer(case.releases, register=case.register)
    assert post.to_frame().height == 0
    assert post.channels()["largest_change"].to_list() == [0.0]


def test_a_row_that_others_have_used_up_is_a_contradiction_by_itself():
    case = located(5025, tampered=True)
    with pytest.raises(ContradictionError) as caught:
        infer(case.releases, register=case.register, domain=case.domain, contradictions="refuse")
    assert caught.value.contradiction.verify(case.releases, register=case.register, domain=case.domain)


def test_a_value_of_the_domain_alone_can_be_proven_impossible():
    case = located(1122)
    post = infer(case.releases, register=case.register, domain=case.domain)
    proof = post.explain("p1", "e")
    assert proof.verify(case.releases, register=case.register, domain=case.domain)
    assert not proof.verify(case.releases, register=case.register)


def test_rows_that_nobody_of_the_register_can_fill_are_rows_of_strangers():
    """Among tampered histories there are such rows; then the answer is that of the oracle's program with strangers."""
    met = 0
    for seed in range(400):
        case = located(seed, tampered=True)
        known = {"register": case.register, "domain": case.domain}
        found = oracle.with_strangers(case.tables, domain=case.domain)
        if found is None or not any(sum(t.strangers) for t in found[1]) or not seats.feasible(found[0]):
            continue
        form, tables = found
        post = infer(case.releases, **known)
        told = {f"R{r + 1}": t.strangers for r, t in enumerate(tables) if sum(t.strangers)}
        assert post.reader.leeway.strangers == told
        truth = {pair: p for pair, p in seats.maximum_entropy(form).items() if is_named(pair[0])}
        found = {row[:2]: row[2] for row in post.to_frame().iter_rows()}
        for pair in truth.keys() | found.keys():
            assert found.get(pair, 0.0) == pytest.approx(truth.get(pair, 0.0), abs=1e-8)
        for row in post.proven().iter_rows(named=True):
            assert post.explain(row["id"], row["value"]).verify(case.releases, **known)
        met += 1
    assert met > 10
