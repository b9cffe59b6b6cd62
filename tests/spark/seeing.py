"""Processes as Linux shows them, drivers of their own, waiting, and what was written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def until(happened, seconds=60.0):
    """Wait for something, and say whether it came."""
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.02)
    return happened()


def alive(pid):
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def script(text):
    """A driver of its own."""
    words = [sys.executable, "-c", text]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def family(pids):
    """Processes with all that they started."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def an_executor(cluster):
    """The process id of one of those that work."""
    for pid in sorted(family(cluster.pids[1:])):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if "CoarseGrainedExecutorBackend" in command and alive(pid):
            return pid
    raise AssertionError("no executor is there")


def kill_an_executor(cluster):
    """End one of those that work, without a word; its process id."""
    pid = an_executor(cluster)
    os.kill(pid, signal.SIGKILL)
    return pid


def written(post):
    """Every file of an answer: there are some of each table."""
    tables = {table: sorted((post.folder / table).glob("*.parquet")) for table in ("answer", "people", "facts")}
    assert all(tables.values())
    return {f"{table}/{path.name}": path.read_bytes() for table, paths in tables.items() for path in paths}
