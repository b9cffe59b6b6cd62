"""Composition: the numbers of the papers, the same as dp-accounting, closed forms, and never below what is true."""

import itertools
import math
import pickle
import time

import numpy as np
import pytest
from dp_accounting import rdp as their_rdp
from dp_accounting.pld import accountant, common, privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.dp import losses
from showthrough.dp.curves import _delta_of_rho, delta_at, epsilon_at, rho
from showthrough.dp.formulas import ORDERS, optimal
from showthrough.dp.items import Mechanism, Promise
from showthrough.errors import InputError, ParameterError
from tests.dp import worst_case

some = settings(max_examples=20, deadline=None, derandomize=True)
DELTA = 1e-6


def test_lemma_12():
    found = st.dp.compose([(0.1, 1e-6), (0.2, 1e-6), (0.3, 0)])
    assert tuple(found) == pytest.approx((0.6, 2e-6))
    assert (found.epsilon, found.delta, found.method) == (*found, "basic")
    assert len(found) == 2
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(found)).method == "basic"


def test_twenty_tables_of_whole_noise():
    """Whole noise costs more than continuous noise; two counts that move by one, less than one that moves by two."""
    whole = st.dp.compose([st.dp.geometric(4, 2)] * 20, delta=DELTA)
    assert whole.epsilon == pytest.approx(9.894, abs=5e-4)
    assert whole.method == "pld"
    assert st.dp.compose([st.dp.laplace(4, 2)] * 20, delta=DELTA).epsilon == pytest.approx(9.671, abs=5e-4)
    assert st.dp.compose([st.dp.laplace(4, [1, 1])] * 20, delta=DELTA).epsilon == pytest.approx(7.408, abs=5e-4)
    two = st.dp.compose([st.dp.geometric(4, [1, 1])] * 20, delta=DELTA)  # as forty randomized responses
    assert two.epsilon == pytest.approx(7.7551, abs=5e-4)
    assert two.epsilon == pytest.approx(optimal(Promise(0.25), 40, DELTA), abs=1e-6)
    assert two.epsilon == pytest.approx(
        privacy_loss_distribution.from_discrete_laplace_mechanism(0.25, 1).self_compose(40).get_epsilon_for_delta(DELTA)
    )


GRID = [(scale, shift, k) for scale in (1.0, 4.0, 25.0) for shift in (1, 2) for k in (1, 5, 40)]


@pytest.mark.parametrize(("scale", "shift", "k"), GRID)
def test_pld_is_that_of_dp_accounting(scale, shift, k):
    pld = privacy_loss_distribution
    theirs = {
        "laplace": pld.from_laplace_mechanism(scale, shift),
        "geometric": pld.from_discrete_laplace_mechanism(1 / scale, shift),
        "gaussian": pld.from_gaussian_mechanism(scale, sensitivity=shift),
        "discrete_gaussian": pld.from_discrete_gaussian_mechanism(scale, shift),
    }
    for name, one in theirs.items():
        mine = st.dp.compose([getattr(st.dp, name)(scale, shift)] * k, delta=DELTA, method="pld").epsilon
        assert mine == pytest.approx(one.self_compose(k).get_epsilon_for_delta(DELTA), rel=2e-3, abs=2e-3), name


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), list(itertools.product([0.05, 0.3, 1.0], [0.0, 1e-9], [1, 3, 10, 60]))
)
def test_promises_are_composed_as_in_dp_accounting(epsilon, delta, k):
    mine = st.dp.compose([(epsilon, delta)] * k, delta=DELTA, method="advanced").epsilon
    params = common.DifferentialPrivacyParameters(epsilon, delta)
    theirs = accountant.advanced_composition(params, k, DELTA)
    assert theirs is not None
    assert mine <= theirs + 1e-9  # theirs is the same curve at whole multiples of ε
    assert mine >= theirs - 2 * epsilon - 1e-9
    exact = privacy_loss_distribution.from_privacy_parameters(params, value_discretization_interval=epsilon / 64)
    assert mine == pytest.approx(exact.self_compose(k).get_epsilon_for_delta(DELTA), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("scale", "k"), [(1.0, 1), (4.0, 20), (30.0, 200)])
def test_rdp_is_at_least_as_good_as_that_of_dp_accounting(scale, k):
    orders = [float(o) for o in ORDERS[(ORDERS > 1.05) & (ORDERS < 500)]]
    gauss = their_rdp.compute_epsilon(orders, [k * o / (2 * scale**2) for o in orders], DELTA)[0]
    mine = st.dp.compose([st.dp.gaussian(scale)] * k, delta=DELTA, method="rdp").epsilon
    assert mine == pytest.approx(gauss, rel=1e-3)
    assert mine <= gauss + 1e-12
    laplace = their_rdp.RdpAccountant(orders)
    from dp_accounting import dp_event

    laplace.compose(dp_event.LaplaceDpEvent(scale), k)
    mine = st.dp.compose([st.dp.laplace(scale)] * k, delta=DELTA, method="rdp").epsilon
    assert mine <= laplace.get_epsilon(DELTA) + 1e-9
    assert mine == pytest.approx(laplace.get_epsilon(DELTA), rel=2e-2)


