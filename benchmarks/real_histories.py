"""Histories as organisations have them, made from real tables, with the truth beside them.

    from benchmarks.real_histories import History, Spec, named
    history = named("three kinds, presence")
    post = st.infer(history.releases, **history.arguments)

A frozen `Spec` says all: which table, how many persons per release, how each release is made, how many
persons neighbouring releases share, what the reader has, and how many values change between releases. The
same spec gives the same history. Persons are rows of the table, their ids are the numbers of the rows as
text. Tables are looked for in the folder that SHOWTHROUGH_DATA names.

Releases are made with `st.anonymize`, except that

- *levels* publish suppressed rows as stars in every column, as ARX does (*levels-dropped* leaves them out);
- *anatomy* where a value is too frequent for l (Adult's commonest occupation has 13 %) puts the rest into
  groups at random, as Xiao and Tao do;
- *m-invariance* and *history-guided* give way to Anatomy where the history leaves them no release.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.histories import NAMES, OCCUPATIONS, anatomy, independent

HELD_OUT = 1000  # seeds from here on are for judging alone: nobody develops on them
BUCKETIZED = ("anatomy", "m-invariance", "history-guided")
SUPPRESSED = 0.02  # the share of rows that levels may suppress


class MissingDataError(SystemExit):
    """A table is not there."""


@dataclass(frozen=True)
class Table:
    """A real table: its file, its sensitive column, and the values that no person of ours has."""

    file: str
    sensitive: str
    without: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Where its hierarchies are."""
        return self.file.split("/", maxsplit=1)[0]


TABLES: Mapping[str, Table] = {
    "adult": Table("adult/adult_kdd08.csv.gz", "occupation"),
    "ipums": Table("ipums/ipums_la_97_kdd08.csv", "occ1950", without=("999",)),  # who has an occupation
    "ipums-all": Table("ipums/ipums_la_97_kdd08.csv", "occ1950"),  # 44 % have none, and one value says so
}


@dataclass(frozen=True)
class Kind:
    """How one release is made: a method and its l, m or k.

    ``method`` is anatomy, m-invariance, history-guided, levels, levels-dropped, local-recoding, mondrian,
    mondrian-relaxed or mdav.
    """

    method: str
    strength: int

    def __str__(self) -> str:
        return f"{self.method} {self.strength}"


@dataclass(frozen=True)
class Spec:
    """A history in a few words.

    ``overlap`` is the share of persons kept from one release to the next: at random, or without those who
    came first if the ``oldest_leave``. None: every release draws afresh from the persons of the register.
    ``reader`` has only the ids that releases publish ("ids"), a register of ``register`` persons
    ("register"), or a register that says who is in which release ("presence"). ``changed`` persons among
    those kept get another value from release to release; a reader who is ``told`` knows who.
    """

    name: str
    data: str
    persons: int
    kinds: tuple[Kind, ...]
    overlap: float | None = 0.8
    reader: str = "ids"
    register: int = 0  # 0: twice the persons
    changed: int = 0
    told: bool = False
    oldest_leave: bool = False
    seed: int = 0

    def __str__(self) -> str:
        kinds = [str(k) for k in self.kinds]
        shown = f"{len(kinds)} × {kinds[0]}" if len(set(kinds)) == 1 else ", ".join(kinds)
        kept = (
            "drawn afresh"
            if self.overlap is None
            else f"overlap {self.overlap:g}{', oldest leave' * self.oldest_leave}"
        )
        words = [f"{self.data} {self.persons}", shown, kept, self.reader]
        if self.changed:
            words.append(f"{self.changed} changed, {'told' if self.told else 'untold'}")
        return f"{'; '.join(words)}; seed {self.seed}"


@dataclass(frozen=True)
class History:
    """Releases, what `infer` is given beside them, and the truth: id, release, value.

    In the truth a person stands once for every release; who is only in the register has no release.
    """

    spec: Spec
    releases: list[st.Release]
    arguments: dict[str, Any]
    truth: pl.DataFrame
    changed: frozenset[str] = field(default_factory=frozenset)  # ids


