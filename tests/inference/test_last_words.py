"""When the solver is content with a certified answer, although some zeros in it are doubtful."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from showthrough.inference.clock import Clock
from showthrough.inference.correction import CERTIFIED, Corrected
from showthrough.inference.face import Face
from showthrough.inference.history import encode
from showthrough.inference.problem import build
from showthrough.inference.solving import _STUCK, _Bursts
from tests.histories import releases


def bursts(seconds, *, factoring=False):
    _, problem, _ = build(encode(releases([[([0, 1], [2, 3])]])))
    found = _Bursts(Face.whole(problem), SimpleNamespace(clock=Clock(seconds)))
    found.factoring = factoring
    return found


def answer(doubts, *, gap=1e-7, met=True):
    none, flags = np.zeros(1), np.arange(100) < doubts
    return Corrected(none, none, flags, False, none, 0, np.array([met]), np.array([False]), np.array([gap]), flags)


@pytest.mark.parametrize("seconds", [1000.0, float("inf")])
def test_with_time_left_doubts_are_looked_into(seconds):
    assert not bursts(seconds)._last_word(answer(50))


def test_what_would_take_longer_than_is_left_is_not_begun():
    work = bursts(3.0)
    work.answered = time.monotonic() - 2.0
    assert work._last_word(answer(50))


@pytest.mark.parametrize("poor", [{"gap": 2 * CERTIFIED}, {"met": False}])
def test_an_answer_without_a_certificate_is_no_last_word(poor):
    work = bursts(3.0)
    work.answered = time.monotonic() - 2.0
    assert not work._last_word(answer(50, **poor))


def test_hard_systems_end_where_hardly_a_doubt_is_settled_again_and_again():
    hard, easy = bursts(1000.0, factoring=True), bursts(1000.0)
    told = [(hard._last_word(answer(90)), easy._last_word(answer(90))) for _ in range(_STUCK + 1)]
    assert told == [*[(False, False)] * _STUCK, (True, False)]


def test_what_settles_doubts_goes_on():
    hard = bursts(1000.0, factoring=True)
    assert not any(hard._last_word(answer(doubts)) for doubts in range(90, 10, -5))
