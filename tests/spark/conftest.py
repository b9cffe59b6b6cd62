"""A real cluster for all tests of this folder: a master and two workers, begun and ended by the run itself."""

import os
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
    try:
        spark_needs.pyspark()
        spark_needs.java()
    except InputError as why:
        if os.environ.get(NEEDED):
            pytest.fail(str(why))
        pytest.skip(f"{why} python3 run.py test tests/spark sets up all but Java.")


@pytest.fixture(scope="session")
def cluster(there):
    with standalone(2) as running:
        yield running


@pytest.fixture(scope="session")
def engine(cluster):
    conf = {**cluster.conf, "spark.executorEnv.PYTHONPATH": str(ROOT)}  # functions of tests are looked up by workers
    with st.engines.spark(master=cluster.master, folder=cluster.folder, conf=conf) as working:
        yield working
