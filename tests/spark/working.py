"""What workers do in these tests: functions that they look up here."""

import os
import time
from pathlib import Path

import numpy as np

from showthrough.errors import ParameterError


def sums(part, shared):
    """Numbers that depend on the order of adding in their last bits."""
    drawn = np.random.default_rng(part).random(20_000)
    return (np.cumsum(drawn) * shared["factor"]).tobytes()


def executor():
    """The process id of the executor that this worker belongs to: the parent of its daemon."""
    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def sums_slowly(part, shared):
    """Tells which executor works, and takes its time."""
    mark = Path(shared["marks"], f"{part}.{executor()}")
    mark.touch()
    time.sleep(shared["seconds"])
    return sums(part, shared)


def refusing(part, shared):
    raise ParameterError(f"k is {part}.", parameters=("k",))


def spoilt(part, shared):
    raise ValueError(f"the secret of {part}")


def full(part, shared):
    raise OSError(28, "No space left on device")


def full_once(part, shared):
    """The first worker that tries has no space."""
    mark = Path(shared, f"tried.{part}")
    if not mark.exists():
        mark.touch()
        full(part, shared)
    return part


def large(part, shared):
    return bytes(part) + bytes(shared[:4])


def sleeping(part, shared):
    Path(shared, f"asleep.{part}").touch()
    time.sleep(60)


def dying(part, shared):
    os.kill(os.getpid(), 9)


def as_they_are(batches):
    """Edges of a partition, none of them left out."""
    yield from batches