@pytest.mark.parametrize("k", [1, 4, 50])
@pytest.mark.parametrize("scale", [0.9, 3.0, 40.0])
def test_gaussians_add_up_to_one_gaussian(scale, k):
    """The closed form: k Gaussians are one whose noise is narrower by √k."""
    mine = st.dp.compose([st.dp.gaussian(scale)] * k, delta=DELTA)
    one = st.dp.compose([st.dp.gaussian(scale / math.sqrt(k))], delta=DELTA, method="basic")
    assert mine.epsilon == pytest.approx(one.epsilon, rel=2e-3, abs=1e-3)
    assert mine.epsilon >= one.epsilon * (1 - 1e-9)
    assert delta_at(st.dp.gaussian(scale / math.sqrt(k)), one.epsilon) == pytest.approx(DELTA, rel=1e-6)


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1])
def test_one_laplace_has_its_closed_form(delta):
    for scale, shift in ((1.0, 1.0), (4.0, 2.0), (0.5, 3.0)):
        found = st.dp.compose([st.dp.laplace(scale, shift)], delta=delta, method="pld").epsilon
        closed = max(0.0, shift / scale + 2 * math.log1p(-delta))
        assert found == pytest.approx(closed, abs=2e-3)
        assert found >= closed - 1e-9


def test_gaussian_numbers_that_move_together_move_by_their_length():
    assert st.dp.compose([st.dp.gaussian(3, [1, 1])], delta=DELTA).epsilon == pytest.approx(
        st.dp.compose([st.dp.gaussian(3, math.sqrt(2))], delta=DELTA).epsilon, abs=1e-6
    )


@hs.composite
def histograms(draw):
    """Rounds of noisy tables of two parts of the data by two values, with geometric noise on each count."""
    rounds = draw(hs.integers(1, 3))
    scales = [
        draw(hs.tuples(hs.sampled_from([0.5, 1.0, 2.0, 3.0]), hs.sampled_from([0.5, 1.0, 4.0]))) for _ in range(rounds)
    ]
    kinds = [draw(hs.sampled_from(["parallel", "whole"])) for _ in range(rounds)]
    return list(zip(kinds, scales, strict=True)), draw(hs.booleans()), draw(hs.booleans())


def neighbouring(moves: bool, replace: bool):
    """Which counts (part, value) move by one when a record changes: all ways in which it can."""
    cells = list(itertools.product(range(2), range(2)))
    if not replace:
        return [[cell] for cell in cells]
    return [[a, b] for a in cells for b in cells if a != b and (moves or a[0] == b[0])]


@some
@given(histograms(), hs.sampled_from([1e-6, 1e-3, 0.05]))
def test_mixes_of_parallel_and_sequential_releases_by_enumeration(drawn, delta):
    """Never below what the worst neighbours lose; pure ε exactly that."""
    rounds, moves, replace = drawn
    items, truths = [], []
    shifts = [1, 1] if replace else [1]
    for kind, (a, b) in rounds:
        one = [st.dp.geometric(s, shifts) for s in ((a, b) if kind == "parallel" else (a, a))]
        items.append(st.dp.parallel(one, moves=moves and replace) if kind == "parallel" else one[0])
    for moved in neighbouring(moves, replace):
        parts = []
        for kind, scales in rounds:
            own = scales if kind == "parallel" else (scales[0],) * 2
            parts += [worst_case.of_counts(worst_case.geometric(own[part], reach=100), 1) for part, _ in moved]
        clean = [{loss: p for loss, p in part.items() if loss != math.inf} for part in parts]
        truths.append(worst_case.together(clean))
    worst = max(max(t) for t in truths)
    whole_only = all(kind == "whole" for kind, _ in rounds)
    assert st.dp.compose(items).epsilon >= worst - 1e-6
    if len(rounds) == 1 and (whole_only or moves or not replace):
        assert st.dp.compose(items).epsilon == pytest.approx(worst, abs=1e-6)
    for method in ("advanced", "zcdp", "rdp", "pld", "best"):
        epsilon = st.dp.compose(items, delta=delta, method=method).epsilon
        assert max(worst_case.delta(t, epsilon) for t in truths) <= delta * (1 + 1e-6) + 1e-12, method


