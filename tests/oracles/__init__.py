"""Slow, independent truths. Nothing here imports from showthrough.

A history is a list of releases, a release a list of groups, a group a pair (persons, values).
"""

from __future__ import annotations

from collections.abc import Hashable

Group = tuple[list[Hashable], list[Hashable]]
Release = list[Group]
History = list[Release]


def people(history: History) -> list[Hashable]:
    """Everybody, in order of appearance."""
    return list(dict.fromkeys(p for release in history for persons, _ in release for p in persons))


def common_values(history: History, person: Hashable) -> set[Hashable]:
    """Values that stand in every group of the person."""
    sets = [set(values) for release in history for persons, values in release if person in persons]
    return set.intersection(*sets)
