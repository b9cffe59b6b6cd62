"""A component that is too large for one worker, from the files of its persons to the tables of its answer."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from showthrough.engines.engine import Engine
from showthrough.errors import ContradictionError
from showthrough.inference.certificate import Certificate
from showthrough.inference.cluster.giant import GiantAnswer, solve_giant
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows, write_array
from showthrough.inference.cluster.giant_people import GiantCounts, PeopleOf, Telling, lay_people, tell_people
from showthrough.inference.cluster.pieces import COUNTS, MEMBERS, PieceAnswer, PieceQuestion
from showthrough.inference.facts import FactCounts
from showthrough.inference.log import Log
from showthrough.numerals import number_of
from showthrough.table.arrays import sum_by
from showthrough.table.ragged import starts

_CONTRADICTED = (
    "The releases contradict each other about {}, who are tied together. So many are worked on in parts, where nobody "
    "is looked for whose value changed: say who it was, if it is known."
)


def answer_giant(
    engine: Engine, folder: Path, number: int, releases: int, question: PieceQuestion, log: Log
) -> PieceAnswer:
    """The answer of a giant piece; its persons were shared out in parts."""
    home = folder / f"giant-{number}"
    home.mkdir(exist_ok=True)
    rows, values = _published(folder / COUNTS / f"piece={number}", home, releases)
    files = sorted((folder / MEMBERS / f"piece={number}").glob("part=*"), key=lambda p: int(p.name[5:]))
    parts, where = [], {}
    for k, file in enumerate(files):
        own = home / f"{k}"
        own.mkdir(exist_ok=True)
        parts.append(GiantPart(str(own), k))
        where[k] = PeopleOf(str(file), str(home), tuple(rows.first_group.tolist()))
    log.progress.stage("a giant component")
    persons = sum(engine.map(lay_people, parts, where))
    found = solve_giant(engine, home, parts, rows, log)
    if not found.status.consistent and question.contradictions == "refuse":
        raise ContradictionError(_CONTRADICTED.format(number_of(persons, "person")))
    limits = getattr(question.further, "limits", {})
    telling = Telling(str(folder), question.id_type, found.status, values, where, limits)
    told = engine.map(tell_people, parts, telling)
    shutil.rmtree(home)
    return _told(found, rows, persons, told, question, log)


def _published(files: Path, home: Path, releases: int) -> tuple[GiantRows, pl.Series]:
    """The rows of a component, in numbers; what workers need to know of groups goes into files."""
    counts = pl.read_parquet(files / "*.parquet", hive_partitioning=False).sort("release", "g", "value")
    values = counts["value"].unique().sort()
    value = values.search_sorted(counts["value"]).to_numpy().astype(np.int32)
    release, code, count = (counts[name].to_numpy() for name in ("release", "g", "n"))
    new = np.append(True, (release[1:] != release[:-1]) | (code[1:] != code[:-1]))
    row_group = np.cumsum(new) - 1
    first_group = starts(np.bincount(release[new], minlength=releases))
    size = sum_by(row_group, count.astype(np.float64), int(new.sum()))
    share = count / size[row_group]
    at = starts(np.bincount(row_group))
    told = {
        "code": code[new],
        "largest": np.maximum.reduceat(share, at[:-1]),
        "entropy": sum_by(row_group, -share * np.log(share), size.size) + 0.0,
        "row_start": at,
        "row_value": value,
    }
    for name, array in told.items():
        write_array(home / f"{name}.npy", array)
    return GiantRows(first_group, row_group.astype(np.int32), value, count.astype(np.int64)), values


def _told(
    found: GiantAnswer, rows: GiantRows, persons: int, told: Sequence[GiantCounts], question: PieceQuestion, log: Log
) -> PieceAnswer:
    def total(name: str) -> int:
        return round(sum(one.sums[name] for one in told))

    against = () if found.status.consistent else (_CONTRADICTED.format(number_of(persons, "person")),)
    certificate = Certificate(
        status=found.status,
        gap=found.gap if found.status.certain else 0.0,
        residual=found.residual if found.status.certain else 0.0,
        persons=persons,
        releases=rows.first_group.size - 1,
        signatures=found.signatures,
        variables=found.variables,
        rows=rows.size,
        components=1,
        proven_zeros=found.proven_zeros,
        proven_ones=found.proven_ones,
        suspected_zeros=found.suspected_zeros,
        newton_steps=found.newton_steps,
        passes=found.passes,
        seconds=log.seconds,
        persons_by_state={str(found.status): persons},
        contradictions=len(against),
    )
    facts = FactCounts(total("certain"), total("impossible_by_sets"), total("impossible_by_counts"))
    entropy = sum(one.sums["entropy_nats"] for one in told)
    figures: Any = None
    if question.further is not None:
        groups = np.diff(rows.first_group).tolist()
        figures = question.further.of_giant(told, groups, certain=found.status.certain)
    return PieceAnswer(certificate, vars(facts), entropy, against, figures)
