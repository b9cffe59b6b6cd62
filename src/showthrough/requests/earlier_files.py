"""The earlier releases of a publish: folders, plain files with roles, or a history file.

Persons are found by id, by the private link beside a folder, or by a register.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from showthrough.anonymizers.remark import Remark
from showthrough.errors import ChangedValueError, FieldError, InputError
from showthrough.register.history_file import HistoryEntries, files_of, read_history
from showthrough.register.locating import names_of
from showthrough.register.register import Register, read_register
from showthrough.release.release import Release
from showthrough.republishing.naming import Untied, named
from showthrough.table.files import read_table


@dataclass(frozen=True)
class PastFiles:
    """Where the earlier releases are, and the roles of columns in plain files."""

    paths: tuple[str, ...]
    id: str | None = None
    sensitive: str | None = None
    group: str | None = None
    quasi: tuple[str, ...] | None = None
    register: str | None = None
    encoding: str | None = None

    @property
    def history_file(self) -> str | None:
        """The history file, if that is what was given."""
        found = [path for path in self.paths if path.lower().endswith(".toml") and not os.path.isdir(path)]
        if found and len(self.paths) > 1:
            raise InputError(f"{found[0]} is a history file, which names all releases: give it alone.")
        return found[0] if found else None

    def check(self, *, remembered: bool) -> None:
        """What is said of earlier releases has to be of some, here or ``remembered``, and not of a history file's."""
        told = self.history_file
        for name in ("group", "register"):
            if getattr(self, name) is None:
                continue
            if told is not None:
                raise FieldError(name, f"is not for {told}: a history file names files and roles itself.")
            if not self.paths and not remembered:
                raise FieldError(name, "is for earlier releases: name them with history=.", parameters=("history",))

    def files(self) -> list[Path]:
        """Everything that is read."""
        told = self.history_file
        more = [] if told is None else files_of(told)
        return [*map(Path, self.paths), *([] if self.register is None else [Path(self.register)]), *more]

    def load(
        self, remembered: Sequence[Release] | None = None, *, named_persons: bool = True
    ) -> tuple[list[Release], dict[str, Untied]]:
        """The releases with everybody's group, and whom a register leaves out of which of them.

        ``remembered`` releases of a ledger stand instead of files; noise needs nobody's group (``named_persons``).
        """
        releases, register = self._read() if remembered is None else (list(remembered), self.people())
        if not named_persons:
            return releases, {}
        found, untied = [], {}
        for name, release in zip(names_of(releases), releases, strict=True):
            tied, untied[name] = named(release, name, register)
            found.append(tied)
        return found, untied

    def _read(self) -> tuple[list[Release], Register | None]:
        told = self.history_file
        if told is not None:
            return read_history(told)
        if not self.paths:
            return [], None
        entries = {
            "release": [self._entry(path) for path in self.paths],
            "sensitive": self.sensitive, "encoding": self.encoding,
            "register": None if self.register is None else {
                "file": self.register, "id": self.id, "only_published": True
            },
        }  # fmt: skip
        return HistoryEntries.from_dict({k: v for k, v in entries.items() if v is not None}).load()

    @contextlib.contextmanager
    def doubting_the_register(self) -> Iterator[None]:
        """Where a register finds persons, a value that no longer fits may be that of somebody who was not there."""
        try:
            yield
        except ChangedValueError as problem:
            if self.register is None and self.history_file is None:
                raise
            hint = "Or a register took them for others, and they were not in it: its columns in_NAME say who was."
            raise ChangedValueError(f"{problem.said} {hint}", parameters=problem.parameters) from None

    def people(self) -> Register | None:
        """The register, if one is named."""
        return None if self.register is None else read_register(self.register, id=self.id, encoding=self.encoding)

    def _entry(self, path: str) -> dict[str, object]:
        """A folder knows its columns; a plain file has those of the table that it has."""
        if os.path.isdir(path) or not os.path.exists(path):
            return {"file": path}
        table = read_table(path, encoding=self.encoding)
        columns = table.columns
        roles = {"id": self.id, "group": self.group}
        own: dict[str, object] = {
            role: column for role, column in roles.items() if column is not None and column in columns
        }
        absent = [c for c in (self.id, self.sensitive) if c is not None and c not in columns]
        if self.sensitive in absent or ("group" in own and absent):
            raise InputError(
                f"{path} has no column {absent[0]!r}: plain files of history= are read by the names of the table's "
                "columns. A history file (.toml) says what others are called; showthrough release make turns a "
                "published file of any kind into a folder.",
                parameters=("history",),
            )
        if "id" in own and self.group is not None and "group" not in own:
            raise FieldError("group", f"names the column of groups, and {path} has no column {self.group!r}.")
        if "id" not in own:
            shown = _shown(columns, self.quasi, (self.sensitive, self.group))
            own["quasi"] = shown
            if "group" not in own:
                _refuse_counts(path, table, [*shown, *([] if self.sensitive is None else [self.sensitive])])
        return {"file": path, **own}


def _shown(columns: Sequence[str], quasi: Sequence[str] | None, others: Sequence[str | None]) -> list[str]:
    return [c for c in columns if (c in quasi if quasi is not None else c not in others)]


def _refuse_counts(path: str, table: pl.DataFrame, shown: Sequence[str]) -> None:
    """Rows that are all different beside a column of whole numbers are counts, not records."""
    column = next((c for c in table.columns if c not in shown and _counts(table[c])), None)
    if column is not None and shown and table.select(shown).is_unique().all():
        raise InputError(
            f"{path} looks like a table of counts (column {column!r}), which the columns of the table do not tell: "
            "make a folder of it with showthrough release make, or name it in a history file (.toml), either with the "
            "column of counts. If it has one row per record, leave that column out.",
            parameters=("history",),
        )


def _counts(column: pl.Series) -> bool:
    """Whether all entries are whole numbers, some more than 1, that do not just number the rows."""
    found = column.cast(pl.Int64, strict=False)
    if found.null_count() or bool((found < 0).any()) or not bool((found > 1).any()):
        return False
    ordered = found.sort()
    return bool((ordered.diff().drop_nulls() != 1).any())


def told_untied(release: Release, untied: Mapping[str, Untied]) -> Release:
    """The release with a word on whom the register leaves out of an earlier release."""
    several = (
        "{persons:person|persons} of the register fit several groups of {release}: what it tells of them is left out. "
        "The private link that it was published with would say which is theirs."
    )
    nobody = (
        "{rows:row|rows} of {release} fit nobody of the register, and count as persons whom it does not know: "
        "a dry run of an audit with the register shows how the cells were understood."
    )
    more = [Remark.of("several groups", several, persons=u.several, release=n) for n, u in untied.items() if u.several]
    more += [Remark.of("nobody fits", nobody, rows=u.nobody, release=n) for n, u in untied.items() if u.nobody]
    return replace(release, made=replace(release.made, remarks=(*release.made.remarks, *more))) if more else release
