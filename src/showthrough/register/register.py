"""The register: what an adversary knows about who is who, ids with exact quasi-identifiers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.numerals import number_of
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns, one_kind, scalar, to_polars
from showthrough.table.frozen import Frozen
from showthrough.table.plain import as_set, fingerprint

PRESENCE = "in_"  # a column in_H1 says who is in the release H1
_YES = ("yes", "y", "true", "t", "1", "present", "in")
_NO = ("no", "n", "false", "f", "0", "absent", "out")


@dataclass(frozen=True, eq=False, repr=False)
class Register:
    """Persons with their quasi-identifiers, and, as far as it is known, who is in which release.

    Make one with `Register.of` from a frame or `read_register` from a file. A quasi-identifier that is
    empty is unknown: the person then fits every cell of that column.
    """

    ids: pl.Series
    quasi: pl.DataFrame  # text
    presence: Mapping[str, pl.Series] = field(default_factory=Frozen)

    @classmethod
    def of(
        cls,
        frame: Any,
        *,
        id: str | None = None,
        quasi: Sequence[str] | None = None,
        present: Mapping[str, Iterable[Any]] | None = None,
        where: str = "The register",
    ) -> Register:
        """Take a register from a frame.

        ``id`` is the column of the ids (default: the column "id", or the only one that is neither a
        quasi-identifier nor a presence). ``present`` maps the name of a release to the ids that are in it;
        a column ``in_NAME`` with yes and no (empty: unknown) says the same of the release NAME.
        """
        if isinstance(frame, Register):
            return frame if present is None else frame.with_presence(present)
        table = to_polars(frame)
        id = _id_column(table, id, quasi, where)
        marks = [c for c in table.columns if c.startswith(PRESENCE) and c != id and c not in (quasi or ())]
        chosen = [c for c in table.columns if c != id and c not in marks] if quasi is None else list(quasi)
        need_columns(table, [id, *chosen], where)
        ids = scalar(table[id], f"{where}: column {id!r}").alias("id")
        _check_ids(ids, id, where)
        cells = {c: _text(table[c], f"{where}: column {c!r}") for c in chosen}
        presence = {c.removeprefix(PRESENCE): _presence(table[c], c, where) for c in marks}
        found = cls(ids, pl.DataFrame(cells), Frozen(presence))
        return found if present is None else found.with_presence(present)

    def with_presence(self, present: Mapping[str, Iterable[Any]]) -> Register:
        """The same persons with, for some releases, the ids of all who are in them."""
        presence = dict(self.presence)
        text = self.ids.cast(pl.String)
        for name, ids in present.items():
            inside = pl.Series([str(i) for i in ids], dtype=pl.String)
            presence[name] = text.is_in(inside.unique().implode())
            if inside.len() and not presence[name].any():
                raise InputError(
                    f"None of the {inside.len()} ids said to be in {name} is in the register: compare how they are "
                    "written."
                )
        return Register(self.ids, self.quasi, Frozen(presence))

    def joined(self, other: Register) -> Register:
        """The persons of both; what this register does not say of somebody, the other may."""
        ids, theirs = one_kind([self.ids, other.ids], "ids", ["the register", "the release without values"])
        mine, more = self.quasi.with_columns(ids.alias("id")), other.quasi.with_columns(theirs.alias("id"))
        both = mine.join(more, on="id", how="full", coalesce=True, suffix="\0", maintain_order="left_right")
        named = list(dict.fromkeys([*self.quasi.columns, *other.quasi.columns]))
        columns = [pl.coalesce(c, f"{c}\0").alias(c) if f"{c}\0" in both.columns else pl.col(c) for c in named]
        order = pl.DataFrame({"id": both["id"]})
        presence = {
            name: order.join(pl.DataFrame({"id": ids, "in": inside}), on="id", how="left", maintain_order="left")["in"]
            for name, inside in self.presence.items()
        }
        return Register(both["id"], both.select(columns), Frozen(presence))

    def fingerprint(self) -> str:
        """The SHA-256 of the persons, their quasi-identifiers and presence, in any order of the rows."""
        columns = [pl.Series(f"\0{PRESENCE}{name}", known) for name, known in sorted(self.presence.items())]
        cells = self.quasi.select(sorted(self.quasi.columns))
        return fingerprint(as_set(pl.DataFrame([self.ids.alias("\0id"), *cells.get_columns(), *columns])))

    def __len__(self) -> int:
        return self.ids.len()

    def __repr__(self) -> str:
        presence = f", presence in {', '.join(self.presence)}" if self.presence else ""
        return f"<register of {number_of(len(self), 'person')}: {', '.join(self.quasi.columns)}{presence}>"


def read_register(
    path: str | os.PathLike[str],
    *,
    id: str | None = None,
    quasi: Sequence[str] | None = None,
    present: Mapping[str, Iterable[Any]] | None = None,
    encoding: str | None = None,
) -> Register:
    """Read a register from a CSV or Parquet file; columns as in `Register.of`."""
    source = os.fspath(path)
    return Register.of(read_table(source, encoding=encoding), id=id, quasi=quasi, present=present, where=source)


def _id_column(table: pl.DataFrame, id: str | None, quasi: Sequence[str] | None, where: str) -> str:
    if id is not None:
        need_columns(table, [id], where)
        return id
    if "id" in table.columns:
        return "id"
    taken = set(quasi or ())
    left = [c for c in table.columns if not c.startswith(PRESENCE) and c not in taken]
    if quasi is not None and len(left) == 1:
        return left[0]
    raise InputError(
        f"{where} has no column 'id': name the column with the ids of its persons, id=.", parameters=("id",)
    )


def _check_ids(ids: pl.Series, id: str, where: str) -> None:
    blank = ids.is_null() if ids.dtype != pl.String else ids.fill_null("").str.strip_chars() == ""
    if not ids.len():
        raise InputError(f"{where} is empty: it has no rows.")
    if blank.any():
        raise InputError(f"{where}: row {int(blank.arg_max() or 0) + 1} has no id (column {id!r} is empty).")
    if ids.n_unique() < ids.len():
        row = int(ids.is_first_distinct().not_().arg_max() or 0) + 1
        raise InputError(f"{where}: the id in row {row} stands there already. A person may be in a register only once.")


def _text(column: pl.Series, where: str) -> pl.Series:
    """Quasi-identifiers as text; blanks mean unknown."""
    text = scalar(column, where).cast(pl.String).str.strip_chars()
    return text.set(text == "", None)


def _presence(column: pl.Series, name: str, where: str) -> pl.Series:
    """Who is in a release: true, false, or empty where it is not known."""
    if column.dtype == pl.Boolean:
        return column
    text = scalar(column, f"{where}: column {name!r}").cast(pl.String).str.strip_chars().str.to_lowercase()
    clear = text.is_in(_YES) | text.is_in(_NO) | text.is_null() | (text == "")
    if not clear.all():
        row = int(clear.not_().arg_max() or 0) + 1
        raise InputError(f"{where}: row {row} of column {name!r} is neither yes nor no (nor empty for unknown).")
    return text.is_in(_YES).set(text.is_null() | (text == ""), None)
