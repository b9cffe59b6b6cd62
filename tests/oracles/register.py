"""Who can be in which group, by comparing everybody with every group and trying all placements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from tests.oracles.seats import Seating


@dataclass(frozen=True)
class Table:
    """One release: the values of each group, counterfeits among them, and who fits.

    ``fits[person]`` lists the groups of everybody who may be in the release; ``present`` holds True and
    False where it is known. ``sure`` says that nobody but the listed persons is in it (published ids).
    ``strangers`` are the members of each group who are nobody on the list.
    """

    values: list[list[Hashable]]
    fakes: list[int]
    fits: dict[Hashable, list[int]]
    present: dict[Hashable, bool]
    sure: bool = False
    strangers: tuple[int, ...] = ()


class Contradicted(Exception):  # noqa: N818 - a finding, not an error
    """Persons known to be present find no place."""


def most_placed(fits: Sequence[Sequence[int]], room: Sequence[int]) -> int:
    """The most persons that find a place at once: one after the other, moving others on (Kuhn 1955)."""
    places = [g for g, n in enumerate(room) for _ in range(n)]
    holder: dict[int, int] = {}

    def seat(person: int, seen: set[int]) -> bool:
        for k, g in enumerate(places):
            if g in fits[person] and k not in seen:
                seen.add(k)
                if k not in holder or seat(holder[k], seen):
                    holder[k] = person
                    return True
        return False

    return sum(seat(p, set()) for p in range(len(fits)))


def settle(table: Table) -> tuple[dict[Hashable, list[int | None]], list[list[int]]]:
    """The candidates of everybody (None: may be outside), and the groups that each unnamed member fits."""
    unnamed = [[g] for g, n in enumerate(table.fakes) for _ in range(n)]
    if table.sure:
        return {p: list(own) for p, own in table.fits.items()}, unnamed
    strangers = table.strangers or (0,) * len(table.values)
    room = [len(own) - n - s for own, n, s in zip(table.values, table.fakes, strangers, strict=True)]
    fits = {p: own for p, own in table.fits.items() if table.present.get(p) is not False}
    must = [p for p, there in table.present.items() if there]
    if most_placed([fits.get(p, []) for p in must], room) < len(must):
        raise Contradicted
    part = list(range(len(room)))
    for own in fits.values():
        for g in own:
            part = [part[own[0]] if c == part[g] else c for c in part]
    found: dict[Hashable, list[int | None]] = {}
    for label in sorted(set(part)):
        groups = [g for g, c in enumerate(part) if c == label]
        people = [p for p, own in fits.items() if own and own[0] in groups]
        placed = most_placed([fits[p] for p in people], [n if g in groups else 0 for g, n in enumerate(room)])
        for p in people:
            away = placed < len(people) and p not in must
            found[p] = [*([None] if away else []), *fits[p]]
        unnamed += [groups] * (sum(room[g] + strangers[g] for g in groups) - placed)
    return found, unnamed


def seating(tables: Sequence[Table], *, domain: Sequence[Hashable] = (), split: bool = False) -> Seating:
    """The program of value and seat of a whole history; raises `Contradicted` if a placement does."""
    settled = [settle(t) for t in tables]
    counts = [t.values for t in tables]
    nowhere: list[list[int | None]] = [[None] for _ in tables]
    everybody = dict.fromkeys(p for found, _ in settled for p in found)
    fits: dict[Hashable, list[list[int | None]]] = {p: [f.get(p, [None]) for f, _ in settled] for p in everybody}
    for r, (_, unnamed) in enumerate(settled):
        for k, groups in enumerate(unnamed):
            fits["unnamed", r, k] = [list(groups) if q == r else [None] for q in range(len(tables))]
    if domain:  # values of nobody: a group of its own for somebody who is nowhere else
        counts = [*counts, [list(domain)]]
        fits = {p: [*own, [None]] for p, own in fits.items()}
        nowhere = [*nowhere, [None]]
        fits.update((("domain", k), [*nowhere[:-1], [0]]) for k in range(len(domain)))
    case = Seating(counts, fits)
    if not split:
        return case
    parts: dict[Hashable, list[list[int | None]]] = {}
    for p, own in fits.items():
        if case.options(p):
            parts[p] = own
            continue
        for r, groups in enumerate(own):
            if groups != [None]:
                parts["part", p, r] = [groups if q == r else none for q, none in enumerate(nowhere)]
    return Seating(counts, parts)


def with_strangers(
    tables: Sequence[Table], *, domain: Sequence[Hashable] = (), split: bool = False
) -> tuple[Seating, list[Table]] | None:
    """The program where rows that nobody on a list can fill are rows of strangers; None if nothing fits."""
    while True:
        try:
            form = seating(tables, domain=domain, split=split)
        except Contradicted:
            return None
        options = [form.options(p) for p in form.fits]
        if not all(options):
            nowhere = [p for p in form.fits if not form.options(p)]
            tables = _without(tables, nowhere)
            if not tables:
                return None
            continue
        filled = {(r, g, v) for own in options for v, seat in own for r, g in enumerate(seat)}
        grown, orphans = [], 0
        for r, table in enumerate(tables):
            counted = [Counter(own) for own in table.values]
            more = [sum(n for v, n in own.items() if (r, g, v) not in filled) for g, own in enumerate(counted)]
            orphans += sum(more)
            known = table.strangers or (0,) * len(more)
            more = [0] * len(more) if table.sure else more
            grown.append(replace(table, strangers=tuple(a + b for a, b in zip(known, more, strict=True))))
        if all(sum(a.strangers) == sum(b.strangers) for a, b in zip(grown, tables, strict=True)):
            return None if orphans else (form, list(tables))
        tables = grown


def _without(tables: Sequence[Table], nowhere: Sequence[Hashable]) -> list[Table]:
    """The tables without persons who cannot be in them, given where they surely are; nothing if that is not clear."""
    found = list(tables)
    for p in nowhere:
        values = {r: {v for g in t.fits[p] for v in t.values[g]} for r, t in enumerate(tables) if t.fits.get(p)}
        sure = [own for r, own in values.items() if tables[r].sure or tables[r].present.get(p)]
        loose = {r: own for r, own in values.items() if not tables[r].sure and tables[r].present.get(p) is None}
        if not sure:
            return []
        left = set.intersection(*sure)
        away = [r for r, own in loose.items() if not own & left]
        if not away or not left.intersection(*(own for r, own in loose.items() if r not in away)):
            return []
        for r in away:
            found[r] = replace(found[r], present={**found[r].present, p: False})
    return found
