"""What a release is, for people, for JSON and for comparing: told of what is published alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from showthrough.numerals import number_of
from showthrough.release.columns import table_of
from showthrough.table.plain import as_set, fingerprint, plain

if TYPE_CHECKING:
    from showthrough.release.release import Release


def as_dict(release: Release) -> dict[str, Any]:
    """What the release is, in counts only, as plain data for JSON."""
    return {
        "name": release.name,
        "kind": release.kind,
        "date": release.date,
        "persons": release.members,
        "groups": release.labels.len(),
        "values": None if release.sensitive is None else release.tally["value"].n_unique(),
        "counterfeits": int(release.counterfeits["n"].sum()),
        "roles": plain(release.roles),
        "parameters": plain(release.parameters),
        "fingerprint": release.fingerprint(),
    }


def fingerprint_of(release: Release) -> str:
    """The SHA-256 of what is published, whatever it is called and however it is stored."""
    shown = release.records
    published = table_of({**{c: shown[c] for c in shown.columns}, "\0group": release.person_groups()})
    printed = release.ranged or release.noise is not None
    return fingerprint(
        {
            "kind": release.kind,
            "roles": {role: name for role, name in plain(release.roles).items() if role != "also"},
            **({} if release.beside is None else {"also": release.roles.also, "beside": as_set(release.beside)}),
            "records": as_set(published),
            "counts": as_set(release.tally),
            "counterfeits": as_set(release.counterfeits),
            "hierarchies": {c: list(h.levels) for c, h in release.hierarchies.items()},
            "locate": release.locate,
            "ordinal": release.ordinal,
            **(
                {"printed": as_set(release.to_frame()), "options": plain(release.form.entries(release))}
                if printed
                else {}
            ),
            **({"noise": release.noise.parameters()} if release.noise is not None else {}),
            **({"value_cells": True} if release.value_cells else {}),
            "domain": sorted(str(value) for value in release.domain),
        }
    )


def cells_of(release: Release) -> pl.DataFrame:
    """What is published of each group (or record) beside its values: group, then the quasi-identifiers."""
    quasi, shown, label = release.roles.quasi, release.records, release.person_groups()
    if release.person_group is not None:
        first = pl.DataFrame({"group": label}).with_row_index("row").unique("group", keep="first").sort("group")
        shown, label = shown[first["row"]], first["group"]
    name = "group" if "group" not in quasi else release.roles.group or "label"
    while name in quasi:
        name += "_"
    return table_of({name: label, **{c: shown[c] for c in quasi}})


def in_short(release: Release) -> str:
    """One line for whoever prints the release."""
    named = f" {release.name!r}" if release.name else ""
    values = "no" if release.sensitive is None else release.tally["value"].n_unique()
    fake = f", {number_of(int(release.counterfeits['n'].sum()), 'counterfeit')}" if release.counterfeits.height else ""
    about = "about " if release.noise is not None else ""
    return (
        f"<{release.kind} release{named}: {about}{release.members} persons, {release.labels.len()} groups, "
        f"{values} values{fake}>"
    )
