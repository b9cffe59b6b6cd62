"""Bounds from several processes are those of one, and the environment is as it was."""

import os

from showthrough import infer
from tests.histories import X1, releases


def test_two_workers_find_what_one_finds(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    twice = [[*groups, *(([p + 10 for p in own], values) for own, values in groups)] for groups in X1]
    post = infer(releases(twice))
    before = dict(os.environ)
    assert post.bounds(workers=2).equals(post.bounds())
    assert dict(os.environ) == before
