"""Several files and folders that appear together: every name holds all of its old or all of its new state, always.

    with Unit() as unit:
        home = unit.folder("D")                                 # fill this folder
        unit.file("D.link.csv", private=True).write(content)
        unit.commit()                                           # without it, nothing happened

Everything is written beside its target and brought to the disk first. Then the first target (a folder if there is
one) changes hands in one step: that is the moment at which the unit is written. A journal beside it says what else is
to move. A run that is killed before that moment leaves what the next run sweeps, one that is killed after it a unit
that the next run finishes.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace as changed
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from showthrough.errors import FileError
from showthrough.storage import system
from showthrough.storage.claim import Claim, as_json, claim, place, work_of
from showthrough.storage.leftovers import VERSION, finish, settle, sync_places
from showthrough.storage.outcome import interruptions_wait, record
from showthrough.storage.piece import FILE, FOLDER, GONE, Piece, digest, restore
from showthrough.storage.staged import Staged, special

_BINARY = getattr(os, "O_BINARY", 0)
_TRIES = 10


class Unit:
    """Targets that are written together, or not at all; another run that wants one of them waits, or is told."""

    def __init__(self) -> None:
        self._parts: list[Piece] = []
        self._names: dict[Path, str] = {}
        self._streams: list[Staged] = []
        self._still: list[Callable[[], None]] = []
        self._token = secrets.token_hex(8)
        self.written = False

    def folder(
        self, path: str | os.PathLike[str], *, replace: bool = False, still: Callable[[], None] | None = None
    ) -> Path:
        """An empty folder that becomes ``path``, with all that is put into it, when the unit is committed.

        ``still`` is called just before that, and may refuse: hours may lie between.
        """
        part = self._claim(path, FOLDER, replace=replace)
        if still is not None:
            self._still.append(still)
        try:
            part.claim.new.mkdir()
        except OSError as problem:
            raise system.unwritable(path, problem) from None
        return part.claim.new

    def file(self, path: str | os.PathLike[str], *, private: bool = False, replace: bool = True) -> BinaryIO:
        """A stream to what becomes the file ``path``; a ``private`` one is readable by its owner alone.

        What is no regular file, such as /dev/stdout, is written directly.
        """
        mode = 0o600 if private else 0o666
        try:
            if special(path):
                handle = os.open(path, os.O_WRONLY | _BINARY)
            elif os.path.isdir(path):
                raise FileError(f"{os.fspath(path)} is a folder, expected the name of a file to write.")
            else:
                new = self._claim(path, FILE, replace=replace).claim.new
                handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        except OSError as problem:
            raise system.unwritable(path, problem) from None
        self._streams.append(Staged(os.fspath(path), handle))
        return self._streams[-1].stream

    def remove(self, path: str | os.PathLike[str]) -> None:
        """What has the name ``path`` goes when the unit is committed; nothing there is fine."""
        if os.path.lexists(path):
            self._claim(path, GONE, replace=True)

    def commit(self) -> None:
        """Write the unit: after this nothing of it is undone. Interruptions wait until it is whole."""
        for stream in self._streams:
            try:
                stream.finish()
            except OSError as problem:
                raise system.unwritable(stream.path, problem) from None
        if self.written or not self._parts:
            return
        self._parts.sort(key=lambda part: (FOLDER, FILE, GONE).index(part.kind))
        names = [self._names[part.claim.target] for part in self._parts]
        try:
            self._describe()
            for still in self._still:
                still()
            if len(self._parts) > 1:
                self._write_journal()
            with interruptions_wait():
                self._parts[0].put()
                self.written = True
                record(name for name, part in zip(names, self._parts, strict=True) if part.kind != GONE)
                self._finish(names)
        except FileExistsError:
            raise _exists(names[0]) from None
        except OSError as problem:
            raise system.unwritable(names[0], problem) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.drop()
        name = self._names[self._parts[-1].claim.target] if self._parts else ""  # the one that was at work last
        self._release()
        failed = next((stream for stream in self._streams if stream.problem is not None), None)
        if failed is not None and failed.problem is not None and isinstance(error, Exception):
            raise system.unwritable(failed.path, failed.problem) from None
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError) and name:
            raise system.unwritable(name, error) from None

    def _claim(self, path: str | os.PathLike[str], kind: str, *, replace: bool) -> Piece:
        target = place(path)
        try:
            part = Piece(_fresh(target, os.fspath(path)), kind, replace)
        except OSError as problem:
            raise system.unwritable(path, problem) from None
        self._parts.append(part)
        self._names[target] = os.fspath(path)
        if not replace and os.path.lexists(path):
            raise _exists(os.fspath(path))
        return part

    def _describe(self) -> None:
        """Say in every work folder what it is for, and bring it to the disk: the journal will lean on it."""
        first = self._parts[0].claim
        for at, part in enumerate(self._parts):
            own = part.claim
            way = _way(first.work, own.work.parent) if at else ""
            own.describe({"target": own.target.name, "first": way, "token": self._token})
            if len(self._parts) > 1 and part.kind == FOLDER:
                self._parts[at] = changed(part, digest=digest(own.new))
            system.sync_tree(own.work)
        sync_places(self._parts)

    def _write_journal(self) -> None:
        first = self._parts[0].claim
        parts = [
            {"target": _way(part.claim.target, first.work.parent), "kind": part.kind, "digest": part.digest}
            for part in self._parts
        ]
        content = as_json({"version": VERSION, "token": self._token, "parts": parts})
        begun, whole = first.work / "journal.part", first.work / "journal"
        system.write_bytes(begun, content, private=True)
        system.sync(begun)
        os.rename(begun, whole)
        system.sync(first.work)

    def _finish(self, names: list[str]) -> None:
        """Nothing is undone any more: what fails now is left to the next run, which finds it described."""
        try:
            finish(self._parts[1:])
            sync_places(self._parts)
        except OSError as problem:
            left = "" if all(part.done for part in self._parts[1:]) else f", {' and '.join(names[1:])} not yet"
            for part in self._parts:
                part.claim.leave()
            self._parts = []
            raise FileError(
                f"{names[0]} was written{left}, but the system does not confirm it: {system.reason(problem)}. The next "
                "command that looks there finishes what is left."
            ) from None

    def _release(self) -> None:
        """Sweep, the journal first: as long as it is there, its parts are needed."""
        try:
            for part in self._parts[:1]:
                restore(part.claim)  # again, if the first time failed
                (part.claim.work / "journal").unlink(missing_ok=True)
        except OSError:
            for part in self._parts:
                part.claim.leave()
            return
        for part in self._parts:
            part.claim.release()


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A stream to what takes the place of the file ``path`` when the block succeeds."""
    with Unit() as unit:
        yield unit.file(path, private=private)
        unit.commit()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Say now, before hours of work, that a file cannot be written later."""
    if os.path.isdir(path):
        raise FileError(f"{os.fspath(path)} is a folder, expected the name of a file to write.")
    if special(path):
        return
    target = place(path)
    try:
        _fresh(target, os.fspath(path)).release()
    except OSError as problem:
        raise system.unwritable(path, problem) from None


def _fresh(target: Path, name: str) -> Claim:
    """The right to write a target, in a work folder in which nothing is left of others."""
    system.refuse_unmovable(target)
    for _ in range(_TRIES):
        settle(target)
        found = claim(target, name)
        if os.listdir(found.work) == ["lock"]:
            return found
        found.leave()  # a run was killed between the two
    raise FileError(
        f"{name} cannot be written: what a run that was killed left in {work_of(target)} cannot be removed."
    )


def _way(path: Path, start: Path) -> str:
    """A path seen from a folder: it stays right if somebody moves both."""
    try:
        return os.path.relpath(path, start)
    except ValueError:  # on another drive
        return os.fspath(path)


def _exists(name: str) -> FileError:
    return FileError(f"{name} exists already: nothing was written.")
