"""Knowledge in the numbers of a history: statements as sums over its columns, and the prior of each column.

Somebody whom a statement speaks of and no release of the history holds has a value all the same: such persons are
columns at the end, in no group, and nobody is told of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.knowledge.assertion import Assertion, Informed
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.codes import positions
from showthrough.table.texts import as_text


@dataclass(frozen=True)
class Statements:
    """What somebody knows of sums over persons: lower ≤ Σ coefficient · P(value | person) ≤ upper."""

    lower: Ints  # [statements]
    upper: Ints
    names: tuple[str, ...]
    statement: Ints  # [entries]
    person: Ints  # [entries] column of the history; one with a weight counts with it
    value: Codes  # [entries]
    coefficient: Ints  # [entries]


@dataclass(frozen=True)
class CodedKnowledge:
    """What a reader knows, in the codes of one history."""

    strangers: int = 0  # further columns: persons whom statements speak of and no release holds
    statements: Statements | None = None
    prior_of: Ints | None = None  # [columns, strangers at the end]
    prior: Reals | None = None


def coded(informed: Informed | None, ids: pl.Series, values: pl.Series, columns: int) -> CodedKnowledge:
    """The knowledge of a reader about a history with these ids (its first columns) and values."""
    if informed is None:
        return CodedKnowledge()
    asked = [one.persons for one in informed.assertions]
    every = pl.concat(asked).unique(maintain_order=True) if asked else pl.Series("id", [], dtype=pl.String)
    named = as_text(ids, "ids")
    place = positions(every, named).astype(np.int64)
    missing = np.flatnonzero(place < 0)
    place[missing] = columns + np.arange(missing.size)
    statements = _entries(informed.assertions, every, place, values) if informed.assertions else None
    if informed.prior is None or informed.prior_key is None:
        return CodedKnowledge(missing.size, statements)
    weights, _ = informed.prior.weights(values)
    key = np.append(informed.prior_key, -1)
    people = pl.concat([named.alias("id"), every.gather(missing).alias("id")])
    own = key[positions(people, informed.people)]
    prior_of = np.full(columns + missing.size, -1, dtype=np.int64)
    prior_of[: named.len()], prior_of[columns:] = own[: named.len()], own[named.len() :]
    return CodedKnowledge(
        missing.size, statements, prior_of % (len(weights) + 1), np.vstack([weights, np.ones(values.len())])
    )


def spoken_of(informed: Informed, kind: pl.DataType) -> pl.Series:
    """The values that statements speak of, as the releases write them."""
    texts = list(dict.fromkeys(str(v) for one in informed.assertions for v in one.values))
    return pl.Series("value", texts, dtype=pl.String).cast(kind)


def _entries(assertions: Sequence[Assertion], every: pl.Series, place: Ints, values: pl.Series) -> Statements:
    """One entry for each statement, person and value."""
    words = values.cast(pl.String)
    size = np.array([one.persons.len() for one in assertions], dtype=np.int64)
    person = place[positions(pl.concat([one.persons for one in assertions]), every)]
    codes = [_codes(one.values, words) for one in assertions]
    many = np.array([own.size for own in codes], dtype=np.int64)
    statement = np.repeat(np.arange(size.size), size)
    times = many[statement]
    value = np.concatenate([np.tile(own, n) for own, n in zip(codes, size.tolist(), strict=True)])
    coefficient = np.array([one.coefficient for one in assertions], dtype=np.int64)
    return Statements(
        lower=np.array([one.least for one in assertions], dtype=np.int64),
        upper=np.array([one.most for one in assertions], dtype=np.int64),
        names=tuple(one.name for one in assertions),
        statement=np.repeat(statement, times),
        person=np.repeat(person, times),
        value=value.astype(np.int32),
        coefficient=np.repeat(coefficient[statement], times),
    )


def _codes(asked: Sequence[Any], words: pl.Series) -> Ints:
    """Where values stand among those of the history; what a part of a history does not publish is left out."""
    found = positions(pl.Series([str(v) for v in asked], dtype=pl.String), words).astype(np.int64)
    return found[found >= 0]
