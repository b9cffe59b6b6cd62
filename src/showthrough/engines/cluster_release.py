"""A release that lies on a cluster: who is in which group, and the values of each group."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.errors import InputError, ReleaseError


@dataclass(frozen=True, eq=False, repr=False)
class ClusterRelease:
    """A bucketized release with ids as a Spark DataFrame or a folder of Parquet files; nothing of it is read yet."""

    source: Any
    id: str
    sensitive: str
    group: str
    values: Any = None
    count: str = "count"
    name: str = ""

    @property
    def path(self) -> str | None:
        """Where its files are; None if it is a DataFrame."""
        return self.source if isinstance(self.source, str) else None

    def __repr__(self) -> str:
        where = "DataFrame" if self.path is None else "Parquet files"
        return f"<release on a cluster, {where}: {self.name or 'without a name'}>"


def published(
    source: Any, *, id: str, sensitive: str, group: str, values: Any = None, count: str = "count", name: str = ""
) -> ClusterRelease:
    """A bucketized release for `infer` on a cluster, from a Spark DataFrame or the path of Parquet files.

    One row per person with id, group and a value of the group, in any order; or, with ``values``, persons in
    ``source`` and the counts of values by group in a second DataFrame or folder (group, value, ``count``). A folder is
    one that driver and workers can read.
    """
    where = os.fspath(source) if isinstance(source, (str, os.PathLike)) else source
    second = os.fspath(values) if isinstance(values, (str, os.PathLike)) else values
    for given in (where,) if second is None else (where, second):
        if not isinstance(given, str) and not spark_frame(given):
            raise InputError(
                "A release on a cluster is a Spark DataFrame or the path of Parquet files; other frames become one "
                "with session.createDataFrame, or a release with Release.bucketized."
            )
    named = os.path.basename(where.rstrip("/\\")) if isinstance(where, str) and not name else name
    return ClusterRelease(where, id, sensitive, group, second, count, named)


def check_release(one: ClusterRelease, name: str = "") -> None:
    """Refuse files of a release that Spark would read in part or not at all."""
    own = (one.id, one.group) if one.values is not None else (one.id, one.group, one.sensitive)
    check_files(one.source, own, name or one.name)
    check_files(one.values, (one.group, one.sensitive, one.count), f"{name or one.name} (table of values)")


def check_files(source: Any, columns: Sequence[str], name: str) -> None:
    """Refuse files that Spark would read in part or not at all; what this process cannot see is left to Spark."""
    if not isinstance(source, str) or "://" in source:
        return
    home = Path(source)
    if not home.exists():
        raise InputError(f"{name}: {source} is not there.")
    files = [home] if home.is_file() else sorted(path for path in home.rglob("*.parquet") if _seen(path, home))
    if not files:
        raise InputError(f"{name}: {source} holds no files that end in .parquet.")
    first: dict[str, str] = {}
    for k, path in enumerate(files):
        try:
            found = pl.read_parquet_schema(path)
        except (OSError, pl.exceptions.PolarsError):
            raise ReleaseError(f"{name}: {path.name} cannot be read as a Parquet file.") from None
        kinds = {column: _kind(found[column]) for column in columns if column in found}
        first = kinds if k == 0 else first
        for column in columns:
            here, there = kinds.get(column), first.get(column)
            if here != there:
                raise ReleaseError(
                    f"{name}: column {column!r} holds {there or 'nothing'} in {files[0].name}, and {here or 'nothing'} "
                    f"in {path.name}. The files of a release have the same columns."
                )


def _seen(path: Path, home: Path) -> bool:
    """Whether Spark reads it: it passes over names that begin with a dot or an underscore."""
    return path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(home).parts)


def _kind(given: pl.DataType) -> str:
    """As Spark reads it."""
    if given == pl.UInt64:
        return "unsigned whole numbers of 64 bits"  # decimals to Spark
    if given.is_integer():
        return "whole numbers"
    return "text" if given in (pl.String, pl.Categorical) else str(given)


def spark_frame(given: Any) -> bool:
    """Whether it is a DataFrame of Spark, without loading Spark."""
    return any(c.__module__.startswith("pyspark.sql") and c.__name__ == "DataFrame" for c in type(given).__mro__)
