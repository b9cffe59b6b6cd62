"""What the engine spark needs, said before anything is started; none of it needs Spark to be there."""

import os
import socket
import subprocess
import sys
import time
from types import ModuleType, SimpleNamespace

import pytest

import showthrough as st
from showthrough import __version__
from showthrough.engines import guard, reaching, spark_needs
from showthrough.engines.spark_alike import Alike, _here, _why
from showthrough.engines.spark_session import given, opened
from showthrough.engines.spark_task import Done, Refused, Task, enclosed
from showthrough.engines.standalone import standalone
from showthrough.errors import EngineError, InputError, InternalError, ParameterError

POSIX = pytest.mark.skipif(os.name == "nt", reason="a script that is run, and groups of processes")


@pytest.fixture
def installed(monkeypatch):
    """As if these versions were installed."""

    def install(pyspark="4.3.0", pandas="2.3.3", pyarrow="26.0.1"):
        library = ModuleType("pyspark")
        library.__version__ = pyspark
        monkeypatch.setitem(sys.modules, "pyspark", library if pyspark else None)
        monkeypatch.setattr(spark_needs, "version_of", {"pandas": pandas, "pyarrow": pyarrow}.get)

    return install


@pytest.fixture
def java(tmp_path, monkeypatch):
    """As if Java said this when it is asked for its version."""

    def install(says, code=0):
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\nexit {code}\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    return install


@pytest.mark.parametrize(
    ("versions", "says"),
    [
        ({"pyspark": None}, r"needs PySpark, which is not installed: pip install 'showthrough\[spark\]'"),
        ({"pyspark": "3.5.1"}, "needs PySpark 4 or newer, not 3.5.1"),
        ({"pandas": "3.0.1"}, "needs pandas below 3, as PySpark does, not 3.0.1"),
        ({"pandas": None}, "needs pandas, which is not installed"),
        ({"pyarrow": None}, "needs pyarrow, which is not installed"),
    ],
)
def test_libraries_that_do_not_fit_are_named(installed, versions, says):
    installed(**versions)
    with pytest.raises(InputError, match=says):
        st.engines.spark(master="local[1]")


def test_libraries_that_fit_are_taken(installed):
    installed()
    assert spark_needs.pyspark().__version__ == "4.3.0"


@POSIX
@pytest.mark.parametrize(("says", "found"), [('openjdk version "17.0.15" 2025', 17), ('java version "25" 2025', 25)])
def test_new_enough_java_is_taken(java, says, found):
    java(says)
    assert spark_needs.java() == found


@POSIX
@pytest.mark.parametrize(
    ("says", "code", "told"),
    [
        ('openjdk version "11.0.2" 2019', 0, "needs Java 17 or newer; .* is Java 11"),
        ('java version "1.8.0_392"', 0, "is Java 8"),
        ("what?", 0, "does not say its version"),
        ('openjdk version "17.0.15"', 1, "does not say its version"),
    ],
)
def test_java_that_does_not_fit_is_named(java, says, code, told):
    java(says, code)
    with pytest.raises(InputError, match=told):
        spark_needs.java()


def test_no_java_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"there is none on this machine\. Install one"):
        spark_needs.java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"\(JAVA_HOME names it\) cannot be run"):
        spark_needs.java()


def test_a_master_that_does_not_answer_is_said_soon():
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        reaching.reach(f"spark://127.0.0.1:{port}")
        reaching.reach(f"spark://127.0.0.1:1,127.0.0.1:{port}")  # one of two stands by
    with pytest.raises(EngineError, match=f"at spark://127.0.0.1:{port} does not answer"):
        reaching.reach(f"spark://127.0.0.1:{port}")
    with pytest.raises(EngineError, match=r"^gibberish is no master of Spark: that is spark://host:7077"):
        reaching.reach("gibberish")
    with pytest.raises(EngineError, match="has no host and port"):
        reaching.reach("spark://somewhere")
    reaching.reach("local[2]")  # nobody to ask


