"""Mappings that nobody changes after they were made, and that can be pickled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Frozen(Mapping[K, V]):
    """A mapping without a way to change it.

    >>> Frozen({"a": 1})["a"]
    1
    >>> Frozen({"a": 1}) == {"a": 1}
    True
    """

    __slots__ = ("_held",)

    def __init__(self, held: Mapping[K, V] | None = None) -> None:
        self._held: dict[K, V] = dict(held or {})

    def __getitem__(self, key: K) -> V:
        return self._held[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return repr(self._held)

    def __reduce__(self) -> tuple[type[Frozen[K, V]], tuple[dict[K, V]]]:
        return type(self), (self._held,)
