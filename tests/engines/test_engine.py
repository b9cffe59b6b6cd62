"""Every engine gives the same results, in the order of the parts."""

import os

import pytest

from showthrough.engines.engine import Engine
from showthrough.engines.local import local
from showthrough.engines.processes import processes
from showthrough.errors import ParameterError


def weighed(part, shared):
    return part * shared["factor"], os.getpid()


def test_here_and_on_all_cores_the_same_results_come_in_order():
    parts = list(range(23))
    here = local().map(weighed, parts, {"factor": 3})
    with processes(2) as engine:
        there = engine.map(weighed, parts, {"factor": 3})
        assert isinstance(engine, Engine)
    assert [one for one, _ in there] == [one for one, _ in here] == [3 * one for one in parts]
    assert os.getpid() not in {pid for _, pid in there}


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "two"])
def test_workers_are_counted(workers):
    with pytest.raises(ParameterError, match="workers is a whole number of 1 or more"), processes(workers):
        pass
