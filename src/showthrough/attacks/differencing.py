"""Differencing: tables of counts of the same persons, added and subtracted until hidden or small numbers come out.

Two tables whose cells overlap or lie in each other leave the difference of their counts for whoever is in one cell and
not in the other; totals, hidden and rounded counts narrow each other down. All counts of all tables are one system over
the cells of their common refinement (`refinement.py`), and linear programs say what it leaves (`cell_program.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.cell_search import CELLS, CellSearch, Disclosed
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.questions import HIDDEN
from showthrough.attacks.statistics import rates
from showthrough.errors import InputError, ParameterError
from showthrough.inference.clock import Clock
from showthrough.inference.infer import infer
from showthrough.inference.posterior import Told
from showthrough.inference.run import listed
from showthrough.numerals import number_of
from showthrough.progress import Progress
from showthrough.register.locating import names_of
from showthrough.register.populations import population_of
from showthrough.register.reader import telling
from showthrough.release.kind import Shows
from showthrough.release.release import Release
from showthrough.said import private, shareable

SECONDS = 60.0
FEW = 4
_REASONS = {"arithmetic": pl.String, "times": pl.Int64}
_SHOWN = 5  # sentences of arithmetic that text tells
_PEOPLE = {"id": pl.String, "value": pl.String, "alone": pl.Boolean}


@dataclass(frozen=True, eq=False, repr=False)
class Differencing(Outcome):
    """The outcome of tables of counts that are added and subtracted."""

    paired: ClassVar[bool] = True
    of_persons: ClassVar[bool] = False
    cells: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CELLS))
    """Internal. Every hidden count with what it can stand for (``found`` is "hidden"), and every number of few persons
    that no table prints: of a "piece" of the common refinement, or the "difference" of two cells. ``exact``: one number
    is left; ``alone``: by one table alone; ``everybody``: all persons of the cell have that value; ``tables`` and
    ``because`` say which tables and which arithmetic."""
    reasons: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_REASONS))
    """The arithmetic that takes several tables, for everybody: tables and numbers of persons, and how often."""

    @property
    def said(self) -> str:
        """How many cells came out, in words."""
        every = self.cells.filter(pl.col("found") == HIDDEN)
        known = every.filter("exact")
        small = self.cells.filter(pl.col("found") != HIDDEN)
        told = ""
        if every.height:
            own, open_ = int(known["alone"].sum()), known["alone"].null_count()
            told = f"Of {number_of(every.height, 'hidden count')} {_are(known.height)} found exactly"
            if open_:
                told += f" (for {open_} of them time did not suffice to say by which tables)"
            told += f", {own} by one table alone. " if known.height > open_ else ". "
        group = small.filter("everybody").height
        told += (
            f"{number_of(small.height, 'number') if small.height else 'No number'} of few persons that no table prints "
        )
        told += "came out"
        told += f"; in {group} of these cells everybody has the same value." if group else "."
        rows = self.reasons.rows()
        told += "".join(f" {text}" if n == 1 else f" {text[:-1]} ({n} times)." for text, n in rows[:_SHOWN])
        rest = sum(n for _, n in rows[_SHOWN:])
        return told + (f" {number_of(rest, 'number')} more by other tables." if rest else "")

    def private(self) -> pl.DataFrame:
        """The cells, and behind them the people."""
        cells = self.cells.with_columns(pl.col("tables").list.join("; "))
        return pl.concat([cells, self.people.select(pl.lit("person").alias("found"), pl.all())], how="diagonal")

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        every = self.cells.filter(pl.col("found") == HIDDEN)
        small = self.cells.filter(pl.col("found") != HIDDEN)
        counted = {
            "hidden": every.height,
            "hidden_found": every.filter("exact").height,
            "hidden_found_alone": every.filter("exact", "alone").height,
            "unprinted": small.height,
            "everybody": small.filter("everybody").height,
        }
        return {**super().as_dict(), "cells": counted, "reasons": self.reasons.to_dicts()}


def _are(number: int) -> str:
    return f"{number or 'none'} {'is' if number <= 1 else 'are'}"


def differencing(
    tables: Release | Sequence[Release],
    *,
    few: int = FEW,
    register: Any = None,
    seconds: float = SECONDS,
    progress: Told = None,
) -> Differencing:
    """What several tables of counts give away together: hidden counts, and numbers of up to ``few`` persons.

    Tables count the same persons, everybody whom their cells cover; those with different ``population=`` do not. With a
    ``register`` also whose value is proven by all tables together.
    """
    if isinstance(few, bool) or not isinstance(few, int) or few < 1:
        raise ParameterError(
            f"few is a whole number of persons, 1 or more, not {private(repr(few))}.", parameters=("few",)
        )
    given = listed(tables)
    _check(given)
    tell = Progress.of(progress)
    clock, names = Clock(seconds, tell), names_of(given)
    found: list[Disclosed] = []
    for population in dict.fromkeys(map(population_of, given)):
        own = [k for k, table in enumerate(given) if population_of(table) == population]
        tell.stage("laying tables on top of each other")
        told = _layers([given[k] for k in own])
        found.append(CellSearch(told, [names[k] for k in own], few, clock).run())
    people, named = _people(given, register, seconds, tell)
    cells = pl.DataFrame([row for one in found for row in one.rows], schema=CELLS)
    reasons = Counter(shareable(text) for one in found for text in one.reasons)
    where = f"in cells of up to {few} persons, whatever their value"
    every = sum(one.persons for one in found)
    counted = [({"persons who are": where}, sum(one.together for one in found), every)]
    alone = [({"persons who are": where}, sum(one.alone for one in found), every)]
    if named is not None:
        counted.append(({"persons who are": "in the register with a value that is proven"}, people.height, named))
        alone.append(({"persons who are": counted[-1][0]["persons who are"]}, int(people["alone"].sum()), named))
    threat = Threat(
        f"{number_of(len(given), 'table')} of counts, with their totals and hidden counts",
        f"numbers of up to {few} persons that no table prints, and what hidden counts stand for",
        "that the tables count the same persons, everybody whom their cells cover, and that all counts are right; "
        "of persons in small cells the least number is told",
    )
    return Differencing(
        "differencing", threat, people, rates(counted), rates(alone), (), (),
        tuple(note for one in found for note in one.notes), cells,
        pl.DataFrame(reasons.most_common(), schema=_REASONS, orient="row"),
    )  # fmt: skip


def countable(release: Release) -> bool:
    """Whether a release is a table of cells with counts."""
    return release.form.counts_in_rows and release.form.shows is Shows.CELLS


def _check(given: Sequence[Release]) -> None:
    if not given:
        raise InputError("There are no tables: give at least one.")
    for table in given:
        if not countable(table):
            raise InputError(
                f"{table.name or 'A release'} is no table of counts: differencing looks at cells and counts. If it is "
                "one, name its column of counts, count=.",
                parameters=("count",),
            )
        if table.counterfeits.height:
            raise InputError(f"{table.name or 'A table'} holds counterfeits, so its counts are not those of persons.")


def _layers(tables: Sequence[Release]) -> list[list[Release]]:
    """Each table with its margins behind it."""
    found: list[list[Release]] = []
    for layer in telling(tables):
        if layer.part_of is None:
            found.append([])
        found[-1].append(layer)
    return found


def _people(given: Sequence[Release], register: Any, seconds: float, tell: Progress) -> tuple[pl.DataFrame, int | None]:
    """Whose value all tables prove together (id, value, and whether one table does alone), and of how many persons."""
    if register is None:
        return pl.DataFrame(schema=_PEOPLE), None
    post = infer(given, register=register, seconds=seconds, progress=tell)
    views, certain = post.views(), post.certain()
    alone = np.zeros(certain.size, dtype=bool)
    if certain.any():
        for k in range(len(post.names)):
            alone |= views.told([k]).certain
    best = post.best().with_columns(pl.Series("alone", alone)).filter(pl.Series(certain))
    return best.select(pl.col("id").cast(pl.String), pl.col("value").cast(pl.String), "alone"), certain.size
