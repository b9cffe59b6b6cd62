"""Random histories as plain data, for comparing two versions of the package; nothing here imports it.

A history is a dictionary that JSON can hold: releases as columns, who is known to be where, and beside them
``tables``, the same in the form of ``tests/oracles/register.py``, from which linear programs judge facts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tests.oracles import factored
from tests.oracles.register import Contradicted, Table, seating
from tests.oracles.seats import Seating

Data = dict[str, Any]
VALUES = "abcdefgh"


def history(seed: int) -> Data:
    """The history of a seed: most are bucketized or located, few have more combinations than can be listed."""
    rng = random.Random(seed)
    make = rng.choices([bucketized, located, listed, wide], weights=[45, 40, 12, 3])[0]
    return {"seed": seed, "family": make.__name__, "domain": [], "register": None, "membership": {}} | make(rng)


# Who is in which group is published ----------------------------------------------------------


def bucketized(rng: random.Random) -> Data:
    """One to five releases with ids; persons come, go and return, some values change, some counts are wrong."""
    n = rng.choice([rng.randint(2, 12), rng.randint(10, 60), rng.randint(60, 200)])
    values = VALUES[: rng.randint(2, len(VALUES))]
    truth = {f"p{k}": rng.choice(values) for k in range(n)}
    changes, tampered, shape = rng.random() < 0.15, rng.random() < 0.08, rng.choice(["random", "distinct"])
    inside = {p for p in truth if rng.random() < 0.8} or set(truth)
    releases, tables = [], []
    for r in range(rng.randint(1, 5)):
        if changes:
            truth |= {p: rng.choice(values) for p in truth if rng.random() < 0.03}
        here = sorted(inside)
        rng.shuffle(here)
        groups = _random_groups(rng, here) if shape == "random" else _distinct_groups(rng, here, truth)
        told = [[truth[p] for p in own] for own in groups]
        fakes = [int(rng.random() < 0.05) for _ in groups]
        told = [[*own, *rng.choices(values, k=k)] for own, k in zip(told, fakes, strict=True)]
        if tampered:
            _tamper(rng, told, values)
        releases.append(_with_ids(f"R{r + 1}", groups, told, fakes))
        fits = {p: [g] for g, own in enumerate(groups) for p in own}
        tables.append(_table(told, fakes, fits, sure=True))
        inside = {p for p in truth if (rng.random() < 0.85 if p in inside else rng.random() < 0.3)} or set(truth)
    return {"releases": releases, "tables": tables, "changed": rng.choice(["refuse", "split"])}


def _random_groups(rng: random.Random, people: Sequence[str]) -> list[list[str]]:
    """Groups of one to six."""
    found, rest = [], list(people)
    while rest:
        size = rng.randint(1, 6)
        found.append(rest[:size])
        rest = rest[size:]
    return found


def _distinct_groups(rng: random.Random, people: Sequence[str], truth: Mapping[str, str]) -> list[list[str]]:
    """Groups without a value twice, as far as that goes."""
    most, found = rng.randint(2, 5), list[list[str]]()
    for p in people:
        room = [own for own in found if len(own) < most and all(truth[q] != truth[p] for q in own)]
        if room:
            rng.choice(room).append(p)
        else:
            found.append([p])
    return found


def _tamper(rng: random.Random, told: list[list[str]], values: str) -> None:
    own = rng.choice(told)
    own[rng.randrange(len(own))] = rng.choice(values)


# Persons are located by quasi-identifiers ----------------------------------------------------


def located(rng: random.Random) -> Data:
    """One to three releases of several kinds beside a register; cells overlap, presence is known or not."""
    n = rng.randint(3, 24)
    values = VALUES[: rng.randint(2, 5)]
    truth = {f"p{k}": rng.choice(values) for k in range(n)}
    age, sex = {p: rng.randint(20, 49) for p in truth}, {p: rng.choice("fm") for p in truth}
    known = [p for p in truth if rng.random() < 0.9] or list(truth)
    seen = {p: (None if rng.random() < 0.05 else age[p], sex[p]) for p in known}
    register: Data = {
        "id": known,
        "age": [seen[p][0] for p in known],
        "sex": [seen[p][1] for p in known],
        "presence": {},
    }
    releases, tables, tampered = [], [], rng.random() < 0.08
    for r in range(rng.randint(1, 3)):
        name, here = f"R{r + 1}", [p for p in truth if rng.random() < 0.85] or list(truth)
        kind = rng.choice(["generalized", "generalized", "counted", "within", "nearest", "rows", "ids"])
        groups = _neighbours(rng, sorted(here, key=lambda p: (age[p], p)))
        told = [[truth[p] for p in own] for own in groups]
        fakes = [int(rng.random() < 0.05) for _ in groups]
        told = [[*own, *rng.choices(values, k=k)] for own, k in zip(told, fakes, strict=True)]
        if tampered:
            _tamper(rng, told, values)
        cells = [_cell(rng, [age[p] for p in own], {sex[p] for p in own}, kind) for own in groups]
        exact = [[(age[p], sex[p]) for p in own] for own in groups]
        releases.append(_published(kind, name, (groups, told, fakes), cells, exact))
        if kind == "ids":
            tables.append(_table(told, fakes, {p: [g] for g, own in enumerate(groups) for p in own}, sure=True))
            continue
        style = rng.choice(["none", "all", "all", "some"])
        there = {p: p in here for p in known if style == "all" or (style == "some" and rng.random() < 0.5)}
        if there:
            register["presence"][name] = [there.get(p) for p in known]
        fits = {p: _fitting(kind, seen[p], cells, exact) for p in known}
        sure = {p: yes for p, yes in there.items() if not (yes and kind == "nearest")}  # the nearest is a guess
        tables.append(_table(told, fakes, fits, present=sure))
    return {
        "releases": releases,
        "tables": tables,
        "changed": rng.choice(["refuse", "refuse", "split"]),
        "register": register,
        "domain": ["z"] if rng.random() < 0.2 else [],
    }


def _neighbours(rng: random.Random, people: Sequence[str]) -> list[list[str]]:
    """Groups of persons of similar age."""
    least, found, rest = rng.randint(1, 4), [], list(people)
    while rest:
        size = rng.randint(least, least + 3)
        found.append(rest[:size])
        rest = rest[size:]
    return found


Cell = tuple[tuple[float, float] | None, str]  # ages from and to, or all of them; f, m or *


def _cell(rng: random.Random, ages: Sequence[int], sexes: set[str], kind: str) -> Cell:
    low, high = min(ages) - rng.choice([0, 0, 1, 3]), max(ages) + rng.choice([0, 0, 1, 3])
    both = "*" if len(sexes) > 1 or rng.random() < 0.5 else min(sexes)
    hidden = kind in ("generalized", "counted") and rng.random() < 0.05
    return (None if hidden else (low, high)), both


def _fitting(kind: str, seen: tuple[int | None, str], cells: Sequence[Cell], exact: Any) -> list[int]:
    """The groups that a person fits, by comparing with all."""
    years, own = seen
    if kind == "rows":
        return [g for g, rows in enumerate(exact) if any(s == own and years in (None, a) for a, s in rows)]
    if kind == "nearest":
        middle = [(low + high) / 2 for low, high in (span for span, _ in cells if span)]
        away = [0.0 if years is None else abs(m - years) for m in middle]
        return [g for g, d in enumerate(away) if d <= min(away) + 1e-9]
    return [
        g
        for g, (span, both) in enumerate(cells)
        if (kind == "within" or both in ("*", own)) and (span is None or years is None or span[0] <= years <= span[1])
    ]


# Who may be where is listed ------------------------------------------------------------------


def listed(rng: random.Random) -> Data:
    """Releases beside lists of who may be in which group, or perhaps in none."""
    n = rng.randint(2, 14)
    values = VALUES[: rng.randint(2, 4)]
    truth = {f"p{k}": rng.choice(values) for k in range(n)}
    releases, tables, membership = [], [], {}
    for r in range(rng.randint(1, 3)):
        name, groups = f"R{r + 1}", _random_groups(rng, [p for p in truth if rng.random() < 0.9] or list(truth))
        told = [[truth[p] for p in own] for own in groups]
        home = {p: g for g, own in enumerate(groups) for p in own}
        away = [p for p in truth if rng.random() < (0.2 if p in home else 0.5)]
        fits = {p: [home[p]] if p in home else [] for p in truth if p in home or p in away}
        for own in fits.values():
            while rng.random() < 0.4 or not own:
                own.append(rng.randrange(len(groups)))
        fits = {p: sorted(set(own)) for p, own in fits.items()}
        members = [[f"x{r}.{g}.{k}" for k in range(len(own))] for g, own in enumerate(told)]
        releases.append(_with_ids(name, members, told, [0] * len(told)))
        membership[name] = [[p, g + 1] for p, own in fits.items() for g in own] + [[p, None] for p in away if p in fits]
        sure = {p: True for p in fits if p not in away}
        tables.append(_table(told, [0] * len(told), fits, present=sure, away=[p for p in away if p in fits]))
    return {"releases": releases, "tables": tables, "changed": "refuse", "membership": membership}


def wide(rng: random.Random) -> Data:
    """Five releases with wide cells: millions of combinations of groups, some thousand candidates."""
    n, each = 40, 2
    truth = {f"p{k}": rng.choice("abc") for k in range(n)}
    age = {p: 20 + k for k, p in enumerate(truth)}
    register: Data = {"id": list(truth), "age": list(age.values()), "sex": ["f"] * n, "presence": {}}
    releases, tables = [], []
    for r in range(5):
        people = list(truth)
        rng.shuffle(people)
        groups = [people[k : k + each] for k in range(0, n, each)]
        told = [[truth[p] for p in own] for own in groups]
        name, fakes = f"R{r + 1}", [0] * len(groups)
        ages = [[age[p] for p in own] for own in groups]
        cells: list[Cell] = [((min(*own, rng.randint(20, 35)), max(*own, rng.randint(44, 59))), "*") for own in ages]
        releases.append(_published("generalized", name, (groups, told, fakes), cells, []))
        register["presence"][name] = [True] * n
        fits = {p: _fitting("generalized", (age[p], "f"), cells, []) for p in truth}
        tables.append(_table(told, fakes, fits, present=dict.fromkeys(truth, True)))
    return {"releases": releases, "tables": tables, "changed": "refuse", "register": register}


# Releases as columns -------------------------------------------------------------------------

Groups = tuple[Sequence[Sequence[str]], Sequence[Sequence[str]], Sequence[int]]  # persons, values, counterfeits


def _with_ids(name: str, groups: Any, told: Any, fakes: Sequence[int]) -> Data:
    rows = [
        (p, g + 1, v)
        for g, (own, values) in enumerate(zip(groups, told, strict=True))
        for p, v in zip([*own, *[None] * fakes[g]], values, strict=True)
    ]
    return _release("ids", name, {"id": 0, "g": 1, "v": 2}, rows, fakes)


def _published(kind: str, name: str, made: Groups, cells: Sequence[Cell], exact: Any) -> Data:
    """One release of any kind."""
    groups, told, fakes = made
    if kind == "ids":
        return _with_ids(name, groups, told, fakes)
    if kind == "rows":
        rows = [(a, s, g + 1) for g, own in enumerate(exact) for a, s in own]
        counts = [(g + 1, v, n) for g, own in enumerate(told) for v, n in Counter(own).items()]
        table = _columns({"g": 0, "v": 1, "count": 2}, counts)
        return _release(kind, name, {"age": 0, "sex": 1, "g": 2}, rows, fakes) | {"values": table}
    if kind in ("within", "nearest"):
        middle = [((low + high) / 2, (high - low) / 2) for low, high in (span for span, _ in cells if span)]
        spread = [(*middle[g], g + 1, v) for g, own in enumerate(told) for v in own]
        return _release(kind, name, {"age": 0, "width": 1, "g": 2, "v": 3}, spread, fakes)
    shown = [("*" if span is None else f"[{span[0]}, {span[1]}]", both) for span, both in cells]
    printed = [(*shown[g], g + 1, v, n) for g, own in enumerate(told) for v, n in Counter(own).items()]
    if kind == "generalized":
        printed = [row for row in printed for _ in range(row[-1])]
    return _release(kind, name, {"age": 0, "sex": 1, "g": 2, "v": 3, "count": 4}, printed, fakes)


def _columns(places: Mapping[str, int], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    return {column: [row[k] for row in rows] for column, k in places.items()}


def _release(kind: str, name: str, places: Mapping[str, int], rows: Any, fakes: Sequence[int]) -> Data:
    fake = [[g + 1, n] for g, n in enumerate(fakes) if n]
    return {"kind": kind, "name": name, "columns": _columns(places, rows), "counterfeits": fake}


def _table(told: Any, fakes: Sequence[int], fits: Mapping[str, list[int]], **more: Any) -> Data:
    return {"values": told, "fakes": list(fakes), "fits": fits, "present": {}, "sure": False, "away": []} | more


# The judge -----------------------------------------------------------------------------------


class Judge:
    """Linear programs over one history, person by person."""

    def __init__(self, data: Data) -> None:
        split = data["changed"] == "split"
        tables = [Table(t["values"], t["fakes"], t["fits"], t["present"], t["sure"]) for t in data["tables"]]
        self.case: factored.Case | None = None
        try:
            form = seating(tables, domain=data["domain"], split=split)
        except Contradicted:
            return
        for r, table in enumerate(data["tables"]):
            for p in table["away"]:
                if None not in form.fits[p][r]:
                    form.fits[p][r].insert(0, None)
        self.case = factored.of_seating(Seating(form.counts, form.fits))

    def feasible(self) -> bool:
        """Whether anything fits."""
        return self.case is not None and factored.feasible(self.case)

    def confirms(self, person: Hashable, value: Hashable, fact: str) -> bool:
        """Whether a fact holds in every feasible point."""
        if self.case is None or person not in self.case.fits or value not in self.case.values:
            return self.case is not None and fact == "impossible"
        low, high = factored.bounds(self.case, [(person, value)])[person, value]
        return low > 1 - 1e-7 if fact == "certain" else high < 1e-7
