"""What is lost on the way changes nothing, what cannot be had is a sentence, and nothing outlives whoever began it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import showthrough as st
from tests.spark import working
from tests.spark.conftest import ROOT


def until(happened, seconds=60.0):
    """Wait for something, and say whether it came."""
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.05)
    return happened()


def test_an_executor_that_is_killed_changes_no_byte(engine, tmp_path):
    shared = {"factor": 3, "marks": str(tmp_path), "seconds": 0.3}
    killed = []

    def kill():
        until(lambda: len(list(tmp_path.iterdir())) >= 3)
        victim = int(next(tmp_path.iterdir()).suffix[1:])
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    murder = threading.Thread(target=kill)
    murder.start()
    found = engine.map(working.sums_slowly, list(range(12)), shared)
    murder.join()
    assert found == st.engines.local().map(working.sums, list(range(12)), shared)
    worked = {int(mark.suffix[1:]) for mark in tmp_path.iterdir()}
    assert killed[0] in worked
    assert len(worked) >= 2
    assert not alive(killed[0])


def alive(pid):
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def script(text, **given):
    """A driver of its own."""
    words = [sys.executable, "-c", text]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **given)


def test_no_worker_that_fits_is_a_sentence_and_no_trace(cluster):
    """A driver of its own asks for more memory than there is; all that it says is ours."""
    asked = (
        "import showthrough as st\n"
        f"try: st.engines.spark(master={cluster.master!r}, conf={{'spark.executor.memory': '999g'}}, wait=5)\n"
        "except st.errors.EngineError as why: print(why)\n"
        "try: st.engines.spark(master='spark://127.0.0.1:1')\n"
        "except st.errors.EngineError as why: print(why)\n"
    )
    told, other = script(asked).communicate(timeout=300)
    first, second = told.splitlines()
    assert first.startswith(f"No worker of {cluster.master} took work within 5 s: are there any")
    assert second.startswith("The Spark master at spark://127.0.0.1:1 does not answer.")
    assert not [line for line in other.splitlines() if "Exception" in line or "Traceback" in line or "\tat " in line]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_whoever_began_a_cluster(how):
    begun = (
        "import time\nfrom showthrough.engines.standalone import standalone\n"
        "try:\n  with standalone(1) as cluster:\n"
        "    print(*cluster.pids, cluster.home, flush=True)\n    time.sleep(100)\n"
        "except KeyboardInterrupt: pass\n"
    )
    with script(begun) as process:
        *guards, home = process.stdout.readline().split()
        every = family({int(pid) for pid in guards})
        assert len(every) >= 4  # two guards, a master and a worker
        process.send_signal(how)
        process.communicate(timeout=60)
    assert until(lambda: not any(alive(pid) for pid in every), 20)
    assert how == signal.SIGKILL or not Path(home).exists()


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
