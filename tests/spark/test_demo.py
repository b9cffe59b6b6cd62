"""``showthrough cluster demo`` as a user runs it: a cluster of its own, figures, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys

from tests.spark.conftest import ROOT
from tests.spark.seeing import alive, family, until

COMMAND = [sys.executable, "-m", "showthrough", "cluster", "demo", "--persons", "3000", "--memory", "512m"]


def left_behind(home):
    return list(home.glob("showthrough-*"))


def own(home):
    """Temporary files in a folder of their own: other clusters of this machine are not looked at."""
    return {"cwd": ROOT, "env": {**os.environ, "TMPDIR": str(home)}, "text": True}


def test_the_demo_tells_figures_and_leaves_nothing(tmp_path):
    done = subprocess.run(COMMAND, capture_output=True, timeout=400, **own(tmp_path))
    told = " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"A master and 2 workers were up after \d+ s", told)
    assert re.search(r"Two releases of (2 9\d\d|3 000) persons, written by the workers as Parquet", told)
    assert re.search(r"Inference: \d+ (s|min), \d+ components in 1 piece: every probability is within|proven", told)
    assert re.search(r"Peak memory of worker 2: \d+ MB of Python, \d+ MB of its executor", told)
    assert not left_behind(tmp_path)


def test_an_interrupted_demo_leaves_nothing(tmp_path):
    """Ctrl-C as soon as master and workers run."""
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **own(tmp_path)) as process:
        assert until(lambda: any((home / "logs" / "worker1.log").exists() for home in left_behind(tmp_path)))
        every = family({process.pid})
        assert len(every) >= 5  # the command, guards and what they began
        process.send_signal(signal.SIGINT)
        told, other = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told + other
    assert until(lambda: not any(alive(pid) for pid in every), 20)
    assert not left_behind(tmp_path)
