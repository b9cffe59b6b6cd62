"""Statements as a replayed proof takes them: by the ids and values of the releases, as these write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from showthrough.inference.proof_check import KnownSum, Members
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.table.frames import one_kind
from showthrough.table.texts import as_text


def known_sums(
    reader: Reader, releases: Sequence[Release], members: Sequence[Members]
) -> tuple[list[Members], list[KnownSum]]:
    """What a reader knows, and who can be where, with those whom statements alone speak of: in no release."""
    if reader.informed is None:
        return list(members), []
    columns = one_kind([m.frame["id"] for m in members], "ids", [str(k) for k in range(len(members))])
    every = pl.concat([ids.alias("id") for ids in columns]).unique()
    called: dict[str, Any] = dict(zip(as_text(every, "ids").to_list(), every.to_list(), strict=True))
    people = reader.informed.people
    who = [people.gather(one.persons).to_list() for one in reader.informed.assertions]
    spoken = {i for own in who for i in own}
    strangers = sorted(spoken - called.keys())
    if strangers:
        added = pl.Series("id", strangers).cast(every.dtype, strict=False)
        frame = members[0].frame.with_columns(columns[0])
        none = pl.DataFrame({"id": added, "group": pl.Series([None] * len(strangers), dtype=frame["group"].dtype)})
        members = [replace(members[0], frame=pl.concat([frame, none])), *members[1:]]
        called |= dict(zip(strangers, added.to_list(), strict=True))
    words = _values(reader, releases)
    return list(members), [
        KnownSum(
            one.name,
            one.least,
            one.most,
            {(called[i], words[str(v)]): one.coefficient for i in own for v in one.values},
        )
        for own, one in zip(who, reader.informed.assertions, strict=True)
    ]


def _values(reader: Reader, releases: Sequence[Release]) -> dict[str, Any]:
    """Values by their text, in the type that all releases share."""
    told = [r.tally["value"] for r in releases] + ([pl.Series("value", reader.domain)] if reader.domain else [])
    every = pl.concat([v.alias("value") for v in one_kind(told, "values", [str(k) for k in range(len(told))])]).unique()
    return {str(v): v for v in every.to_list()}
