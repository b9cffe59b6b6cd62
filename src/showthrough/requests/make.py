"""A published file becomes a release folder: its kind by options or clues, its columns by roles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from showthrough.errors import InputError
from showthrough.register.history_file import HistoryEntries, ReleaseEntry
from showthrough.release.release import Release


@dataclass(frozen=True)
class MakeRequest(ReleaseEntry):
    """The file with the options of `read_release`, and the folder to write."""

    folder: str = ""
    format: Literal["csv", "parquet"] = "csv"
    overwrite: bool = False

    def check(self) -> None:
        """There is a folder to write."""
        if not self.folder:
            raise InputError("Name the release folder to write.", parameters=("folder",))

    def files(self) -> list[Path]:
        """Everything that is read."""
        return self._entries().files()

    def _entries(self) -> HistoryEntries:
        own = {name: given for name, given in self.options().items() if name not in ("folder", "format", "overwrite")}
        return HistoryEntries((ReleaseEntry(self.file, **own),))


def run_make(request: MakeRequest) -> Release:
    """Read the file and write its folder."""
    release = request._entries().load()[0][0]
    named = replace(release, name=request.name or Path(request.folder).name)
    named.save(request.folder, format=request.format, overwrite=request.overwrite)
    return named
