"""A standalone Spark cluster on this machine, from the programs of the pip package: processes of their own.

A master and workers, as on many machines (other memory, workers that can be lost), on loopback addresses and free
ports, with folders of their own. Every process has a guard (`guard.py`) that ends it if this one is gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from showthrough.engines import guard, spark_needs
from showthrough.engines.spark_session import LIGHT
from showthrough.errors import EngineError, ParameterError

_HOST = "127.0.0.1"
_DAEMON = "256m"  # heap of a master or worker: executors have their own
_BEAT = 0.05
_PATIENCE = 120.0  # seconds for master and workers to come up
_MASTER, _WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
_STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")
_LOGGED = """appender.log.type = Console
appender.log.name = log
appender.log.target = SYSTEM_ERR
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
rootLogger.level = info
rootLogger.appenderRef.log.ref = log
"""


@dataclass(frozen=True)
class Cluster:
    """A cluster that runs: its address, and where it works and logs."""

    master: str
    home: Path
    memory: str  # of a worker's executor
    pids: tuple[int, ...]  # of the guards: first the master's, then one per worker

    @property
    def folder(self) -> Path:
        """A folder that driver and workers share."""
        return self.home / "shared"

    @property
    def conf(self) -> dict[str, str]:
        """Settings of a session that is to work here."""
        return {
            "spark.local.dir": str(self.home / "driver"),
            "spark.executor.memory": self.memory,
            "spark.executor.extraJavaOptions": LIGHT,
        }


@contextlib.contextmanager
def standalone(workers: int = 2, *, cores: int = 1, memory: str = "1g", wait: float = _PATIENCE) -> Iterator[Cluster]:
    """A cluster of so many workers, each with so many cores and so much memory, for as long as the context lasts."""
    if re.fullmatch(r"[1-9]\d{0,5}[mg]", memory) is None:
        raise ParameterError(f"memory is a whole number with m or g behind it, not {memory!r}.", parameters=("memory",))
    for name, given in (("workers", workers), ("cores", cores)):
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            raise ParameterError(f"{name} is a whole number of 1 or more, not {given!r}.", parameters=(name,))
    if os.name == "nt":
        raise EngineError("A standalone cluster of one's own needs Linux or macOS.")
    spark = Path(spark_needs.pyspark().__file__).parent
    spark_needs.java()
    home = Path(tempfile.mkdtemp(prefix="showthrough-cluster-"))
    started: list[subprocess.Popen[bytes]] = []
    try:
        making = _Starting(spark, home, started, time.monotonic() + wait)
        yield making.cluster(workers, cores, memory)
    finally:
        _end(started)
        shutil.rmtree(home, ignore_errors=True)


@dataclass(frozen=True)
class _Starting:
    """What the processes of a cluster have in common."""

    spark: Path
    home: Path
    started: list[subprocess.Popen[bytes]]
    until: float

    def cluster(self, workers: int, cores: int, memory: str) -> Cluster:
        for name in ("shared", "driver", "conf", "logs"):
            (self.home / name).mkdir()
        (self.home / "conf" / "log4j2.properties").write_text(_LOGGED, encoding="utf-8")
        own = ["-h", _HOST, "-p", "0"]
        master = self._told(self._start("master", [_MASTER, *own]), _STARTED)
        logs = []
        for number in range(1, workers + 1):
            name = f"worker{number}"
            work = ["-c", str(cores), "-m", memory, "-d", str(self.home / name)]
            logs.append(self._start(name, [_WORKER, *own, *work, master]))
        for log in logs:
            self._told(log, _REGISTERED)
        return Cluster(master, self.home, memory, tuple(process.pid for process in self.started))

    def _start(self, name: str, words: list[str]) -> Path:
        """Begin a process in a group of its own: Ctrl-C is for whoever uses the cluster."""
        log, local = self.home / "logs" / f"{name}.log", self.home / f"{name}.local"
        local.mkdir()
        own = {
            "SPARK_HOME": str(self.spark), "SPARK_CONF_DIR": str(self.home / "conf"), "SPARK_LOCAL_IP": _HOST,
            "SPARK_DAEMON_MEMORY": _DAEMON, "SPARK_DAEMON_JAVA_OPTS": LIGHT, "SPARK_LAUNCHER_OPTS": LIGHT,
            "SPARK_LOCAL_DIRS": str(local), "SPARK_NO_DAEMONIZE": "1",
            "SPARK_MASTER_WEBUI_PORT": "0",
            "SPARK_WORKER_WEBUI_PORT": "0",
        }  # fmt: skip
        command = [sys.executable, "-I", guard.__file__, str(self.spark / "bin" / "spark-class"), *words]
        with log.open("wb") as told:
            self.started.append(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=told, stderr=told, start_new_session=True, cwd=self.home,
                    env={**os.environ, **own},
                )
            )  # fmt: skip
        return log

    def _told(self, log: Path, words: re.Pattern[str]) -> str:
        """What a process logs when it is ready: the only way in which it says so."""
        while time.monotonic() < self.until:
            found = words.search(log.read_text(encoding="utf-8", errors="replace"))
            if found is not None:
                return found[found.re.groups]
            if any(process.poll() is not None for process in self.started):
                break
            time.sleep(_BEAT)
        name = log.stem
        raise EngineError(f"The Spark cluster on this machine did not start: its {name} did not come up.")


def _end(started: list[subprocess.Popen[bytes]]) -> None:
    """Workers first, in order and then by force; nothing of them is left."""
    for process in reversed(started):
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
    until = time.monotonic() + 2 * guard.PATIENCE
    for process in reversed(started):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
