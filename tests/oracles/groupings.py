"""Slow and plain: losses, criteria and algorithms of grouping, by loops over rows."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict


def members(group):
    found = defaultdict(list)
    for row, code in enumerate(group):
        if code >= 0:
            found[int(code)].append(row)
    return dict(found)


def entropy(values):
    counts = Counter(values)
    n = len(values)
    return -sum(c / n * math.log(c / n) for c in counts.values())


def equal_distance(values, everybody):
    inside, outside = Counter(values), Counter(everybody)
    return sum(abs(inside[v] / len(values) - outside[v] / len(everybody)) for v in outside) / 2


def ancestors(path_of, leaf):
    """The leaf and its labels upward, each with the level so that equal names on two levels differ."""
    return list(enumerate([leaf, *path_of[leaf]]))


def common_ancestor(path_of, leaves):
    leaves = sorted(set(leaves))
    for node in ancestors(path_of, leaves[0]):
        if all(node in ancestors(path_of, leaf) for leaf in leaves):
            return node
    raise AssertionError("no root")


def loss_of(values, domain, *, shown, path_of=None):
    """NCP of one group on one column, by definition."""
    distinct = set(values)
    if len(distinct) == 1:
        return 0.0
    if shown == "range":
        return (max(distinct) - min(distinct)) / (max(domain) - min(domain))
    if shown == "set":
        return len(distinct) / len(set(domain))
    node = common_ancestor(path_of, values)
    under = [leaf for leaf in set(domain) if node in ancestors(path_of, leaf)]
    return len(under) / len(set(domain)) if len(under) > 1 else 0.0


def mondrian_strict(rows, k, fine):
    """Recursive strict Mondrian on integer columns; ``fine(part)`` is the extra predicate on row numbers."""
    width = [max(column) - min(column) for column in zip(*rows, strict=True)]

    def cut(part):
        spans = []
        for j in range(len(rows[0])):
            column = [rows[i][j] for i in part]
            spans.append((max(column) - min(column)) / (width[j] or 1))
        for j in sorted(range(len(spans)), key=lambda j: -spans[j]):
            if spans[j] == 0:
                continue
            values = sorted(rows[i][j] for i in part)
            median = values[(len(values) + 1) // 2 - 1]
            upto, below = sum(v <= median for v in values), sum(v < median for v in values)
            n = len(values)
            if min(upto, n - upto) >= min(below, n - below) or below == 0:
                left = [i for i in part if rows[i][j] <= median]
            else:
                left = [i for i in part if rows[i][j] < median]
            right = [i for i in part if i not in set(left)]
            if len(left) >= k and len(right) >= k and fine(left) and fine(right):
                return cut(left) + cut(right)
        return [part]

    return cut(list(range(len(rows))))


def full_domain_best(columns, k, limit, losses, fine):
    """Least loss over every node: ``columns[c][level]`` are the labels of all rows, ``losses`` likewise."""
    n = len(columns[0][0])
    best = None
    for node in itertools.product(*[range(len(levels)) for levels in columns]):
        classes = defaultdict(list)
        for row in range(n):
            classes[tuple(columns[c][level][row] for c, level in enumerate(node))].append(row)
        gone = [row for part in classes.values() if len(part) < k or not fine(part) for row in part]
        if len(gone) > limit:
            continue
        row_loss = [sum(losses[c][level][row] for c, level in enumerate(node)) / len(columns) for row in range(n)]
        for row in gone:
            row_loss[row] = 1.0
        best = min(best, sum(row_loss) / n) if best is not None else sum(row_loss) / n
    return best


def mdav_groups(points, k):
    """MDAV by the book with full sorting; ties to the lowest row."""
    left = list(range(len(points)))
    groups = []

    def distance(a, b):
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))

    def mean():
        return [sum(points[i][j] for i in left) / len(left) for j in range(len(points[0]))]

    def take(around):
        near = sorted(left, key=lambda i: (i != around, round(distance(points[i], points[around]), 9), i))[:k]
        for i in near:
            left.remove(i)
        groups.append(near)

    while len(left) >= 3 * k:
        centre = mean()
        far = max(left, key=lambda i: (distance(points[i], centre), -i))
        anchor = points[far]
        take(far)
        take(max(left, key=lambda i: (distance(points[i], anchor), -i)))
    if len(left) >= 2 * k:
        centre = mean()
        take(max(left, key=lambda i: (distance(points[i], centre), -i)))
    if left:
        groups.append(list(left))
    return groups
