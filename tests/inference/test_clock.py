"""What a clock says is left: no more than it was given, no more than is asked for, never below nothing."""

import threading

import pytest

from showthrough.inference.clock import Clock


@pytest.mark.parametrize("seconds", [0.0, 1e-9, 5.0, 3600.0])
def test_what_is_left_is_no_more_than_was_given(seconds):
    clock = Clock(seconds)
    assert 0 <= clock.left() <= seconds
    assert 0 <= clock.left(1.0) <= min(seconds, 1.0)
    assert clock.at_most(seconds + 1).left() <= seconds


def test_a_clock_without_an_end_leaves_what_is_asked_for():
    assert Clock().left(7.0) == 7.0
    assert not Clock().at_most(3600).over


def test_what_takes_no_word_is_not_waited_for_when_time_is_well_over(monkeypatch):
    monkeypatch.setattr("showthrough.inference.clock._OVERRUN", 0.05)
    ended = threading.Event()
    assert Clock(0.05).awaited(lambda: ended.wait(60)) is None
    ended.set()
    assert Clock(60.0).awaited(lambda: 7) == 7


def test_what_fails_while_it_is_awaited_fails_here():
    with pytest.raises(ZeroDivisionError):
        Clock(60.0).awaited(lambda: 1 // 0)
