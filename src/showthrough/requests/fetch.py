"""Fetch public tables for the experiments: downloaded, checked, and laid out as they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from showthrough.errors import InputError
from showthrough.experiments.fetching import fetched
from showthrough.experiments.raw_files import RAW_FILES
from showthrough.experiments.study_data import FOLDER
from showthrough.progress import Progress
from showthrough.table.entries import Entries


@dataclass(frozen=True)
class FetchRequest(Entries):
    """Which tables, where they are put, and where their raw files are: a folder, or an address of its own."""

    table: str
    source: str | None = None
    output: str = FOLDER

    def check(self) -> None:
        """The table is one that we know."""
        if self.table not in RAW_FILES:
            raise InputError(f"Table is one of {', '.join(RAW_FILES)}, not {self.table!r}.", parameters=("table",))


@dataclass(frozen=True)
class FetchResult:
    """The files that were written."""

    files: tuple[Path, ...]


def run_fetch(request: FetchRequest, progress: Progress | Callable[[str], None] | None = None) -> FetchResult:
    """Download, check, convert, write."""
    files = RAW_FILES[request.table]
    return FetchResult(tuple(fetched(files, Path(request.output), request.source, Progress.of(progress))))
