"""What killed runs left is finished or undone by the next run that looks there, also by one that only reads."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from showthrough.errors import FileError
from showthrough.storage import system
from showthrough.storage.claim import PREFIX, Claim, claim, ours, place, read_json, take, work_of
from showthrough.storage.piece import FILE, FOLDER, GONE, Piece, restore

VERSION = 1
_PATIENCE = 5.0  # seconds for another run that is moving its files at this moment
_PAUSE = 0.01
Read = TypeVar("Read")


def settle(path: str | os.PathLike[str]) -> None:
    """Finish or undo what killed runs left beside a file or folder; runs that are at work are left alone."""
    target = place(path)
    _settle(work_of(target))
    try:
        with os.scandir(target.parent) as found:
            left = [Path(entry.path) for entry in found if entry.name.startswith(PREFIX)]
    except OSError:
        return
    for work in left:
        with contextlib.suppress(FileError):  # of other targets, which nobody asked for
            _settle(work)


def steady(path: str | os.PathLike[str], read: Callable[[], Read]) -> Read:
    """What ``read`` finds at a file or folder, and beside it, between two states and not across them."""
    target = place(path)
    until = time.monotonic() + _PATIENCE
    while True:
        settle(path)
        before = _state(target)
        if before[1]:
            if time.monotonic() > until:
                raise FileError(f"{os.fspath(path)} is being replaced by another run: try again when it has ended.")
            time.sleep(_PAUSE)
            continue
        try:
            found = read()
        except FileError:
            if _state(target) == before:
                raise
        else:
            if _state(target) == before:
                return found


def _state(target: Path) -> tuple[tuple[int, int] | None, bool]:
    """Which file or folder a name holds, and whether it and its neighbours are moving."""
    work = work_of(target)
    moving = any(os.path.lexists(work / name) for name in ("journal", "old"))
    try:
        found = os.stat(target)
    except OSError:
        return None, moving
    return (found.st_dev, found.st_ino), moving


def _settle(work: Path) -> None:
    """A work folder whose run is dead is removed, after the unit that it belongs to is finished or undone."""
    try:
        if not ours(work):
            return
        first = read_json(work / "unit").get("first")
        if isinstance(first, str) and first and not _settle_one(work.parent / first):
            return  # whoever is at work on the unit needs this part of it
        _settle_one(work)
    except OSError as problem:
        raise FileError(
            f"What a run that was killed left at {_target(work)} cannot be put right: {system.reason(problem)}."
        ) from None


def _settle_one(work: Path) -> bool:
    """Whether nothing is left of a work folder: false where a run is at work in it."""
    known = ours(work)
    if not known:
        return known is None
    try:
        found = take(_target(work), work)
    except OSError as problem:
        if problem.errno in system.READ_ONLY:  # whoever may only read sweeps nothing
            return False
        raise
    if found is None:
        return not os.path.lexists(work)
    try:
        _recover(found)
    except BaseException:
        found.leave()
        raise
    found.release()
    return True


def _target(work: Path) -> Path:
    """The target that a work folder says it is for, if it is the work folder of that."""
    name = read_json(work / "unit").get("target")
    if isinstance(name, str) and name and os.path.basename(name) == name and "\0" not in name:
        target = work.parent / name
        if work_of(target) == work:
            return target
    return work.parent / work.name.removeprefix(PREFIX)


def _recover(first: Claim) -> None:
    """A unit whose first target moved is finished; of any other, nothing has happened."""
    journal = read_json(first.work / "journal")
    entries, token = _entries(journal), journal.get("token")
    if not entries or not Piece(first, entries[0]["kind"], digest=entries[0]["digest"]).done:
        restore(first)
        return
    parts = [part for part in (_part(first, entry, token) for entry in entries[1:]) if part is not None]
    try:
        finish(parts)
        sync_places(parts)
    except BaseException:
        for part in parts:
            part.claim.leave()
        raise
    (first.work / "journal").unlink()
    for part in parts:
        part.claim.release()


def finish(parts: list[Piece]) -> None:
    """Bring what is left of a unit into place."""
    for part in parts:
        if not part.done:
            part.put()


def sync_places(parts: list[Piece]) -> None:
    """Bring to the disk which name holds what."""
    for folder in dict.fromkeys(part.claim.target.parent for part in parts):
        system.sync(folder)


def _part(first: Claim, entry: dict[str, Any], token: Any) -> Piece | None:
    """A further part of a unit, if its work folder still is one of this unit.

    What a journal says is done only beside a target that the same run had claimed: a journal that
    somebody made up reaches no other file.
    """
    target = place(first.work.parent) / entry["target"]
    work = work_of(target)
    if not ours(work) or read_json(work / "unit").get("token") != token:
        return None
    return Piece(claim(target, os.fspath(target)), entry["kind"], digest=entry["digest"])


def _entries(journal: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts that a journal lists, the first one first; none if it is of another version or damaged."""
    parts = journal.get("parts")
    if journal.get("version") != VERSION or not isinstance(parts, list):
        return []
    good = [
        entry
        for entry in parts
        if isinstance(entry, dict)
        and entry.get("kind") in (FILE, FOLDER, GONE)
        and isinstance(entry.get("target"), str)
        and isinstance(entry.get("digest"), str | None)
    ]
    return good if len(good) == len(parts) else []
