"""Which column plays which part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Given:
    """The roles that the caller named for a plain file."""

    id: str | None = None
    sensitive: str | None = None
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

    Names may be anything that a frame takes for one, such as the numbers of pandas.
    """
    widths = Frozen({str(q): str(s) for q, s in (spread or {}).items()})
    roles = Roles(_text(id), _text(sensitive), _text(group), count=str(count), spread=widths)
    if quasi is None:
        others = {roles.id, roles.sensitive, roles.group, *widths.values()}
        return Roles(roles.id, roles.sensitive, roles.group, _left(columns, others), roles.count, widths)
    names = (quasi,) if isinstance(quasi, str) else tuple(str(c) for c in quasi)
    return Roles(roles.id, roles.sensitive, roles.group, names, roles.count, widths)


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
    return [("id", roles.id), ("group", roles.group), *quasi, ("sensitive", roles.sensitive), *spread]


def _text(name: Any) -> str | None:
    return None if name is None else str(name)


def _left(columns: Sequence[str], taken: set[str | None]) -> tuple[str, ...]:
    return tuple(c for c in columns if c not in taken)
