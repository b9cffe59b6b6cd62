"""What is known of persons beside their values, as codes in a domain: declared, or of what occurs, numbers in bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from showthrough.attacks.naive_bayes import Attributes
from showthrough.errors import InputError
from showthrough.said import private
from showthrough.table.arrays import Ints
from showthrough.table.codes import positions
from showthrough.table.frames import listed_values
from showthrough.table.texts import as_text

BINS = 10
"""Numbers with more different values than this are put into so many bins with about as many persons each."""


def encoded(columns: Mapping[str, pl.Series], domain: Mapping[str, Sequence[Any]] | None) -> Attributes:
    """The columns as codes; of those in ``domain`` its values, of the others what occurs."""
    declared = _declared(domain, columns)
    persons = max((column.len() for column in columns.values()), default=0)
    codes, sizes = [np.zeros((persons, 0), dtype=np.int64)], []
    binned, seen = list[str](), list[str]()
    for name, column in columns.items():
        if name in declared:
            code, size = _in_domain(name, column, declared[name])
        else:
            code, size, bins = _occurring(column)
            (binned if bins else seen).append(name)
        codes.append(code[:, None])
        sizes.append(size)
    notes = []
    if seen:
        notes.append(f"The domain of {', '.join(seen)} is what occurs: domain= declares another one.")
    if binned:
        notes.append(
            f"The numbers of {', '.join(binned)} are taken in up to {BINS} ranges with about as many persons each."
        )
    return Attributes(np.concatenate(codes, axis=1), tuple(sizes), tuple(notes))


def _declared(domain: Any, columns: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
    if domain is None:
        return {}
    if not isinstance(domain, Mapping):
        raise InputError(
            "domain maps quasi-identifiers to their possible values, such as {'sex': ['f', 'm']}.",
            parameters=("domain",),
        )
    strange = next((name for name in domain if name not in columns), None)
    if strange is not None:
        raise InputError(
            f"domain names {private(repr(strange), 'a column')}, which is no known quasi-identifier: these are "
            f"{', '.join(columns) or 'none'}.",
            parameters=("domain",),
        )
    return {str(name): _texts(listed_values(own, f"domain of {name!r}")) for name, own in domain.items()}


def _in_domain(name: str, column: pl.Series, domain: pl.Series) -> tuple[Ints, int]:
    text = _texts(column)
    code = positions(text, domain.unique(maintain_order=True)).astype(np.int64)
    outside = text.is_not_null() & pl.Series(code < 0)
    if outside.any():
        strange = private(f" ({text.filter(outside)[0]!r})", "")
        raise InputError(
            f"The declared domain of {name!r} lacks a value that somebody has{strange}.", parameters=("domain",)
        )
    return code, domain.n_unique()


def _occurring(column: pl.Series) -> tuple[Ints, int, bool]:
    """Codes, how many there are, and whether they are bins."""
    text = _texts(column)
    different = text.drop_nulls().unique().sort()
    number = different.cast(pl.Float64, strict=False)
    if different.len() > BINS and not number.null_count() and number.is_finite().all():
        every = text.cast(pl.Float64).to_numpy()
        known = ~np.isnan(every)
        edges = np.unique(np.quantile(every[known], np.arange(1, BINS) / BINS))
        code = np.where(known, np.searchsorted(edges, every), -1)
        return code.astype(np.int64), edges.size + 1, True
    return positions(text, different).astype(np.int64), max(different.len(), 1), False


def _texts(column: pl.Series) -> pl.Series:
    """As text, empty where nothing is known."""
    text = as_text(column, "quasi-identifiers").str.strip_chars()
    return pl.select(pl.when(text != "").then(text)).to_series()
