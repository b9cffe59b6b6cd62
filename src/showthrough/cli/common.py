"""What all commands share: consoles, errors as sentences, progress on a live line."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from showthrough.cli.ending import BAD_INPUT, INTERRUPTED, READER_LEFT, unwritable
from showthrough.cli.flags import as_options, sentence
from showthrough.errors import Cancelled, ContradictionError, InternalError, NotConvergedError, ShowthroughError
from showthrough.numerals import many
from showthrough.progress import Progress, Tally
from showthrough.report.printable import Unbroken, printable
from showthrough.storage import outcome

INCONCLUSIVE = 4

PIPED = 80  # characters in a line
_FIRST_WORD = 1.0  # seconds before anything is said of what is left
NOTHING_WRITTEN = "Interrupted: no result was written."


@contextlib.contextmanager
def errors_as_sentences(*, audience: str = "shareable") -> Iterator[None]:
    """Our exceptions end the command with a message for the audience and the right exit code."""
    outcome.begin()
    try:
        yield
        sys.stdout.flush()  # now, while a full disk can still be told
    except InternalError:
        raise
    except NotConvergedError as error:
        say(f"Inconclusive: {as_options(error.shareable, error.parameters)}")
        raise typer.Exit(INCONCLUSIVE) from None
    except Cancelled:
        interrupted()
    except ShowthroughError as error:
        internal = audience == "internal"
        hint = "" if internal or error.shareable == error.internal else " (--audience internal tells more.)"
        proof = internal and isinstance(error, ContradictionError)
        say(f"Error: {sentence(error, shareable=not internal)}{hint}", lines=proof)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        interrupted()
    except BrokenPipeError:
        reader_left()
    except OSError as error:  # a full disk behind stdout, for example
        say(unwritable(error))
        raise typer.Exit(BAD_INPUT) from None


def say(message: str, *, lines: bool = False) -> None:
    """A message to the person at the keyboard, on one line unless it is a proof with ``lines`` of its own."""
    typer.echo(printable(message, lines=lines), err=True)


def started_as() -> str:
    """What a person types to start us: the command, or what started it."""
    return os.environ.get("SHOWTHROUGH_COMMAND", "showthrough")


def interrupted() -> NoReturn:
    """End as whoever presses Ctrl-C expects; `ending.run` says what was written."""
    raise typer.Exit(INTERRUPTED) from None


def reader_left() -> NoReturn:
    """Whoever read our output has closed it: end in silence, also when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(READER_LEFT)


@dataclass
class Pace:
    """How fast the counts of a stage grow, and how long the rest takes at that pace; silent where nothing is known."""

    began: float
    done: int = 0
    of: int = 0
    last: float = 0.0

    def count(self, done: int, of: int) -> None:
        """So many are done by now."""
        if (done, of) != (self.done, self.of):
            self.done, self.of, self.last = done, of, time.monotonic()

    def left(self, now: float) -> float | None:
        """Seconds that are left at the pace of the whole stage; None before anything is known."""
        if not 0 < self.done < self.of or now - self.began < _FIRST_WORD:
            return None
        whole = (self.last - self.began) * self.of / self.done
        ahead = whole - (now - self.began)
        return ahead if ahead > 0 else None


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as somebody who waits wants them.

    >>> duration(4.4), duration(100), duration(5000)
    ('4 s', '2 min', '1.4 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


class _LiveLine(Progress):
    """Tells a live line on stderr the stage at work, how much of it is done, and how long it has taken.

    The line is drawn again and again by a thread of its own: seconds go on while a linear program says nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self._began, self._line, self._stage = time.monotonic(), "starting", ""
        self._pace = Pace(self._began)

    def stage(self, name: str) -> None:
        super().stage(name)
        self._stage, self._pace = name, Pace(time.monotonic())
        self._line = f"{name} …"

    def count(self, done: int, of: int) -> None:
        super().count(done, of)
        self._pace.count(done, of)
        self._line = f"{self._stage} … {many(done)} of {many(of)}"

    def tally(self, done: Tally) -> None:
        self.check()
        self._pace.count(*done.persons)
        self._line = f"{self._stage} … {done}"

    def __rich__(self) -> Text:
        now = time.monotonic()
        left = self._pace.left(now)
        more = "" if left is None else f", about {duration(left)} left at this step"
        return Text(f"{self._line} ({duration(now - self._began)}{more})")


@contextlib.contextmanager
def live(*, quiet: bool) -> Iterator[Progress]:
    """Progress on a live line; silent when quiet or not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield Progress()
        return
    line = _LiveLine()
    with Console(stderr=True).status(line):
        yield line


class _Output(Console):
    """A console that breaks no number, and for which a reader that left is no failed limit."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Called by Rich."""
        return super().render(Unbroken.of(renderable) if type(renderable) is Text else renderable, options)

    def on_broken_pipe(self) -> NoReturn:
        """Called by Rich."""
        self.quiet = True
        reader_left()


def out() -> Console:
    """The console for results: as wide as the terminal; piped, as COLUMNS says or PIPED.

    What lands in a file does not depend on the window that the command was started in.
    """
    console = _Output(highlight=False)
    if console.is_terminal:
        return console
    asked = os.environ.get("COLUMNS", "")
    return _Output(width=int(asked) if asked.isdecimal() and int(asked) else PIPED, highlight=False)
