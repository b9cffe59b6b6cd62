"""What is lost on the way changes nothing, what cannot be had is a sentence, and nothing outlives whoever began it."""

import os
import signal
import threading

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


def test_nothing_outlives_whoever_began_a_cluster():
    begun = (
        "import time\nfrom showthrough.engines.standalone import standalone\n"
        "with standalone(1) as cluster:\n"
        "    print(*cluster.pids, cluster.home, flush=True)\n    time.sleep(100)\n"
    )
    with script(begun) as process:
        *guards, _ = process.stdout.readline().split()
        every = family({int(pid) for pid in guards})
        assert len(every) >= 4  # two guards, a master and a worker
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    assert until(lambda: not any(alive(pid) for pid in every), 20)
