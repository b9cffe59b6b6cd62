"""A component that is too large for one worker, from the files of its persons to the tables of its answer."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from showthrough.engines.engine import Engine
from showthrough.errors import ChangedValueError, ContradictionError
from showthrough.inference.certificate import Certificate
from showthrough.inference.cluster.giant import GiantAnswer, solve_giant
from showthrough.inference.cluster.giant_layout import publish
from showthrough.inference.cluster.giant_marks import PEOPLE, Marks
from showthrough.inference.cluster.giant_part import GiantPart, GiantRows, write_array
from showthrough.inference.cluster.giant_people import (
    GiantCounts,
    LaidPeople,
    PeopleOf,
    Telling,
    lay_people,
    tell_people,
)
from showthrough.inference.cluster.giant_some import answer_sets
from showthrough.inference.cluster.pieces import COUNTS, MEMBERS, PieceAnswer, PieceQuestion
from showthrough.inference.facts import FactCounts
from showthrough.inference.log import Log
from showthrough.inference.splitting import ChangedCounts
from showthrough.numerals import number_of
from showthrough.register.changed import REFUSE, SPLIT
from showthrough.table.arrays import sum_by
from showthrough.table.ragged import starts

_CONTRADICTED = (
    "The releases contradict each other about {}, who are tied together. So many are worked on in parts, where nobody "
    "is looked for whose value changed: say who it was, if it is known."
)
_APART = (
    '{} in groups that share no value, so their values changed or the releases contradict each other: changed="split" '
    "takes each for one person per release, or say whose value changed, and from which release on."
)


def answer_giant(
    engine: Engine,
    folder: Path,
    number: int,
    names: Sequence[str],
    question: PieceQuestion,
    log: Log,
    changed: str = REFUSE,
) -> PieceAnswer:
    """The answer of a giant piece; its persons were shared out in parts. After a restart it goes on from its marks.

    ``changed`` says what becomes of ids whose groups share no value.
    """
    home = folder / f"giant-{number}"
    home.mkdir(exist_ok=True)
    rows, values = _published(folder / COUNTS / f"piece={number}", home, len(names))
    files = sorted((folder / MEMBERS / f"piece={number}").glob("part=*"), key=lambda p: int(p.name[5:]))
    parts, where = [], {}
    for k, file in enumerate(files):
        own = home / f"{k}"
        own.mkdir(exist_ok=True)
        parts.append(GiantPart(str(own), k))
        where[k] = PeopleOf(str(file), str(home), tuple(rows.first_group.tolist()), changed == SPLIT)
    log.progress.stage("a giant component")
    marks = Marks(home, (len(parts), rows.size))
    laid = marks.read(PEOPLE)
    if laid is None:
        every = engine.map(lay_people, parts, where)
        laid = LaidPeople(sum(one.persons for one in every), sum(one.apart for one in every))
        marks.put(PEOPLE, laid)
    if laid.apart and changed == REFUSE:
        raise ChangedValueError(_APART.format(_who(laid.apart)), parameters=("changed",))
    began = time.monotonic()
    found = solve_giant(engine, home, parts, rows, log, marks=marks)
    taken = time.monotonic() - began
    error = None if found.status.consistent else _contradiction(laid, changed)
    if error is not None and question.contradictions == "refuse":
        raise error
    against = () if error is None else (error.shareable,)
    limits = getattr(question.further, "limits", {})
    telling = Telling(str(folder), question.id_type, found.status, values, where, tuple(names), limits)
    if question.further is not None and question.further.by_sets:
        sets = answer_sets(engine, home, parts, rows, log, taken) if found.status.consistent else ()
        telling = replace(telling, sets=sets, of_part=question.further.of_part)
    told = engine.map(tell_people, parts, telling)
    shutil.rmtree(home)
    split = ChangedCounts(split=laid.apart if changed == SPLIT else 0)
    certificate = replace(_certificate(found, rows, laid.persons, log), changed=split, contradictions=len(against))
    return _told(certificate, rows, told, question, against)


def _who(persons: int) -> str:
    return "One person is" if persons == 1 else f"{number_of(persons, 'person')} are"


def _contradiction(laid: LaidPeople, changed: str) -> ContradictionError:
    """What was not looked at, and what can be done."""
    of = number_of(laid.persons, "person")
    if changed == SPLIT or not laid.apart:
        return ContradictionError(_CONTRADICTED.format(of))
    return ContradictionError(f"{_CONTRADICTED} {_APART}".format(of, _who(laid.apart)))


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
    }
    for name, array in told.items():
        write_array(home / f"{name}.npy", array)
    rows = GiantRows(first_group, row_group.astype(np.int32), value, count.astype(np.int64))
    publish(home, rows)
    return rows, values


def _certificate(found: GiantAnswer, rows: GiantRows, persons: int, log: Log) -> Certificate:
    return Certificate(
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
    )


def _told(
    certificate: Certificate,
    rows: GiantRows,
    told: Sequence[GiantCounts],
    question: PieceQuestion,
    against: tuple[str, ...],
) -> PieceAnswer:
    def total(name: str) -> int:
        return round(sum(one.sums[name] for one in told))

    facts = FactCounts(total("certain"), total("impossible_by_sets"), total("impossible_by_counts"))
    entropy = sum(one.sums["entropy_nats"] for one in told)
    figures: Any = None
    if question.further is not None:
        groups = np.diff(rows.first_group).tolist()
        figures = question.further.of_giant(told, groups, certain=certificate.status.certain)
    return PieceAnswer(certificate, vars(facts), entropy, against, figures)
