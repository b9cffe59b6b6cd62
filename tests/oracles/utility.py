"""Information loss by its definitions, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

Rows = Sequence[Mapping[str, object]]


def ancestor(values: set, column: str, trees: Mapping[str, Mapping], domain: set) -> set:
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
                card = len(ancestor(values, column, trees, domain))
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
                shown = ancestor(values, column, trees, set(cells))
            lost -= log2(cells.count(row[column]) / sum(cells.count(v) for v in shown))
    return lost / everything if everything else 0.0


def covered(cell: str, column: list, tree: Mapping) -> set:
    """The values of a column under a printed cell: *, a-b, a label, or itself."""
    if cell == "*":
        return set(column)
    if cell in tree:
        return {v for v in column if v in tree[cell]}
    ends = cell.split("-")
    return {v for v in column if (v == cell if len(ends) == 1 else int(ends[0]) <= int(v) <= int(ends[1]))}


def published(table: Rows, release: Rows, trees: Mapping[str, Mapping], numbers: Sequence[str]) -> tuple[float, float]:
    """GCP and entropy loss of printed cells, record by record; rows that are missing lose everything."""
    gcp = lost = every = 0.0
    for name in table[0]:
        column = [row[name] for row in table]
        whole = _entropy(column)
        every += whole * len(table)
        for row in release:
            cell = row[name]
            cover = covered(cell, column, trees.get(name, {}))
            if name in numbers:
                low, high = min(map(int, column)), max(map(int, column))
                ends = [low, high] if cell == "*" else [int(x) for x in cell.split("-")]
                width = min(ends[-1], high) - max(ends[0], low)
                gcp += width / (high - low) if high > low else 0
            else:
                gcp += len(cover) / len(set(column)) if len(cover) > 1 else 0
            lost += _entropy([v for v in column if v in cover])
        gcp += len(table) - len(release)
        lost += whole * (len(table) - len(release))
    return gcp / len(table) / len(table[0]), lost / every if every else 0.0


def _entropy(values: list) -> float:
    return -sum(values.count(v) / len(values) * log2(values.count(v) / len(values)) for v in set(values))
