"""Statements and priors looked up: of which persons of the releases and the register they speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.knowledge.assertion import Assertion, Informed
from showthrough.knowledge.condition import ColumnEntries, Condition
from showthrough.knowledge.prior import Prior
from showthrough.knowledge.statement import Statement
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.said import private
from showthrough.table.arrays import Ints
from showthrough.table.texts import as_text

_PARTS = 1000  # of a person, by which statements give way


def informed(reader: Reader, releases: Sequence[Release]) -> Reader:
    """The reader with what is known of persons by name, looked up among those of all these releases."""
    if reader.informed is not None or not (reader.knowledge or reader.prior):
        return reader
    people = _People(reader, releases)
    keys = _prior_keys(reader.prior, people)
    found = Informed(_assertions(reader, people, releases), reader.prior, people.ids, keys)
    return reader.knowing(found.finer(_PARTS) if reader.elastic else found)


class _People:
    """Everybody whom the releases and the register name, with what is known of their quasi-identifiers."""

    def __init__(self, reader: Reader, releases: Sequence[Release]) -> None:
        self.trees = reader.trees
        own = [(r, r.roles.id) for r in releases if r.roles.id is not None]
        self._sources = [(as_text(r.records[id], "ids"), r.records) for r, id in own]
        if reader.register is not None:
            self._sources.insert(0, (as_text(reader.register.ids, "ids"), reader.register.quasi))
        linked = [r.link["id"] for r in releases if r.link is not None]
        further = [as_text(ids, "ids") for ids in (*linked, *(frame["id"] for frame in reader.membership.values()))]
        every = [*(ids for ids, _ in self._sources), *further, pl.Series([], dtype=pl.String)]
        self.ids = pl.concat([ids.alias("id") for ids in every]).unique(maintain_order=True)
        self.place = {id: at for at, id in enumerate(self.ids.to_list())}
        self._columns: dict[str, pl.Series] = {}
        self._entries: dict[str, ColumnEntries] = {}

    @property
    def names(self) -> list[str]:
        """The columns that are known of somebody."""
        return list(dict.fromkeys(c for _, frame in self._sources for c in frame.columns))

    def column(self, name: str) -> pl.Series:
        """A quasi-identifier of everybody, as text; the register speaks first."""
        if name not in self._columns:
            table = pl.DataFrame({"id": self.ids}).with_columns(pl.lit(None, pl.String).alias("found"))
            for ids, frame in self._sources:
                if name in frame.columns:
                    more = pl.DataFrame({"id": ids, "more": as_text(frame[name], name)}).unique("id", keep="first")
                    table = table.join(more, on="id", how="left", maintain_order="left")
                    table = table.select("id", pl.coalesce("found", "more").alias("found"))
            self._columns[name] = table["found"]
        return self._columns[name]

    def prepare(self, conditions: Sequence[Condition]) -> None:
        """Look all cells of a column up at once; what cannot be read is told when its statement's turn comes."""
        cells: dict[str, dict[str, None]] = {}
        for condition in conditions:
            for column, own, _ in condition.columns:
                cells.setdefault(column, {}).update(dict.fromkeys(own))
        for column in [c for c in cells if c in self.names]:
            with suppress(InputError):
                self.entries([column])[column].read(list(cells[column]), column, self.trees, "where")

    def entries(self, names: Sequence[str]) -> Mapping[str, ColumnEntries]:
        """Several of them, with their different entries."""
        for name in names:
            if name not in self._entries:
                self._entries[name] = ColumnEntries.of(self.column(name))
        return self._entries


def _assertions(reader: Reader, people: _People, releases: Sequence[Release]) -> tuple[Assertion, ...]:
    values = {str(v) for r in releases if r.sensitive is not None for v in r.tally["value"].unique().to_list()}
    values |= {str(v) for v in reader.domain}
    people.prepare([said.where for said in reader.knowledge if said.where is not None])
    found: dict[str, Assertion] = {}
    for said in reader.knowledge:
        strange = next((v for v in said.values if str(v) not in values), None)
        if strange is not None:
            raise said.refused(f"no release publishes the value {private(repr(strange))}.")
        name = f"{said} ({said.place})" if said.place else str(said)
        if name in found and not said.where and len(said.ids) == 1:
            continue  # said before
        while name in found:
            name += " (again)"
        found[name] = Assertion.of(said, _who(said, people), name)
    return tuple(found.values())


def _who(said: Statement, people: _People) -> Ints:
    """Of whom a statement speaks, by their places."""
    if said.where is None:
        asked = dict.fromkeys(_as_id(i) for i in said.ids)
        missing = next((i for i in asked if i not in people.place), None)
        if missing is not None:
            who = private(f"the person {missing}", "this person")
            raise said.refused(f"neither a release nor the register holds {who}.")
        return np.array([people.place[i] for i in asked], dtype=np.int64)
    strange = next((c for c in said.where.names if c not in people.names), None)
    if strange is not None:
        known = ", ".join(people.names) or "none"
        raise said.refused(f"there is no column {strange!r} of persons: register and releases with ids have {known}.")
    try:
        fits = said.where.fitting(people.entries(said.where.names), people.trees, said.place or "where")
    except InputError as problem:
        raise said.refused(problem.said) from None
    if not fits.any():
        raise said.refused(f"nobody fits the condition{private(f' {said.where}', '')}.")
    return np.flatnonzero(fits)


def _as_id(given: Any) -> str:
    if isinstance(given, str):
        return given.strip()
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    text: str = as_text(pl.Series([given]), "ids")[0]
    return text


def _prior_keys(prior: Prior | None, people: _People) -> Any:
    """[people] whose prior is which."""
    if prior is None:
        return None
    names = prior.keys.columns
    if prior.by_id:
        found = prior.classes({names[0]: people.ids}, people.trees)
        wrong = f"{prior.where} names nobody whom a release or the register holds."
    else:
        strange = next((c for c in names if c not in people.names), None)
        if strange is not None:
            known = ", ".join(people.names) or "none"
            raise InputError(
                f"{prior.where} has the column {strange!r}, which neither the register nor a release with ids has: "
                f"they have {known}.",
                parameters=("prior",),
            )
        found = prior.classes({name: people.column(name) for name in names}, people.trees)
        wrong = f"{prior.where} fits nobody whom a release or the register holds."
    if not (np.asarray(found) >= 0).any():
        raise InputError(wrong, parameters=("prior",))
    return found
