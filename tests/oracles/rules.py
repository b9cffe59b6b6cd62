"""The strongest rules of a table, by looking at every condition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Row = dict[str, str | None]


def strongest(
    rows: Sequence[Row],
    quasi: Sequence[str],
    sensitive: str,
    *,
    positive: int,
    negative: int,
    support: int,
    columns: int,
) -> list[tuple[dict[str, str], str, Fraction]]:
    """(condition, value, share) of the strongest rules, of both signs, the strongest first."""
    known = [row for row in rows if row[sensitive] is not None]
    values = sorted({str(row[sensitive]) for row in known})
    found: dict[int, list] = {1: [], -1: []}
    for width in range(1, columns + 1):
        for chosen in combinations(range(len(quasi)), width):
            names = [quasi[k] for k in chosen]
            for cells in {tuple(row[c] for c in names) for row in known}:
                if None in cells:
                    continue
                condition = dict(zip(names, cells, strict=True))
                for value in values:
                    have, persons = _counted(known, condition, sensitive, value)
                    shorter = [{c: v for c, v in condition.items() if c != gone} for gone in names] if width > 1 else []
                    wider = [_counted(known, one, sensitive, value) for one in shorter]
                    if any(n == persons for _, n in wider):
                        continue
                    for sign, bear in ((1, have), (-1, persons - have)):
                        implied = any((h == n) if sign > 0 else (h == 0) for h, n in wider)
                        if bear >= support and not implied:
                            key = (
                                -Fraction(bear, persons),
                                -bear,
                                -sign,
                                width,
                                [f"q{k}" for k in chosen],
                                cells,
                                value,
                            )
                            found[sign].append((key, condition, value, Fraction(have, persons)))
    kept = sorted(found[1], key=lambda r: r[0])[:positive] + sorted(found[-1], key=lambda r: r[0])[:negative]
    return [rule[1:] for rule in sorted(kept, key=lambda r: r[0])]


def _counted(rows: Sequence[Row], condition: dict, sensitive: str, value: str) -> tuple[int, int]:
    fits = [row for row in rows if all(row[c] == v for c, v in condition.items())]
    return sum(row[sensitive] == value for row in fits), len(fits)
