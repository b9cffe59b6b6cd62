"""Pieces that a cluster laid out: read by whoever works on them, answered once, and never again after a restart."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from showthrough.inference.cluster.cutting import HistoryPiece
from showthrough.inference.cluster.pieces import COUNTS, MEMBERS, PieceAnswer, PieceQuestion, answer_cut
from showthrough.register.changed import Changed
from showthrough.release.release import Release
from showthrough.storage.unit import written_whole

DONE = "done"


@dataclass(frozen=True)
class LaidPiece:
    """Where a piece lies, and what the releases are called."""

    folder: str
    number: int
    names: tuple[str, ...]
    changed: Changed


def answer_laid(piece: LaidPiece, question: PieceQuestion) -> PieceAnswer:
    """The answer of a piece, as it was found before or is found now."""
    folder, name = Path(piece.folder), f"{piece.number:06d}"
    kept = folder / DONE / f"{name}.pickle"
    if kept.exists():
        with kept.open("rb") as stream:
            found: PieceAnswer = pickle.load(stream)
        return found
    found = answer_cut(_read(piece), name, question)
    with written_whole(kept, private=True) as written:
        pickle.dump(found, written)
    return found


def _read(piece: LaidPiece) -> HistoryPiece:
    """The releases of a piece; in an order that does not depend on who wrote its files."""
    folder, own = Path(piece.folder), f"piece={piece.number}"
    people = pl.read_parquet(folder / MEMBERS / own / "part=0" / "*.parquet", hive_partitioning=False).sort("id")
    counts = pl.read_parquet(folder / COUNTS / own / "*.parquet", hive_partitioning=False).sort("release", "g", "value")
    releases, there = [], []
    for r, name in enumerate(piece.names):
        records = people.select("id", pl.col(f"g{r}").alias("group")).drop_nulls("group")
        if records.height:
            values = counts.filter(pl.col("release") == r).select(pl.col("g").alias("group"), "value", pl.col("n"))
            releases.append(
                Release.bucketized(
                    records, values=values, id="id", sensitive="value", group="group", count="n", quasi=[], name=name
                )
            )
            there.append(r)
    return HistoryPiece(tuple(releases), piece.changed.among(piece.names, there))
