"""At every file operation a signal or a failing disk: complete old or complete new, said truly, nothing left over."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.sabotage import NOTICED
from tests.faults.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]
ONE_THREAD = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="every point is a forked process")


def outcome(*arguments: str) -> dict:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.faults.worker", *arguments],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=False,
        timeout=850,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_fault_at_every_operation(scenario):
    found = outcome(scenario)
    assert found["wrong"] == []
    assert found["operations"] >= 20
    assert found["points"] >= 5 * found["operations"]  # three signals, EIO and a dead disk meet every operation


@pytest.mark.parametrize("sabotage", NOTICED)
def test_a_way_to_write_that_only_looks_right_is_noticed(sabotage):
    assert any(NOTICED[sabotage] in said for said in outcome("unit", sabotage, "SIGINT", "SIGKILL")["wrong"])
