"""Slow and plain: what a release costs by five measures, from its printed cells and the table alone."""

from __future__ import annotations

import math
from collections import Counter


def costs(rows, cells, fits, paths):
    """The measures of a release: ``cells[i]`` is what is printed of ``rows[i]``, None where it is suppressed.

    ``fits[c](cell, value)`` says whether a cell covers a value, ``paths[c][leaf]`` lists the labels above a leaf; it is
    None for columns of numbers, which are printed as ranges, and ``{}`` for those printed as sets.
    """
    lost = steps = bits = everything = 0.0
    for c, (fit, above) in enumerate(zip(fits, paths, strict=True)):
        column = [row[c] for row in rows]
        often = Counter(column)
        for row, shown in zip(rows, cells, strict=True):
            value = row[c]
            whole = math.log2(len(rows) / often[value])
            everything += whole
            if shown is None:
                lost, steps, bits = lost + 1, steps + 1, bits + whole
                continue
            inside = [v for v in often if fit(shown[c], v)]
            assert value in inside
            bits += math.log2(sum(often[v] for v in inside) / often[value])
            if above is None:
                extent = max(often) - min(often)
                lost += (max(inside) - min(inside)) / extent if extent else 0.0
            else:
                lost += len(inside) / len(often) if len(inside) > 1 else 0.0
            if above:
                labels = [value, *above[value]]
                steps += labels.index(shown[c]) / (len(labels) - 1)
    gone = sum(shown is None for shown in cells)
    classes = Counter(shown for shown in cells if shown is not None)
    return {
        "loss": lost / (len(rows) * len(fits)),
        "entropy": bits / everything if everything else 0.0,
        "precision": steps / (len(rows) * len(fits)),
        "discernibility": sum(n * n for n in classes.values()) + len(rows) * gone,
        "average-class-size": len(rows) / len(classes),
    }
