"""A real cluster for all tests of this folder: a master and two workers, begun and ended by the run itself."""

import os
import signal
import sys
from pathlib import Path

import pytest

import showthrough as st
from showthrough.engines import spark_needs
from showthrough.engines.standalone import standalone
from showthrough.errors import InputError

ROOT = Path(__file__).parents[2]
NEEDED = "SHOWTHROUGH_NEEDS_SPARK"


@pytest.fixture(scope="session", autouse=True)
def there():
    """Spark and Java, or the reason why these tests are skipped."""
    if sys.platform != "linux":
        pytest.skip("processes are looked at as Linux shows them")
    try:
        spark_needs.pyspark()
        spark_needs.java()
    except InputError as why:
        if os.environ.get(NEEDED):
            pytest.fail(str(why))
        pytest.skip(f"{why} python3 run.py test tests/spark sets up all but Java.")


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Ctrl-C is heard, here and by drivers of their own, even if the run was begun in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def cluster(there):
    """With room for two drivers at once."""
    os.environ["JAVA_TOOL_OPTIONS"] = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # begins sooner, and ends soon
    with standalone(2, cores=2, memory="1g") as running:
        yield running


def settings(cluster):
    """Of a driver that takes half of the cluster: one core of each worker."""
    return {
        **cluster.conf,
        "spark.cores.max": "2",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        # functions of tests are looked up by workers, and the package is the one that is tested, installed or not
        "spark.executorEnv.PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        "spark.sql.shuffle.partitions": "4",
    }


@pytest.fixture(scope="session")
def engine(cluster):
    with st.engines.spark(master=cluster.master, folder=cluster.folder, conf=settings(cluster)) as working:
        yield working
