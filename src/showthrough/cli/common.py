"""What all commands share: consoles, errors as sentences, stages on a progress line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import NoReturn

import typer
from rich.console import Console

from showthrough.cli.flags import as_options
from showthrough.errors import InternalError, NotConvergedError, ShowthroughError
from showthrough.report.printable import printable

BAD_INPUT = 2
INCONCLUSIVE = 4
INTERRUPTED = 130
READER_LEFT = 141  # as a shell reports it; 1 would say that a limit was broken

PIPED = 80  # characters in a line


@contextlib.contextmanager
def errors_as_sentences(*, audience: str = "shareable") -> Iterator[None]:
    """Our exceptions end the command with a message for the audience and the right exit code."""
    try:
        yield
    except InternalError:
        raise
    except NotConvergedError as error:
        say(f"Inconclusive: {error.shareable}")
        raise typer.Exit(INCONCLUSIVE) from None
    except ShowthroughError as error:
        internal = audience == "internal"
        hint = "" if internal or error.shareable == str(error) else " (--audience internal tells more.)"
        message = as_options(str(error) if internal else error.shareable, error.parameters)
        say(f"Error: {message}{hint}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        say("Interrupted: no result was written.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        reader_left()
    except OSError as error:  # a full disk behind stdout, for example
        say(f"Error: the output cannot be written: {(error.strerror or str(error)).lower()}.")
        raise typer.Exit(BAD_INPUT) from None


def say(message: str) -> None:
    """A message to the person at the keyboard."""
    typer.echo(printable(message), err=True)


def reader_left() -> NoReturn:
    """Whoever read our output has closed it: end in silence, also when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(READER_LEFT)


@contextlib.contextmanager
def stages(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A live line on stderr that names the stage at work; silent when quiet or not a terminal."""
    console = Console(stderr=True)
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with console.status("starting") as status:
        yield lambda stage: status.update(f"{stage} …")


@contextlib.contextmanager
def counting(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr for work that knows how much of it is done."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(what)
        yield lambda done, every: bar.update(task, completed=done, total=every)


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
