"""What all commands share: consoles, errors as sentences, progress on a live line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

import typer
from rich.console import Console
from rich.status import Status

from showthrough.cli.ending import BAD_INPUT, INTERRUPTED, READER_LEFT, unwritable
from showthrough.cli.flags import as_options, sentence
from showthrough.errors import ContradictionError, InternalError, NotConvergedError, ShowthroughError
from showthrough.progress import Progress
from showthrough.report.printable import printable

INCONCLUSIVE = 4

PIPED = 80  # characters in a line


@contextlib.contextmanager
def errors_as_sentences(*, audience: str = "shareable") -> Iterator[None]:
    """Our exceptions end the command with a message for the audience and the right exit code."""
    try:
        yield
        sys.stdout.flush()  # now, while a full disk can still be told
    except InternalError:
        raise
    except NotConvergedError as error:
        say(f"Inconclusive: {as_options(error.shareable, error.parameters)}")
        raise typer.Exit(INCONCLUSIVE) from None
    except ShowthroughError as error:
        internal = audience == "internal"
        hint = "" if internal or error.shareable == error.internal else " (--audience internal tells more.)"
        proof = internal and isinstance(error, ContradictionError)
        say(f"Error: {sentence(error, shareable=not internal)}{hint}", lines=proof)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        say("Interrupted: no result was written.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        reader_left()
    except OSError as error:  # a full disk behind stdout, for example
        say(unwritable(error))
        raise typer.Exit(BAD_INPUT) from None


def say(message: str, *, lines: bool = False) -> None:
    """A message to the person at the keyboard, on one line unless it is a proof with ``lines`` of its own."""
    typer.echo(printable(message, lines=lines), err=True)


def reader_left() -> NoReturn:
    """Whoever read our output has closed it: end in silence, also when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(READER_LEFT)


class _LiveLine(Progress):
    """Tells a live line on stderr the stage at work and how much of it is done."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self._status, self._stage = status, ""

    def stage(self, name: str) -> None:
        super().stage(name)
        self._stage = name
        self._status.update(f"{name} …")

    def count(self, done: int, of: int) -> None:
        super().count(done, of)
        self._status.update(f"{self._stage} … {done} of {of}")


@contextlib.contextmanager
def live(*, quiet: bool) -> Iterator[Progress]:
    """Progress on a live line; silent when quiet or not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield Progress()
        return
    with Console(stderr=True).status("starting") as status:
        yield _LiveLine(status)


class _Output(Console):
    """A console for which a reader that left is no failed limit."""

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
