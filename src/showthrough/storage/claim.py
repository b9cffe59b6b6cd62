"""A name that one run writes: its work folder stands beside it, and whoever holds the lock in it may write there.

The work folder of ``D`` is ``.showthrough.D``. It may hold

    lock       held while a run is at work there; the system frees it when the run ends, however it ends
    unit       which target this is for, and where the journal of its unit is
    new        what is to be ``D`` (or, after an exchange, what ``D`` was)
    old        what ``D`` was, where the system cannot exchange two names in one step
    gone       what ``D`` was, if it is to be no more
    journal    the parts of a unit of several targets, from just before its first one moves until its last one has
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from showthrough.errors import FileError
from showthrough.storage import system

PREFIX = ".showthrough."
ENTRIES = {"lock", "unit", "new", "old", "gone", "journal", "journal.part"}
_LONGEST = 255 - len(PREFIX)
_PATIENCE = 2.0  # seconds: another run that only sweeps is gone by then
_PAUSE = 0.02
_held: set[int] = set()


class BusyError(FileError):
    """Another run is at work on a target."""


@dataclass(frozen=True)
class Claim:
    """The right to write a target; it ends with `release`."""

    target: Path
    work: Path
    handle: int

    @property
    def new(self) -> Path:
        """What is to be the target."""
        return self.work / "new"

    def release(self) -> None:
        """Remove the work folder and let others in: the journal goes first, the lock last."""
        with contextlib.suppress(OSError):
            (self.work / "journal").unlink(missing_ok=True)
            inside = [path for path in self.work.iterdir() if path.name != "lock"]
            for path in inside:
                system.remove(path)
            if os.name == "nt":  # where open files cannot be removed
                self.leave()
            (self.work / "lock").unlink()
            self.work.rmdir()
        self.leave()

    def leave(self) -> None:
        """Let others in, and leave the work folder to them."""
        if self.handle in _held:
            _held.discard(self.handle)
            os.close(self.handle)

    def describe(self, entries: dict[str, Any]) -> None:
        """Say in the work folder what it is for."""
        (self.work / "unit").unlink(missing_ok=True)
        system.write_bytes(self.work / "unit", as_json(entries), private=True)


def place(path: str | os.PathLike[str]) -> Path:
    """Where a target really is: links are followed."""
    return Path(os.path.realpath(path))


def work_of(target: Path) -> Path:
    """The work folder of a target, beside it; on whatever file system that is, moves between them are one step."""
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return target.parent / f"{PREFIX}{name}"


def claim(target: Path, name: str, *, patience: float = _PATIENCE) -> Claim:
    """The right to write a target, called ``name``; what a killed run left in its work folder is still there."""
    until = time.monotonic() + patience
    while True:
        found = _attempt(target)
        if found is not None:
            return found
        if time.monotonic() > until:
            raise BusyError(f"Another run is writing {name}: nothing was written.")
        time.sleep(_PAUSE)


def _attempt(target: Path) -> Claim | None:
    work = work_of(target)
    try:
        work.mkdir(mode=0o700)
        mine = True
    except FileExistsError:
        mine = False
    known = mine or ours(work)
    if known is None:  # swept by another run at this moment
        return None
    if not known:
        raise FileError(f"{target} cannot be written: {work.name} beside it is of another user or program.")
    return take(target, work, mine=mine)


def take(target: Path, work: Path, *, mine: bool = False) -> Claim | None:
    """The lock of a work folder, if nobody has it and the folder is still there."""
    try:
        handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except (FileNotFoundError, NotADirectoryError):  # swept by another run at this moment
        return None
    try:
        locked = system.lock(handle)
    except OSError:
        os.close(handle)
        raise
    if locked is None and not mine:
        os.close(handle)
        raise BusyError(
            f"Another run is writing {target}, or was killed on this file system, which has no locks: nothing was "
            f"written. Remove {work} if no run is at work."
        )
    try:
        same = os.path.samestat(os.fstat(handle), os.stat(work / "lock"))
    except FileNotFoundError:
        same = False
    if locked is False or not same:
        os.close(handle)
        return None
    _held.add(handle)
    return Claim(target, work, handle)


def ours(work: Path) -> bool | None:
    """Whether a folder is a work folder, of this user, and no link; None if there is nothing."""
    try:
        found = os.lstat(work)
        own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        return stat.S_ISDIR(found.st_mode) and own and set(os.listdir(work)) <= ENTRIES
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        return False


def as_json(entries: Any) -> bytes:
    """A small JSON file; ASCII carries every file name."""
    return json.dumps(entries).encode()


def read_json(path: Path) -> dict[str, Any]:
    """A small JSON file, or nothing if there is none or it was never finished."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _forget_locks() -> None:
    """A forked child holds no lock: otherwise one that outlives its parent would block the next run."""
    for handle in _held:
        with contextlib.suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
