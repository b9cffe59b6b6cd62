"""Understand a history before anything is inferred: how cells were read, and who can be located."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from showthrough.progress import Progress
from showthrough.register.history_file import HistoryEntries
from showthrough.register.locating import names_of, understood
from showthrough.register.reader import Reader, telling
from showthrough.register.register import Register
from showthrough.register.tying import located_in
from showthrough.register.unfilled import Unfilled
from showthrough.release.kind import Shows
from showthrough.release.release import Release


@dataclass(frozen=True, eq=False)
class Understood:
    """Every different cell with its meaning, and how many groups the persons of the register fit."""

    cells: pl.DataFrame
    locatability: pl.DataFrame | None
    unfilled: tuple[Unfilled, ...] = ()
    """Rows that nobody of the register fits."""

    def forms(self) -> pl.DataFrame:
        """The cells by their kind, counted: what everybody may see of them."""
        by = ["release", "column", "kind"]
        counted = self.cells.group_by(by, maintain_order=True).agg(
            pl.len().alias("different cells"), pl.col("rows").sum()
        )
        return counted.select(*by, "different cells", "rows")


def run_understand(request: HistoryEntries, progress: Progress | Callable[[str], None] | None = None) -> Understood:
    """Read the history and say how it was understood."""
    tell = Progress.of(progress)
    tell.stage("reading")
    releases, register = request.load()
    tell.stage("cells")
    cells = _cells(releases, register)
    reader = Reader.of(releases, register=register)
    if reader.register is None:
        return Understood(cells, None)
    tell.stage("locating persons")
    told = telling(releases, noisy=True)
    found = located_in(told, reader.checked(told))
    reports = [own.locatability for own in found if own.locatability is not None]
    empty = tuple(own.unfilled for own in found if own.unfilled is not None)
    return Understood(cells, pl.concat(reports) if reports else None, empty)


def _cells(releases: Sequence[Release], register: Register | None) -> pl.DataFrame:
    """Every different cell of every release that publishes cells, with its meaning."""
    frames = [
        understood(r, name, register=register).select(pl.lit(name).alias("release"), pl.all())
        for name, r in zip(names_of(releases), releases, strict=True)
        if r.form.shows is Shows.CELLS and r.roles.quasi
    ]
    return pl.concat(frames) if frames else pl.DataFrame()
