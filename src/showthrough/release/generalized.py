"""Generalized releases: one row per record, quasi-identifiers as printed (130**, <30, [18, 30]).

Samarati, *Protecting Respondents' Identities in Microdata Release*, IEEE TKDE 13(6), 2001. The cells
stay published text here; what they mean is read elsewhere.
"""

from __future__ import annotations

from showthrough.errors import InputError
from showthrough.release import grouped
from showthrough.release.columns import cell_text
from showthrough.release.parts import Parts, Source
from showthrough.release.roles import check_parts, parts_of


def make(source: Source) -> Parts:
    """The parts of a release from its rows."""
    roles = source.roles
    if roles.id is not None and roles.sensitive is not None:
        raise InputError(
            f"{source.where}: a generalized release does not publish ids beside values. If the values only belong to "
            "groups, it is a bucketized release; otherwise leave the id out."
        )
    check_parts(parts_of(roles))
    grouped.check(source)
    cells = {c: cell_text(source.rows[c], f"{source.where}: column {c!r}") for c in roles.quasi}
    return grouped.parts_of_rows(source, cells)
