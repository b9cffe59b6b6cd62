"""What holds for every command: each way to end is an exit code and a sentence, and nothing else reaches stderr.

Libraries below us write to the file descriptor of stderr what they please; a panic of Polars quotes cells. So
while a command runs that descriptor leads nowhere, and only what we say goes to where it led.
``SHOWTHROUGH_DEBUG=1`` lets everything through, which may show data.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import logging
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn, TextIO

import typer

from showthrough import __version__
from showthrough.numerals import THIN
from showthrough.report.printable import printable
from showthrough.storage import outcome
from showthrough.storage.system import reason

_Usage: type[Exception] = typer.BadParameter.__mro__[1]  # the root of all faults in options

BAD_INPUT = 2
BUG = 70
INTERRUPTED = 130
READER_LEFT = 141  # as a shell reports it; 1 would say that a limit was broken


def _without_thin_spaces(problem: UnicodeError) -> tuple[str | bytes, int]:
    """Thin spaces become spaces where a terminal has none, and all else is escaped."""
    if isinstance(problem, UnicodeEncodeError) and problem.object[problem.start] == THIN:
        return " ", problem.start + 1
    return codecs.backslashreplace_errors(problem)


PLAINLY = "showthrough-plainly"
codecs.register_error(PLAINLY, _without_thin_spaces)


def run(command: Callable[[], object]) -> NoReturn:
    """Run a command and end the process with its exit code."""
    debug = bool(os.environ.get("SHOWTHROUGH_DEBUG"))
    interruption = _Interruption()
    heard = callable(signal.getsignal(signal.SIGINT))
    if heard:
        signal.signal(signal.SIGINT, interruption)  # from here on it is an exception
    with contextlib.ExitStack() as stack:
        if not debug:
            stack.enter_context(_only_our_words())
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors=PLAINLY)  # a terminal without × or • is no reason to fail
        code = _code(command, interruption, debug=debug)
        if heard:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: a late interruption changes nothing
        code = _flushed(code)
    sys.exit(code)


class _Interruption:
    """Raises what Python raises, and remembers it: libraries turn it into errors of their own."""

    came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> NoReturn:
        self.came = True
        raise KeyboardInterrupt


def _code(command: Callable[[], object], interruption: _Interruption, *, debug: bool) -> int:
    try:
        code = command()
        code = code if isinstance(code, int) else 0
        if code == INTERRUPTED:  # said here, as Typer turns interruptions into this code without a word
            _say(f"Interrupted: {outcome.what_was_written()}.")
        return INTERRUPTED if interruption.came and code else code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else BAD_INPUT
    except _Usage as problem:
        return _usage(problem)
    except KeyboardInterrupt:
        _say(f"Interrupted: {outcome.what_was_written()}.")
        return INTERRUPTED
    except MemoryError:
        _say(f"Error: this machine has not enough memory for it; {outcome.what_was_written()}.")
        return BAD_INPUT
    except OSError as problem:  # of stdout: whatever reads or writes files has its own sentences
        _say(unwritable(problem))
        return BAD_INPUT
    except BaseException as bug:  # a panic of a library is no Exception
        if interruption.came:
            _say(f"Interrupted: {outcome.what_was_written()}.")
            return INTERRUPTED
        if debug:
            traceback.print_exc()
        _say(_sentence(bug))
        return BUG


def _usage(problem: Any) -> int:
    """What is wrong with the options, in a sentence; a command without any is asked for its help."""
    context = problem.ctx
    if type(problem).__name__ == "NoArgsIsHelpError" and context is not None:
        typer.echo(context.get_help())
        return BAD_INPUT
    more = "" if context is None else f" See {context.command_path} --help."
    message = _plainly(problem.format_message())
    _say(printable(f"Error: {message}{'' if message.endswith(('.', '?')) else '.'}{more}", lines=False))
    return BAD_INPUT


def _plainly(message: str) -> str:
    """What the parser of options says, on one line and without the name of an exception."""
    return ", ".join(part.strip(" \t,") for part in message.replace("Value error, ", "").split("\n")).replace(":,", ":")


def _sentence(bug: BaseException) -> str:
    """Kind and place of a bug: what it says may quote data, so that is left out."""
    own = [
        place for place in traceback.extract_tb(bug.__traceback__) if f"{os.sep}showthrough{os.sep}" in place.filename
    ]
    place = own[-1] if own else None
    where = "" if place is None else f" in {os.path.basename(place.filename)}, line {place.lineno}"
    told = outcome.what_was_written()
    return (
        f"This is a bug in showthrough {__version__}: {type(bug).__name__}{where}. {told[0].upper()}{told[1:]}. Please "
        "report it; SHOWTHROUGH_DEBUG=1 shows the details, which may hold data."
    )


def unwritable(problem: OSError) -> str:
    """What is said where stdout takes no more: a full disk behind it, for example."""
    return f"Error: the output cannot be written: {reason(problem)}; {outcome.what_was_written()}."


def _say(sentence: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody listens
        print(sentence, file=sys.stderr, flush=True)


def _flushed(code: int) -> int:
    """The exit code once all output is out: what a full disk swallowed is no success."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = READER_LEFT
    except OSError as problem:
        _say(unwritable(problem))
        code = BAD_INPUT
    except ValueError:  # closed before we began
        return code
    else:
        return code
    with contextlib.suppress(OSError):  # Python flushes once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


@contextlib.contextmanager
def _only_our_words() -> Iterator[None]:
    """Stderr for us alone; what libraries, warnings and threads say goes nowhere."""
    ours = _apart(sys.stderr)
    if ours is None:
        yield
        return
    warnings.simplefilter("ignore")
    logging.getLogger().addHandler(logging.NullHandler())  # with none, logging would begin one that writes to stderr
    sys.unraisablehook = lambda _: None
    threading.excepthook = lambda _: None
    told, sys.stderr = sys.stderr, ours
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            ours.flush()
        sys.stderr = told


def _apart(stream: TextIO | None) -> TextIO | None:
    """A stream of our own to where stderr leads, whose descriptor leads nowhere from now on."""
    try:
        if stream is None or stream.fileno() != 2:
            return None
        copy = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    except (OSError, ValueError):  # closed, or no file at all
        return None
    return open(copy, "w", encoding=stream.encoding, errors=PLAINLY, buffering=1, closefd=False)
