"""Columns that identify persons and are no quasi-identifiers: names, addresses, numbers of persons, ids, row numbers.

A quasi-identifier may be rare in every row: a date of birth, an income or a postcode is, and is what anonymizing is
for. What must not slip in is a column that *was made* to tell rows apart. Text does when most of its cells occur once.
Numbers are told by how seldom they repeat and how evenly they are spread: a measure repeats at least as often as chance
makes it, and its values crowd somewhere, while numbers that were given out follow each other or fill their range.
Nothing here says a word of a cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.criteria.coding import as_numbers
from showthrough.errors import InputError
from showthrough.table.arrays import Reals
from showthrough.table.column_words import CONTACT, IDS, MAYBE_IDS, MEASURES, OF_THINGS, PERSON, PLACES, words_of
from showthrough.table.frames import scalar
from showthrough.table.given_names import are_names, mention_names
from showthrough.table.identifiers import MOST_CELLS, recognised

LISTED = 20  # columns in a sentence
SINGLED_OUT = 0.8  # share of rows whose text occurs once
NAMED_ID = 0.3  # the same where the column is called an id; different values, as persons may have several rows
FEWEST_ROWS = 10  # below, different text proves nothing
FEWEST_SERIAL = 5  # below, nothing is told of rows by how they differ
FEWEST_NUMBERS = 20
LONG_NUMBER = 9  # digits
LONG_CODE = 8
FULL = 0.95  # share of a range that numbers fill which follow each other
NEXT = 3  # from one number that was given out to the next, mostly
CHANCE = 12.0  # repetitions that chance makes: none at all has a probability of exp(-12)
EVEN = 1.63  # Kolmogorov's bound at one in a hundred

_DATES = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?"
)
_DAYS = (  # days written without anything between
    r"^(?:(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?:18|19|20|21)\d\d$"
)
_PLACES_AND_CODES = re.compile(  # postcodes, and diagnoses by ICD-10
    r"[A-TV-Z]\d[\dAB]\.[\dA-Z]{1,4}|[A-Z]{1,2}\d[A-Z\d]? ?(?:\d[A-Z]{2})?|[A-Z]\d[A-Z] ?\d[A-Z]\d"
    r"|\d{4} ?[A-Z]{2}|\d{5}-\d{4}|[A-Z]{1,2}-\d{4,5}"
)


@dataclass(frozen=True)
class Suspect:
    """A column that seems to identify persons, and why, in words that tell nothing of a cell."""

    column: str
    reason: str


def refuse_identifying(table: Table, anyway: Sequence[str] | str, *, named: bool) -> None:
    """Refuse quasi-identifiers that identify persons, and values that name them, but for columns confirmed by name.

    ``named`` says that the caller named a column: if none was, the header may be somebody's record.
    """
    confirmed = [anyway] if isinstance(anyway, str) else [str(column) for column in anyway]
    for column in table.sensitives:
        if column not in confirmed:
            _refuse_naming_value(table.frame[column], column)
    strange = next((column for column in confirmed if column not in (*table.quasi, *table.sensitives)), None)
    if strange is not None:
        raise InputError(
            f"quasi_anyway= names {strange!r}, which is none of the quasi-identifiers.", parameters=("quasi_anyway",)
        )
    found = [s for s in suspects(table) if s.column not in confirmed]
    if not found:
        return
    parameters = ("id", "quasi", "quasi_anyway")
    place = {column: at for at, column in enumerate(table.frame.columns, start=1)}
    raise InputError(
        _refusal([(repr(s.column), s) for s in found]),
        shareable=_refusal([(repr(s.column) if named else f"number {place[s.column]}", s) for s in found]),
        parameters=parameters,
    )


def _refuse_naming_value(values: pl.Series, name: str) -> None:
    """Values are published as they are: none may be a name or a number of a person."""
    told = _direct(scalar(values, f"The table: column {name!r}"), name)
    if told is not None:
        raise InputError(
            f"The sensitive column {name!r} {told}, and values are published as they are: take a column that names "
            f'nobody, or confirm it with quasi_anyway="{name}".',
            parameters=("sensitive", "quasi_anyway"),
        )


def _refusal(found: Sequence[tuple[str, Suspect]]) -> str:
    told = "; ".join(f"the column {called} {suspect.reason}" for called, suspect in found)
    one = found[0][1].column if len(found) == 1 and found[0][0].startswith(("'", '"')) else "COLUMN"
    it = "it" if len(found) == 1 else "them"
    return (
        f"{told[0].upper()}{told[1:]}: published as a quasi-identifier, {it} would name persons. If {it} names them, "
        f"say so with id=; or list the quasi-identifiers with quasi= and leave {it} out; or confirm {it} with "
        f'quasi_anyway="{one}".'
    ).replace("If them names them", "If one of them names persons")


def unasked_remark(table: Table, quasi: object, anyway: Sequence[str] | str) -> tuple[Remark, ...]:
    """The columns that are published though nobody gave them a role; their number, if no column was named at all."""
    named = {*table.shape.named(), *([anyway] if isinstance(anyway, str) else anyway)}
    columns = [column for column in table.quasi if column not in named]
    if quasi is not None or not columns:
        return ()
    known = bool(table.id or table.sensitive or named)  # otherwise the header may be somebody's record
    listed = ", ".join(columns[:LISTED]) + (f" and {len(columns) - LISTED} more" if len(columns) > LISTED else "")
    words = "Nobody gave {n} columns a role, and they are published as quasi-identifiers"
    if not known:
        return (Remark.of("columns without a role", f"{words}.", n=len(columns)),)
    return (Remark.of("columns without a role", f"{words}: {{columns}}.", n=len(columns), columns=listed),)


def suspects(table: Table) -> list[Suspect]:
    """The quasi-identifiers that seem to identify persons."""
    found = []
    for column in table.quasi:
        told = column in table.shape.hierarchies or column in table.shape.limits
        reason = _direct(table.frame[column], column) or (None if told else _identifies(table.frame[column], column))
        if reason is not None:
            found.append(Suspect(column, reason))
    return found


def _direct(cells: pl.Series, name: str) -> str | None:
    """Names, addresses and numbers of persons, by their form or by what the column is called."""
    filled = cells.drop_nulls().cast(pl.String)
    different = filled.unique().sort()
    if not different.len():
        return None
    looked = different.gather_every(max(1, -(-different.len() // MOST_CELLS))).to_list()
    form = recognised(looked)
    if form is not None:
        return f"holds {form}"
    words = words_of(name)
    if not words & OF_THINGS and mention_names(looked):
        return "holds text that mentions persons by name"
    many = different.len() >= min(0.5 * filled.len(), max(11, 0.01 * filled.len()), 100)
    if not many or filled.len() < 3:
        return None
    letters = sum(any(c.isalpha() for c in cell) for cell in looked) >= 0.8 * len(looked)
    if letters and words & PERSON and not words & OF_THINGS:
        return "is called as names of persons are"
    if words & CONTACT and not words & OF_THINGS:
        return "is called as addresses or numbers of persons are"
    if letters and are_names(looked):
        return "holds names of persons"
    return None


def _identifies(cells: pl.Series, name: str) -> str | None:
    """Whether a column was made to tell rows apart."""
    column, words = cells.drop_nulls(), words_of(name)
    rows, different = column.len(), column.n_unique()
    if rows < 2 or column.dtype.is_temporal() or column.dtype == pl.Boolean:
        return None
    called = _called_id(words) and different >= max(2, NAMED_ID * rows, min(FEWEST_SERIAL, 0.6 * rows))
    if rows < FEWEST_SERIAL and not called:
        return None
    once = int((column.unique_counts() == 1).sum())
    numbers = as_numbers(column)
    if numbers is not None and not _written_long(column):
        if words & MEASURES and not called:
            return None
        return _numbered(numbers.to_numpy().astype(np.float64), different, called=called)
    if column.dtype != pl.String:
        return None
    few = rows < FEWEST_ROWS and not (once == rows and _one_shape(column))
    if not called and (few or once < SINGLED_OUT * rows or _dates_or_places(column, words)):
        return _serial(column, words)
    return f"singles out {once} of {rows} rows all by itself"


def _written_long(column: pl.Series) -> bool:
    """Whether digits are written like a phone's, all of one length and with a zero in front: no measure is."""
    if column.dtype != pl.String:
        return False
    cells = column.str.strip_chars().alias("cell")
    width = cells.str.len_chars()
    long = width.n_unique() == 1 and int(width[0]) >= LONG_CODE and cells.str.starts_with("0").any()
    return long and not cells.str.contains(_DAYS).all()


