"""Slow and plain: what nodes of a generalization lattice cost by five measures, and of which levels cells can be."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict


def levels_of(cell, leaf, path_of):
    """The levels on which a cell stands for a leaf; ``path_of`` lists the labels above each leaf."""
    return {level for level, label in enumerate([leaf, *path_of[leaf]]) if label == cell}


def costs(rows, paths, node, k, limit):
    """All five measures of a node; None if it suppresses more rows than allowed. ``paths[c][leaf]`` are its labels."""
    labels = [tuple([row[c], *paths[c][row[c]]][level] for c, level in enumerate(node)) for row in rows]
    size = Counter(labels)
    gone = [size[label] < k for label in labels]
    if sum(gone) > limit:
        return None
    lost = steps = bits = everything = 0.0
    for c, level in enumerate(node):
        column = [row[c] for row in rows]
        domain, often = set(column), Counter(column)

        def up(leaf, c=c, level=level):
            return [leaf, *paths[c][leaf]][level]

        for row, missing in zip(rows, gone, strict=True):
            leaf = row[c]
            under = [other for other in domain if up(other) == up(leaf)]
            whole = -math.log2(often[leaf] / len(rows))
            everything += whole
            bits += whole if missing else -math.log2(often[leaf] / sum(often[o] for o in under))
            lost += 1.0 if missing else len(under) / len(domain) if len(under) > 1 else 0.0
            steps += 1.0 if missing else level / len(paths[c][leaf])
    cells = len(rows) * len(node)
    classes = defaultdict(int)
    for label, missing in zip(labels, gone, strict=True):
        if not missing:
            classes[label] += 1
    return {
        "loss": lost / cells,
        "entropy": bits / everything if everything else 0.0,
        "precision": steps / cells,
        "discernibility": sum(n * n for n in classes.values()) + len(rows) * sum(gone),
        "average-class-size": len(rows) / len(classes) if classes else math.inf,
    }


def best(rows, paths, k, limit, ends, objective):
    """The least value of a measure over the nodes between the ends of each column; None if there is no node."""
    found = []
    for node in itertools.product(*[range(low, high + 1) for low, high in ends]):
        cost = costs(rows, paths, node, k, limit)
        if cost is not None:
            found.append(cost[objective])
    return min(found, default=None)
