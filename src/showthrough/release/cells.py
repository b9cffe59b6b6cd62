"""Quasi-identifiers as other programs print them: what each cell says, and which values it covers.

The forms, with blanks around them ignored:

| printed | says | printed by |
| --- | --- | --- |
| `*`, `**`, `*****`, empty, `NA`, `NaN`, `null` | any value | ARX, sdcMicro, pandas |
| `130**`, `1**53`, `**053`, `3*` | each star is exactly one character | ARX, ANJANA |
| `<30`, `<=30`, `≤30`, `>40`, `>=40`, `≥40`, `65+` | a number or date on that side | ARX |
| `[18, 30]`, `[18, 30[`, `[18, 30)`, `]18, 30]`, `(18,30]`, `[65, Inf)` | an interval | ARX, ANJANA, R, pandas |
| `18-30`, `18–30`, `18 to 30`, `18..30` | from 18 up to and including 30 | anonypy, anonypyx |
| `{a, b}`, `{"a, b", c}`, `{'a', 'b'}` | one of the members | ARX, Python |
| `a,b`, `a~b` | one of the members | anonypy, anonypyx, Mondrian scripts |
| `2021-03-05`, `2021-03`, `2021` in a column of dates | a day, or any day of the month or year | |
| `2021-03-**`, `2021-**-**` in a column of dates | any day of the month or year | |
| a label of the hierarchy | any leaf under it; its root: any value | ARX |
| anything else | exactly that | |

**The kind of the column decides** how a text is read. It is taken from the exact values of the
register (``domain``) if there are any, else from the leaves of the hierarchy, else from the cells:

- *numbers* if all are numbers. They compare as decimals, so `30` equals `30.0` and `0.1` is not the
  nearest float. `1,5` is a list of 1 and 5, not a decimal comma.
- *dates* if all are `2021-03-05` or `2021-03` (years alone are numbers). An open end leaves out all
  of the month or year that it names: `<2021` ends with 2020-12-31.
- *codes* if all are digits of one length, some with leading zeros (`01234`). They compare as text,
  and intervals of them have ends of the same length. In a column of numbers a cell such as
  `01234` makes codes of all.
- *text* otherwise. What the register holds is exact, whatever it looks like: `18-30` may be a
  value. Text has no intervals: `[18, 30]` is refused, and `18-30` is if some of the values are
  numbers. Cells alone make text if one of them is neither a number nor one of the forms above.
  `a,b` is a list if a part is a known value; where no values are known, if no blank follows the comma.

A label or leaf of the hierarchy comes before every form: in a hierarchy `0-4` may well hold 5. Then
come the marks of missing values: name your own with ``missing`` if `NA` is Namibia or `?` is a gap.
A list with such a mark among its members says any value. In a column of text with a hierarchy, what
is neither label nor register value is refused. In columns of numbers and dates everything must have
one of the forms.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from showthrough.errors import InputError, ReleaseError
from showthrough.release.cell import Bound, Cell, CellColumn, CellKind, ColumnKind
from showthrough.release.cell_cover import Cover, Runs, covers, runs
from showthrough.release.cell_forms import Setting, forms, read
from showthrough.release.cell_kinds import settle
from showthrough.said import private
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.texts import as_text

__all__ = [
    "MISSING",
    "Bound",
    "Cell",
    "CellColumn",
    "CellKind",
    "ColumnKind",
    "Cover",
    "Runs",
    "covers",
    "read_cells",
    "runs",
    "understood",
]

MISSING = ("", "NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null")


def read_cells(
    column: pl.Series,
    *,
    name: str,
    where: str,
    hierarchy: Hierarchy | None = None,
    domain: pl.Series | None = None,
    missing: Iterable[str] = MISSING,
    rows: pl.Series | None = None,
) -> CellColumn:
    """Read a column of printed cells; ``where`` is the file, for messages, and ``rows`` the row of each cell in it.

    ``domain`` are the exact values of a register: give them where there are any, since they tell
    numbers from text. Each different text is read once. A null is an empty cell.
    """
    declared = () if hierarchy is None else hierarchy.leaves
    marks = frozenset({"", *(mark.strip() for mark in missing)}).difference(declared)
    texts = as_text(column, f"{where}: column {name!r}").fill_null("")
    each = texts.unique(maintain_order=True)
    position = pl.int_range(each.len(), dtype=pl.Int32, eager=True)
    codes = texts.replace_strict(each, position, return_dtype=pl.Int32).to_numpy().astype(np.int32)
    codes.flags.writeable = False
    known = None
    if domain is not None:
        known = as_text(domain, f"The register: column {name!r}").drop_nulls().unique(maintain_order=True).to_list()
    distinct = each.to_list()
    setting = settle(distinct, hierarchy=hierarchy, domain=known, missing=marks)
    cells, bad = [], []
    for code, text in enumerate(distinct):
        try:
            cells.append(read(text, setting))
        except InputError as problem:
            bad.append((code, text, problem.said))
    if bad:
        at = int(np.argmax(codes == bad[0][0]))
        row = (at if rows is None else int(rows[at])) + 1
        raise _unreadable(f"{where}, row {row}, column {name!r}", name, bad, setting)
    return CellColumn(name, setting.kind, tuple(cells), codes, marks, setting.width)


def understood(cells: CellColumn) -> pl.DataFrame:
    """Every different cell with its kind, its meaning in words and its rows."""
    return cells.understood()


def _unreadable(place: str, name: str, bad: list[tuple[int, str, str]], setting: Setting) -> ReleaseError:
    _, text, reason = bad[0]
    more = f" In all, {len(bad)} different cells of this column cannot be read." if len(bad) > 1 else ""
    advice = (
        f"{more} Forms understood in a column of {setting.kind.value}: {forms(setting.kind)}. "
        "If it stands for a missing value, name it among the missing values. If it is a "
        "label of totals in a table of counts, name it with totals=LABEL."
    )
    if setting.hierarchy is None:
        advice += f" If it is a label of a hierarchy, give that with hierarchies={{{name!r}: FILE}}."
    return ReleaseError(
        f"{place}: the cell{private(f' {text!r}', '')} cannot be read: {reason}.{advice}",
        parameters=("hierarchies", "totals"),
    )
