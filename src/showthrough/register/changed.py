"""Values that changed between releases: what the publisher tells of it, and what to do about the rest.

A reader takes it that nobody's value changes. Most changes fit the releases all the same and cannot be
seen, and what is proven may then be false: {1, 2} publish {a, b}, later {1, 3} publish {b, c}. If the value
of 1 changed from a to b, "2 has a" is proven and false. Only the publisher knows, and can say so: an id
alone stands for one person per release, a pair (id, release) for two persons, one before that release and
one from it on. `changes_between` finds the pairs in the publisher's own tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.said import private
from showthrough.table.frames import need_columns, one_kind, scalar, to_polars
from showthrough.table.frozen import Frozen

REFUSE, SPLIT, TOLERATE = CHOICES = ("refuse", "split", "tolerate")
"""What to do with a person whose value must have changed, and of whom nobody told it."""

_EXPECTED = (
    'changed is "refuse", "split" or "tolerate", or says whose value changed: a list of ids or of (id, release) pairs, '
    "or a frame with the column id, and perhaps release"
)


@dataclass(frozen=True)
class Changed:
    """Whose value changed, as told, and what to do where others must have changed too.

    ``told`` maps an id to the releases from which on its value is another; to none of them if it may be another
    in every release. Ids that no release holds are an error unless ``strict`` is False.

    >>> Changed.of([17, ("ann", "2025")], otherwise="tolerate")
    <changed: 2 ids told, otherwise tolerate>
    """

    told: Mapping[Any, tuple[str, ...]] = field(default_factory=Frozen)
    otherwise: str = REFUSE
    strict: bool = True

    def __post_init__(self) -> None:
        if self.otherwise not in CHOICES:
            raise InputError(f"{_EXPECTED}; not {self.otherwise!r}.", parameters=("changed",))

    @classmethod
    def of(cls, given: Any, *, otherwise: str = REFUSE, strict: bool = True) -> Changed:
        """Made from what `infer` takes: a choice, ids, (id, release) pairs, a frame of id and release, or this."""
        if isinstance(given, Changed):
            return given
        if isinstance(given, str):
            return cls(otherwise=given)
        return cls(Frozen(_told(given)), otherwise, strict)

    @property
    def splits(self) -> bool:
        """Whether an id may come to stand for several persons."""
        return bool(self.told) or self.otherwise != REFUSE

    def among(self, names: Sequence[str], kept: Sequence[int]) -> Changed:
        """The same for some of the releases, by their numbers: a change shows in the first that is kept."""
        told: dict[Any, tuple[str, ...]] = {}
        for id, cuts in self.told.items():
            firsts = [next((r for r in kept if r >= names.index(cut)), None) for cut in cuts]
            left = tuple(dict.fromkeys(names[r] for r in firsts if r is not None and r != kept[0]))
            if left or not cuts:
                told[id] = left
        return replace(self, told=Frozen(told), strict=False)

    def and_told(self, more: Mapping[Any, tuple[str, ...]]) -> Changed:
        """The same with more ids that are told."""
        return replace(self, told=Frozen({**self.told, **more})) if more else self

    def __repr__(self) -> str:
        return f"<changed: {len(self.told)} ids told, otherwise {self.otherwise}>"


def changes_between(tables: Mapping[str, Any], *, id: str, sensitive: str) -> pl.DataFrame:
    """Whose value is another than in the last table before that holds the person: id and release.

    ``tables`` are the publisher's own, in order, by the name of the release that was made of each; rows
    without a value tell nothing. What comes out is what ``infer(changed=…)`` takes.

    >>> changes_between({"D1": {"id": [1, 2], "v": ["a", "b"]}, "D2": {"id": [1, 3], "v": ["b", "c"]}},
    ...                 id="id", sensitive="v").rows()
    [(1, 'D2')]
    """
    frames = [_own(name, to_polars(given), id, sensitive) for name, given in tables.items()]
    if not frames:
        raise InputError("There are no tables to compare: give one for each release.")
    ids = one_kind([frame["id"] for frame in frames], "ids", list(tables))
    values = one_kind([frame["value"] for frame in frames], "values", list(tables))
    kinds = zip(ids, values, strict=True)
    parts = [pl.DataFrame({"id": i, "value": v}).with_columns(at=pl.lit(k, pl.Int64)) for k, (i, v) in enumerate(kinds)]
    every = pl.concat(parts)
    before = every.select(pl.col("value").shift().over("id", order_by="at")).to_series()
    names = pl.Series("release", list(tables), dtype=pl.String)
    found = every.filter((before != every["value"]).fill_null(False))
    return found.select("id", names.gather(found["at"]).alias("release"))


def _own(name: str, frame: pl.DataFrame, id: str, sensitive: str) -> pl.DataFrame:
    """Ids and values of one table."""
    where = f"The table of {name}"
    need_columns(frame, [id, sensitive], where)
    found = pl.DataFrame({"id": scalar(frame[id], f"{where}: ids"), "value": scalar(frame[sensitive], where)})
    if found["id"].null_count():
        raise InputError(f"{where} has rows without an id.")
    twice = found["id"].is_duplicated()
    if twice.any():
        who = private(f"the id {found['id'].filter(twice)[0]}", "an id")
        raise InputError(f"{where} holds {who} more than once, so nobody can tell which value is meant.")
    return found.drop_nulls("value")


def _told(given: Any) -> dict[Any, tuple[str, ...]]:
    """The releases at which each id changed."""
    found: dict[Any, list[str]] = {}
    entries = _entries(given)
    for id, release in entries:
        if id is None:
            raise InputError("Somebody is told as changed without an id.", parameters=("changed",))
        at = found.setdefault(id, [])
        if release is not None and release not in at:
            at.append(release)
    every = {id for id, release in entries if release is None}
    return {id: () if id in every else tuple(at) for id, at in found.items()}


def _entries(given: Any) -> list[tuple[Any, str | None]]:
    """(id, release) pairs; None: any release."""
    if isinstance(given, (pl.Series, Mapping)) or hasattr(given, "columns") or not isinstance(given, Iterable):
        given = pl.DataFrame({"id": given}) if isinstance(given, pl.Series) else given
        frame = _frame(given)
        ids = scalar(frame["id"], "changed: ids").to_list()
        names = frame["release"].cast(pl.String).to_list() if "release" in frame.columns else [None] * len(ids)
        return list(zip(ids, names, strict=True))
    listed = given.tolist() if hasattr(given, "tolist") else list(given)
    found: list[tuple[Any, str | None]] = []
    for entry in listed:
        if not isinstance(entry, (tuple, list)):
            found.append((entry, None))
        elif len(entry) == 2 and isinstance(entry[1], str):
            found.append((entry[0], entry[1]))
        else:
            raise InputError(f"{_EXPECTED}; an entry is neither an id nor such a pair.", parameters=("changed",))
    return found


def _frame(given: Any) -> pl.DataFrame:
    try:
        frame = to_polars(given)
    except InputError:
        raise InputError(f"{_EXPECTED}; not {type(given).__name__}.", parameters=("changed",)) from None
    need_columns(frame, ["id"], "The frame of changed persons")
    return frame
