"""A Spark cluster: parts are tasks, what they share is a broadcast, and results come back in the order of the parts.

A part whose worker is lost is done again by another one. Parts that come again and again stay where they were worked
on last, as many to a task as there are workers too few: who works on them may have kept what they need. Functions are
looked up on the workers, so these need the same environment as the driver; a tiny job at the start says so where they
have another one.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from showthrough.engines import reaching
from showthrough.engines.engine import Result, Work
from showthrough.engines.settled import Settled
from showthrough.engines.spark_alike import Alike
from showthrough.engines.spark_jobs import Jobs
from showthrough.engines.spark_session import Opened, given, opened
from showthrough.engines.spark_task import Done, Task, enclosed
from showthrough.errors import ParameterError
from showthrough.progress import Progress

WAIT = 120.0  # seconds for a cluster to start and to take work
_TRIES = 4  # Spark's own number, where nobody configured another one


class Spark:
    """Works on a Spark cluster; a session that it began itself ends when it is closed.

    ``session`` is for frames, ``folder`` a folder that driver and workers share.
    """

    name = "spark"

    def __init__(self, opened: Opened, folder: Path, *, temporary: bool) -> None:
        self.session, self.folder = opened.session, folder
        self._opened, self._temporary = opened, temporary
        self._jobs = Jobs(opened.context)
        self._settled = Settled(opened.context)

    @property
    def workers(self) -> int:
        """How many parts are worked on at once, by the workers that are there now."""
        return int(self._opened.context.defaultParallelism)

    def map(self, function: Callable[[Work, Any], Result], parts: Sequence[Work], shared: Any = None) -> list[Result]:
        """``function(part, shared)`` of every part, in order."""
        if not parts:
            return []
        context = self._opened.context
        small = None if shared is None else enclosed(shared)
        held = context.broadcast(shared) if shared is not None and small is None else None
        try:
            task = Task(function, small or held, self._tries())
            bundles = self._settled.bundles(parts, self.workers)
            told = self._jobs.run(lambda: [one for own in bundles.map(task.each).collect() for one in own])
        finally:
            if held is not None and context._jsc is not None:
                held.destroy()
        found: list[Result] = []
        for one in told:
            if not isinstance(one, Done):
                raise one.error
            found.append(one.found)
        return found

    def run(self, action: Callable[[], Result]) -> Result:
        """What an action on frames gives; like a map it can be interrupted, and fails with a sentence."""
        return self._jobs.run(action)

    @contextmanager
    def heeding(self, progress: Progress) -> Iterator[None]:
        """While this lasts, what runs on the cluster ends when the progress is cancelled."""
        with self._jobs.heeding(progress):
            yield

    def close(self) -> None:
        """End what was begun for this engine: its session, and its folder if that was a temporary one."""
        self._settled.forget()
        if self._opened.ours and self._opened.context._jsc is not None:
            self._opened.session.stop()
        if self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _tries(self) -> int:
        context = self._opened.context
        if context.master.startswith("local["):
            return 1
        return int(context.getConf().get("spark.task.maxFailures", str(_TRIES)))


def spark(
    session: Any = None,
    *,
    master: str | None = None,
    folder: str | Path | None = None,
    conf: Mapping[str, str] | None = None,
    wait: float = WAIT,
) -> Spark:
    """The engine that works on a Spark cluster: that of a session, or one at ``master``, which it then ends itself.

    ``folder`` is on storage that driver and workers share, under the same path; a temporary one if they are on one
    machine. ``conf`` are settings of Spark for a session that is begun. Within ``wait`` seconds the cluster must have
    started, and then have taken its first work. As a context it closes itself.
    """
    if session is not None and (master is not None or conf):
        raise ParameterError(
            "session has its own master and settings: leave out master and conf.", parameters=("session",)
        )
    found = given(session) if session is not None else opened(master, conf or {}, wait)
    try:
        home, temporary = _home(folder, found.context.master)
        engine = Spark(found, home, temporary=temporary)
        try:
            Alike(found.context, Jobs(found.context), wait).check(home)
        except BaseException:
            engine.close()
            raise
    except BaseException:
        if found.ours and found.context._jsc is not None:
            found.session.stop()
        raise
    return engine


def _home(folder: str | Path | None, master: str) -> tuple[Path, bool]:
    if folder is not None:
        home = Path(folder).absolute()
        if not home.is_dir():
            raise ParameterError(f"folder {home} is not there: make it first.", parameters=("folder",))
        return home, False
    if not reaching.on_this_machine(master):
        raise ParameterError(
            f"folder= names a folder that the driver and all workers of {master} share, such as one on NFS: what they "
            "work on lies there.",
            parameters=("folder",),
        )
    return Path(tempfile.mkdtemp(prefix="showthrough-")), True
