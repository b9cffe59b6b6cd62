"""Releases on a Spark cluster laid on top of each other: joined by id, and shared out in pieces, by the workers.

Every step writes a folder of Parquet files that the next one reads, so that a lost worker, or a driver that begins
anew, goes on from the last step. Groups are numbered by a hash of release and label that is checked to be one number
per group; ids and values stay on the workers.

    persons   id, g0, g1, …          the group of everybody in each release, or nothing
    tallies   release, g, value, n   what is published of each group
    ties      g, component           groups that persons tie together
    members, counts                  persons and tallies by piece
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from showthrough.engines.cluster_release import ClusterRelease, check_files
from showthrough.errors import InputError, ReleaseError
from showthrough.inference.cluster.forest import stars
from showthrough.inference.cluster.pieces import COUNTS, MEMBERS
from showthrough.numerals import many, number_of
from showthrough.progress import Progress

_FEWER = 4  # partitions become one when forests are taken together
_PART = 250_000  # persons of a part of a giant component, whoever is there to work on it: so no byte depends on that
_SEED = 42


@dataclass(frozen=True)
class LaidOut:
    """How many persons there are, in how many pieces; ``giants`` are pieces of one component that is too large."""

    persons: int
    pieces: int
    giants: tuple[int, ...]


class Laying:
    """The steps, on a session, in a folder that driver and workers share."""

    def __init__(self, session: Any, releases: Sequence[ClusterRelease], names: Sequence[str], folder: Path) -> None:
        self.session, self.releases, self.names, self.folder = session, releases, names, folder

    def run(self, progress: Progress, *, persons: int, largest: int) -> LaidOut:
        """Do all steps that are not done yet: pieces of about so many persons, components of at most so many."""
        progress.stage("reading groups")
        for r, one in enumerate(self.releases):
            own = (one.id, one.group) if one.values is not None else (one.id, one.group, one.sensitive)
            check_files(one.source, own, self.names[r])
            check_files(one.values, (one.group, one.sensitive, one.count), f"{self.names[r]} (table of values)")
        self._step("tallies", self._tallies)
        progress.stage("joining releases")
        self._step("persons", self._persons)
        self._check()
        progress.stage("components")
        self._step("ties", self._ties)
        progress.stage("sharing out")
        return self._shared_out(persons, largest)

    # Steps -----------------------------------------------------------------------------------

    def _step(self, name: str, make: Any) -> None:
        """A step that writes one folder, unless it is written."""
        if not (self.folder / name / "_SUCCESS").exists():
            make().write.mode("overwrite").parquet(str(self.folder / name))

    def read(self, name: str) -> Any:
        """What a step wrote."""
        return self.session.read.parquet(str(self.folder / name))

    def values_of(self, r: int) -> tuple[Any, ...]:
        """The values that a release publishes."""
        own = self.read("tallies").where(f"release = {r}").select("value").distinct()
        return tuple(sorted(row["value"] for row in own.collect()))

    def _code(self, r: int, label: Any) -> Any:
        from pyspark.sql import functions as sql

        return sql.xxhash64(sql.lit(_SEED), sql.lit(r), label.cast("string"))

    def _tallies(self) -> Any:
        from pyspark.sql import functions as sql

        parts = []
        for r, one in enumerate(self.releases):
            frame = self._frame(r, one.source, (one.id, one.group) if one.values is not None else None)
            if one.values is None:
                counted = frame.groupBy(
                    sql.col(one.group).alias("label"), sql.col(one.sensitive).alias("value")
                ).count()
                counted = counted.withColumnRenamed("count", "n")
            else:
                table = self._frame(r, one.values, (one.group, one.sensitive, one.count))
                counted = table.select(
                    sql.col(one.group).alias("label"),
                    sql.col(one.sensitive).alias("value"),
                    sql.col(one.count).try_cast("long").alias("n"),
                ).where("n is null or n > 0")
            label = sql.col("label").cast("string")
            parts.append(
                counted.select(
                    sql.lit(r).alias("release"), self._code(r, label).alias("g"), label.alias("label"), "value", "n"
                )
            )
        if len({dict(own.dtypes)["value"] for own in parts}) > 1:  # 3 and "3" are one value, as on one machine
            parts = [own.withColumn("value", sql.col("value").cast("string")) for own in parts]
        return reduce(lambda one, other: one.unionByName(other), parts)

    def _persons(self) -> Any:
        from pyspark.sql import functions as sql

        parts = []
        for r, one in enumerate(self.releases):
            frame = self._frame(r, one.source, (one.id, one.group))
            own = frame.select(
                sql.col(one.id).cast(self.id_type()).alias("id"),
                sql.lit(r).alias("release"),
                self._code(r, sql.col(one.group)).alias("g"),
            )
            parts.append(own)
        found = reduce(lambda one, other: one.unionByName(other), parts)
        of = [sql.when(sql.col("release") == r, sql.col("g")) for r in range(len(self.releases))]
        each = [sql.max(own).alias(f"g{r}") for r, own in enumerate(of)]
        twice = sql.greatest(*[sql.count(own) for own in of], sql.lit(0)) > 1
        return found.groupBy("id").agg(*each, twice.alias("twice"))

    def _ties(self) -> Any:
        from pyspark.sql import functions as sql

        columns = [f"g{r}" for r in range(len(self.releases))]
        first = sql.coalesce(*columns)
        pairs = self.read("persons").select(
            sql.explode(sql.array_compact(sql.array(*columns))).alias("head"), first.alias("tail")
        )
        schema = "tail long, head long"
        found = pairs.select("tail", "head").mapInArrow(_reduced, schema)
        partitions = found.rdd.getNumPartitions()
        while partitions > 1:
            partitions = max(1, partitions // _FEWER)
            found = found.coalesce(partitions).mapInArrow(_reduced, schema)
        return found.select(sql.col("head").alias("g"), sql.col("tail").alias("component"))

    def _shared_out(self, persons: int, largest: int) -> LaidOut:
        from pyspark.sql import functions as sql

        first = sql.coalesce(*[f"g{r}" for r in range(len(self.releases))]).alias("g")
        ties = self.read("ties")
        everybody = self.read("persons").drop("twice").withColumn("g", first).join(ties, "g").drop("g")
        large = everybody.groupBy("component").count().where(sql.col("count") > largest)
        giants = sorted((row["component"], row["count"]) for row in large.collect())
        total = self.read("persons").count()
        pieces = max(1, -(-total // persons))
        piece, part = sql.pmod(sql.xxhash64("component"), sql.lit(pieces)).cast("int"), sql.lit(0)
        for k, (component, size) in enumerate(giants):
            own, parts = sql.col("component") == component, max(2, -(-size // _PART))
            piece = sql.when(own, pieces + k).otherwise(piece)
            part = sql.when(own, sql.pmod(sql.xxhash64(first), sql.lit(parts)).cast("int")).otherwise(part)
        counts = self.read("tallies").drop("label").join(ties, "g").withColumn("piece", piece)
        everybody = everybody.withColumn("piece", piece).withColumn("part", part)
        self._step_by_piece(MEMBERS, everybody.drop("component"), "piece", "part")
        self._step_by_piece(COUNTS, counts.drop("component"), "piece")
        return LaidOut(total, pieces, tuple(range(pieces, pieces + len(giants))))

    def _step_by_piece(self, name: str, frame: Any, *by: str) -> None:
        if not (self.folder / name / "_SUCCESS").exists():
            at_once = frame.repartition(4 * int(self.session.sparkContext.defaultParallelism), *by)
            at_once.write.mode("overwrite").partitionBy(*by).parquet(str(self.folder / name))

    # What must hold --------------------------------------------------------------------------

    def _frame(self, r: int, source: Any, columns: Sequence[str] | None) -> Any:
        """A table of a release with the columns that it must have."""
        one, name = self.releases[r], self.names[r]
        frame = self.session.read.parquet(source) if isinstance(source, str) else source
        wanted = columns or (one.id, one.group, one.sensitive)
        missing = [c for c in wanted if c not in frame.columns]
        if missing:
            raise InputError(f"{name} has no column {missing[0]!r}.")
        return frame

    def id_type(self) -> str:
        """Ids as whole numbers if they are so everywhere, otherwise as text, so that 11 and "11" are one person."""
        kinds = set()
        for r, one in enumerate(self.releases):
            kind = dict(self._frame(r, one.source, (one.id,)).dtypes)[one.id]
            if kind not in ("tinyint", "smallint", "int", "bigint", "string"):
                raise InputError(f"{self.names[r]}: ids are whole numbers or text on a cluster, not {kind}.")
            kinds.add("string" if kind == "string" else "bigint")
        return "bigint" if kinds == {"bigint"} else "string"

    def _check(self) -> None:
        """Refuse what no release is: gaps, ids that are there twice, groups whose counts are not those of persons."""
        from pyspark.sql import functions as sql

        groups = self.read("tallies").groupBy("release", "g").agg(
            sql.sum("n").alias("n"), sql.count_distinct("label").alias("labels"),
            sql.max(sql.col("label").isNull() | sql.col("value").isNull() | sql.col("n").isNull()).alias("gap"),
        )  # fmt: skip
        told = groups.groupBy("release").agg(
            sql.max("labels").alias("labels"),
            sql.sum(sql.col("gap").cast("long")).alias("gaps"),
            sql.count("g").alias("groups"),
        )
        for row in sorted(told.collect()):
            if row["gaps"]:
                raise ReleaseError(
                    f"{self.names[row['release']]}: {number_of(row['gaps'], 'group')} with an empty value, or a count "
                    "that is no whole number."
                )
        for r in {*range(len(self.releases))} - {row["release"] for row in told.collect()}:
            raise ReleaseError(f"{self.names[r]} has no rows.")
        distinct = groups.select("g").distinct().count()
        if any(row["labels"] > 1 for row in told.collect()) or distinct != groups.count():
            raise ReleaseError("Two groups have the same number; name the groups in another way.")
        persons = self.read("persons")
        twice = persons.where("twice").count()
        if twice:
            raise ReleaseError(
                f"{number_of(twice, 'id')} of a release stands in it more than once. A person may be in a release only "
                "once."
            )
        if persons.where(sql.col("id").isNull()).limit(1).count():
            raise ReleaseError("Some rows have no id: every person of a release on a cluster has one.")
        for r in range(len(self.releases)):
            members = (
                persons.where(f"g{r} is not null").groupBy(sql.col(f"g{r}").alias("g")).agg(sql.count("*").alias("m"))
            )
            own = groups.where(sql.col("release") == r).select("g", "n")
            off = own.join(members, "g", "full").where("m is null or n is null or m != n").count()
            if off:
                of = own.count()
                raise ReleaseError(
                    f"{self.names[r]}: of {many(of)} groups, {many(off)} have other numbers of persons than of values."
                )


def _reduced(batches: Iterator[Any]) -> Iterator[Any]:
    """The stars of the edges of a partition."""
    import pyarrow as pa

    held = [(b.column("tail").to_numpy(), b.column("head").to_numpy()) for b in batches]
    if not held:
        return
    node, least = stars(*(np.concatenate(own) for own in zip(*held, strict=True)))
    yield pa.RecordBatch.from_arrays([pa.array(least), pa.array(node)], names=["tail", "head"])
