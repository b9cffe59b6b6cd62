"""One way to tell how far long work is, and to stop it, in the whole package.

Work is told in *stages* and, within a stage, in counts; an inference also tells persons, rows and islands (`Tally`).
`Progress` itself tells nobody anything; the command line and the web app subclass it. ``cancel()`` may be called from
any thread: the work ends at its next word with `Cancelled`. ``enough()`` ends what can be ended early with a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from showthrough.errors import Cancelled
from showthrough.numerals import many


@dataclass(frozen=True)
class Tally:
    """How much of an inference is done: (done, of all).

    >>> print(Tally(persons=(1200, 16000), rows=(9, 12), islands=(3, 4)))
    1 200 of 16 000 persons, 9 of 12 rows, 3 of 4 islands
    """

    persons: tuple[int, int]
    rows: tuple[int, int]
    islands: tuple[int, int]

    def __str__(self) -> str:
        parts = {"persons": self.persons, "rows": self.rows, "islands": self.islands}
        return ", ".join(f"{many(done)} of {many(of)} {what}" for what, (done, of) in parts.items())


class Progress:
    """Listens to work and may stop it.

    >>> told = Progress.of(print)
    >>> told.stage("reading")
    reading
    >>> told.cancel()
    >>> told.count(1, 10)
    Traceback (most recent call last):
    ...
    showthrough.errors.Cancelled: The work was cancelled.
    """

    def __init__(self) -> None:
        self._cancelled = Event()
        self._satisfied = Event()

    @classmethod
    def of(cls, given: Progress | Callable[[str], None] | None) -> Progress:
        """A progress as it is; a function is told the name of each stage; None is told nothing."""
        if isinstance(given, Progress):
            return given
        return Progress() if given is None else _Told(given)

    def stage(self, name: str) -> None:  # noqa: ARG002 - who listens overrides it
        """A stage begins."""
        self.check()

    def count(self, done: int, of: int) -> None:  # noqa: ARG002
        """Some of the present stage is done."""
        self.check()

    def tally(self, done: Tally) -> None:
        """So much of an inference is done; told as a count of persons, unless who listens overrides it."""
        self.count(*done.persons)

    def cancel(self) -> None:
        """Ask the work to end."""
        self._cancelled.set()

    def enough(self) -> None:
        """Ask the work to end with what is known by now."""
        self._satisfied.set()

    @property
    def satisfied(self) -> bool:
        """Whether the work was asked to end with what is known."""
        return self._satisfied.is_set()

    @property
    def cancelled(self) -> bool:
        """Whether the work was asked to end."""
        return self._cancelled.is_set()

    def silent(self) -> Progress:
        """Tells nobody anything, and ends when this one is cancelled: for work inside a stage."""
        quiet = Progress()
        quiet._cancelled, quiet._satisfied = self._cancelled, self._satisfied
        return quiet

    def check(self) -> None:
        """End here if the work was asked to."""
        if self.cancelled:
            raise Cancelled


class _Told(Progress):
    """Hands the name of each stage to a function."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def stage(self, name: str) -> None:
        super().stage(name)
        self._tell(name)
