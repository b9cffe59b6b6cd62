"""The engine on a real cluster: results in order, errors as they are, faults in a sentence, work that can be ended."""

import os
import signal
import threading
import time

import pytest

import showthrough as st
from showthrough.engines.spark_alike import Alike, _why
from showthrough.engines.spark_jobs import Jobs
from showthrough.errors import Cancelled, EngineError, InternalError, ParameterError
from showthrough.progress import Progress
from tests.spark import working


def test_results_are_those_of_one_process_in_order(engine):
    parts = list(range(23))
    assert engine.workers == 2
    assert engine.map(working.sums, parts, {"factor": 3}) == st.engines.local().map(working.sums, parts, {"factor": 3})
    assert engine.map(working.sums, []) == []


def test_an_error_of_ours_is_raised_as_it_is(engine):
    with pytest.raises(ParameterError, match=r"^k is 7\.$") as caught:
        engine.map(working.refusing, [7, 8, 9])
    assert caught.value.parameters == ("k",)


def test_a_bug_is_named_and_quotes_nothing(engine):
    with pytest.raises(InternalError, match="A worker met ValueError") as caught:
        engine.map(working.spoilt, [1])
    assert "secret" not in caught.value.internal
    assert caught.value.__cause__ is None


def test_a_worker_without_space_is_a_sentence(engine):
    with pytest.raises(EngineError, match=r"could not do its part: no space left on device\.$"):
        engine.map(working.full, [1])


def test_a_part_that_one_worker_could_not_do_is_done_by_another(engine, tmp_path):
    assert engine.map(working.full_once, [1, 2, 3], str(tmp_path)) == [1, 2, 3]


def test_workers_that_die_again_and_again_are_a_sentence(engine):
    with pytest.raises(EngineError, match=r"gave the work up \(\w+\): the logs of its workers say why, under app-"):
        engine.map(working.dying, [1])


def test_large_parts_results_and_shared_things(engine):
    size = 48_000_000
    shared = b"good" + bytes(size)
    assert [len(one) for one in engine.map(working.large, [size, 1], shared)] == [size + 4, 5]


def asleep(folder):
    """Wait until a worker sleeps there."""
    until = time.monotonic() + 60
    while not any(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)


def test_cancelling_ends_the_work(engine, tmp_path):
    progress = Progress()

    def cancel():
        asleep(tmp_path)
        progress.cancel()

    threading.Thread(target=cancel).start()
    with engine.heeding(progress), pytest.raises(Cancelled):
        engine.map(working.sleeping, [1, 2], str(tmp_path))
    began = time.monotonic()
    assert engine.map(working.sums, [1], {"factor": 1})  # the workers are free again
    assert time.monotonic() - began < 30


def test_an_interruption_ends_the_work(engine, tmp_path):
    def interrupt():
        asleep(tmp_path)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        engine.map(working.sleeping, [1, 2], str(tmp_path))
    began = time.monotonic()
    assert engine.map(working.sums, [1], {"factor": 1})
    assert time.monotonic() - began < 30


def test_a_session_that_is_given_goes_on(engine):
    with st.engines.spark(engine.session) as other:
        assert other.folder.is_dir()
        assert other.folder != engine.folder
        assert other.map(working.sums, [1], {"factor": 1}) == engine.map(working.sums, [1], {"factor": 1})
    assert not other.folder.exists()
    assert engine.map(working.sums, [], None) == []
    assert engine.session.range(3).count() == 3


def test_another_master_beside_a_session_is_refused(engine):
    with pytest.raises(EngineError, match="A Spark session runs already, on spark://127.0.0.1:"):
        st.engines.spark(master="local[2]")


def test_a_folder_that_is_not_there_is_refused(engine, tmp_path):
    with pytest.raises(ParameterError, match="is not there: make it first"):
        st.engines.spark(engine.session, folder=tmp_path / "nowhere")


def answering(engine, python):
    """Ask the workers again, in another Python."""
    context = engine.session.sparkContext
    before, context.pythonExec = context.pythonExec, str(python)
    try:
        Alike(context, Jobs(context), 60.0).check(engine.folder)
    finally:
        context.pythonExec = before


@pytest.mark.parametrize(
    ("package", "says"),
    [
        ("raise ImportError", "has no showthrough: install it there too"),
        ("__version__ = '0.0.1'", "is not like the driver: showthrough 0.0.1 there, showthrough [0-9.]+ here"),
    ],
)
def test_workers_in_another_environment_are_told(engine, tmp_path, package, says):
    context = engine.session.sparkContext
    (tmp_path / "showthrough").mkdir()
    (tmp_path / "showthrough" / "__init__.py").write_text(package)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {context.pythonExec} "$@"\n')
    python.chmod(0o755)
    with pytest.raises(EngineError, match=says):
        answering(engine, python)


def test_workers_without_that_python_are_told(engine, tmp_path):
    with pytest.raises(EngineError, match="The workers could not run .*/nowhere: it must be there on every worker"):
        answering(engine, tmp_path / "nowhere")


def test_another_python_is_told_from_the_words_of_pyspark():
    from pyspark.errors import PySparkRuntimeError

    versions = {"worker_version": "3.9", "driver_version": "3.11"}
    said = PySparkRuntimeError(errorClass="PYTHON_VERSION_MISMATCH", messageParameters=versions)
    assert _why(str(said), "python3").startswith("The workers run Python 3.9, the driver Python 3.")
