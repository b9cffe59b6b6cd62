"""What is tied together where no worker holds all groups: alternating large-star and small-star steps, by Spark alone.

Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected Components in MapReduce and Beyond", SoCC 2014. With
Γ(u) the neighbours of u and m(u) the smallest of Γ(u) and u,

    large-star: every u ties each v > u of Γ(u) to m(u),
    small-star: every u ties u, and each v < u of Γ(u), to m(u).

Neither changes what is tied together, and where neither changes an edge these are stars around the smallest node of
each component. Edges are kept as (tail, head) with tail < head, so m(u) is the smallest tail of head u, and a node with
no tail is its own. What a round of both leaves is a folder of Parquet files, from which a driver that begins anew goes
on.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

EDGES = "tail long, head long"


def star_edges(session: Any, edges: Any, folder: Path) -> Any:
    """The edges (tail, head) of stars that tie what the given ones tie; each round is written to ``folder``."""
    rounds = max((int(done.parent.name) for done in folder.glob("*/_SUCCESS")), default=-1)
    if rounds < 0:
        rounds = _written(edges.where("tail < head").distinct(), folder, 0)
    found = _read(session, folder, rounds)
    while not _stars(found):
        rounds = _written(_small_star(_large_star(found)), folder, rounds + 1)
        found = _read(session, folder, rounds)
    return found


def _smallest(edges: Any) -> Any:
    """m(head) of every head."""
    from pyspark.sql import functions as sql

    return edges.groupBy("head").agg(sql.min("tail").alias("least"))


def _large_star(edges: Any) -> Any:
    """The large neighbours of u are the heads of the edges whose tail it is."""
    from pyspark.sql import functions as sql

    least = _smallest(edges).withColumnRenamed("head", "tail")
    tied = edges.join(least, "tail", "left").select(sql.coalesce("least", "tail").alias("tail"), "head")
    return tied.distinct()


def _small_star(edges: Any) -> Any:
    """The small neighbours of u are the tails of the edges whose head it is."""
    from pyspark.sql import functions as sql

    least = _smallest(edges)
    small = edges.join(least, "head").where("least < tail")
    tied = small.select(sql.col("least").alias("tail"), sql.col("tail").alias("head"))
    return tied.union(least.select(sql.col("least").alias("tail"), "head")).distinct()


def _stars(edges: Any) -> bool:
    """Whether every head has one tail, which is no head itself."""
    from pyspark.sql import functions as sql

    ends = edges.select(sql.explode(sql.array("tail", "head")).alias("node"), sql.col("head"))
    is_head = (sql.col("node") == sql.col("head")).cast("long")
    each = ends.groupBy("node").agg(sql.sum(is_head).alias("heads"), sql.count(sql.lit(1)).alias("of"))
    return not each.where("heads > 1 or heads = 1 and of > 1").limit(1).count()


def _written(edges: Any, folder: Path, rounds: int) -> int:
    """Write a round, after which nobody reads the one before."""
    edges.write.mode("overwrite").parquet(str(folder / str(rounds)))
    shutil.rmtree(folder / str(rounds - 1), ignore_errors=True)
    return rounds


def _read(session: Any, folder: Path, rounds: int) -> Any:
    return session.read.schema(EDGES).parquet(str(folder / str(rounds)))
