"""A component that is too large for one worker, from the files of its persons to the tables of its answer."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from showthrough.engines.engine import Engine
from showthrough.errors import ChangedValueError, ContradictionError
from showthrough.inference.certificate import Certificate
from showthrough.inference.cluster.giant import GiantAnswer, solve_giant
from showthrough.inference.cluster.giant_changed import blamed
from showthrough.inference.cluster.giant_layout import publish
from showthrough.inference.cluster.giant_marks import CHANGED, PEOPLE, Marks
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
from showthrough.register.changed import REFUSE, TOLERATE
from showthrough.table.arrays import Ints, sum_by
from showthrough.table.ragged import starts

_CONTRADICTED = (
    "The releases contradict each other about {}, who are tied together. If values changed, say whose, if it is known; "
    'or changed="tolerate" takes a few persons for changed.'
)
_IN_VAIN = (
    "The releases contradict each other about {}, who are tied together, though {} taken for changed: say whose value "
    "changed, if it is known, or give it more time."
)
_NOBODY = np.empty(0, dtype=np.int64)
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
        where[k] = PeopleOf(str(file), str(home), tuple(rows.first_group.tolist()), changed != REFUSE)
    log.progress.stage("a giant component")
    began = time.monotonic()
    solved = _solved(_Asked(engine, home, parts, rows, log), where, changed)
    found = solved.answer
    taken = time.monotonic() - began
    error = None if found.status.consistent else _contradiction(solved, changed)
    if error is not None and question.contradictions == "refuse":
        raise error
    against = () if error is None else (error.shareable,)
    limits = getattr(question.further, "limits", {})
    telling = Telling(str(folder), question.id_type, found.status, values, solved.where, tuple(names), limits)
    telling = replace(telling, conditional=solved.guessed > 0)
    if question.further is not None and question.further.by_sets:
        sets = answer_sets(engine, home, parts, rows, log, taken) if found.status.consistent else ()
        telling = replace(telling, sets=sets, of_part=question.further.of_part)
    told = engine.map(tell_people, parts, telling)
    shutil.rmtree(home)
    split = ChangedCounts(**({"tolerated": solved.apart} if changed == TOLERATE else {"split": solved.apart}))
    certificate = _certificate(found, rows, solved.laid.persons, log)
    certificate = replace(certificate, changed=split, contradictions=len(against))
    return _told(certificate, rows, told, question, against)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A component in parts, and who works on it."""

    engine: Engine
    home: Path
    parts: Sequence[GiantPart]
    rows: GiantRows
    log: Log


@dataclass(frozen=True, eq=False)
class _Solved:
    """An answer, of which persons; ``guessed`` of them were taken for changed though their groups share a value."""

    answer: GiantAnswer
    laid: LaidPeople
    where: dict[int, PeopleOf]
    guessed: int

    @property
    def apart(self) -> int:
        """How many ids are one person per release."""
        return self.laid.apart + self.guessed


def _solved(asked: _Asked, where: dict[int, PeopleOf], changed: str) -> _Solved:
    """The answer; to tolerate changed values, again and again with those taken apart who make good what is lacking.

    Who that is, is marked before it is laid out, so that a driver that begins anew takes the same ones.
    """
    engine, home, parts, rows, log = asked.engine, asked.home, asked.parts, asked.rows, asked.log
    chosen = Marks(home, (len(parts), rows.size))
    rounds: tuple[tuple[Ints, ...], ...] = chosen.read(CHANGED) or ()
    while True:
        apart = [np.concatenate(own) for own in zip(*rounds, strict=True)] or [_NOBODY for _ in parts]
        where = {k: replace(own, changed=tuple(apart[k].tolist())) for k, own in where.items()}
        marks = Marks(home, (len(parts), rows.size, len(rounds)))
        laid = marks.read(PEOPLE)
        if laid is None:
            every = engine.map(lay_people, parts, where)
            laid = LaidPeople(sum(one.persons for one in every), sum(one.apart for one in every))
            marks.put(PEOPLE, laid)
        if laid.apart and changed == REFUSE:
            raise ChangedValueError(_APART.format(_who(laid.apart)), parameters=("changed",))
        found = solve_giant(engine, home, parts, rows, log, marks=marks)
        guessed = sum(own.size for own in apart)
        if found.status.consistent or changed != TOLERATE or log.clock.over:
            return _Solved(found, laid, where, guessed)
        with log.stage("changed values"):
            more = blamed(engine, home, parts, rows, found.version, found.weights)
        if not any(own.size for own in more):
            return _Solved(found, laid, where, guessed)
        rounds = (*rounds, more)
        chosen.put(CHANGED, rounds)


def _who(persons: int) -> str:
    return "One person is" if persons == 1 else f"{number_of(persons, 'person')} are"


def _contradiction(solved: _Solved, changed: str) -> ContradictionError:
    """What was looked at, and what can be done."""
    of = number_of(solved.laid.persons, "person")
    if changed == TOLERATE and solved.apart:
        return ContradictionError(_IN_VAIN.format(of, _who(solved.apart)))
    return ContradictionError(_CONTRADICTED.format(of))


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

    facts = FactCounts(
        *(total(name) for name in ("certain", "impossible_by_sets", "impossible_by_counts", "certain_if_consistent"))
    )
    entropy = sum(one.sums["entropy_nats"] for one in told)
    figures: Any = None
    if question.further is not None:
        groups = np.diff(rows.first_group).tolist()
        figures = question.further.of_giant(told, groups, certain=certificate.status.certain)
    return PieceAnswer(certificate, vars(facts), entropy, against, figures)
