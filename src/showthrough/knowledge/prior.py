"""What somebody believes before any release: how likely each value is, by person or by quasi-identifiers.

A frame has a row for each (id, value), or for each (quasi-identifiers…, value), with the probability ``p``. What the
values of a row leave of 1 is spread evenly over the values that are not listed; who is not listed has no prior.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.knowledge.condition import ColumnEntries, Condition
from showthrough.table.arrays import Ints, Reals
from showthrough.table.codes import positions
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns, scalar, to_polars
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.plain import as_set, fingerprint
from showthrough.table.texts import as_text, read_as

_ROUNDED = 0.01  # that probabilities may be off 1, for those who print two digits
NOBODY = -1


@dataclass(frozen=True, eq=False, repr=False)
class Prior:
    """Distributions over values, one for each different key; made by `Prior.of`."""

    keys: pl.DataFrame  # text; one column of ids, or quasi-identifiers
    by_id: bool
    owner: Ints  # [entries] row of ``keys``
    value: pl.Series  # [entries]
    p: Reals  # [entries]
    where: str = "The prior"

    @classmethod
    def of(
        cls, given: Any, *, ids: Collection[str] = ("id",), values: Collection[str] = ("value",), where: str = ""
    ) -> Prior:
        """From a frame or a file; ``ids`` and ``values`` are what their columns may be called."""
        if isinstance(given, Prior):
            return given
        if isinstance(given, (str, os.PathLike)):
            where, given = os.fspath(given), read_table(os.fspath(given))
        frame, where = to_polars(given), where or "The prior"
        need_columns(frame, ["p"], where)
        named = [c for c in ("value", *values) if c in frame.columns]
        if not named:
            raise _wrong(f"{where} needs a column 'value', or the sensitive column, beside p.")
        value = named[0]
        key = [c for c in frame.columns if c not in (value, "p")]
        by_id = [c for c in ("id", *ids) if c in key]
        if not key:
            raise _wrong(
                f"{where} says nothing of whom: it needs a column 'id', or quasi-identifiers, beside {value!r}."
            )
        if not frame.height:
            raise _wrong(f"{where} is empty: it has no rows.")
        chosen = by_id[:1] or key
        text = pl.DataFrame({c: as_text(frame[c], f"{where}: column {c!r}") for c in chosen})
        p = _probabilities(frame["p"], where)
        entries = scalar(frame[value], f"{where}: column {value!r}")
        _complete(text, entries, where)
        plain = _numbered(text)
        distinct = plain.unique(maintain_order=True)
        numbered = distinct.with_row_index("at")
        row = plain.join(numbered, on=plain.columns, how="left", maintain_order="left", nulls_equal=True)
        keys = pl.DataFrame({c: distinct[k] for k, c in zip(distinct.columns, chosen, strict=True)})
        return cls(keys, bool(by_id), row["at"].to_numpy().astype(np.int64), entries, p, where)._checked()

    def _checked(self) -> Prior:
        """The same, if nothing is said twice and no row adds up to more than 1."""
        twice = pl.DataFrame({"owner": self.owner, "value": self.value}).is_duplicated()
        if twice.any():
            raise _wrong(f"{self.where}: row {int(twice.arg_max() or 0) + 1} says again what another row says.")
        total = np.bincount(self.owner, weights=self.p)
        if (total > 1 + _ROUNDED).any():
            at = int(np.flatnonzero(self.owner == int(np.argmax(total)))[0]) + 1
            raise _wrong(f"{self.where}: the probabilities of row {at} and those beside it add up to more than 1.")
        return self

    def classes(self, columns: Mapping[str, pl.Series], trees: Mapping[str, Hierarchy]) -> Ints:
        """[persons] the key that each person has, by their columns as text, or NOBODY."""
        entries = {} if self.by_id else {name: ColumnEntries.of(column) for name, column in columns.items()}
        names = self.keys.columns
        people = _numbered(pl.DataFrame({c: columns[c] for c in names}))
        keys = _numbered(self.keys).with_row_index("at")
        joined = people.join(keys, on=people.columns, how="left", maintain_order="left")
        found = joined["at"].cast(pl.Int64).fill_null(NOBODY).to_numpy().copy()
        if self.by_id:
            return found
        unused = np.setdiff1d(np.arange(self.keys.height), found)
        for key in unused.tolist():  # perhaps cells, such as 30-39
            cells = {c: own for c, own in self.keys.row(key, named=True).items() if own is not None}
            fits = Condition.of(cells).fitting(entries, trees, self.where) if cells else np.ones(found.size, dtype=bool)
            if (found[fits] != NOBODY).any():
                raise _wrong(f"{self.where}: two different rows of quasi-identifiers fit the same person.")
            found[fits] = key
        return found

    def weights(self, values: pl.Series) -> tuple[Reals, int]:
        """[keys, values] the probability of each value of a history, and how many listed values it does not know."""
        asked = _alike(self.value, values)
        at = positions(asked, values)
        inside = at >= 0
        found = np.zeros((self.keys.height, values.len()))
        listed = np.zeros(found.shape, dtype=bool)
        found[self.owner[inside], at[inside]] = self.p[inside]
        listed[self.owner[inside], at[inside]] = True
        rest = np.maximum(1.0 - np.bincount(self.owner, weights=self.p, minlength=self.keys.height), 0.0)
        open_ones = (~listed).sum(axis=1)
        if ((rest > _ROUNDED) & (open_ones == 0)).any():
            at_row = int(np.flatnonzero(self.owner == int(np.argmax((rest > _ROUNDED) & (open_ones == 0))))[0]) + 1
            raise _wrong(f"{self.where}: row {at_row} and those beside it list every value, but do not add up to 1.")
        even = np.where(rest > _ROUNDED, rest / np.maximum(open_ones, 1), 0.0)
        found = np.where(listed, found, even[:, None])
        if (found.sum(axis=1) == 0).any():
            raise _wrong(f"{self.where}: somebody is left no value that a release publishes.")
        return found, int(asked.filter(pl.Series(~inside)).n_unique())

    def fingerprint(self) -> str:
        """The SHA-256 of what it says, in any order of the rows."""
        columns = [*self.keys[self.owner].get_columns(), self.value.alias("\0value"), pl.Series("\0p", self.p)]
        return fingerprint(as_set(pl.DataFrame(columns)))

    def __repr__(self) -> str:
        return f"<prior of {self.keys.height} {'persons' if self.by_id else 'sub-populations'}>"


def _alike(entries: pl.Series, values: pl.Series) -> pl.Series:
    """ColumnEntries in the type of the values: 11 finds "11"."""
    return read_as(entries, values.dtype)


def _probabilities(column: pl.Series, where: str) -> Reals:
    p = scalar(column, f"{where}: column 'p'").cast(pl.Float64, strict=False)
    good = p.is_not_null() & p.is_finite().fill_null(False) & (p >= 0).fill_null(False) & (p <= 1).fill_null(False)
    if not good.all():
        row = int(good.not_().arg_max() or 0) + 1
        raise _wrong(f"{where}: row {row} of column 'p' is not a probability between 0 and 1.")
    return p.to_numpy()


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """The same under names that are no other column's and no pattern to Polars."""
    return pl.DataFrame({f"k{n}": column for n, column in enumerate(frame.iter_columns())})


def _complete(keys: pl.DataFrame, values: pl.Series, where: str) -> None:
    if values.null_count():
        raise _wrong(f"{where}: row {int(values.is_null().arg_max() or 0) + 1} has no value.")
    empty: Sequence[bool] = _numbered(keys).select(pl.all_horizontal(pl.all().is_null())).to_series().to_list()
    if any(empty):
        raise _wrong(f"{where}: row {empty.index(True) + 1} says nothing of whom.")


def _wrong(text: str) -> InputError:
    return InputError(text, parameters=("prior",))
