"""What is lost on the way changes nothing, what cannot be had is a sentence, and nothing outlives whoever began it."""

import os
import signal
import threading
from pathlib import Path

import pytest

import showthrough as st
from tests.spark import working
from tests.spark.seeing import alive, family, script, until


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


def test_no_worker_that_fits_is_a_sentence_and_no_trace(cluster):
    """A driver of its own asks for more memory than there is; all that it says is ours."""
    asked = (
        "import showthrough as st\nfrom showthrough.engines.spark_session import opened\n"
        "try: st.engines.spark(master='spark://127.0.0.1:1')\n"
        "except st.errors.EngineError as why: print(why)\n"
        f"found = opened({cluster.master!r}, {{'spark.executor.memory': '999g'}}, 120)\n"
        "try: st.engines.spark(found.session, wait=3)\n"
        "except st.errors.EngineError as why: print(why)\n"
        "found.session.stop()\n"
        "try: st.engines.spark(found.session)\n"
        "except st.errors.ParameterError as why: print(why)\n"
    )
    told, other = script(asked).communicate(timeout=300)
    unreachable, idle, stopped = told.splitlines()
    assert unreachable.startswith("The Spark master at spark://127.0.0.1:1 does not answer.")
    assert idle.startswith(f"No worker of {cluster.master} took work within 3 s: are there any")
    assert stopped == "session was stopped: make a new one."
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
