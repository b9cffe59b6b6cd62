"""A driver that is lost while it works on a component in parts: the next one goes on, and the bytes are the same."""

from __future__ import annotations

import numpy as np
import pytest

from showthrough.engines.local import local
from showthrough.inference.cluster.giant import solve_giant
from showthrough.inference.cluster.giant_marks import ANSWER as ANSWERED
from showthrough.inference.cluster.giant_marks import BURSTS, Marks
from showthrough.inference.log import Log
from tests.inference.cluster.giants import ANSWER, history, parted


class LostError(BaseException):
    """As a signal ends a driver: nobody catches it."""


class Losing:
    """Works here, and is lost at a call."""

    name = "losing"
    workers = 2

    def __init__(self, after: int | None = None) -> None:
        self.after, self.calls = after, 0

    def map(self, function, parts, shared=None):
        self.calls += 1
        if self.after is not None and self.calls > self.after:
            raise LostError
        return local().map(function, parts, shared)


def answered(engine, cut, parts, folder, marks):
    found = solve_giant(engine, folder, parts, cut.rows, Log(), at_hand=0, marks=marks)
    arrays = {(part.number, name): part.read(f"answer-{name}").tobytes() for part in parts for name in ANSWER}
    figures = (found.status, found.gap, found.residual, found.newton_steps, found.passes, found.mu.tobytes())
    return arrays, (*figures, len(found.steps), found.proven_zeros, found.proven_ones)


@pytest.mark.parametrize(("n", "l", "seed"), [(1000, 5, 3), (1500, 4, 4)])
def test_whenever_a_driver_is_lost_the_bytes_are_the_same(tmp_path, n, l, seed):
    cut, whole = parted(history(n, l, seed=seed), 3), Losing()
    undisturbed = answered(whole, cut, cut.write(tmp_path / "whole"), tmp_path / "whole", None)
    worked = []
    for k, after in enumerate(np.linspace(0, whole.calls - 1, 9).astype(int).tolist()):
        folder = tmp_path / str(k)
        parts, marks = cut.write(folder), Marks(folder, ("this history",))
        with pytest.raises(LostError):
            answered(Losing(after), cut, parts, folder, marks)
        assert marks.read(ANSWERED) is None or after == whole.calls - 1
        second = Losing()
        assert answered(second, cut, parts, folder, marks) == undisturbed
        worked.append(second.calls)
        left = {path.name for path in folder.rglob("*") if path.is_file() and not path.name.startswith("answer-")}
        assert left == {"group_of.npy", "weight.npy", "mark-answer.pickle"}
    assert worked[0] == whole.calls
    assert max(worked[-3:]) < whole.calls / 2  # the rest was not done again


def test_a_driver_lost_again_and_again_comes_to_an_end(tmp_path):
    cut, whole = parted(history(1000, 5, seed=3), 3), Losing()
    undisturbed = answered(whole, cut, cut.write(tmp_path / "whole"), tmp_path / "whole", None)
    folder = tmp_path / "lost"
    parts, marks, lost = cut.write(folder), Marks(folder, ()), 0
    while True:
        try:
            found = answered(Losing(whole.calls * 3 // 4), cut, parts, folder, marks)
            break
        except LostError:
            lost += 1
            assert lost < 30
    assert lost
    assert found == undisturbed
    again = Losing()
    assert answered(again, cut, parts, folder, marks) == undisturbed  # known, so nobody works
    assert again.calls <= 1


def test_a_mark_of_something_else_is_not_read(tmp_path):
    marks = Marks(tmp_path, (3, 10))
    marks.put(BURSTS, "here")
    assert marks.read(BURSTS) == "here"
    assert Marks(tmp_path, (4, 10)).read(BURSTS) is None
    marks.remove(BURSTS)
    assert marks.read(BURSTS) is None
