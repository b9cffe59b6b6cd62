"""Generalized releases: one row per record, quasi-identifiers as printed (130**, <30, [18, 30]).

Samarati, *Protecting Respondents' Identities in Microdata Release*, IEEE TKDE 13(6), 2001. The cells
stay published text here; what they mean is read elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from showthrough.errors import InputError
from showthrough.release import grouped
from showthrough.release.columns import cell_text
from showthrough.release.kind import Clues, Kind, Shows
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import check_parts, parts_of

if TYPE_CHECKING:
    from showthrough.release.release import Release


class GeneralizedKind(Kind):
    """Records with the cells of their group; without values it may publish ids and acts as a register."""

    name = "generalized"
    shows = Shows.CELLS
    needs = ("quasi",)
    from_groups = True
    several_values = True

    def make(self, source: Source) -> Parts:
        """The parts of a release from its rows."""
        roles = source.roles
        if roles.id is not None and roles.sensitive is not None:
            raise InputError(
                f"{source.where}: a generalized release does not publish ids beside values. If the values only belong "
                "to groups, it is a bucketized release; otherwise leave the id out."
            )
        check_parts(parts_of(roles))
        grouped.check(source)
        cells = {c: cell_text(source.rows[c], f"{source.where}: column {c!r}") for c in roles.quasi}
        return grouped.parts_of_rows(source, cells)

    def rows(self, release: Release) -> pl.DataFrame:
        """One row per record."""
        return grouped.rows(release)

    def clues_in(self, clues: Clues) -> int:
        """Quasi-identifiers alone, or beside the ids of a register."""
        told = clues.roles
        if clues.pair or told.quasi is None:
            return 0
        return int(told.group is None if told.id is None else told.sensitive is None)
