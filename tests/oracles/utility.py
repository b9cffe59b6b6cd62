"""Information loss by its definitions, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

Rows = Sequence[Mapping[str, object]]


def published(values: set, column: str, trees: Mapping[str, Mapping], domain: set) -> set:
    """All values under the lowest common ancestor, or the values themselves without a tree."""
    if column not in trees or len(values) == 1:
        return values
    tree = trees[column]
    for height in range(len(next(iter(tree.values())))):
        nodes = {tree[v][height] for v in values}
        if len(nodes) == 1:
            return {v for v in domain if tree[v][height] in nodes}
    return domain


def gcp(rows: Rows, groups: Sequence[int | None], trees: Mapping[str, Mapping]) -> float:
    total = 0.0
    for group in groups:
        if group is None:
            total += 1
            continue
        mine = [r for r, g in zip(rows, groups, strict=True) if g == group]
        parts = []
        for column in rows[0]:
            domain, values = {r[column] for r in rows}, {r[column] for r in mine}
            if all(isinstance(v, int) for v in domain) and column not in trees:
                width = max(domain) - min(domain)
                parts.append((max(values) - min(values)) / width if width else 0)
            else:
                card = len(published(values, column, trees, domain))
                parts.append(card / len(domain) if card > 1 else 0)
        total += sum(parts) / len(parts)
    return total / len(rows)


def entropy_loss(rows: Rows, groups: Sequence[int | None], trees: Mapping[str, Mapping]) -> float:
    lost = everything = 0.0
    for column in rows[0]:
        cells = [r[column] for r in rows]
        for row, group in zip(rows, groups, strict=True):
            bits = -log2(cells.count(row[column]) / len(rows))
            everything += bits
            if group is None:
                lost += bits
                continue
            values = {r[column] for r, g in zip(rows, groups, strict=True) if g == group}
            if all(isinstance(v, int) for v in cells) and column not in trees:
                shown = {v for v in cells if min(values) <= v <= max(values)}
            else:
                shown = published(values, column, trees, set(cells))
            lost -= log2(cells.count(row[column]) / sum(cells.count(v) for v in shown))
    return lost / everything if everything else 0.0
