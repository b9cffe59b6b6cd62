"""Releases on a Spark cluster laid on top of each other: joined by id, and shared out in pieces, by the workers.

Every step writes a folder of Parquet files that the next one reads, so that a lost worker, or a driver that begins
anew, goes on from the last step. Groups are numbered by a hash of release and label that is checked to be one number
per group; ids and values stay on the workers.

    persons   id, g0, g1, …          the group of everybody in each release, or nothing
    tallies   release, g, value, n   what is published of each group
    ties      g, component, persons  groups that persons tie together, and the persons who are first in each; where no
                                     worker holds all groups after ``forests`` and ``stars``
    members, counts                  persons and tallies by piece
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from showthrough.engines.cluster_release import ClusterRelease, check_release
from showthrough.errors import InputError, ReleaseError
from showthrough.inference.cluster.forest import stars
from showthrough.inference.cluster.pieces import COUNTS, MEMBERS
from showthrough.inference.cluster.star_steps import star_edges
from showthrough.numerals import many, number_of
from showthrough.progress import Progress
from showthrough.table.arrays import Ints

_AT_ONCE = 64  # partitions whose forests become one; of more, first
_FEWER = 8  # become one
MOST_TIED = 250_000_000  # groups that one worker ties together, at about 100 bytes each; more are tied by all of them
_EDGES = 250_000  # that a worker holds before it makes stars of them; more where there are more nodes
PART = 75_000  # persons of a part of a giant component, whoever is there to work on it: so no byte depends on that
_SEED = 42
_TIES = "tail long, head long, persons long"
STARS = "stars"  # a folder of steps


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
        self._frames: dict[str, Any] = {}

    def run(self, progress: Progress, *, persons: int, largest: int) -> LaidOut:
        """Do all steps that are not done yet: pieces of about so many persons, components of at most so many."""
        progress.stage("reading groups")
        for r, one in enumerate(self.releases):
            check_release(one, self.names[r])
        self._step("tallies", self._tallies)
        progress.stage("joining releases")
        self._step("persons", self._persons)
        groups = self._check()
        progress.stage("components")
        self._step("ties", self._ties if groups <= MOST_TIED else self._ties_by_all)
        progress.stage("sharing out")
        return self._shared_out(persons, largest)

    # Steps -----------------------------------------------------------------------------------

    def _step(self, name: str, make: Any) -> None:
        """A step that writes one folder, unless it is written."""
        if not (self.folder / name / "_SUCCESS").exists():
            make().write.mode("overwrite").parquet(str(self.folder / name))

    def read(self, name: str) -> Any:
        """What a step wrote; its schema is told, as looking for it would be a job."""
        return self.session.read.schema(self._schemas()[name]).parquet(str(self.folder / name))

    def _schemas(self) -> dict[str, str]:
        groups = ", ".join(f"g{r} long" for r in range(len(self.releases)))
        return {
            "tallies": f"release int, g long, label string, value {self.value_type()}, n long",
            "persons": f"id {self.id_type()}, {groups}, twice boolean",
            "forests": _TIES,
            "ties": "g long, component long, persons long",
        }

    def values(self) -> tuple[tuple[Any, ...], ...]:
        """The values that each release publishes."""
        found: list[list[Any]] = [[] for _ in self.releases]
        for row in self.read("tallies").select("release", "value").distinct().collect():
            found[row["release"]].append(row["value"])
        return tuple(tuple(sorted(own)) for own in found)

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
        parts = [own.withColumn("value", sql.col("value").cast(self.value_type())) for own in parts]
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
        """Stars by partition, then those of all partitions together; each with the persons who come first in it."""
        from pyspark.sql import functions as sql

        found = self._ties_by_partition()
        partitions = found.rdd.getNumPartitions()
        while partitions > 1:
            partitions = partitions // _FEWER if partitions > _AT_ONCE else 1
            found = found.repartition(partitions, "head").mapInArrow(_reduced, _TIES)
        return found.select(sql.col("head").alias("g"), sql.col("tail").alias("component"), "persons")

    def _ties_by_all(self) -> Any:
        """The same, where all partitions together are too much for one worker."""
        from pyspark.sql import functions as sql

        self._step("forests", self._ties_by_partition)
        found = self.read("forests")
        edges = star_edges(self.session, found.select("tail", "head"), self.folder / STARS)
        persons = found.groupBy("head").agg(sql.sum("persons").alias("persons"))
        component = sql.coalesce("tail", "head").alias("component")
        return persons.join(edges, "head", "left").select(sql.col("head").alias("g"), component, "persons")

    def _ties_by_partition(self) -> Any:
        from pyspark.sql import functions as sql

        columns = [f"g{r}" for r in range(len(self.releases))]
        first = sql.coalesce(*columns)
        pairs = self.read("persons").select(
            first.alias("tail"), sql.explode(sql.array_compact(sql.array(*columns))).alias("head")
        )
        single = (sql.col("tail") == sql.col("head")).cast("long")
        return pairs.withColumn("persons", single).mapInArrow(_reduced, _TIES)

    def _shared_out(self, persons: int, largest: int) -> LaidOut:
        from pyspark.sql import functions as sql

        first = sql.coalesce(*[f"g{r}" for r in range(len(self.releases))]).alias("g")
        ties = self.read("ties")
        sizes = ties.groupBy("component").agg(sql.sum("persons").alias("size"))
        over = sql.col("size") > largest
        told = sizes.groupBy(over.alias("over"), sql.when(over, sql.col("component")).alias("component"))
        found = told.agg(sql.sum("size").alias("size")).collect()
        giants = sorted((row["component"], row["size"]) for row in found if row["over"])
        total = sum(row["size"] for row in found)
        pieces = max(1, -(-total // persons))
        piece, part = sql.pmod(sql.xxhash64("component"), sql.lit(pieces)).cast("int"), sql.lit(0)
        for k, (component, size) in enumerate(giants):
            own, parts = sql.col("component") == component, max(2, -(-size // PART))
            piece = sql.when(own, pieces + k).otherwise(piece)
            part = sql.when(own, sql.pmod(sql.xxhash64(first), sql.lit(parts)).cast("int")).otherwise(part)
        tied = ties.select("g", "component")
        counts = self.read("tallies").drop("label").join(tied, "g").withColumn("piece", piece)
        everybody = self.read("persons").drop("twice").withColumn("g", first).join(tied, "g").drop("g")
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
        if isinstance(source, str) and source not in self._frames:
            self._frames[source] = self.session.read.parquet(source)
        frame = self._frames[source] if isinstance(source, str) else source
        wanted = columns or (one.id, one.group, one.sensitive)
        missing = [c for c in wanted if c not in frame.columns]
        if missing:
            raise InputError(f"{name} has no column {missing[0]!r}.")
        return frame

    def value_type(self) -> str:
        """Values as they are if they are so everywhere, otherwise as text: 3 and "3" are one, as on one machine."""
        kinds = set()
        for r, one in enumerate(self.releases):
            table, column = (one.source, one.sensitive) if one.values is None else (one.values, one.sensitive)
            kinds.add(dict(self._frame(r, table, (column,)).dtypes)[column])
        return kinds.pop() if len(kinds) == 1 else "string"

    def id_type(self) -> str:
        """Ids as whole numbers if they are so everywhere, otherwise as text, so that 11 and "11" are one person."""
        kinds = set()
        for r, one in enumerate(self.releases):
            kind = dict(self._frame(r, one.source, (one.id,)).dtypes)[one.id]
            if kind not in ("tinyint", "smallint", "int", "bigint", "string"):
                raise InputError(f"{self.names[r]}: ids are whole numbers or text on a cluster, not {kind}.")
            kinds.add("string" if kind == "string" else "bigint")
        return "bigint" if kinds == {"bigint"} else "string"

    def _check(self) -> int:
        """How many groups there are; refuses gaps, ids that are there twice, groups with other counts than persons."""
        from pyspark.sql import functions as sql

        told = {row["release"]: row for row in self._groups().collect()}
        for r, name in enumerate(self.names):
            if r in told and told[r]["gaps"]:
                raise ReleaseError(
                    f"{name}: {number_of(told[r]['gaps'], 'group')} without a name, with an empty value, or with a "
                    "count that is no whole number."
                )
        for r, name in enumerate(self.names):
            if r not in told or not told[r]["groups"]:
                raise ReleaseError(f"{name} has no rows.")
        if any(row["alike"] for row in told.values()):
            raise ReleaseError("Two groups have the same number; name the groups in another way.")
        persons = self.read("persons")
        empty = sql.sum(sql.col("id").isNull().cast("long"))
        ((twice, nameless),) = persons.agg(sql.sum(sql.col("twice").cast("long")), empty).collect()
        if nameless:
            raise ReleaseError("Some rows have no id: every person of a release on a cluster has one.")
        if twice:
            raise ReleaseError(
                f"{number_of(twice, 'id')} of a release {'stands' if twice == 1 else 'stand'} in it more than once. A "
                "person may be in a release only once."
            )
        for r, name in enumerate(self.names):
            of, off = told[r]["groups"], told[r]["off"]
            if off:
                raise ReleaseError(
                    f"{name}: of {many(of)} groups, {many(off)} have other numbers of persons than of values."
                )
        return sum(row["groups"] for row in told.values())

    def _groups(self) -> Any:
        """By release: its groups, those with gaps, with the number of another one, or with other persons than counts.

        Tallies and persons are counted side by side, which takes one exchange of rows and no join.
        """
        from pyspark.sql import functions as sql

        gap = sql.col("label").isNull() | sql.col("value").isNull() | sql.col("n").isNull()
        mark = sql.xxhash64(sql.lit(_SEED + 1), "release", "label")
        counted = self.read("tallies").select(
            "g", "release", sql.coalesce("n", sql.lit(0)).alias("n"), sql.lit(0).cast("long").alias("m"),
            mark.alias("mark"), gap.alias("gap"), sql.lit(True).alias("told"),
        )  # fmt: skip
        each = [sql.struct(sql.lit(r).alias("release"), sql.col(f"g{r}").alias("g")) for r in range(len(self.releases))]
        seats = self.read("persons").select(sql.explode(sql.array(*each)).alias("seat")).where("seat.g is not null")
        seated = seats.select(
            "seat.g", "seat.release", sql.lit(0).cast("long").alias("n"), sql.lit(1).cast("long").alias("m"),
            sql.lit(None).cast("long").alias("mark"), sql.lit(False).alias("gap"), sql.lit(False).alias("told"),
        )  # fmt: skip
        groups = counted.unionByName(seated).groupBy("g").agg(
            sql.min("release").alias("release"), (sql.min("release") != sql.max("release")).alias("across"),
            (sql.sum("n") != sql.sum("m")).alias("off"), (sql.min("mark") != sql.max("mark")).alias("several"),
            sql.max("gap").alias("gap"), sql.max("told").alias("told"),
        )  # fmt: skip

        def number(what: str) -> Any:
            return sql.sum(sql.expr(what).cast("long"))

        return groups.groupBy("release").agg(
            number("told").alias("groups"), number("gap").alias("gaps"), number("off").alias("off"),
            number("across or coalesce(several, false)").alias("alike"),
        )  # fmt: skip


def _reduced(batches: Iterator[Any]) -> Iterator[Any]:
    """The stars of the edges of a partition, and the persons of each node; few edges are held at a time."""
    import pyarrow as pa

    names = ("tail", "head", "persons")
    held: list[tuple[Ints, ...]] = []
    size, enough = 0, _EDGES
    for batch in batches:
        held.append(tuple(batch.column(name).to_numpy() for name in names))
        size += batch.num_rows
        if size >= enough:
            held = [_forest(held)]
            size = held[0][0].size
            enough = max(_EDGES, 2 * size)
    if held:
        yield pa.RecordBatch.from_arrays([pa.array(own) for own in _forest(held)], names=list(names))


def _forest(held: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
    tail, head, persons = (np.concatenate(own) for own in zip(*held, strict=True))
    node, least = stars(tail, head)
    number = np.bincount(np.searchsorted(node, head), weights=persons, minlength=node.size).astype(np.int64)
    return least, node, number