def _serial(column: pl.Series, words: set[str]) -> str | None:
    """Numbers with the same letters around them in every row, as P-0001, P-0002, …: given out, however they look."""
    parts = (
        column.str.strip_chars().alias("cell").str.extract_groups(r"^(?<a>\D*)(?<n>\d{1,15})(?<b>\D*)$").struct.unnest()
    )
    if parts["n"].null_count() or parts.select("a", "b").n_unique() > 1:
        return None
    numbers = parts["n"].cast(pl.Int64).to_numpy().astype(np.float64)
    different, rows = int(np.unique(numbers).size), numbers.size
    counted = different >= FEWEST_NUMBERS and different >= NAMED_ID * rows
    full = counted and different >= FULL * (numbers.max() - numbers.min() + 1)
    if full and not words & (OF_THINGS | PLACES) and (parts["a"][0] or parts["b"][0]):  # persons may have several rows
        return f"has {different} different numbers in {rows} rows, as numbers that count rows or persons have"
    return None if words & PLACES and different < rows else _numbered(numbers, different, called=False)


def _called_id(words: set[str]) -> bool:
    """Whether the column's name says that it holds ids of persons or rows."""
    return bool(words & IDS and not words & OF_THINGS) or bool(words and words <= IDS | MAYBE_IDS | _joined(words))


