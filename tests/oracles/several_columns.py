"""Slow and plain: which rows a criterion on one of several sensitive columns looks at, by loops over rows."""

from __future__ import annotations


def judged(rows, quasi, sensitive, column, others):
    """The values of every part that is judged by a column: of groups, or of those in one who share the other values."""
    parts: dict = {}
    for row in rows:
        key = [row[c] for c in quasi]
        if others == "quasi":
            key += [row[c] for c in sensitive if c != column]
        value = tuple(row[c] for c in sensitive) if others == "together" else row[column]
        parts.setdefault(tuple(key), []).append(value)
    return list(parts.values())


def everybody(rows, sensitive, column, others):
    """The values of the whole table as the criterion sees them."""
    return [tuple(row[c] for c in sensitive) if others == "together" else row[column] for row in rows]
