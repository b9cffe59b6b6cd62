"""What all commands share: consoles, errors as sentences, stages on a progress line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

import typer
from rich.console import Console

from showthrough.errors import InternalError, NotConvergedError, ShowthroughError

BAD_INPUT = 2
INCONCLUSIVE = 4


@contextlib.contextmanager
def errors_as_sentences(*, audience: str = "shareable") -> Iterator[None]:
    """Our exceptions end the command with a message for the audience and the right exit code."""
    try:
        yield
    except InternalError:
        raise
    except NotConvergedError as error:
        typer.echo(f"Inconclusive: {error.shareable}", err=True)
        raise typer.Exit(INCONCLUSIVE) from None
    except ShowthroughError as error:
        internal = audience == "internal"
        hint = "" if internal or error.shareable == str(error) else " (--audience internal names the persons.)"
        typer.echo(f"Error: {str(error) if internal else error.shareable}{hint}", err=True)
        raise typer.Exit(BAD_INPUT) from None


@contextlib.contextmanager
def stages(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A live line on stderr that names the stage at work; silent when quiet or not a terminal."""
    console = Console(stderr=True)
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with console.status("starting") as status:
        yield lambda stage: status.update(f"{stage} …")


def out() -> Console:
    """The console for results; wide enough for tables when piped into a file."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=max(console.width, 120), highlight=False)
