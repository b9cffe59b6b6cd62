"""A Spark session to work with: the caller's, or one of our own, which starts within bounds and logs nothing."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from showthrough.engines import reaching, spark_needs
from showthrough.errors import EngineError, InputError, ParameterError

QUIET = Path(__file__).with_name("quiet.properties")
LIGHT = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # Java that starts, and then does little: compiling more costs most
_OURS = {
    "spark.app.name": "showthrough",
    "spark.driver.maxResultSize": "0",  # results are as large as the caller's parts make them
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.structuredLogging.enabled": "false",
}
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}


@dataclass(frozen=True)
class Opened:
    """A session, and whether we started it: then we stop it too."""

    session: Any
    ours: bool

    @property
    def context(self) -> Any:
        """Its Spark context."""
        return self.session.sparkContext


def given(session: Any) -> Opened:
    """The caller's session, if it is one that runs functions on its workers."""
    pyspark = spark_needs.pyspark()
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise ParameterError(
            "session is a Spark Connect session, which cannot run the functions of the solver on its workers: make a "
            "classic one, SparkSession.builder.master(…).getOrCreate(), without SPARK_REMOTE.",
            parameters=("session",),
        )
    from pyspark.sql import SparkSession

    if not isinstance(session, SparkSession):
        kind = type(session).__name__
        raise ParameterError(
            f"session is a SparkSession of PySpark {pyspark.__version__}, not {kind}.", parameters=("session",)
        )
    if session.sparkContext._jsc is None:
        raise ParameterError("session was stopped: make a new one.", parameters=("session",))
    return Opened(session, ours=False)


def opened(master: str | None, conf: Mapping[str, str], wait: float) -> Opened:
    """The session that runs already, if it is on that master; otherwise one of our own."""
    spark_needs.pyspark()
    if os.environ.get("SPARK_REMOTE"):
        raise InputError("SPARK_REMOTE asks for Spark Connect, which cannot run the solver on its workers: unset it.")
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is not None:
        there = running.master
        if master is not None and master != there:
            raise EngineError(f"A Spark session runs already, on {there}: stop it, or hand it over as session=.")
        return given(SparkSession.builder.getOrCreate())
    asked = master or "local[*]"
    reaching.reach(asked)
    spark_needs.java()
    session = _started(SparkSession.builder.master(asked), asked, conf, wait)
    if reaching.on_this_machine(asked) and "PYSPARK_PYTHON" not in os.environ:
        session.sparkContext.pythonExec = sys.executable  # otherwise whatever python3 is first on the path
    return Opened(session, ours=True)


def _started(builder: Any, master: str, conf: Mapping[str, str], wait: float) -> Any:
    """In a thread: Spark may try for minutes, and from the main one it would take Ctrl-C for itself."""
    debug = bool(os.environ.get("SHOWTHROUGH_DEBUG"))
    quiet = "" if debug else f" -Dlog4j2.configurationFile={QUIET.as_uri()}"
    java = {"spark.driver.extraJavaOptions": LIGHT + quiet}
    near = _LOOPBACK if reaching.on_this_machine(master) else {}
    for name, value in {**_OURS, **near, **java, **conf}.items():
        builder = builder.config(name, value)
    made: list[Any] = []
    failed: list[BaseException] = []

    def start() -> None:
        try:
            made.append(builder.getOrCreate())
        except BaseException as problem:
            failed.append(problem)

    thread = threading.Thread(target=start, daemon=True)
    thread.start()
    thread.join(wait)
    if made:
        return made[0]
    kind = f" ({type(failed[0]).__name__})" if failed else f" within {wait:g} s"
    raise EngineError(f"Spark did not start on {master}{kind}: SHOWTHROUGH_DEBUG=1 shows what it says.")
