"""Runs of cases: in a worker that goes through many, or in a process each, under limits of memory and time.

Processes are forked from one that has loaded the package and has not worked with it yet: threads do not survive a
fork, and the pool of Polars starts with its first work.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import io
import json
import os
import pkgutil
import resource
import selectors
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import showthrough
from showthrough import errors
from showthrough.cli.main import main
from tests.fuzzing.case import Case
from tests.fuzzing.cases import make
from tests.fuzzing.judging import Ran, faults, listing

MEMORY = 3 * 2**30  # bytes of address space beyond what is mapped at the start
SECONDS = 60  # for one case

for _found in pkgutil.walk_packages(showthrough.__path__, "showthrough."):
    if not _found.name.endswith("__main__"):  # which runs the command
        importlib.import_module(_found.name)  # here, so that no case has to load it again

_codes: dict[int, int] = {}
_places: set[str] = set()


@dataclass(frozen=True)
class Finding:
    """A case for which something does not hold."""

    seed: int
    number: int
    argv: list[str]
    faults: list[str]
    err: str

    def __str__(self) -> str:
        return (
            f"seed {self.seed}, case {self.number}: {'; '.join(self.faults)}\n    {self.argv}\n    {self.err[:400]!r}"
        )


@dataclass(frozen=True)
class Report:
    """What was found, how the cases ended, and at how many places of the source errors were made."""

    cases: int
    findings: list[Finding]
    codes: dict[int, int]
    places: set[str]


def in_workers(
    seed: int,
    numbers: Sequence[int],
    *,
    workers: int = 2,
    separate: bool = False,
    tell: Callable[[Finding], None] = lambda _: None,
) -> Report:
    """Run the cases in so many processes at a time; ``separate`` gives each case a process of its own.

    ``tell`` hears of findings as they come.
    """
    parts = [list(numbers[k::workers]) for k in range(workers)]
    running = [_forked(seed, part, separate=separate) for part in parts if part]
    report = Report(len(numbers), [], {}, set())
    with selectors.DefaultSelector() as ready:
        for stream, _ in running:
            ready.register(os.fdopen(stream), selectors.EVENT_READ)
        while ready.get_map():
            for key, _ in ready.select():
                line = key.fileobj.readline()  # type: ignore[union-attr]
                if line:
                    _add(report, json.loads(line), tell)
                else:
                    ready.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
    report.findings.extend(_reaped(running))
    return report


def _add(report: Report, told: dict[str, Any], tell: Callable[[Finding], None]) -> None:
    if "faults" in told:
        report.findings.append(Finding(**told))
        tell(report.findings[-1])
        return
    for code, n in told["codes"].items():
        report.codes[int(code)] = report.codes.get(int(code), 0) + n
    report.places.update(told["places"])


def _forked(seed: int, numbers: Sequence[int], *, separate: bool) -> tuple[int, int]:
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return read, child
    code = 1
    try:
        os.close(read)
        with os.fdopen(write, "w") as told:
            for number in numbers:
                found = _in_a_process(seed, number) if separate else _here(seed, number)
                if found is not None:
                    told.write(json.dumps(asdict(found)) + "\n")
                    told.flush()
            told.write(json.dumps({"codes": _codes, "places": sorted(_places)}) + "\n")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _reaped(running: Sequence[tuple[int, int]]) -> list[Finding]:
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for _, child in running]
    return [Finding(0, -1, [], [f"a worker ended with {code}"], "") for code in codes if code]


@contextlib.contextmanager
def _case(
    seed: int, number: int, maker: Callable[[int, int, Path], Case] = make
) -> Iterator[tuple[Case, dict[str, str]]]:
    home, was = Path(tempfile.mkdtemp(prefix="fuzz-")), os.getcwd()
    try:
        os.chdir(home)
        case = maker(seed, number, home)
        yield case, listing(home)
    finally:
        os.chdir(was)
        shutil.rmtree(home, ignore_errors=True)


def _here(seed: int, number: int) -> Finding | None:
    """In this process, with everything that errors say looked at."""
    _limit()
    with _case(seed, number) as (case, before):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
        made: list[str] = []
        with mock.patch.multiple(sys, argv=["showthrough", *case.argv], stdout=streams[0], stderr=streams[1]):
            heard = signal.getsignal(signal.SIGINT)
            try:
                with _listening(made), _in_time():
                    main()
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            finally:
                signal.signal(signal.SIGINT, heard)
        out, err = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in streams)  # type: ignore[attr-defined]
        return _judged(seed, number, case, before, Ran(code, out, err, made))


@contextlib.contextmanager
def _listening(made: list[str]) -> Iterator[None]:
    """Keep what every error says to everybody that is made meanwhile."""
    init = errors.ShowthroughError.__init__

    def heard(self: errors.ShowthroughError, *arguments: object, **more: object) -> None:
        init(self, *arguments, **more)  # type: ignore[arg-type]
        made.extend((self.shareable, repr(self)))
        at = sys._getframe(1)
        while at.f_back is not None and at.f_code.co_filename == errors.__file__:
            at = at.f_back
        _places.add(f"{os.path.basename(at.f_code.co_filename)}:{at.f_lineno}")

    with mock.patch.object(errors.ShowthroughError, "__init__", heard):
        yield


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    was = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True, file=sys.__stderr__)  # where no Python runs any more
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, was)


def _made_apart(seed: int, number: int, home: Path) -> Case:
    """The case, made by a child: whoever makes one works with Polars, and must not fork after that."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            signal.alarm(SECONDS)
            case = make(seed, number, home)
            with os.fdopen(write, "w") as told:
                json.dump([case.argv, case.outputs], told)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        argv, outputs = json.load(told)
    os.waitpid(child, 0)
    return Case(home, argv, outputs)


def _in_a_process(seed: int, number: int) -> Finding | None:
    """As the shell runs it: the streams are files, and the process ends by itself."""
    made = _case(seed, number, maker=_made_apart)
    with made as (case, before), tempfile.TemporaryDirectory(prefix="fuzz-out-") as aside:
        streams = [os.open(os.path.join(aside, name), os.O_RDWR | os.O_CREAT, 0o600) for name in ("out", "err")]
        child = os.fork()
        if not child:
            _become(case, streams)
        _, status = os.waitpid(child, 0)
        texts = []
        for stream in streams:
            os.lseek(stream, 0, os.SEEK_SET)
            with os.fdopen(stream, "rb") as told:
                texts.append(told.read().decode("utf-8", "replace"))
        return _judged(seed, number, case, before, Ran(os.waitstatus_to_exitcode(status), *texts))


def _become(case: Case, streams: Sequence[int]) -> None:
    """Run the command as this process, and never come back."""
    code = 99
    try:
        _limit()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        for place, stream in enumerate(streams, start=1):
            os.dup2(stream, place)
        sys.stdout, sys.stderr = (open(n, "w", encoding="utf-8", closefd=False) for n in (1, 2))  # noqa: SIM115
        sys.argv = ["showthrough", *case.argv]
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.stdout.flush()
        os._exit(code)


def _limit() -> None:
    """At most so much more memory than is mapped already."""
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        with open("/proc/self/statm") as stream:
            mapped = int(stream.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, resource.RLIM_INFINITY))


def _judged(seed: int, number: int, case: Case, before: dict[str, str], ran: Ran) -> Finding | None:
    _codes[ran.code] = _codes.get(ran.code, 0) + 1
    found = faults(case, before, ran)
    return Finding(seed, number, case.argv, found, ran.err or ran.out[-300:]) if found else None
