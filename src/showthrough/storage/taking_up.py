"""Folders that a later run goes on from: those of this user alone, and of the same things as before.

What lies there is read back with `pickle`, which runs whatever somebody put into it. So nothing is read from a folder
that another user owns or may write in; others may write in the folder around it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from showthrough.errors import FileError
from showthrough.storage.system import remove

ANEW = "beginning anew, as files or showthrough are not what they were when a run was broken off"


def named(question: Any, made_of: Any) -> str:
    """The name of a folder by what is asked, and by what it is asked of: both as plain data."""
    keys = [hashlib.sha256(json.dumps(own).encode()).hexdigest()[:16] for own in (question, made_of)]
    return "-".join(keys)


def taken_up(folder: Path, finished: str | None = None) -> bool:
    """Make a folder, or go on in it; says whether a broken run asked the same of other things, which is gone then.

    Where a file called ``finished`` is, nobody goes on, and somebody may still read.
    """
    folder.mkdir(exist_ok=True, mode=0o700)
    if not _of_this_user(folder):
        raise FileError(
            f"{folder} is there already, and others own it or may write in it, so nothing is read from it: remove it, "
            "or name another work folder."
        )
    asked = folder.name.rpartition("-")[0]
    older = [one for one in folder.parent.glob(f"{asked}-*") if one != folder]
    found = False
    for one in older:
        if finished is not None and (one / finished).exists():
            continue
        with suppress(OSError):
            if _of_this_user(one):
                remove(one)
                found = True
    return found


def states_of(path: str | os.PathLike[str]) -> list[tuple[str, int, int, int]]:
    """What tells whether a file, or one of those in a folder, was written since; nothing of what is not there.

    Beside size and time it is the time of the system, which nobody sets: a copy that keeps its time is seen.
    """
    there = Path(path)
    files = sorted(own for own in there.rglob("*") if own.is_file()) if there.is_dir() else [there]
    states = [(str(own), own.stat()) for own in files if own.exists()]
    return [(name, of.st_size, of.st_mtime_ns, of.st_ctime_ns) for name, of in states]


def _of_this_user(folder: Path) -> bool:
    of = os.lstat(folder)
    if os.name == "nt":
        return stat.S_ISDIR(of.st_mode)
    return stat.S_ISDIR(of.st_mode) and of.st_uid == os.geteuid() and not stat.S_IMODE(of.st_mode) & 0o022
