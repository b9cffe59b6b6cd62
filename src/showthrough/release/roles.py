"""Which column plays which part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from showthrough.errors import InputError
from showthrough.table.frozen import Frozen


@dataclass(frozen=True)
class Roles:
    """Which published column plays which part; a part that no column plays is None or empty."""

    id: str | None
    sensitive: str | None
    group: str | None
    quasi: tuple[str, ...] = ()
    count: str = "count"
    spread: Mapping[str, str] = field(default_factory=Frozen, hash=False)
    also: tuple[str, ...] = ()
    """More sensitive columns, published beside the values of the first record by record."""

    @property
    def sensitives(self) -> tuple[str, ...]:
        """All sensitive columns, the one that is looked at first."""
        return (() if self.sensitive is None else (self.sensitive,)) + self.also


@dataclass(frozen=True)
class Given:
    """The roles that the caller named for a plain file."""

    id: str | None = None
    sensitive: Any = None  # a column, or a list of them
    group: str | None = None
    quasi: Sequence[str] | None = None
    count: str | None = None
    spread: Mapping[str, str] | None = None


def make_roles(
    columns: Sequence[str],
    *,
    id: Any = None,
    sensitive: Any = None,
    group: Any = None,
    quasi: Any = None,
    count: Any = "count",
    spread: Mapping[Any, Any] | None = None,
) -> Roles:
    """Roles by name; without ``quasi`` every column that plays no other part is a quasi-identifier.

    Names may be anything that a frame takes for one, such as the numbers of pandas. ``sensitive`` may be a list: the
    first is the one that is looked at.
    """
    widths = Frozen({str(q): str(s) for q, s in (spread or {}).items()})
    several = [str(c) for c in sensitive] if isinstance(sensitive, (list, tuple)) else [_text(sensitive)]
    also = tuple(c for c in several[1:] if c is not None)
    roles = Roles(_text(id), next(iter(several), None), _text(group), count=str(count), spread=widths, also=also)
    if quasi is None:
        return replace(roles, quasi=_left(columns, {roles.id, roles.group, *roles.sensitives, *widths.values()}))
    return replace(roles, quasi=(quasi,) if isinstance(quasi, str) else tuple(str(c) for c in quasi))


def check_parts(parts: Sequence[tuple[str, str | None]]) -> None:
    """No column plays two parts: above all, values must not stand beside persons as a quasi-identifier."""
    seen: dict[str, str] = {}
    for part, name in parts:
        if name is not None and name in seen:
            raise InputError(f"The column {name!r} is named twice ({seen[name]} and {part}): a column plays one part.")
        if name is not None:
            seen[name] = part


def parts_of(roles: Roles) -> list[tuple[str, str | None]]:
    """The parts of a table of persons or records, for `check_parts`."""
    quasi: list[tuple[str, str | None]] = [("quasi", name) for name in roles.quasi]
    spread: list[tuple[str, str | None]] = [("spread", name) for name in roles.spread.values()]
    values: list[tuple[str, str | None]] = [("sensitive", name) for name in roles.sensitives]
    return [("id", roles.id), ("group", roles.group), *quasi, *values, *spread]


def _text(name: Any) -> str | None:
    return None if name is None else str(name)


def _left(columns: Sequence[str], taken: set[str | None]) -> tuple[str, ...]:
    return tuple(c for c in columns if c not in taken)
