"""Knowledge in the numbers of a history: statements as sums over its columns, and the prior of each column.

Somebody whom a statement speaks of and no release of the history holds has a value all the same: such persons are
columns at the end, in no group, and nobody is told of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.knowledge.assertion import Assertion, Informed
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.codes import positions
from showthrough.table.texts import as_text, read_as


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
    named = as_text(ids, "ids")
    place = positions(informed.people, named).astype(np.int64)
    spoken = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(one.persons for one in informed.assertions)]))
    missing = spoken[place[spoken] < 0]
    place[missing] = columns + np.arange(missing.size)
    statements = _entries(informed.assertions, place, values) if informed.assertions else None
    if informed.prior is None or informed.prior_key is None:
        return CodedKnowledge(missing.size, statements)
    weights, _ = informed.prior.weights(values)
    prior_of = np.full(columns + missing.size, len(weights), dtype=np.int64)  # nobody's: all alike
    here = np.flatnonzero((place >= 0) & (informed.prior_key >= 0))
    prior_of[place[here]] = informed.prior_key[here]
    return CodedKnowledge(missing.size, statements, prior_of, np.vstack([weights, np.ones(values.len())]))


def spoken_of(informed: Informed, kind: pl.DataType) -> pl.Series:
    """The values that statements and the prior speak of, as the releases write them."""
    texts = dict.fromkeys(str(v) for one in informed.assertions for v in one.values)
    if informed.prior is not None:
        texts.update(dict.fromkeys(str(v) for v in informed.prior.value.unique().to_list()))
    return read_as(pl.Series("value", list(texts), dtype=pl.String), kind).drop_nulls()


def _entries(assertions: Sequence[Assertion], place: Ints, values: pl.Series) -> Statements:
    """One entry for each statement, person and value; ``place`` tells the column of each person."""
    code = {str(value): k for k, value in enumerate(values.to_list())}
    size = np.array([one.persons.size for one in assertions], dtype=np.int64)
    person = place[np.concatenate([one.persons for one in assertions])]
    codes = [list(dict.fromkeys(code[str(v)] for v in one.values if str(v) in code)) for one in assertions]
    many = np.array([len(own) for own in codes], dtype=np.int64)
    statement = np.repeat(np.arange(size.size), size)
    times = many[statement]
    value = np.array([v for own, n in zip(codes, size.tolist(), strict=True) for v in own * n], dtype=np.int64)
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
