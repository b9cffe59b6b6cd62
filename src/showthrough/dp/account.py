"""What was spent so far, as plain data, and what one more release would cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from showthrough.dp.composition import Guarantee, compose
from showthrough.dp.items import Item, Mechanism, Promise, as_item, as_items
from showthrough.errors import FileError, InputError
from showthrough.release.noise import REPLACE_ONE, known_neighbours, moved
from showthrough.release.release import Release

VERSION = 1


@dataclass(frozen=True)
class NextCost:
    """What all items promise before and after one more."""

    before: Guarantee
    after: Guarantee

    @property
    def epsilon(self) -> float:
        """By how much ε grows."""
        return self.after.epsilon - self.before.epsilon

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"before": self.before.as_dict(), "after": self.after.as_dict(), "epsilon": self.epsilon}


@dataclass(frozen=True)
class Account:
    """The items that were spent, under one relation of neighbours; adding one makes another account.

    >>> account = Account().adding((0.25, 1e-6)).adding((0.5, 1e-6))
    >>> account.spent().epsilon
    0.75
    >>> Account.from_json(account.to_json()) == account
    True
    """

    items: tuple[Item, ...] = ()
    neighbours: str = REPLACE_ONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", as_items(self.items))
        object.__setattr__(self, "neighbours", known_neighbours(self.neighbours))

    @classmethod
    def of(cls, releases: Sequence[Release], *, neighbours: str | None = None) -> Self:
        """The account of noisy releases; of mixed relations all are taken as replace-one, the stronger promise."""
        found = {r.noise.neighbours for r in releases if r.noise is not None}
        own = neighbours or (found.pop() if len(found) == 1 else REPLACE_ONE)
        return cls(tuple(item for r in releases for item in mechanisms(r, neighbours=own)), own)

    def adding(self, *items: Any) -> Self:
        """The account with more items, or the tables of more releases."""
        more = [own for one in items for own in self._items_of(one)]
        return type(self)((*self.items, *more), self.neighbours)

    def spent(self, *, delta: float | None = None, method: str | None = None) -> Guarantee:
        """What everything promises together, as `compose` says."""
        return compose(self.items, delta=delta, method=method)

    def cost(self, item: Any, *, delta: float | None = None, method: str | None = None) -> NextCost:
        """What one more item, or one more release, would cost."""
        return NextCost(self.spent(delta=delta, method=method), self.adding(item).spent(delta=delta, method=method))

    def as_dict(self) -> dict[str, Any]:
        """The state as plain data."""
        return {"version": VERSION, "neighbours": self.neighbours, "items": [item.as_dict() for item in self.items]}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The account that `as_dict` wrote."""
        if isinstance(given, Mapping) and isinstance(given.get("account"), Mapping):  # what the command wrote
            given = given["account"]
        if not isinstance(given, Mapping) or not {"version", "neighbours", "items"} <= set(given):
            raise InputError("The state of an account has version, neighbours and items.")
        if given["version"] != VERSION:
            raise InputError(f"This showthrough reads accounts of version {VERSION}.")
        return cls(as_items(given["items"]), given["neighbours"])

    def to_json(self) -> str:
        """The state as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The account that `to_json` wrote."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise FileError("The state of an account is one JSON object; this is none.") from None
        return cls.from_dict(found)

    def _items_of(self, one: Any) -> Sequence[Item]:
        return mechanisms(one, neighbours=self.neighbours) if isinstance(one, Release) else (as_item(one),)


def mechanisms(release: Release, *, neighbours: str | None = None) -> tuple[Item, ...]:
    """One item for each table of a noisy release: what a changed record moves in it.

    A replaced record moves two cells of a table of counts by one each, an added one moves one. Where a release says
    another sensitivity, its ε is taken as it is; such a release has no other relation of neighbours.
    """
    noise = release.noise
    if noise is None:
        raise InputError(
            f"{release.name or 'The release'} publishes no noise: differential privacy promises nothing about it."
        )
    wanted = known_neighbours(neighbours or noise.neighbours)
    tables = noise.tables(release.roles.quasi)
    if abs(noise.sensitivity - moved(noise.mechanism, noise.neighbours)) <= 1e-9:
        shifts = (1.0, 1.0) if wanted == REPLACE_ONE else (1.0,)
        return tuple(Mechanism(noise.mechanism, table.scale, shifts) for table in tables)
    if wanted != noise.neighbours:
        raise InputError(
            f"{release.name or 'The release'} has a sensitivity of its own, under {noise.neighbours}: what it promises "
            f"under {wanted} is not known."
        )
    return tuple(Promise(table.epsilon, table.delta) for table in tables)
