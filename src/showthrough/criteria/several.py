"""Several sensitive columns: one count for each of them in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from showthrough.criteria.counts import Counted
from showthrough.criteria.published import group_names, of_release
from showthrough.errors import InputError
from showthrough.table.frames import to_polars

OTHERS = ("alone", "quasi", "together")


@dataclass(frozen=True)
class FrameRoles:
    """Which columns of a frame play which part; releases bring their own.

    ``others``: while one sensitive column is looked at, the rest is left ``alone`` or counts as
    ``quasi``-identifiers; or all are taken ``together`` as one composite value. ``suppressed`` is how
    a suppressed row reads in every quasi-identifier.
    """

    sensitive: tuple[str, ...] = ()
    quasi: tuple[str, ...] | None = None
    others: str = "alone"
    suppressed: str | None = None

    def __post_init__(self) -> None:
        if self.others not in OTHERS:
            raise InputError(
                "The other sensitive columns are left 'alone', count as 'quasi', or make one value 'together', not "
                f"{self.others!r}."
            )


def count_each(release: Any, roles: FrameRoles, reference: Any = None) -> list[tuple[str | None, Counted]]:
    """The counts of a release or frame for each sensitive column, with its name."""
    kind = {"suppressed": roles.suppressed, "reference": reference}
    if len(roles.sensitive) < 2:
        only = roles.sensitive[0] if roles.sensitive else None
        name = only if only is not None or not hasattr(release, "tally") else release.roles.sensitive
        counted = of_release(release, only, roles.quasi, **kind)
        return [(name if counted.has_values else None, counted)]
    if hasattr(release, "tally") and release.form.values_per_group:
        raise InputError(f"A {release.kind} release has one sensitive column: its values stand beside no person.")
    columns = _columns(release)
    if roles.others == "together":
        return [
            (" and ".join(roles.sensitive), of_release(release, roles.sensitive, _quasi(columns, "", roles), **kind))
        ]
    return [(column, of_release(release, column, _quasi(columns, column, roles), **kind)) for column in roles.sensitive]


def _columns(release: Any) -> list[str]:
    """The columns that are quasi-identifiers unless something else is said."""
    return group_names(release) if hasattr(release, "tally") else to_polars(release).columns


def _quasi(columns: list[str], column: str, roles: FrameRoles) -> list[str]:
    """The quasi-identifiers while ``column`` is the sensitive one."""
    rest = [c for c in roles.sensitive if c != column] if roles.others == "quasi" else []
    if roles.quasi is None:
        return [c for c in columns if c not in roles.sensitive] + rest
    return [*roles.quasi, *rest]