def named(name: str, seed: int | None = None) -> History:
    """The history of a name, with its own seed or another."""
    spec = NAMED[name]
    return make(spec if seed is None else replace(spec, seed=seed))


def make(spec: Spec) -> History:
    """The history of a spec."""
    if spec.data == "frequencies":
        return _independent(spec)
    table, about, rng = read_table(spec.data), TABLES[spec.data], np.random.default_rng(spec.seed)
    rows = _persons(spec, table.height, rng)
    values, changed = _values(spec, table[about.sensitive], rows, rng)
    releases: list[st.Release] = []
    present: dict[str, np.ndarray] = {}
    truth = []
    for r, (kind, own) in enumerate(zip(spec.kinds, rows, strict=True)):
        name = f"D{r + 1}"
        sensitive = pl.Series(about.sensitive, values[r])
        part = table[own].with_columns(sensitive)
        made = _release(spec, kind, part, releases, name=name, seed=spec.seed + r)
        releases.append(made)
        published = own if kind.method == "levels" else made.groups()["id"].cast(pl.Int64).to_numpy()
        present[f"in_{name}"] = np.isin(np.arange(table.height), published)
        truth.append(_told(part["pid"], sensitive, name))
    arguments: dict[str, Any] = {"changed": ("tolerate" if not spec.told else changed) if spec.changed else "refuse"}
    if spec.reader != "ids":
        inside = pl.concat(truth)["id"].implode()
        arguments["register"] = register = _register(spec, table, rows, present, rng)
        others = table.filter(pl.col("pid").is_in(register["id"].implode()) & ~pl.col("pid").is_in(inside))
        truth.append(_told(others["pid"], others[about.sensitive], None))
    return History(spec, releases, arguments, pl.concat(truth), frozenset(changed))


def _independent(spec: Spec) -> History:
    """Anatomy releases of persons who have nothing but a value, as frequent as in Adult (`benchmarks.histories`)."""
    l, count, overlap = spec.kinds[0].strength, len(spec.kinds), spec.overlap or 0.0
    releases = independent(spec.persons, l, overlap=overlap, releases=count, seed=spec.seed)
    step = spec.persons - int(spec.persons * overlap)
    everybody = spec.persons + (count - 1) * step
    drawn = np.random.default_rng(spec.seed).choice(OCCUPATIONS.size, everybody, p=OCCUPATIONS / OCCUPATIONS.sum())
    ids, values = pl.int_range(everybody, eager=True).cast(pl.String), NAMES.gather(drawn)
    spans = [(f"D{r + 1}", slice(r * step, r * step + spec.persons)) for r in range(count)]
    truth = [_told(ids[span], values[span], name) for name, span in spans]
    return History(spec, releases, {"changed": "refuse"}, pl.concat(truth))


def _told(ids: pl.Series, values: pl.Series, release: str | None) -> pl.DataFrame:
    return pl.DataFrame({"id": ids, "release": pl.Series([release] * ids.len(), dtype=pl.String), "value": values})


@cache
def read_table(data: str) -> pl.DataFrame:
    """A table with a column pid in front."""
    about = TABLES[data]
    path = folder() / about.file
    if not path.exists():
        raise MissingDataError(f"There is no {path}: SHOWTHROUGH_DATA names the folder with {about.file}.")
    frame = pl.read_csv(path, infer_schema=False).with_columns(pl.col("age").cast(pl.Int64))
    frame = frame.filter(~pl.col(about.sensitive).is_in(list(about.without))) if about.without else frame
    return frame.with_row_index("pid").with_columns(pl.col("pid").cast(pl.String))


def folder() -> Path:
    """Where the tables are."""
    given = os.environ.get("SHOWTHROUGH_DATA")
    if not given:
        raise MissingDataError("SHOWTHROUGH_DATA must name the folder with adult/ and ipums/.")
    return Path(given)


