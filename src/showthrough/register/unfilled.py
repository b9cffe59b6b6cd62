"""Rows of a release that nobody of the register fits: how many, by which cells, and what the cause may be.

They contradict nothing: the register need not know everybody, and their persons stay unnamed. But most
often a register that leaves many rows unfilled was meant to fill them, and a hierarchy was forgotten or
something is written in two ways. So it is said once for each release, with a guess at the cause. Cells
are values: they are for internal readers; everybody else is told counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from showthrough import said
from showthrough.register.attribute import Attribute
from showthrough.table.arrays import Ints
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.texts import number

if TYPE_CHECKING:
    from showthrough.register.register import Register
    from showthrough.release.release import Release

SHOWN = 3  # cells
MOST = 0.5  # share of the cells that makes a cause likely
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Unfilled:
    """Rows of one release that nobody of the register fits.

    ``column`` is the one whose cells fit nobody in most of these rows, None if every cell fits somebody;
    ``cells`` are the commonest of ``different`` such cells, with their rows. ``guess`` names parameters as
    Python spells them.
    """

    release: str
    rows: int
    all_rows: int
    column: str | None = None
    cells: tuple[tuple[str, int], ...] = ()
    different: int = 0
    guess: str = ""

    def sentence(self, *, internal: bool = False) -> str:
        """What is said of them; cells for internal readers alone."""
        return said.internal(self.said) if internal else said.shareable(self.said)

    @property
    def said(self) -> str:
        """The sentence, with the cells as private fragments."""
        verb, count = ("fits", "counts as a person") if self.rows == 1 else ("fit", "count as persons")
        lead = f"{self.rows} of the {self.all_rows} rows of {self.release} {verb} nobody of the register and {count} "
        told = [f"{lead}whom it does not know."]
        if self.column is not None:
            cells = "1 cell fits" if self.different == 1 else f"{self.different} different cells fit"
            shown = ", ".join(f"{text!r} in {rows}" for text, rows in self.cells)
            which = said.private(f" (the commonest: {shown} rows)", "") if shown else ""
            told.append(f"In column {self.column!r} {cells} nobody{which}.")
        return " ".join([*told, *([self.guess] if self.guess else [])])


def unfilled(
    release: Release,
    name: str,
    register: Register,
    *,
    fitting: Ints,
    attributes: Sequence[Attribute] = (),
    trees: Mapping[str, Hierarchy] | None = None,
) -> Unfilled | None:
    """The rows that nobody fits; ``fitting`` counts the persons who fit each entry of the release's records.

    ``trees`` are hierarchies that other releases have.
    """
    empty = fitting == 0
    if not empty.any():
        return None
    held = release.size.to_numpy() if fitting.size == release.size.len() else np.ones(fitting.size, dtype=np.int64)
    rows, total = int(held[empty].sum()), int(held.sum())
    worst, most = None, 0
    for attribute in attributes:
        alone = empty & _fits_nobody(attribute)[attribute.group]
        if (n := int(held[alone].sum())) > most:
            worst, most = attribute, n
    if worst is None:
        return Unfilled(name, rows, total)
    nobody = _fits_nobody(worst)
    weight = np.bincount(worst.group, weights=held, minlength=worst.cells).astype(np.int64) * nobody
    codes = np.flatnonzero(weight)
    order = codes[np.lexsort((codes, -weight[codes]))]
    texts = _texts(release.records[worst.name], worst)
    guess = _cause(
        [texts[c] for c in order],
        sum(not any_value for any_value in worst.everything[np.unique(worst.group)]),
        register.quasi[worst.name].alias("cell").drop_nulls().unique(maintain_order=True).to_list(),
        _Trees(worst.name, release.hierarchies.get(worst.name), (trees or {}).get(worst.name)),
    )
    cells = tuple((texts[c], int(weight[c])) for c in order[:SHOWN])
    return Unfilled(name, rows, total, worst.name, cells, order.size, guess)


def strange(name: str, rows: int, all_rows: int) -> Unfilled:
    """Rows that somebody fits, but whose values other releases leave to none of them."""
    return Unfilled(
        name,
        rows,
        all_rows,
        guess="By their cells somebody would fit, but other releases leave these values to none of those: their "
        "persons are missing in the register, or a value has changed.",
    )


def _fits_nobody(attribute: Attribute) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """[cells] which cells cover the value of no person; a person of unknown value fits them all."""
    if (attribute.person < 0).any():
        return np.zeros(attribute.cells, dtype=bool)
    return np.asarray((np.diff(attribute.start) == 0) & ~attribute.everything)


def _texts(column: pl.Series, attribute: Attribute) -> dict[int, str]:
    """The cells as printed, by their codes."""
    codes, first = np.unique(attribute.group, return_index=True)
    printed = column.alias("cell").cast(pl.String).fill_null("").gather(first).str.strip_chars().to_list()
    return dict(zip(codes.tolist(), printed, strict=True))


@dataclass(frozen=True)
class _Trees:
    """Hierarchies of a column: the release's own, and one that another release has."""

    column: str
    own: Hierarchy | None
    other: Hierarchy | None


def _cause(cells: list[str], different: int, values: list[str], trees: _Trees) -> str:
    """Why these cells may fit nobody; ``different`` counts all cells of the column that say something."""
    if trees.own is not None:
        absent = len(trees.own.missing(values))
        return f"{absent} of the register's {len(values)} values are not in its hierarchy." if absent else ""
    spelled = {_letters(value) for value in values}
    words = [text for text in cells if number(text) is None]
    if _mostly(words, (_letters(text) in spelled for text in words)):
        return "They differ from values of the register only in case, blanks or signs: write both alike."
    bare = {value.lstrip("0") for value in values}
    if _mostly(cells, (text.isdigit() and text.lstrip("0") in bare for text in cells)):
        return "They differ from values of the register only in leading zeros: write both alike."
    advice = f"give it with hierarchies={{{trees.column!r}: FILE}}."
    if trees.other is not None and _mostly(cells, (text in trees.other for text in cells)):
        tree = trees.other
        level = max(range(tree.height + 1), key=lambda k: len({*tree.labels(k)} & {*cells}))
        return f"The column looks like level {level} of a hierarchy that another release has: {advice}"
    if len(words) > MOST * different and len(words) < len(values):
        return f"The column looks like a level of a hierarchy: {advice}"
    return ""


def _letters(text: str) -> str:
    return _SIGNS.sub("", text).casefold()


def _mostly(cells: Sequence[str], hits: Iterable[bool]) -> bool:
    return bool(cells) and sum(hits) > MOST * len(cells)