@some
@given(
    hs.lists(hs.tuples(hs.floats(0.05, 1.5), hs.sampled_from([0.0, 1e-8, 1e-5])), min_size=1, max_size=6),
    hs.sampled_from([1e-4, 1e-2]),
)
def test_promises_by_enumeration(pairs, delta):
    truth = worst_case.together(worst_case.response(*pair) for pair in pairs)
    best = min(e for e in np.linspace(0, sum(p[0] for p in pairs) + 1e-6, 4001) if worst_case.delta(truth, e) <= delta)
    for method in ("basic", "advanced", "pld", "best"):
        epsilon = st.dp.compose(pairs, delta=delta, method=method).epsilon
        assert worst_case.delta(truth, epsilon) <= delta * (1 + 1e-6)
        if method in ("pld", "best"):
            assert epsilon <= best + 5e-3


def test_parallel_rules():
    """Replace-one: the largest part, or the two largest as somebody sees them who adds and removes."""
    parts = [(0.5, 0.0), (0.2, 0.0), (0.4, 0.0)]
    assert st.dp.compose([st.dp.parallel(parts, moves=False)]).epsilon == 0.5
    crossing = [(0.5, 0.0), (0.1, 0.0), (0.4, 0.0)]
    assert st.dp.compose([st.dp.parallel(parts, moves=True, add_remove=crossing)]).epsilon == pytest.approx(0.9)
    half = [(e / 2, 0.0) for e, _ in parts]
    assert st.dp.compose([st.dp.parallel(parts, moves=True, add_remove=half)]).epsilon == 0.5
    tables = [st.dp.geometric(2, [1, 1]), st.dp.geometric(4, [1, 1])]
    assert st.dp.compose([st.dp.parallel(tables, moves=True)]).epsilon == 1.0
    nested = st.dp.parallel([st.dp.parallel(parts, moves=False), (0.7, 0.0)], moves=False)
    assert st.dp.compose([nested, (0.1, 1e-9)]) == pytest.approx((0.8, 1e-9))
    deltas = st.dp.parallel([(0.1, 1e-6), (0.3, 1e-9)], moves=False)
    assert st.dp.compose([deltas]) == pytest.approx((0.3, 1e-6))
    with pytest.raises(ParameterError, match="say with add_remove what each part costs"):
        st.dp.parallel(parts, moves=True)
    with pytest.raises(ParameterError, match="one item for each part"):
        st.dp.parallel(parts, moves=True, add_remove=parts[:1])
    with pytest.raises(ParameterError, match="True or False"):
        st.dp.parallel(parts, moves=None)


def test_the_best_is_named_and_no_method_is_below_it():
    found = st.dp.compose([st.dp.geometric(10, [1, 1]), (0.1, 1e-9)], delta=DELTA)
    numbers = {m: e for m, e in found.tried.items() if isinstance(e, float)}
    assert found.epsilon == min(numbers.values())
    assert "knows no item with a δ" in found.tried["rdp"]
    assert set(found.tried) == {"basic", "advanced", "zcdp", "rdp", "pld"}
    assert "by " in repr(found)


def test_without_the_library_the_other_methods_answer(monkeypatch):
    def gone():
        raise InputError(f"Composition by pld needs the library dp-accounting: {losses.INSTALL}.")

    monkeypatch.setattr(losses, "_library", gone)
    found = st.dp.compose([st.dp.gaussian(3)] * 4, delta=DELTA)
    assert found.method in ("rdp", "zcdp")
    assert 'pip install "showthrough[dp]"' in found.tried["pld"]
    with pytest.raises(InputError, match="needs the library dp-accounting"):
        st.dp.compose([(0.1, 0)], delta=DELTA, method="pld")


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        ([(0, 0)], {}, "epsilon is a number above 0, from 1e-12 to 700, not 0"),
        ([(-1, 0)], {}, "epsilon is a number above 0"),
        ([(math.inf, 0)], {}, "epsilon is a number above 0"),
        ([(1e4, 0)], {}, "epsilon is a number above 0, from 1e-12 to 700"),
        ([(0.1, 1)], {}, "delta is a probability"),
        ([(0.1, -0.1)], {}, "delta is a probability"),
        ([0.1], {}, "write \\(ε, 0\\) for an ε alone"),
        ([(0.1, 0, 0)], {}, "An item is a pair"),
        (["geometric"], {}, "An item is a pair"),
        ((0.1, 0.2), {}, "write \\(ε, 0\\)"),
        ("abc", {}, "Items are a list"),
        ([(0.1, 0)], {"method": "best"}, "needs a delta above 0"),
        ([(0.1, 0)], {"method": "renyi"}, "The method is one of basic, advanced, zcdp, rdp, pld, best"),
        ([(0.1, 0)], {"delta": 1.0}, "delta is a probability"),
        ([(0.1, 0)], {"delta": 2}, "delta is a probability"),
        ([(0.1, 0.01)], {"delta": 1e-6}, "take more δ than delta allows"),
        ([(0.1, 0.01)], {"delta": 1e-6, "method": "basic"}, "take more δ than delta allows"),
        ([(0.1, 0.01)], {"delta": 0.1, "method": "rdp"}, "RDP knows no item with a δ of its own"),
        ([{"epsilon": 1, "scale": 2}], {}, "An item has epsilon and delta, or mechanism"),
        ([{"mechanism": "geometric"}], {}, "scale is a number above 0"),
    ],
)
def test_what_cannot_be_is_refused(items, options, message):
    with pytest.raises(InputError, match=message):
        st.dp.compose(items, **options)