def test_sessions_that_do_not_run_functions_are_refused(installed, monkeypatch):
    installed()
    connected = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(ParameterError, match="is a Spark Connect session"):
        given(connected)
    with pytest.raises(ParameterError, match="leave out master and conf"):
        st.engines.spark(connected, master="local[2]")
    monkeypatch.setenv("SPARK_REMOTE", "sc://somewhere")
    with pytest.raises(InputError, match="SPARK_REMOTE asks for Spark Connect"):
        opened("local[2]", {}, 1.0)


def test_workers_that_differ_are_told_with_versions(tmp_path):
    answers = []
    jobs = SimpleNamespace(bare=lambda *_, **__: answers)
    alike = Alike(SimpleNamespace(defaultParallelism=2, master="yarn"), jobs, 1.0)
    answers[:] = [("a", True, _here())]
    alike.check(tmp_path)
    answers[:] = [("a", True, _here()), ("b", True, {**_here(), "showthrough": "0.0.1", "numpy": "1.0"})]
    with pytest.raises(EngineError, match=r"on b is not like the driver: showthrough 0.0.1, numpy 1.0 there, .* here"):
        alike.check(tmp_path)
    answers[:] = [("a", True, {**_here(), "showthrough": None})]
    with pytest.raises(EngineError, match=f"on a has no showthrough: install it there too, version {__version__}"):
        alike.check(tmp_path)
    answers[:] = [("a", False, _here())]
    with pytest.raises(EngineError, match="does not see the work folder"):
        alike.check(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="cannot be written"):
        alike.check(tmp_path / "nowhere")


def test_another_python_on_workers_is_told():
    said = "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11, PySpark"
    assert _why(said, "python3").startswith("The workers run Python 3.9, the driver Python 3.")
    assert _why('Cannot run program "/opt/python"', "/opt/python").startswith("The workers could not run /opt/python")


def weighed(part, shared):
    return part * 2


def refusing(part, shared):
    raise ParameterError(f"k is {part}.", parameters=("k",))


def spoilt(part, shared):
    raise ValueError(f"the secret of {part}")


def test_a_task_hands_back_what_became_of_its_part():
    assert Task(weighed, None, 4)(3) == Done(6)
    refused = Task(refusing, None, 4)(3)
    assert isinstance(refused, Refused)
    assert (type(refused.error), str(refused.error), refused.error.parameters) == (ParameterError, "k is 3.", ("k",))
    bug = Task(spoilt, None, 4)(3).error
    assert isinstance(bug, InternalError)
    assert "ValueError" in str(bug)
    assert "secret" not in bug.internal
    other = Task(weighed, None, 4, version="0.0.1")(3).error
    assert isinstance(other, EngineError)
    assert f"has showthrough {__version__}, the driver 0.0.1" in str(other)


def test_what_is_small_travels_with_the_task():
    assert enclosed({"factor": 3}).value == {"factor": 3}
    assert enclosed(bytes(63_000)).value == bytes(63_000)
    assert enclosed(bytes(65_000)) is None
    assert enclosed(list(range(100_000))) is None
    assert Task(shared_length, enclosed(b"abc"), 4)(0) == Done(3)


def shared_length(part, shared):
    return len(shared)


@pytest.mark.parametrize("asked", [{"workers": 0}, {"cores": True}, {"workers": "two"}])
def test_a_cluster_is_asked_for_in_whole_numbers(asked):
    with pytest.raises(ParameterError, match="is a whole number of 1 or more"), standalone(**asked):
        pass


@POSIX
def test_a_guard_ends_its_command_when_it_is_left_alone():
    command = [sys.executable, "-I", guard.__file__, sys.executable, "-c", "import time; time.sleep(100)"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    time.sleep(0.2)
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(20) != 0
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@POSIX
def test_a_guard_passes_the_exit_code_on():
    command = [sys.executable, "-I", guard.__file__, sys.executable, "-c", "raise SystemExit(3)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.wait(20) == 3