def _joined(words: set[str]) -> set[str]:
    """What `_words` put together of words that are ids: "caseno"."""
    parts = words & (IDS | MAYBE_IDS)
    return {one + other for one in parts for other in parts}


def _one_shape(column: pl.Series) -> bool:
    """Whether all cells are letters and digits in the same places, as P01, P02, … are."""
    shapes = column.str.strip_chars().str.replace_all(r"\d", "9").str.replace_all(r"\p{L}", "a").unique()
    return shapes.len() == 1 and shapes[0].count("9") >= 2


def _are_days(numbers: Reals) -> bool:
    """Whether numbers of eight digits are days of a calendar, as 19700131 is."""
    year, month, date = numbers // 10_000, numbers // 100 % 100, numbers % 100
    fits = (year >= 1850) & (year <= 2150) & (month >= 1) & (month <= 12) & (date >= 1) & (date <= 31)
    return bool(fits.all())


def _numbered(numbers: Reals, different: int, *, called: bool) -> str | None:
    """Numbers that were given out, not measured."""
    rows = numbers.size
    if called and np.all(numbers == np.round(numbers)):
        return f"is called an id and has {different} different values in {rows} rows"
    if rows < FEWEST_ROWS or not np.all(numbers == np.round(numbers)):
        return None
    least, most = float(numbers.min()), float(numbers.max())
    if _are_days(numbers):
        return None
    span = most - least + 1
    repeated, by_chance = rows - different, rows - span * -np.expm1(-rows / span)
    gaps = np.diff(np.unique(numbers))  # texts that differ may be the same number: 1 and 01
    dense = bool(np.median(gaps) <= NEXT) if gaps.size else False
    counter = different == rows == span  # 1, 2, 3, … in any order
    counter = counter or (dense and not repeated and by_chance >= CHANCE / 2)
    never = rows >= FEWEST_NUMBERS and by_chance >= CHANCE and repeated <= by_chance / 4
    if counter or (never and (dense or _even(numbers, least, most))):
        return f"has {different} different numbers in {rows} rows, as numbers that count rows or persons have"
    width = len(str(int(abs(numbers[0]))))
    low, high = 10.0 ** (width - 1), 10.0**width
    one_length = width >= 6 and low <= least and most < high
    own = repeated <= max(1.0, 2 * by_chance) if rows >= 100 else not repeated
    own = own and bool(np.any(numbers % 1000 != 0))
    long = width >= LONG_NUMBER  # nothing is measured to so many digits
    if rows >= FEWEST_NUMBERS and own and one_length and (long or _even(numbers, low, high)):
        return f"has a number of {width} digits of its own in each of {rows} rows"
    return None


def _even(numbers: Reals, low: float, high: float) -> bool:
    """Whether numbers are spread evenly between two, as those that were given out are, by Kolmogorov's test."""
    expected = (np.arange(numbers.size) + 0.5) / numbers.size
    away = np.abs((np.sort(numbers) - low) / max(high - low, 1.0) - expected).max()
    return bool(away * np.sqrt(numbers.size) < EVEN)


def _dates_or_places(column: pl.Series, words: set[str]) -> bool:
    """Dates, postcodes and diagnoses may be rare in every row and are quasi-identifiers all the same."""
    looked = column.unique().sort()
    cells = looked.gather_every(max(1, looked.len() // 500)).str.strip_chars().to_list()
    form = re.compile(f"(?:{_DATES.pattern})|(?:{_PLACES_AND_CODES.pattern})")
    like = sum(form.fullmatch(cell) is not None for cell in cells) >= 0.8 * len(cells)
    digits = sum(cell.isdigit() and len(cell) <= 5 for cell in cells) >= 0.8 * len(cells)
    return like or digits or bool(words & PLACES and max(map(len, cells)) <= 12)
