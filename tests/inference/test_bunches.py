"""Values that hang on no row are taken together: the answer is the one that keeps them apart."""

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.inference import solving
from showthrough.inference.log import Log
from showthrough.inference.reduce import reduced_to
from showthrough.inference.run import answered
from tests import factored_cases
from tests.inference.coded import history_of
from tests.oracles import factored


def apart(free, rows=None, *, merging=False):
    return reduced_to(free, rows)


def register_history(seed):
    """Two generalized releases of some persons of a register, with many values of which each group has few."""
    rng = np.random.default_rng(seed)
    n = 40
    people = pl.DataFrame({"id": [f"p{k}" for k in range(n)], "age": rng.integers(20, 60, n)})
    values = [f"v{k}" for k in range(12)]
    truth = rng.choice(values, n)
    found = []
    for r, width in enumerate((10, 7)):
        inside = rng.random(n) < 0.6
        low = people["age"].to_numpy() // width * width
        rows = pl.DataFrame({"age": [f"{a}-{a + width - 1}" for a in low[inside]], "disease": truth[inside]})
        found.append(st.Release.generalized(rows, sensitive="disease", quasi=["age"], name=f"D{r + 1}"))
    return found, people


@pytest.mark.parametrize("seed", range(12))
def test_a_register_with_a_large_domain_gets_the_same_answer(seed, monkeypatch):
    releases, people = register_history(seed)
    merged = st.infer(releases, register=people)
    assert merged.certificate.status == "exact"
    with monkeypatch.context() as patch:
        patch.setattr(solving, "reduced_to", apart)
        plain = st.infer(releases, register=people)
    assert plain.certificate.status == "exact"
    both = merged.to_frame().join(plain.to_frame(), on=["id", "value"], how="full", suffix="_apart")
    assert both["p"].null_count() == 0
    assert both["p_apart"].null_count() == 0
    assert (both["p"] - both["p_apart"]).abs().max() < 1e-9
    assert merged.proven().sort("id", "value").equals(plain.proven().sort("id", "value"))


def test_something_is_taken_together():
    releases, people = register_history(0)
    sizes = []

    def watched(free, rows=None, *, merging=False):
        found = reduced_to(free, rows, merging=merging)
        sizes.append((reduced_to(free, rows).rows.variables, found.rows.variables))
        return found

    original, solving.reduced_to = solving.reduced_to, watched
    try:
        st.infer(releases, register=people)
    finally:
        solving.reduced_to = original
    assert any(merged < whole for whole, merged in sizes)


@pytest.mark.parametrize("flavour", ["seated", "prior", "loose", "everything"])
def test_parts_follow_the_prior(flavour):
    for seed in range(500, 540):
        case = factored_cases.case(seed, flavour)
        exact = factored.maximum_entropy(case).x
        found, _ = answered(history_of(case), Log())
        people, values = list(case.fits), list(case.values)
        for k, person in enumerate(people):
            for v in found.span(int(found.of_person[k])):
                pair = person, values[int(found.problem.value[v])]
                assert float(found.x[v]) == pytest.approx(exact.get(pair, 0.0), abs=1e-7)
