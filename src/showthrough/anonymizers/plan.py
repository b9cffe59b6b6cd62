"""A recoding plan: the levels or cells of one release, to recode the next table the same way."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.demands import requirement
from showthrough.anonymizers.describe import level_cells
from showthrough.anonymizers.methods import Groups, Options
from showthrough.anonymizers.quasi_columns import combined_key
from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.suppression import suppress_failing
from showthrough.anonymizers.table import Table
from showthrough.errors import FileError, InputError
from showthrough.register.locating import locate
from showthrough.register.register import Register
from showthrough.release import manifest
from showthrough.release.folder import checked_bytes, refuse_links_out
from showthrough.release.kind import Shows
from showthrough.release.release import Release
from showthrough.said import private
from showthrough.storage.leftovers import steady
from showthrough.table.arrays import Codes
from showthrough.table.files import read_bytes

VERSION = 1


def plan_of(release: Release) -> dict[str, Any] | None:
    """What another table needs to be recoded like this generalized release."""
    if release.form.shows is not Shows.CELLS or not release.form.from_groups:
        return None
    made = {} if release.made is None else dict(release.made.plan)
    head = {"version": VERSION, "quasi": list(release.roles.quasi)}
    if "levels" in made:
        return {**head, "levels": made["levels"]}
    cells = release.cells()
    return {**head, "cells": {c: cells[c].to_list() for c in release.roles.quasi}}


def plan_file(release: Release) -> bytes | None:
    """The plan as the file that stands beside the rows of a release."""
    plan = plan_of(release)
    return None if plan is None else json.dumps(plan, ensure_ascii=False, indent=1).encode()


def read_plan(given: Any) -> Mapping[str, Any]:
    """A plan from a file, a release folder or a mapping."""
    if isinstance(given, Mapping):
        plan, where = given, "The plan"
    else:
        where, raw = _plan_bytes(Path(given))
        try:
            plan = json.loads(raw.decode())
        except (ValueError, RecursionError):
            raise FileError(f"{where} is not a plan: expected JSON.") from None
    if not _well_formed(plan) or plan.get("version") != VERSION:
        raise FileError(f"{where} is not a plan of version {VERSION}: expected quasi, and either levels or cells.")
    return plan


def _plan_bytes(given: Path) -> tuple[str, bytes]:
    """The file of a plan; one in a release folder has the hash that its manifest says."""
    path = given / manifest.PLAN if given.is_dir() else given
    home = path.parent
    if path.name != manifest.PLAN or not (home / manifest.NAME).is_file():
        return os.fspath(path), read_bytes(path)

    def read() -> bytes:
        refuse_links_out(home)
        listed = manifest.read(home).plan
        return read_bytes(path) if listed is None else checked_bytes(path, listed)

    return os.fspath(path), steady(home, read)


def _well_formed(plan: Any) -> bool:
    """Whether it names columns, and tells one thing of each."""
    if not isinstance(plan, Mapping) or ("levels" in plan) == ("cells" in plan):
        return False
    quasi, told = plan.get("quasi"), plan.get("levels", plan.get("cells"))
    named = isinstance(quasi, (list, tuple)) and all(isinstance(name, str) for name in quasi)
    return named and isinstance(told, Mapping)


def apply_plan(table: Table, plan: Mapping[str, Any], criteria: Sequence[Any], options: Options) -> Groups:
    """Recode the table by a plan; groups that fail the criteria are suppressed, as far as allowed."""
    if set(plan["quasi"]) != set(table.quasi):
        raise InputError(
            f"The plan recodes {', '.join(plan['quasi'])}; the quasi-identifiers of the table are "
            f"{', '.join(table.quasi)}."
        )
    found = _by_levels(table, plan["levels"]) if "levels" in plan else _by_cells(table, plan["cells"])
    outside = int((found.group < 0).sum())
    group, gone = suppress_failing(
        found.group, requirement(table, criteria, suppress=table.rows), limit=options.suppression_limit
    )
    kept = np.unique(found.group[group >= 0])  # numbers of suppress_failing follow the old order
    cells = {c: [texts[int(g)] for g in kept] for c, texts in (found.cells or {}).items()}
    remark = Remark.of(
        "plan",
        "The plan fits all but {outside:row|rows}; {failing:more is|more are} in groups that fail a criterion.",
        outside=outside,
        failing=int(gone) - outside,
    )
    return replace(found, group=group, cells=cells, remarks=(remark,))


def _by_levels(table: Table, levels: Mapping[str, Any]) -> Groups:
    chosen, codes, sizes = [], [], []
    for column in table.columns:
        level = levels.get(column.name)
        top = len(column.levels) if column.levels else 1
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= top:
            raise InputError(
                f"The plan has the level {private(repr(level))} for {column.name!r}, which has levels 0 to {top}."
            )
        chosen.append(level)
        if level == 0:
            codes.append(column.codes)
        else:
            codes.append(
                column.levels[level - 1][column.codes] if column.levels else np.zeros(table.rows, dtype=np.int32)
            )
        sizes.append(int(codes[-1].max(initial=0)) + 1)
    group: Codes = np.unique(combined_key(codes, sizes), return_inverse=True)[1].astype(np.int32)
    texts = level_cells(table.columns, chosen, group)
    names = dict(zip((c.name for c in table.columns), chosen, strict=True))
    return Groups(group, dict(zip((c.name for c in table.columns), texts, strict=True)), {"levels": names})


def _by_cells(table: Table, cells: Mapping[str, Any]) -> Groups:
    """Put every record into the group of the plan that it fits; where cells overlap, the one that fewest fit."""
    try:
        frame = pl.DataFrame({c: pl.Series(c, cells[c], dtype=pl.String) for c in table.quasi})
    except (KeyError, TypeError, pl.exceptions.PolarsError):
        raise InputError("The cells of the plan are not one list of texts per quasi-identifier.") from None
    shape = Release.generalized(
        frame, sensitive=None, quasi=table.quasi, hierarchies=table.shape.hierarchies, name="the plan"
    )
    rows = table.frame.select(table.quasi).with_columns(pl.int_range(table.rows).alias("\0row"))
    found = locate(shape, "the plan", Register.of(rows, id="\0row", quasi=table.quasi)).candidates
    group = np.full(table.rows, -1, dtype=np.int32)
    fits = found.counts > 0
    if fits.any():
        every = found.group.astype(np.int64)
        popular = np.bincount(every)
        key = popular[every] * popular.size + every
        group[fits] = np.minimum.reduceat(key, found.start[:-1][fits]) % popular.size
    shown = shape.cells()
    return Groups(group, {c: shown[c].fill_null("*").to_list() for c in table.quasi})
