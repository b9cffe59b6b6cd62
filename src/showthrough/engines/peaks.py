"""How much memory the workers of a cluster on this machine took at most, from what Linux remembers of each process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_BEAT = 0.25  # seconds between two looks: the system keeps the peak of a process for as long as it lives
_PROCESSES = Path("/proc")


@dataclass(frozen=True)
class Peak:
    """Bytes of the largest Python process of a worker, and of its executor."""

    python: int
    executor: int


@dataclass(eq=False)
class Watch:
    """Looks at the processes of workers, each known by the one that it began with."""

    first: Sequence[int]
    seen: dict[tuple[int, bool], int] = field(default_factory=dict)  # (worker, whether it is Python) → bytes

    def peaks(self) -> tuple[Peak, ...]:
        """Of every worker in order; nothing where the system does not tell."""
        if not self.seen:
            return ()
        every = range(len(self.first))
        return tuple(Peak(self.seen.get((k, True), 0), self.seen.get((k, False), 0)) for k in every)

    def look(self) -> None:
        """Once."""
        parents = _parents()
        for k, first in enumerate(self.first):
            family = _family(first, parents)
            daemons = {parents[pid] for pid in family if pid in parents}
            for pid in family - {first}:
                told = _told(pid)
                if told is None:
                    continue
                name, peak = told
                python = name.startswith("python")
                if not python and parents[pid] == first:
                    continue  # the worker itself, which only begins executors
                if python and pid in daemons:
                    continue  # from which the others are forked
                self.seen[k, python] = max(self.seen.get((k, python), 0), peak)


@contextlib.contextmanager
def watched(first: Sequence[int]) -> Iterator[Watch]:
    """Look at them again and again for as long as the context lasts."""
    watch, ended = Watch(tuple(first)), threading.Event()

    def work() -> None:
        while not ended.wait(_BEAT):
            watch.look()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()


def _parents() -> dict[int, int]:
    found = {}
    for stat in _PROCESSES.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):  # gone in the meantime
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    return found


def _family(first: int, parents: dict[int, int]) -> set[int]:
    found = {first}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _told(pid: int) -> tuple[str, int] | None:
    """Name and peak of a process."""
    try:
        lines = (_PROCESSES / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    entries = dict(line.split(":", 1) for line in lines if ":" in line)
    peak = entries.get("VmHWM", "0 kB").split()[0]
    return entries.get("Name", "").strip(), 1024 * int(peak)
