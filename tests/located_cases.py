"""Random histories of all kinds with a register, and the same in the oracle's form."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import polars as pl

from showthrough import Register, Release
from tests.oracles.register import Table

KINDS = ("ids", "generalized", "counted", "within", "rows")


@dataclass
class Located:
    """Releases and a register beside tables for the oracle."""

    register: Register
    releases: list[Release]
    tables: list[Table]
    domain: tuple[str, ...] = ()
    known: list[str] = field(default_factory=list)


def located(seed: int, *, persons: int = 5, most_releases: int = 3, tampered: bool = False) -> Located:
    """Made from a true value, age and presence of everybody; some persons may be missing in the register."""
    rng = random.Random(seed)
    n = rng.randint(2, persons)
    people = [f"p{k}" for k in range(n)]
    truth = {p: rng.choice("abc") for p in people}
    age = {p: rng.randint(20, 29) for p in people}
    known = [p for p in people if rng.random() < 0.85] or people[:1]
    told = {p: None if rng.random() < 0.1 else age[p] for p in known}
    case = Located(Register.of(pl.DataFrame({"id": known, "age": [told[p] for p in known]})), [], [], known=known)
    presence: dict[str, pl.Series] = {}
    for r in range(rng.randint(1, most_releases)):
        kind = rng.choice(KINDS)
        home = {p: rng.choice([0, 0, 1, 1, 2]) for p in people if rng.random() < 0.85} or {people[0]: 0}
        used = sorted(set(home.values()))
        groups = [[p for p in home if home[p] == g] for g in used]
        values = [[truth[p] for p in own] for own in groups]
        fakes = [rng.choice([0, 0, 0, 1]) for _ in groups]
        for own, k in zip(values, fakes, strict=True):
            own += [rng.choice("abc") for _ in range(k)]
        if tampered and rng.random() < 0.7:
            own = rng.choice(values)
            own[rng.randrange(len(own))] = rng.choice("abcd")
        spans = [
            (min(age[p] for p in own) - rng.choice([0, 0, 2]), max(age[p] for p in own) + rng.choice([0, 1, 4]))
            for own in groups
        ]
        build = {"ids": _ids, "generalized": _generalized, "counted": _counted, "within": _within, "rows": _rows}[kind]
        name = f"R{r + 1}"
        suppressed = rng.random() < 0.15 and kind in ("generalized", "counted")
        if suppressed:
            spans[rng.randrange(len(spans))] = None
        case.releases.append(build(name, groups, values, fakes, spans, age))
        if kind == "ids":
            fits = {p: [g] for g, own in enumerate(groups) for p in own}
            case.tables.append(Table(values, fakes, fits, {}, sure=True))
            continue
        fits = {}
        for p in known:
            a = told[p]
            if kind == "rows":
                fits[p] = [g for g, own in enumerate(groups) if a is None or any(age[q] == a for q in own)]
            else:
                fits[p] = [g for g, s in enumerate(spans) if s is None or a is None or s[0] <= a <= s[1]]
        style = rng.choice(["none", "all", "some"])
        there = {p: p in home for p in known if style == "all" or (style == "some" and rng.random() < 0.5)}
        presence[name] = pl.Series([there.get(p) for p in known], dtype=pl.Boolean)
        case.tables.append(Table(values, fakes, fits, there))
    case.register = Register(case.register.ids, case.register.quasi, presence)
    if rng.random() < 0.3:
        case.domain = ("e",)
    return case


def _fake_table(fakes):
    return {g + 1: n for g, n in enumerate(fakes) if n} or None


def _cell(span):
    return "*" if span is None else f"[{span[0]}, {span[1]}]"


def _ids(name, groups, values, fakes, spans, age):
    rows = [
        (p, g + 1, v)
        for g, (own, told) in enumerate(zip(groups, values, strict=True))
        for p, v in zip([*own, *[None] * fakes[g]], told, strict=True)
    ]
    frame = pl.DataFrame(rows, schema={"id": pl.String, "g": pl.Int64, "v": pl.String}, orient="row")
    return Release.bucketized(frame, id="id", sensitive="v", group="g", counterfeits=_fake_table(fakes), name=name)


def _rows(name, groups, values, fakes, spans, age):
    """Anatomy's pair without ids: exact ages beside groups, values apart."""
    records = pl.DataFrame(
        [(age[p], g + 1) for g, own in enumerate(groups) for p in own], schema=["age", "g"], orient="row"
    )
    return Release.bucketized(
        records, values=_tally(values), sensitive="v", group="g", counterfeits=_fake_table(fakes), name=name
    )


def _tally(values):
    rows = [(g + 1, v) for g, own in enumerate(values) for v in own]
    frame = pl.DataFrame(rows, schema=["g", "v"], orient="row")
    return frame.group_by("g", "v", maintain_order=True).agg(pl.len().alias("count"))


def _generalized(name, groups, values, fakes, spans, age):
    rows = [(_cell(spans[g]), g + 1, v) for g, own in enumerate(values) for v in own]
    frame = pl.DataFrame(rows, schema=["age", "g", "v"], orient="row")
    fake = _fake_table(fakes)
    return Release.generalized(frame, sensitive="v", quasi=["age"], group="g", counterfeits=fake, name=name)


def _counted(name, groups, values, fakes, spans, age):
    frame = _tally(values)
    frame = frame.with_columns(pl.Series("age", [_cell(spans[g - 1]) for g in frame["g"]]))
    fake = _fake_table(fakes)
    return Release.counted(frame, sensitive="v", quasi=["age"], group="g", counterfeits=fake, name=name)


def _within(name, groups, values, fakes, spans, age):
    rows = [
        ((spans[g][0] + spans[g][1]) / 2, (spans[g][1] - spans[g][0]) / 2, g + 1, v)
        for g, own in enumerate(values)
        for v in own
    ]
    frame = pl.DataFrame(rows, schema=["age", "width", "g", "v"], orient="row")
    return Release.microaggregated(
        frame,
        sensitive="v",
        quasi=["age"],
        group="g",
        spread={"age": "width"},
        locate="within",
        counterfeits=_fake_table(fakes),
        name=name,
    )
