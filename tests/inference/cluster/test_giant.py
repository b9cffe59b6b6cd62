"""A component in parts has the answer of one machine, whoever works on the parts, and however often."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import showthrough as st
from showthrough.engines.local import local
from showthrough.engines.processes import processes
from showthrough.errors import Cancelled
from showthrough.inference.certificate import Status
from showthrough.inference.cluster import giant_check, giant_worker
from showthrough.inference.log import Log
from showthrough.progress import Progress
from tests.inference.cluster.giants import ANSWER, history, parted, solved

# Both meet the counts to about 1e-12 persons; what that means for a probability depends on the history.
CLOSE = 1e-12
FARTHER = 1e-11


def against_one_machine(releases, parts, folder, **options):
    one = st.infer(releases)
    cut = parted(releases, parts)
    there, answer = solved(cut, folder, **options)
    pairs = one._solved.pairs
    assert np.array_equal(cut.joined(there, "value"), pairs.value)
    certificate = one.certificate
    assert certificate.components == 1
    assert answer.status is certificate.status is Status.EXACT
    assert np.array_equal(cut.joined(there, "possible"), pairs.alive)  # no fact more, and none missing
    assert (answer.proven_zeros, answer.proven_ones) == (certificate.proven_zeros, certificate.proven_ones)
    assert (answer.signatures, answer.variables) == (certificate.signatures, certificate.variables)
    assert answer.gap < 1e-15
    return float(np.abs(cut.joined(there, "p") - pairs.p).max()), answer


@pytest.mark.parametrize(
    ("n", "l", "releases", "parts", "seed"),
    [
        (2000, 8, 2, 3, 1),
        (5000, 6, 2, 4, 2),
        (1000, 5, 2, 2, 3),
        (1500, 4, 2, 5, 4),
        (700, 8, 3, 3, 6),
        (600, 9, 4, 2, 7),
        (500, 7, 4, 3, 8),
    ],
)
def test_the_answer_is_that_of_one_machine(tmp_path, n, l, releases, parts, seed):
    worst, answer = against_one_machine(history(n, l, releases=releases, seed=seed), parts, tmp_path)
    assert worst < FARTHER
    assert answer.traffic.calls > 10  # it was passes over parts


@pytest.mark.parametrize(("overlap", "seed"), [(0.6, 1), (0.97, 2)])
def test_whoever_comes_and_goes(tmp_path, overlap, seed):
    worst, _ = against_one_machine(history(1200, 7, overlap=overlap, seed=seed), 3, tmp_path)
    assert worst < FARTHER


def test_what_is_left_at_hand_has_the_same_answer(tmp_path):
    worst, answer = against_one_machine(history(1000, 5, seed=3), 3, tmp_path, at_hand=10**6)
    assert worst < CLOSE
    assert answer.traffic.calls < 5


def test_the_number_of_parts_changes_nothing(tmp_path):
    releases = history(1500, 6, seed=11)
    found = []
    for parts in (1, 2, 7):
        cut = parted(releases, parts)
        there, _ = solved(cut, tmp_path / str(parts))
        found.append((cut.joined(there, "p"), cut.joined(there, "possible")))
    for p, possible in found[1:]:
        assert np.abs(p - found[0][0]).max() < CLOSE
        assert np.array_equal(possible, found[0][1])


def contents(parts):
    return [Path(part.path(f"answer-{name}")).read_bytes() for part in parts for name in ANSWER]


class Forgetful:
    """Works here, each part twice, by workers that have never seen it before."""

    name = "forgetful"
    workers = 2

    def map(self, function, parts, shared=None):
        for part in parts:
            giant_worker._KEPT.clear()
            function(part, shared)
        found = []
        for part in reversed(parts):
            giant_worker._KEPT.clear()
            found.append(function(part, shared))
        return found[::-1]


def test_lost_workers_and_repeated_parts_change_no_byte(tmp_path):
    cut = parted(history(900, 5, seed=5), 3)
    parts, answer = solved(cut, tmp_path / "here", local())
    again, other = solved(cut, tmp_path / "again", Forgetful())
    assert contents(parts) == contents(again)
    assert answer.mu.tobytes() == other.mu.tobytes()
    with processes(2) as engine:
        there, third = solved(cut, tmp_path / "there", engine)
    assert contents(parts) == contents(there)
    assert answer.mu.tobytes() == third.mu.tobytes()
    assert answer.passes == other.passes == third.passes


def test_vectors_that_go_by_file_are_the_same_and_leave_nothing_behind(tmp_path, monkeypatch):
    cut = parted(history(600, 5, seed=9), 2)
    parts, answer = solved(cut, tmp_path / "inline")
    monkeypatch.setattr("showthrough.inference.cluster.giant_part._INLINE", 0)
    others, again = solved(cut, tmp_path / "by-file")
    assert contents(parts) == contents(others)
    assert answer.mu.tobytes() == again.mu.tobytes()
    assert sorted(path.name for path in (tmp_path / "by-file").iterdir()) == ["part-0", "part-1"]
    kept = {path.stem for part in others for path in Path(part.folder).iterdir()}
    assert kept == {"group_of", "weight", *(f"answer-{name}" for name in ANSWER)}


class Listening(Progress):
    """Remembers how far the work was, and ends it when it is far enough."""

    def __init__(self, until: int) -> None:
        super().__init__()
        self.told, self.until = [], until

    def count(self, done, of):
        super().count(done, of)
        self.told.append((done, of))
        if len(self.told) == self.until:
            self.cancel()


def test_progress_is_told_and_the_work_can_be_cancelled(tmp_path):
    cut = parted(history(800, 5, seed=1), 2)
    listening = Listening(until=100)
    solved(cut, tmp_path / "heard", log=Log.of(listening, 60.0))
    assert listening.told
    assert all(0 <= done <= of == cut.rows.size for done, of in listening.told)
    with pytest.raises(Cancelled):
        solved(cut, tmp_path / "cancelled", log=Log.of(Listening(until=1), 60.0))
    assert sorted(path.name for path in (tmp_path / "cancelled").iterdir()) == ["part-0", "part-1"]


def test_in_no_time_nothing_is_claimed(tmp_path):
    cut = parted(history(800, 5, seed=1), 2)
    _, answer = solved(cut, tmp_path, log=Log.of(None, 0.0))
    assert answer.status is Status.UNDECIDED
    assert answer.proven_zeros == 0


def test_the_checker_says_what_that_of_one_machine_says(tmp_path):
    releases = history(700, 6, seed=13)
    one, cut = st.infer(releases), parted(releases, 3)
    parts, _ = solved(cut, tmp_path)
    solution, problem = one._solved, cut.problem
    for part, own in zip(parts, cut.members, strict=True):
        at = np.concatenate([np.arange(problem.start[m], problem.start[m + 1]) for m in own])
        part.write(**{"answer-p": solution.pairs.p[at]})
    giant_check.publish_checked(tmp_path, cut.rows)
    found = giant_check.check(local(), tmp_path, parts, cut.rows, solution.mu + 1e-6 * np.arange(solution.mu.size) % 7)
    again = giant_check.check(local(), tmp_path, parts, cut.rows, solution.mu)
    assert again.gap == pytest.approx(one.certificate.gap, rel=1e-6, abs=1e-24)
    assert again.residual == pytest.approx(one.certificate.residual, abs=1e-14)
    assert found.gap > 1e-15


@pytest.mark.parametrize("wrong", ["moved", "more", "fewer", "claimed", "nan"])
def test_the_checker_finds_what_is_wrong(tmp_path, wrong):
    cut = parted(history(400, 6, seed=3), 2)
    parts, answer = solved(cut, tmp_path)
    p, possible, start, value = (parts[1].read(f"answer-{name}") for name in ("p", "possible", "start", "value"))
    if wrong == "moved":
        p[:2] += (1e-6, -1e-6)
    elif wrong == "more":
        p[0] += 1e-6
    elif wrong == "claimed":
        possible[np.argmax(p * possible < 0.5)] = False
    elif wrong == "nan":
        p[0] = np.nan
    else:
        at = int(np.flatnonzero(~possible | (np.diff(np.repeat(start[:-1], np.diff(start)), append=0) == 0))[0])
        p, possible, value = (np.delete(own, at) for own in (p, possible, value))
        start = start - (np.arange(start.size) > np.searchsorted(start, at, side="right") - 1)
    suspect = np.zeros(p.size, dtype=bool)
    arrays = {"p": p, "possible": possible, "start": start, "value": value, "suspect": suspect}
    parts[1].write(**{f"answer-{name}": own for name, own in arrays.items()})
    giant_check.publish_checked(tmp_path, cut.rows)
    found = giant_check.check(local(), tmp_path, parts, cut.rows, answer.mu)
    assert found.residual > 1e-7
    assert not (wrong in ("fewer", "nan") and np.isfinite(found.residual))
