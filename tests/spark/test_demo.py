"""``showthrough cluster demo`` as a user runs it: a cluster of its own, figures, and nothing left behind."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.spark.conftest import ROOT


def test_the_demo_tells_figures_and_leaves_nothing():
    before = set(Path(tempfile.gettempdir()).glob("showthrough-cluster-*"))
    command = [sys.executable, "-m", "showthrough", "cluster", "demo", "--persons", "3000", "--memory", "512m"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, cwd=ROOT)
    told = " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"A master and 2 workers were up after \d+ s", told)
    assert re.search(r"Two releases of (2 9\d\d|3 000) persons, written by the workers as Parquet", told)
    assert re.search(r"Inference: \d+ (s|min), \d+ components in 1 piece: every probability is within|proven", told)
    assert re.search(r"Peak memory of worker 2: \d+ MB of Python, \d+ MB of its executor", told)
    assert set(Path(tempfile.gettempdir()).glob("showthrough-cluster-*")) <= before
