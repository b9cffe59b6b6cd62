"""Tables that experiments read: public files in a folder, or synthetic ones with the same marginals.

A synthetic table has, column by column, exactly the values of the real one in a random order of its own: whatever
depends on single columns comes out alike, whatever depends on columns together does not. Numeric tables are drawn from
quantiles. Hierarchies ship with the package.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import FileError
from showthrough.table.files import read_table
from showthrough.table.hierarchy import Hierarchy

ID = "pid"
VARIABLE = "SHOWTHROUGH_DATA"
FOLDER = "data"  # where tables are put by whoever fetches them, and looked for
PLACES = {
    "adult": "adult/adult_kdd08.csv.gz",
    "ipums": "ipums/ipums_la_97_kdd08.csv",
    "census": "casc/census.csv",
    "tarragona": "casc/tarragona.csv",
    "eia": "casc/eia.csv",
}
TOLD = {
    "adult": "Adult (UCI), the 30\u202f162 training records without missing values",
    "ipums": "IPUMS Los Angeles-Long Beach, census of 1970 (UCI, code 97), 70\u202f187 records",
    "census": "CASC reference file Census",
    "tarragona": "CASC reference file Tarragona",
    "eia": "CASC reference file EIA",
}
SENSITIVE = {"adult": "occupation", "ipums": "occ1950"}
NUMERIC = {"census": 1080, "tarragona": 834, "eia": 4092}
_BY_HAND = "the CASC reference files come with sdcMicro: put them there as CSV"


@dataclass(frozen=True)
class StudyData:
    """A folder with tables, or none: then tables are synthetic."""

    folder: Path | None

    @classmethod
    def found(cls, folder: str | None = None) -> StudyData:
        """The folder that is named, that of the variable SHOWTHROUGH_DATA, or ``data`` here."""
        return cls(Path(folder or os.environ.get(VARIABLE) or FOLDER))

    @classmethod
    def synthetic(cls) -> StudyData:
        """Made tables with the marginals of the real ones."""
        return cls(None)

    def said(self, names: Sequence[str]) -> str:
        """What is read, in words."""
        if not names:
            return "none but the paper's own examples."
        told = "; ".join(TOLD[name] for name in names)
        if self.folder is not None:
            return f"{told}."
        return (
            f"synthetic, no real record: columns drawn independently, from a fixed seed, with the marginals of {told}."
        )

    def files(self, names: Sequence[str]) -> list[Path]:
        """The files of these tables; a sentence where one is missing."""
        return [] if self.folder is None else [self._file(name) for name in names]

    def table(self, name: str) -> pl.DataFrame:
        """A table by its name, every column as text but those of numeric tables; persons are numbered in ``pid``."""
        frame = _synthetic(name) if self.folder is None else read_table(self._file(name))
        if name in NUMERIC:
            kept = [column for column in frame.columns if column in _marginals(name)]
            frame = frame.select(pl.col(kept).cast(pl.Float64))
        return frame.with_row_index(ID).with_columns(pl.col(ID).cast(pl.String))

    def _file(self, name: str) -> Path:
        assert self.folder is not None
        path = self.folder / PLACES[name]
        if not path.is_file():
            how = _BY_HAND if name in NUMERIC else f"showthrough data fetch {name} downloads it"
            raise FileError(
                f"There is no {PLACES[name]} in {self.folder}: {how}; data= names another folder.", parameters=("data",)
            )
        return path


def hierarchies(name: str, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies of columns of Adult (from ARX) or IPUMS (by its code book)."""
    home, found = files("showthrough.experiments") / "hierarchies" / name, {}
    for column in columns:
        with as_file(home / f"{column}.csv") as path:
            found[column] = Hierarchy.read(path)
    return found


def quasi(name: str, frame: pl.DataFrame) -> list[str]:
    """The quasi-identifiers of a table: all columns but the person and the sensitive value."""
    return [column for column in frame.columns if column not in (ID, SENSITIVE[name])]


def _marginals(name: str) -> Mapping[str, Any]:
    text = (files("showthrough.experiments") / "marginals" / f"{name}.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def _synthetic(name: str) -> pl.DataFrame:
    random, told = np.random.default_rng(0), _marginals(name)
    if name in NUMERIC:
        rows = NUMERIC[name]
        at, ends = np.linspace(0, 1, rows), np.linspace(0, 1, 41)
        return pl.DataFrame({c: random.permutation(np.interp(at, ends, q)).round(2) for c, q in told.items()})
    return pl.DataFrame({c: _drawn(counts, random) for c, counts in told.items()})


def _drawn(counts: Mapping[str, int], random: np.random.Generator) -> pl.Series:
    """Every value as often as it is counted, in random order."""
    codes = np.repeat(np.arange(len(counts)), list(counts.values()))
    return pl.Series(list(counts), dtype=pl.String).gather(random.permutation(codes))
