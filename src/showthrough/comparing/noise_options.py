"""Tables of counts with noise as options: as much noise as an ε asks for, or as an error allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from showthrough.comparing.bins import Bins, joint, marginals
from showthrough.comparing.noisy_answers import query_error
from showthrough.comparing.option import Option, ToCompare
from showthrough.errors import InputError
from showthrough.measuring.queries import Workload
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize

PERSONS = (16.0, 4.0, 1.0)  # of each cell and value on average: cells of several sizes are tried
LEAST, MOST = 0.01, 16.0  # ε that are tried
_HALVINGS = 7  # of the range of ε, on a scale of ratios
_DRAWS = 3  # of the noise, for each error


@dataclass(frozen=True)
class NoisyOption(Option):
    """Counts with noise; its queries are answered from the noisy counts as they are."""

    cells: Bins | None = None

    def error(self, rows: pl.DataFrame, release: Release, workload: Workload) -> float | None:
        """The median relative error of counting queries on the noisy counts."""
        assert self.cells is not None
        return query_error(rows, self.cells, release, workload).median


def noisy(asked: ToCompare, rows: pl.DataFrame, epsilon: float, workload: Workload) -> Option:
    """Counts of value by cells with geometric noise; of all cells that are tried those whose queries err least."""
    found = {cells: _erring(asked, rows, cells, epsilon, workload) for cells in _tried(asked)}
    return _option(asked, min(found, key=lambda cells: found[cells]), epsilon)


def matched(asked: ToCompare, rows: pl.DataFrame, like: tuple[str, float], workload: Workload) -> Option:
    """The noise of the smallest ε whose counting queries err as little as those of another option (its name and error).

    Cells of several sizes are tried: coarse ones drown in less noise, fine ones answer queries better.
    """
    name, error = like
    found: tuple[float, Bins] | None = None
    closest = np.inf
    for cells in _tried(asked):
        best, reached = _smallest(asked, rows, cells, error, workload)
        closest = min(closest, reached)
        if best is not None and (found is None or best < found[0]):
            found = best, cells
    if found is None:
        raise InputError(
            f"No noise that was tried (ε up to {MOST:g}) answers counting queries as well as {name}: the least "
            f"error is {closest:.1%}, there {error:.1%}."
        )
    option = _option(asked, found[1], found[0])
    return replace(option, name=f"{option.name} (as exact as {name})")


def _option(asked: ToCompare, cells: Bins, epsilon: float) -> NoisyOption:
    return NoisyOption(
        f"noise, ε = {epsilon:.3g}",
        partial(_counts, asked, cells, epsilon),
        epsilon=epsilon,
        words=f"counts of {asked.sensitive} by {cells.words}",
        cells=cells,
    )


def _tried(asked: ToCompare) -> list[Bins]:
    """One table over all columns, or one for each, in cells of several sizes; each once."""
    known: dict[Any, Bins] = {}
    for make in (joint, marginals):
        for persons in PERSONS:
            cells = make(asked, persons)
            key = (cells.tables, tuple(cells.domain.items()))
            if cells.quasi:
                known.setdefault(key, cells)
    if not known:
        raise InputError(
            f"Counts with noise need more persons: {asked.table.height} are too few to tell any quasi-identifier "
            "apart. Columns of text, dates among them, take larger cells from a hierarchy."
        )
    return [*known.values()]


def _smallest(
    asked: ToCompare, rows: pl.DataFrame, cells: Bins, error: float, workload: Workload
) -> tuple[float | None, float]:
    """The smallest ε with at most that error, if there is one, and the error of the largest."""
    reached = _erring(asked, rows, cells, MOST, workload)
    if reached > error:
        return None, reached
    low, high = np.log(LEAST), np.log(MOST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        close = _erring(asked, rows, cells, float(np.exp(middle)), workload) <= error
        low, high = (low, middle) if close else (middle, high)
    return float(np.exp(high)), reached


def _erring(asked: ToCompare, rows: pl.DataFrame, cells: Bins, epsilon: float, workload: Workload) -> float:
    """The error of counting queries, on average over a few draws: one draw may be lucky."""
    drawn = (_counts(asked, cells, epsilon, rows, "tried", 0) for _ in range(_DRAWS))
    return float(np.mean([query_error(rows, cells, release, workload).median for release in drawn]))


def _counts(asked: ToCompare, cells: Bins, epsilon: float, rows: pl.DataFrame, name: str, seed: int) -> Release:  # noqa: ARG001
    """Noisy counts of some rows; nobody chooses the noise, so there is no seed."""
    values = asked.table[asked.sensitive].unique().sort().to_list()
    inside = rows.select(asked.id).join(cells.table, on=asked.id, how="left", maintain_order="left")
    return anonymize(
        inside.select(asked.id, asked.sensitive, *cells.quasi),
        method="dp-counts",
        id=asked.id,
        sensitive=asked.sensitive,
        quasi=cells.quasi,
        domain={**cells.domain, asked.sensitive: values},
        marginals=[] if len(cells.tables) == 1 else [list(table) for table in cells.tables],
        epsilon=epsilon,
        neighbours="replace-one",
        name=name,
    )
