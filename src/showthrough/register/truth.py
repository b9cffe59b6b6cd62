"""How many persons were located rightly, where a caller gives the truth: id and group of a release's members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import InputError
from showthrough.register.centroids import share_correct
from showthrough.register.locating import locate
from showthrough.register.locating_report import ONE, SEVERAL
from showthrough.release.columns import as_labels
from showthrough.said import private
from showthrough.table.codes import NOWHERE, positions
from showthrough.table.frames import need_columns, one_kind, scalar, to_polars

if TYPE_CHECKING:
    from showthrough.register.register import Register
    from showthrough.release.release import Release


def beside_truth(
    reports: Mapping[str, pl.DataFrame],
    releases: Sequence[tuple[str, Release]],
    register: Register | None,
    truth: Mapping[str, Any],
) -> pl.DataFrame | None:
    """The reports with ``own``, the persons of a row whose own group is among the groups they fit, and
    ``own_share``, their share of the persons of the register who are in the release.
    """
    strange = [name for name in truth if name not in reports]
    if strange:
        located = ", ".join(reports) or "none"
        raise InputError(
            f"The truth is given for {strange[0]!r}, but persons were located by quasi-identifiers in: {located}."
        )
    frames = []
    for name, release in releases:
        if name not in reports:
            continue
        own, share = pl.lit(None, dtype=pl.Int64), pl.lit(None, dtype=pl.Float64)
        if name in truth and register is not None:
            groups = own_groups(release, name, register, to_polars(truth[name]))
            alone, among = share_correct(locate(release, name, register).candidates, groups)
            shares = {ONE: alone, SEVERAL: among - alone}
            share = pl.col("fits").replace_strict(shares, default=0.0, return_dtype=pl.Float64)
            own = (share * int((groups != NOWHERE).sum())).round().cast(pl.Int64)
        frames.append(reports[name].with_columns(own.alias("own"), share.alias("own_share")))
    return pl.concat(frames) if frames else None


def own_groups(release: Release, name: str, register: Register, frame: pl.DataFrame) -> npt.NDArray[np.int64]:
    """[register] the group of each person as a position among the labels; −1 for those in none."""
    where = f"The truth about {name}"
    need_columns(frame, ["id", "group"], where)
    ids, asked = scalar(frame["id"], f"{where}: ids"), scalar(frame["group"], f"{where}: groups")
    mine, ids = one_kind([register.ids, ids], "ids", ["the register", where])
    if ids.null_count() or ids.n_unique() < ids.len():
        raise InputError(f"{where} needs an id in every row, and each id once.")
    label = as_labels(asked, release.labels)
    strange = label.is_null() & asked.is_not_null()
    if strange.any():
        group = asked[strange.arg_max() or 0]
        raise InputError(f"{where} names the group {private(repr(group))}, which {name} does not have.")
    code, row = positions(label, release.labels), positions(mine, ids)
    found = np.append(code, NOWHERE)[row].astype(np.int64)  # who is not listed is in none
    if (found == NOWHERE).all():
        raise InputError(f"{where} lists nobody in the register: compare how the ids are written.")
    return found
