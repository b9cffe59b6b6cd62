"""A table to be published: its columns encoded for the algorithms, with the roles they play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.joint_values import JointValues
from showthrough.anonymizers.level_range import bounded
from showthrough.anonymizers.quasi_columns import QuasiColumn, Shown, combined_key
from showthrough.criteria.coding import as_numbers, ordered
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Ints
from showthrough.table.frames import need_columns, need_header, scalar, to_polars
from showthrough.table.frozen import Frozen
from showthrough.table.hierarchy import Hierarchy, as_hierarchy

MISSING = ("refuse", "value", "suppress")
MARK = "missing"  # how a missing cell is called where it counts as a value of its own


@dataclass(frozen=True)
class Shape:
    """How quasi-identifiers are to be published, column by column."""

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=Frozen)
    shown: Mapping[str, Shown] = field(default_factory=Frozen)
    weights: Mapping[str, float] = field(default_factory=Frozen)
    limits: Mapping[str, tuple[float | None, float | None]] = field(default_factory=Frozen)
    missing: str = "refuse"
    levels: Mapping[str, Any] = field(default_factory=Frozen)

    @classmethod
    def of(
        cls,
        hierarchies: Mapping[str, Any] | None,
        shown: Mapping[str, Any] | None,
        weights: Mapping[str, float] | None,
        limits: Mapping[str, Any] | None,
        missing: str,
        levels: Mapping[str, Any] | None = None,
    ) -> Shape:
        """Checked for itself; the columns are checked against the table."""
        if missing not in MISSING:
            raise InputError(f"missing is one of {', '.join(MISSING)}, not {missing!r}.")
        trees = {str(c): as_hierarchy(h) for c, h in (hierarchies or {}).items()}
        return cls(trees, dict(shown or {}), dict(weights or {}), dict(limits or {}), missing, dict(levels or {}))

    def named(self) -> set[str]:
        """Every column that something is said about."""
        return {*self.hierarchies, *self.shown, *self.weights, *self.limits, *self.levels}


@dataclass(frozen=True, eq=False)
class Table:
    """The rows that take part, and how many were left out for missing cells."""

    frame: pl.DataFrame
    id: str | None
    sensitive: str | None
    quasi: tuple[str, ...]
    columns: tuple[QuasiColumn, ...]
    value: Codes  # code of each row's sensitive value
    values: pl.Series  # the values by code
    shape: Shape
    incomplete: int = 0
    publish_ids: bool = False  # whether a release that can show ids does
    joint: JointValues | None = None  # of several sensitive columns, whose combinations are the values then

    @property
    def rows(self) -> int:
        """How many records take part."""
        return self.frame.height

    @property
    def group_label(self) -> str:
        """A name for the column of groups that no published column has."""
        return self._unused("group")

    @property
    def count_label(self) -> str:
        """A name for the column of counts that no published column has."""
        return self._unused("count")

    @property
    def published_id(self) -> str | None:
        """The column of ids if it is to be published where a release can show it."""
        return self.id if self.publish_ids else None

    @property
    def sensitives(self) -> tuple[str, ...]:
        """All sensitive columns."""
        return self.joint.columns if self.joint is not None else () if self.sensitive is None else (self.sensitive,)

    def _unused(self, name: str) -> str:
        while name in (*self.quasi, *self.sensitives, self.id):
            name += "_"
        return name

    @property
    def counts(self) -> Ints:
        """Rows of each value."""
        return np.bincount(self.value, minlength=self.values.len())

    def part(self, rows: Ints) -> Table:
        """Some of the rows; the domains stay those of the whole table."""
        columns = tuple(replace(c, codes=c.codes[rows]) for c in self.columns)
        return replace(self, frame=self.frame[rows], columns=columns, value=self.value[rows])

    def shuffled(self, seed: int) -> Table:
        """The rows in an order made of their content and the seed, so that nothing can depend on the order given."""
        by_id = np.arange(self.rows) if self.id is None else self.frame[self.id].arg_sort().to_numpy()
        parts = [*(c.codes for c in self.columns), self.value]
        key = combined_key(parts, [*(c.size for c in self.columns), self.values.len()])
        content = by_id[np.argsort(key[by_id], kind="stable")]
        return self.part(content[np.random.default_rng(seed).permutation(self.rows)])


def prepare(
    table: Any,
    *,
    id: str | None,
    sensitive: str | Sequence[str] | None,
    quasi: Sequence[str] | None,
    shape: Shape,
    others: str = "alone",
) -> Table:
    """Encode a table; what cannot be published is refused with a sentence that names the column.

    Of several sensitive columns ``others`` says how the rest counts while one is judged (``joint_values.py``).
    """
    secret = listed_names(sensitive)
    frame = to_polars(table)
    if quasi is None:
        need_header(frame, "The table")
    _refuse_patterns(frame)
    asked = [] if quasi is None else [quasi] if isinstance(quasi, str) else list(quasi)
    need_columns(frame, [*([] if id is None else [id]), *secret, *asked], "The table")
    names = tuple(asked if quasi is not None else [c for c in frame.columns if c not in (id, *secret)])
    _check_roles(id, secret, names)
    strange = sorted(shape.named() - set(names))
    if strange:
        raise InputError(f"{strange[0]!r} is none of the quasi-identifiers ({', '.join(names)}).")
    if not frame.height:
        raise InputError("The table is empty: it has no rows.")
    cells = {c: scalar(frame[c], f"The table: column {c!r}") for c in names}
    gaps = np.zeros(frame.height, dtype=bool)
    for column in cells.values():
        gaps |= _gaps(column)
    kept, cells = _handled(gaps, cells, shape.missing)
    own = {} if id is None else {id: scalar(frame[id], f"The table: column {id!r}")[kept]}
    frame = frame[kept].with_columns(column.alias(c) for c, column in {**cells, **own}.items())
    joint = None
    value, values = _values(frame, next(iter(secret), None))
    if len(secret) > 1:
        value, values, joint = JointValues.of(secret, [_values(frame, column) for column in secret], others)
    _check_ids(frame, id)
    columns = tuple(bounded(_encoded(c, cells[c], shape), shape.levels.get(c)) for c in names)
    return Table(
        frame,
        id,
        next(iter(secret), None),
        names,
        columns,
        value,
        values,
        shape,
        int(gaps.sum()) if shape.missing == "suppress" else 0,
        joint=joint,
    )


def listed_names(sensitive: str | Sequence[str] | None) -> list[str]:
    """The sensitive columns that were named, none, one or several."""
    return [] if sensitive is None else [sensitive] if isinstance(sensitive, str) else [str(c) for c in sensitive]


def _refuse_patterns(frame: pl.DataFrame) -> None:
    """Names that programs take for a pattern of names, or for none at all."""
    for place, name in enumerate(frame.columns, start=1):
        if not name.strip() or name == "*" or (name.startswith("^") and name.endswith("$")):
            raise InputError(f"Column {place} of the table is called {name!r}, which no release can carry: rename it.")


def _check_roles(id: str | None, sensitive: Sequence[str], quasi: Sequence[str]) -> None:
    if not quasi:
        raise InputError("A release needs quasi-identifiers: name them with quasi=.", parameters=("quasi",))
    named = [name for name in (id, *sensitive, *quasi) if name is not None]
    if len(set(named)) < len(named):
        twice = next(name for k, name in enumerate(named) if name in named[:k])
        raise InputError(f"The column {twice!r} is named twice: a column plays one part.")


def _gaps(column: pl.Series) -> Any:
    empty = column.is_null()
    if column.dtype.is_float():
        empty = empty | column.is_nan().fill_null(True)
    if column.dtype == pl.String:
        empty = empty | (column.str.strip_chars() == "").fill_null(True)
    return empty.to_numpy()


def _handled(gaps: Any, cells: dict[str, pl.Series], missing: str) -> tuple[Ints, dict[str, pl.Series]]:
    """The rows that are kept and their cells."""
    rows = np.arange(gaps.size)
    if not gaps.any():
        return rows, cells
    where = [c for c, column in cells.items() if _gaps(column).any()]
    if missing == "refuse":
        raise InputError(
            f'{int(gaps.sum())} rows have an empty cell in {", ".join(repr(c) for c in where)}: choose missing="value" '
            '(an empty cell is a value of its own) or missing="suppress" (such rows are left out).',
            parameters=("missing",),
        )
    if missing == "suppress":
        kept = np.flatnonzero(~gaps)
        if not kept.size:
            raise InputError("Every row has an empty cell: nothing is left to publish.")
        return kept, {c: column.gather(kept) for c, column in cells.items()}
    filled = {}
    for c, column in cells.items():
        text = column.cast(pl.String)
        filled[c] = text.set(pl.Series(_gaps(column)), MARK) if c in where else column
    return rows, filled


def _values(frame: pl.DataFrame, sensitive: str | None) -> tuple[Codes, pl.Series]:
    if sensitive is None:
        return np.zeros(frame.height, dtype=np.int32), pl.Series("value", [""])
    column = scalar(frame[sensitive], f"The table: column {sensitive!r}")
    gaps = _gaps(column)
    if gaps.any():
        raise InputError(
            f"{int(gaps.sum())} rows have no value (column {sensitive!r} is empty): write a word for it, such as "
            "'unknown', or leave these rows out."
        )
    code, values = ordered(column)
    return code.astype(np.int32), values


def _check_ids(frame: pl.DataFrame, id: str | None) -> None:
    if id is None:
        return
    ids = scalar(frame[id], f"The table: column {id!r}")
    if _gaps(ids).any():
        raise InputError(f"Some rows have no id (column {id!r} is empty).")
    if ids.n_unique() < ids.len():
        raise InputError(f"The column {id!r} holds an id more than once: a table has one record per person.")


def _encoded(name: str, column: pl.Series, shape: Shape) -> QuasiColumn:
    weight = shape.weights.get(name, 1.0)
    tree, shown = shape.hierarchies.get(name), shape.shown.get(name)
    numbers = None if _codes(column) else as_numbers(column)
    if name in shape.limits:
        numbers = _limited(name, numbers, *shape.limits[name])
        if shown not in (None, "range"):
            raise InputError(f"Column {name!r} is top or bottom coded, which is published as ranges, not as {shown}s.")
    if numbers is not None and (tree is None or shown == "range" or name in shape.limits):
        found = QuasiColumn.numeric(name, numbers.to_numpy(), weight=weight)
        return replace(found, shown=shown) if shown not in (None, "range", "label") else found
    found = QuasiColumn.categorical(name, column.cast(pl.String).to_list(), weight=weight)
    if tree is None:
        if shown in ("range", "label"):
            lacks = "numbers" if shown == "range" else "hierarchy"
            raise InputError(f"Column {name!r} cannot be published as a {shown}: it has no {lacks}.")
        return found
    tree.cover(column.cast(pl.String), f"The hierarchy of column {name!r}")
    rows = [list(row) for row in zip(*tree.levels, strict=True)]
    if numbers is not None:  # numbers keep their order below a hierarchy
        found = _as_numbers(found)
    return found.with_hierarchy(rows, shown=shown or "label")


def ranged(column: pl.Series) -> bool:
    """Whether a column without hierarchy is published as ranges: numbers, also as text, that are no codes."""
    return not _codes(column) and as_numbers(column) is not None


def _codes(column: pl.Series) -> bool:
    """Whether digits are names, as in 02139: a range of them would lose the zero."""
    return column.dtype == pl.String and bool(column.str.contains(r"^\s*[+-]?0\d").any())


def _as_numbers(column: QuasiColumn) -> QuasiColumn:
    """The same text with its codes in the order of the numbers, where each number is written one way."""
    numbers = np.array([float(label) for label in column.labels])
    order = np.argsort(numbers, kind="stable")
    if np.any(np.diff(numbers[order]) == 0):
        return column
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    labels = tuple(column.labels[k] for k in order.tolist())
    return replace(column, codes=rank[column.codes], labels=labels, values=numbers[order])


def _limited(name: str, numbers: pl.Series | None, low: float | None, high: float | None) -> pl.Series:
    """Top and bottom coding: everything beyond a limit counts as the limit."""
    if numbers is None:
        raise InputError(f"Column {name!r} holds no numbers: it cannot have a lowest and a highest value.")
    if low is not None and high is not None and low >= high:
        raise InputError(f"Column {name!r}: the lowest value {low} must be below the highest {high}.")
    return numbers.clip(low, high)
