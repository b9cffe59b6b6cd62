"""Examples that ship with the package: their files, and copies of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from showthrough.errors import FileError
from showthrough.storage.system import unwritable
from showthrough.storage.unit import Unit
from showthrough.table.files import read_bytes

MARK = b'<meta name="generator" content="showthrough">'  # of pages that we made


def raw(example: str, file: str) -> bytes:
    """The bytes of a file of an example."""
    return (files("showthrough.examples") / example / file).read_bytes()


def write(example: str, names: Sequence[str], folder: Path, made: Mapping[str, bytes] | None = None) -> list[Path]:
    """Copy the files of an example, with pages ``made`` of it; other files of these names are never overwritten."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(folder, problem) from None
    targets = [folder / name for name in names]
    for name, target in zip(names, targets, strict=True):
        if os.path.lexists(target) and not (target.is_file() and read_bytes(target) == raw(example, name)):
            raise FileError(f"{target} exists and is not the example: nothing was written. Choose another folder.")
    pages = {folder / name: page for name, page in (made or {}).items()}
    for target in pages:
        if os.path.lexists(target) and not (target.is_file() and MARK in read_bytes(target)[:2000]):
            raise FileError(f"{target} exists and is not the example: nothing was written. Choose another folder.")
    with Unit() as unit:
        for name, target in zip(names, targets, strict=True):
            unit.file(target).write(raw(example, name))
        for target, page in pages.items():
            unit.file(target, private=True).write(page)
        unit.commit()
    return [*targets, *pages]