@cache
def _hierarchies(data: str) -> dict[str, st.Hierarchy]:
    place = folder() / TABLES[data].folder / "hierarchies"
    return {c: st.Hierarchy.read(place / f"{c}.csv") for c in _quasi(data)}


def _quasi(data: str) -> list[str]:
    return [c for c in read_table(data).columns if c not in ("pid", TABLES[data].sensitive)]


def _persons(spec: Spec, height: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The rows of each release: newcomers first have never been there, later some return."""
    if spec.overlap is None:
        size = spec.register or 2 * spec.persons
        pool = np.arange(height) if size >= height else np.sort(rng.choice(height, size, replace=False))
        return [np.sort(rng.choice(pool, spec.persons, replace=False)) for _ in spec.kinds]
    here, found = rng.choice(height, spec.persons, replace=False), list[np.ndarray]()
    seen = np.zeros(height, dtype=bool)
    for _ in spec.kinds:
        found.append(np.sort(here))
        seen[here] = True
        stay = round(spec.overlap * spec.persons)
        kept = here[here.size - stay :] if spec.oldest_leave else rng.choice(here, stay, replace=False)
        fresh = rng.permutation(np.flatnonzero(~seen))
        back = rng.permutation(np.setdiff1d(np.flatnonzero(seen), here))
        here = np.concatenate([kept, np.concatenate([fresh, back])[: spec.persons - kept.size]])
    return found


def _values(
    spec: Spec, told: pl.Series, rows: Sequence[np.ndarray], rng: np.random.Generator
) -> tuple[list[np.ndarray], list[str]]:
    """The values of each release and the ids whose value changes; new values are as frequent as in the table."""
    now, found, changed = told.to_numpy().copy(), [], list[str]()
    for r, own in enumerate(rows):
        if r and spec.changed:
            shared = np.intersect1d(own, rows[r - 1])
            for i in rng.choice(shared, min(spec.changed, shared.size), replace=False):
                while (new := told[int(rng.integers(told.len()))]) == now[i]:
                    pass
                now[i] = new
                changed.append(str(i))
        found.append(now[own])
    return found, sorted(set(changed), key=int)


def _register(
    spec: Spec, table: pl.DataFrame, rows: Sequence[np.ndarray], present: Mapping[str, np.ndarray], rng: Any
) -> pl.DataFrame:
    """Everybody of the releases and others up to the size of the register, with exact quasi-identifiers."""
    inside = np.unique(np.concatenate(rows))
    others = rng.permutation(np.setdiff1d(np.arange(table.height), inside))
    size = spec.register or 2 * spec.persons
    known = np.sort(np.concatenate([inside, others[: max(0, size - inside.size)]]))
    found = table[known].select("pid", *_quasi(spec.data)).rename({"pid": "id"})
    if spec.reader != "presence":
        return found
    return found.with_columns(**{c: pl.Series(flags[known].astype(int)) for c, flags in present.items()})


# One release ---------------------------------------------------------------------------------


def _release(
    spec: Spec, kind: Kind, part: pl.DataFrame, history: list[st.Release], *, name: str, seed: int
) -> st.Release:
    """A release of some rows."""
    about = TABLES[spec.data]
    given: dict[str, Any] = {"id": "pid", "sensitive": about.sensitive, "quasi": _quasi(spec.data), "seed": seed}
    if kind.method == "anatomy":
        return _anatomy(part, kind.strength, given, name)
    if kind.method in ("m-invariance", "history-guided"):
        made = _looking_back(part, kind, history, {**given, "name": name})
        return _anatomy(part, kind.strength, given, name) if made is None else made
    k = [st.KAnonymity(kind.strength)]
    if kind.method.startswith("levels"):
        trees = _hierarchies(spec.data)
        made = st.anonymize(
            part, method="full-domain", criteria=k, hierarchies=trees, suppression_limit=SUPPRESSED, name=name, **given
        )
        return _starred(made, part, about.sensitive, trees) if kind.method == "levels" else made
    output = {"output": "bucketized"} if spec.reader == "ids" else {}
    return st.anonymize(part, method=kind.method, criteria=k, name=name, **given, **output)


def _looking_back(
    part: pl.DataFrame, kind: Kind, history: list[st.Release], given: Mapping[str, Any]
) -> st.Release | None:
    """The next release by a strategy, or None where it cannot be had: values changed, or groups had too few."""
    for repair in ("counterfeits", "dissolve"):  # a group of counterfeits alone is refused
        try:
            return st.anonymize(
                part, method="anatomy", strategy=kind.method, history=history, output="bucketized", changed="split",
                criteria=[st.DistinctLDiversity(kind.strength)], repair=repair, hold_back=True, **given,
            )  # fmt: skip
        except st.errors.InputError:
            pass
    return None


def _anatomy(part: pl.DataFrame, l: int, given: Mapping[str, Any], name: str) -> st.Release:
    values = part[given["sensitive"]]
    most = int(values.value_counts()["count"].max() or 0)  # type: ignore[arg-type]
    if most * l <= part.height:
        return st.anonymize(part, method="anatomy", criteria=[st.DistinctLDiversity(l)], name=name, **given)
    codes = values.rank("dense").to_numpy().astype(int) - 1
    group = anatomy(codes, l, np.random.default_rng(given["seed"]))
    rows = part.with_columns(group=pl.Series(group + 1)).sort("group", "pid")
    return st.Release.bucketized(
        rows, id="pid", sensitive=given["sensitive"], group="group", quasi=given["quasi"], name=name
    )


def _starred(made: st.Release, part: pl.DataFrame, sensitive: str, trees: Mapping[str, st.Hierarchy]) -> st.Release:
    """The same release with the suppressed rows as stars."""
    left = part.join(made.groups(), left_on="pid", right_on="id", how="anti")
    rows = made.to_frame()
    stars = left.select(*[pl.lit("*").alias(c) for c in trees], sensitive).select(rows.columns)
    return st.Release.generalized(
        pl.concat([rows, stars]), sensitive=sensitive, quasi=list(trees), name=made.name, hierarchies=trees
    )


# The histories that were tried first --------------------------------------------------------

_THREE = (Kind("levels", 5), Kind("anatomy", 3), Kind("local-recoding", 5))
_CHANGED = Spec("five changed", "adult", 6_000, (Kind("anatomy", 3),) * 2, overlap=5_500 / 6_000, changed=5)
_LOCAL = (Kind("local-recoding", 10),) * 2
_NEAREST = (Kind("mdav", 5),) * 2

NAMED: dict[str, Spec] = {
    spec.name: spec
    for spec in (
        Spec("three kinds, presence", "adult", 8_000, _THREE, overlap=0.8, reader="presence", register=16_000),
        Spec("three kinds", "adult", 8_000, _THREE, overlap=0.8, reader="register", register=16_000),
        Spec("three kinds, afresh", "adult", 8_000, _THREE, overlap=None, reader="presence", register=16_000),
        _CHANGED,
        replace(_CHANGED, name="five changed, told", told=True),
        *(
            Spec(f"local recodings, seed {s}", "adult", 10_000, _LOCAL, None, "presence", register=30_162, seed=s)
            for s in range(4)
        ),
        *(
            Spec(f"five Anatomy, seed {s}", "adult", 2_000, (Kind("anatomy", 8),) * 5, 0.9, oldest_leave=s < 4, seed=s)
            for s in range(8)
        ),
        *(
            Spec(f"six Anatomy, seed {s}", "adult", 2_000, (Kind("anatomy", 10),) * 6, 0.9, oldest_leave=s < 4, seed=s)
            for s in range(8)
        ),
        *(
            Spec(f"five independent, seed {s}", "frequencies", 2_000, (Kind("anatomy", 8),) * 5, 0.9, seed=s)
            for s in range(4)
        ),
        Spec("nearest centroids", "adult", 5_000, _NEAREST, reader="register"),
        Spec("nearest centroids, presence", "adult", 5_000, _NEAREST, reader="presence"),
    )
}
