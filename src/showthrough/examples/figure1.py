"""Figure 1 of Wang, Zhu, Du and Teng, *Inference Analysis in Privacy-Preserving Data Re-publishing*, ICDM 2008.

A register of patients is published twice, bucketized. Between the releases patients 7, 10 and 13
leave and 14 and 15 arrive.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from showthrough.errors import FileError
from showthrough.release.release import Release
from showthrough.table.files import parse_table, read_bytes, unwritable, written_whole

NAMES = ("D1", "D2")
STORY = (
    "A hospital publishes its patients twice. In each table a patient is hidden in a group: readers see who is in "
    "the group and which diseases it holds, not who has which. Patients 7, 10 and 13 have left before the second "
    "table, 14 and 15 are new. (Wang, Zhu, Du, Teng, ICDM 2008, Figure 1)"
)


def releases() -> tuple[Release, ...]:
    """D1 with 13 persons and D2 with 12."""
    return tuple(
        Release.bucketized(
            parse_table(_raw(name), f"{name}.csv"),
            id="pseudonym",
            sensitive="disease",
            group="group",
            name=name,
        )
        for name in NAMES
    )


def write(folder: Path) -> list[Path]:
    """Copy the two tables as CSV files; other files of these names are never overwritten."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(folder, problem) from None
    targets = [folder / f"{name}.csv" for name in NAMES]
    for name, target in zip(NAMES, targets, strict=True):
        if os.path.lexists(target) and not (target.is_file() and read_bytes(target) == _raw(name)):
            raise FileError(f"{target} exists and is not the example: nothing was written. Choose another --folder.")
    for name, target in zip(NAMES, targets, strict=True):
        with written_whole(target) as stream:
            stream.write(_raw(name))
    return targets


def _raw(name: str) -> bytes:
    return (files("showthrough.examples") / "figure1" / f"{name}.csv").read_bytes()
