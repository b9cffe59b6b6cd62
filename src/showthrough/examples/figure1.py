"""Figure 1 of Wang, Zhu, Du and Teng, *Inference Analysis in Privacy-Preserving Data Re-publishing*, ICDM 2008.

A register of patients is published twice, bucketized. Between the releases patients 7, 10 and 13
leave and 14 and 15 arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from showthrough.examples import shipped
from showthrough.release.release import Release
from showthrough.table.files import parse_table

NAMES = ("D1", "D2")
STORY = (
    "A hospital publishes its patients twice. In each table a patient is hidden in a group: readers see who is in "
    "the group and which diseases it holds, not who has which. Patients 7, 10 and 13 have left before the second "
    "table, 14 and 15 are new. (Wang, Zhu, Du, Teng, ICDM 2008, Figure 1)"
)
SHOWN = (("10", "Lung Cancer"), ("14", "Flu"), ("15", "Flu"))  # facts that tell the story


def releases() -> tuple[Release, ...]:
    """D1 with 13 persons and D2 with 12."""
    return tuple(
        Release.bucketized(
            parse_table(shipped.raw("figure1", f"{name}.csv"), f"{name}.csv"),
            id="pseudonym",
            sensitive="disease",
            group="group",
            name=name,
        )
        for name in NAMES
    )


def write(folder: Path, made: Mapping[str, bytes] | None = None) -> list[Path]:
    """Copy the two tables as CSV files, with what was ``made`` of them; files of others are never overwritten."""
    return shipped.write("figure1", [f"{name}.csv" for name in NAMES], folder, made)
