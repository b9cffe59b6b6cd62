"""The figures at which an answer is still certified, and the next ones at which it is not."""

from math import inf, nextafter

import pytest

from showthrough.inference.certificate import CERTIFIED_GAP, GAP, MET, RESIDUAL, ROUNDED, Status, judge


@pytest.mark.parametrize(("count", "most"), [(1, MET), (10**7, RESIDUAL), (10**8, 1e-15 * 10**8), (10**12, ROUNDED)])
def test_a_residual_may_be_as_large_as_its_limit(count, most):
    assert judge(0.0, most, 0, largest_count=count) is Status.EXACT
    assert judge(0.0, nextafter(most, inf), 0, largest_count=count) is Status.UNDECIDED


def test_a_gap_may_be_as_large_as_its_limit():
    assert judge(GAP, 0.0, 0) is Status.EXACT
    assert judge(nextafter(GAP, inf), 0.0, 0) is Status.CERTIFIED
    assert judge(CERTIFIED_GAP, 0.0, 0) is Status.CERTIFIED
    assert judge(nextafter(CERTIFIED_GAP, inf), 0.0, 0) is Status.UNCERTIFIED
