"""Jobs of Spark that can be interrupted, cancelled and bounded in time, and whose faults are sentences.

A job runs in a thread of its own: whoever asked for it hears Ctrl-C and `Progress.cancel` while it waits, and tells
Spark to end it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from showthrough.engines.engine import Result
from showthrough.errors import EngineError
from showthrough.progress import Progress

_BEAT = 0.05  # seconds between two looks at who waits
_UNREAD = "FAILED_READ_FILE"  # as Spark calls it
_QUOTES = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")  # of PySpark, on the driver: they log cells
_PATIENCE = 10.0  # seconds for Spark to end what was cancelled


class TooLongError(Exception):
    """A job took longer than its caller waits."""


class Jobs:
    """Runs what starts jobs of a Spark context."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._progress = Progress()

    @contextmanager
    def heeding(self, progress: Progress) -> Iterator[None]:
        """While this lasts, jobs end when the progress is cancelled."""
        before, self._progress = self._progress, progress
        try:
            yield
        finally:
            self._progress = before

    def run(self, action: Callable[[], Result]) -> Result:
        """What the action gives; its jobs end with whoever waits for them, and Spark's faults are sentences."""
        try:
            return self.bare(action)
        except Exception as problem:
            if not _of_spark(problem):
                raise
            raise EngineError(self._sentence(problem)) from None

    def bare(self, action: Callable[[], Result], *, wait: float | None = None) -> Result:
        """The same within so many seconds, and with Spark's own exceptions, which may quote data."""
        from pyspark import InheritableThread

        group = f"showthrough-{uuid4().hex}"
        given: list[Result] = []
        failed: list[BaseException] = []
        ended = threading.Event()  # a thread whose join was interrupted says that it has ended while it runs

        def work() -> None:
            try:
                self._context.setJobGroup(group, "showthrough", interruptOnCancel=True)
                given.append(action())
            except BaseException as problem:
                failed.append(problem)
            finally:
                ended.set()

        self._progress.check()
        if not os.environ.get("SHOWTHROUGH_DEBUG"):
            for name in _QUOTES:
                logging.getLogger(name).disabled = True
        InheritableThread(target=work, daemon=True).start()
        try:
            self._wait(ended, wait)
        except BaseException:
            self._end(ended, group)
            raise
        if failed:
            raise failed[0]
        return given[0]

    def _wait(self, ended: threading.Event, wait: float | None) -> None:
        began = time.monotonic()
        while not ended.wait(_BEAT):
            self._progress.check()
            if wait is not None and time.monotonic() - began > wait:
                raise TooLongError

    def _end(self, ended: threading.Event, group: str) -> None:
        """Asked again and again, as the action may be between two jobs."""
        until = time.monotonic() + _PATIENCE
        while not ended.is_set() and time.monotonic() < until:
            try:
                self._context.cancelJobGroup(group)
            except Exception:  # the driver's JVM is gone, and the jobs with it
                return
            ended.wait(4 * _BEAT)

    def _sentence(self, problem: Exception) -> str:
        from py4j.protocol import Py4JJavaError

        if isinstance(problem, Py4JJavaError):
            kind = str(problem.java_exception.getClass().getSimpleName())
        else:
            kind = type(problem).__name__
        if _UNREAD in str(problem):
            return "The workers could not read a file of a release: it is damaged, or has other columns than others."
        name = self._context.applicationId if getattr(self._context, "_jsc", None) is not None else "its application"
        return f"The Spark cluster gave the work up ({kind}): the logs of its workers say why, under {name}."


def _of_spark(problem: Exception) -> bool:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(problem, (Py4JError, PySparkException, ConnectionError, EOFError))
