"""Random histories with every argument of `infer`, and one release more: for tests that extending is inferring."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from showthrough import Register, Release
from showthrough.register.locating import names_of

KINDS = ("ids", "ids", "generalized", "counted", "within", "nearest", "rows", "mute")


@dataclass
class Extended:
    """Releases, the last of which comes later, and what a reader has beside them."""

    releases: list[Release]
    given: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class People:
    """The truth behind a history."""

    value: dict[Any, Any]
    age: dict[Any, int]


def extended(seed: int) -> Extended:
    """A history made from true values (some are tampered with), with arguments that name earlier releases."""
    rng = random.Random(seed)
    ids = [k if seed % 4 == 0 else f"p{k}" for k in range(rng.randint(2, 7))]
    people = People({p: rng.choice("abc") for p in ids}, {p: rng.randint(20, 29) for p in ids})
    located = rng.random() < 0.6
    homes: list[dict[Any, int]] = []
    releases: list[Release] = []
    for k in range(rng.randint(2, 4)):
        kind = rng.choice(KINDS if located else ("ids", "ids", "ids", "generalized", "mute"))
        home = {p: rng.choice([0, 0, 1, 1, 2]) for p in ids if rng.random() < 0.85} or {ids[0]: 0}
        name = rng.choice([f"R{k}", f"R{k}", f"R{k}", f"R{k}", "G", ""])
        made = _made(kind, name, home, people, rng)
        if made.sensitive is not None and rng.random() < 0.2:
            made = replace(made, domain=("a", "d"))
        releases.append(made)
        homes.append(home)
    return Extended(releases, _given(rng, releases, homes, people, located=located))


def _given(
    rng: random.Random, releases: list[Release], homes: list[dict[Any, int]], people: People, *, located: bool
) -> dict[str, Any]:
    """What `infer` is told, of all releases but the last."""
    given: dict[str, Any] = {"changed": rng.choice(["refuse", "refuse", "split"])}
    if rng.random() < 0.3:
        given["domain"] = ["e"]
    told = [k for k, r in enumerate(releases[:-1]) if r.sensitive is not None]
    names = dict(zip(told, names_of([releases[k] for k in told]), strict=True))
    members = {}
    for k in told:
        if rng.random() < 0.15:
            rows = [(p, releases[k].labels[min(g, releases[k].labels.len() - 1)]) for p, g in homes[k].items()]
            loose = [(p, None) for p, _ in rows if rng.random() < 0.2]
            members[names[k]] = pl.DataFrame([*rows, *loose], schema=["id", "group"], orient="row")
    if members:
        given["membership"] = members
    if located:
        known = [p for p in people.age if rng.random() < 0.85] or list(people.age)[:1]
        register = pl.DataFrame({"id": known, "age": [None if rng.random() < 0.1 else people.age[p] for p in known]})
        for k in told:
            if rng.random() < 0.3:
                style = rng.choice([[None], ["yes", "no", None], ["truth"]])
                marks = [{"truth": "yes" if p in homes[k] else "no"}.get(m := rng.choice(style), m) for p in known]
                register = register.with_columns(pl.Series(f"in_{names[k]}", marks, dtype=pl.String))
        if rng.random() < 0.05:
            register = register.with_columns(pl.lit("yes").alias("in_nowhere"))
        given["register"] = Register.of(register)
    return given


def _made(kind: str, name: str, home: dict[Any, int], people: People, rng: random.Random) -> Release:
    groups = [[p for p in home if home[p] == g] for g in sorted(set(home.values()))]
    rows = [(p, people.age[p], g + 1, people.value[p]) for g, own in enumerate(groups) for p in own]
    frame = pl.DataFrame(rows, schema=["id", "age", "g", "v"], orient="row")
    if rng.random() < 0.15:
        column = frame["v"].to_list()
        column[rng.randrange(len(column))] = rng.choice("abcd")
        frame = frame.with_columns(pl.Series("v", column))
    low, high = pl.col("age").min().over("g"), pl.col("age").max().over("g")
    cells = frame.with_columns(pl.format("[{}, {}]", low, high + rng.choice([0, 2])).alias("age"))
    if rng.random() < 0.2:
        last = pl.col("g") == pl.col("g").max()
        cells = cells.with_columns(pl.when(last).then(pl.lit("*")).otherwise("age").alias("age"))
    middle = frame.with_columns(((low + high) / 2).alias("age"), ((high - low) / 2).alias("width"))
    match kind:
        case "ids":
            return Release.bucketized(frame.drop("age"), id="id", sensitive="v", group="g", name=name)
        case "rows":
            return Release.bucketized(frame.drop("id"), sensitive="v", group="g", name=name)
        case "mute":
            frame = frame.with_columns(pl.col("age").cast(pl.String))
            return Release.generalized(frame, sensitive=None, quasi=["age"], id="id", name=name)
        case "generalized":
            return Release.generalized(cells, sensitive="v", quasi=["age"], group="g", name=name)
        case "counted":
            tally = cells.group_by("age", "g", "v", maintain_order=True).agg(pl.len().alias("count"))
            return Release.counted(tally, sensitive="v", quasi=["age"], group="g", name=name)
        case "within":
            spread = {"age": "width"}
            return Release.microaggregated(
                middle, sensitive="v", quasi=["age"], group="g", spread=spread, locate="within", name=name
            )
        case _:
            return Release.microaggregated(middle, sensitive="v", quasi=["age"], group="g", name=name)