def test_gaussian_noise_needs_a_delta():
    with pytest.raises(InputError, match="promises an ε only with a δ"):
        st.dp.compose([st.dp.gaussian(3)])
    with pytest.raises(ParameterError, match="must be whole, too"):
        st.dp.geometric(4, 1.5)
    with pytest.raises(ParameterError, match="too narrow to promise"):
        st.dp.laplace(1e-5, 1)
    with pytest.raises(ParameterError, match="sensitivity is a number above 0"):
        st.dp.gaussian(1, 0)


def test_nothing_costs_nothing():
    assert tuple(st.dp.compose([])) == (0.0, 0.0)
    assert st.dp.compose([], delta=1e-6).epsilon == 0


def test_many_items_and_wide_noise_take_little():
    """Ten thousand items of one kind are one kind, and no sum runs over as many numbers as the noise is wide."""
    began = time.process_time()
    many = st.dp.compose([st.dp.discrete_gaussian(100)] * 10_000, delta=DELTA)
    assert many.epsilon <= st.dp.compose([st.dp.gaussian(100)] * 10_000, delta=DELTA, method="zcdp").epsilon + 1e-9
    assert st.dp.compose([(1e-8, 0)] * 10_000, delta=1e-300).epsilon == pytest.approx(3.616e-5, rel=1e-3)
    assert st.dp.compose([(1e-8, 0)] * 10_000, delta=DELTA).epsilon == 0.0  # two tables differ by 4e-7 in all
    wide = st.dp.compose([st.dp.discrete_gaussian(1e12)], delta=1e-300)
    assert 0 < wide.epsilon < 1e-9
    assert time.process_time() - began < 30


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-30])
@pytest.mark.parametrize("scale", [5.0, 300.0])
def test_wide_discrete_gaussians_by_their_zcdp_cost_no_less_than_summed_up(scale, delta):
    item = Mechanism("discrete-gaussian", scale, (1.0,))
    epsilon = epsilon_at(item, delta)
    assert delta <= _delta_of_rho(rho(item), epsilon) < 60 * delta**0.9


def test_pld_says_what_it_cannot_answer():
    found = st.dp.compose([(0.1, 0)] * 10, delta=1e-300)
    assert "rounded to a δ" in str(found.tried["pld"])
    assert found.epsilon == pytest.approx(1.0)
    with pytest.raises(InputError, match="300 different items"):
        st.dp.compose([(0.001 * k, 0) for k in range(1, 400)], delta=DELTA, method="pld")


def test_the_narrowest_noise_is_added_up_without_pld():
    found = st.dp.compose([st.dp.gaussian(1e-6)], delta=DELTA)
    assert "as narrow as that" in str(found.tried["pld"])
    assert found.epsilon == pytest.approx(5e11, rel=1e-4)  # half the square of one over the scale, and little more


def test_of_parts_alike_the_costliest_count():
    narrow, wide = st.dp.geometric(2, [1, 1]), [st.dp.geometric(2 + k, [1, 1]) for k in range(1, 60)]
    many = st.dp.parallel([*wide, narrow], moves=True)
    assert len(many.choices()) == 2
    two = st.dp.parallel([narrow, wide[0]], moves=True)
    assert st.dp.compose([many] * 3, delta=DELTA) == st.dp.compose([two] * 3, delta=DELTA)
    same = st.dp.parallel([narrow, narrow], moves=True)  # from one to the other
    assert (st.dp.geometric(2), st.dp.geometric(2)) in same.choices()
    uneven = [st.dp.discrete_gaussian(2 + k) for k in range(30)]
    crossing = st.dp.parallel(uneven, moves=True, add_remove=uneven)
    with pytest.raises(InputError, match="300 parts"):
        st.dp.compose([crossing], delta=DELTA, method="pld")
