"""Rows that nobody of a register can fill: they belong to members whom the register does not know.

Located by quasi-identifiers, as many persons of a register are taken to be in a release as fit. Where
another release leaves a value of a group to none of them, that was too many: the row is a stranger's,
and one of the persons whose presence is not known may be outside. Likewise a person is not in a release
none of whose fitting groups holds a value that is left to it. It is a contradiction only if the release
itself, or what is known of presence, says who is in the group.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from showthrough.errors import ContradictionError
from showthrough.inference.draft import Unwritten
from showthrough.inference.history import ABSENT, History, encode
from showthrough.inference.problem import STATEMENT, Problem, build, collapse, orphan_rows
from showthrough.inference.splitting import split_told
from showthrough.register.changed import REFUSE, SPLIT
from showthrough.register.reader import Reader
from showthrough.register.register import Register
from showthrough.register.relaxing import guessed
from showthrough.release.release import Release
from showthrough.table.arrays import Ints
from showthrough.table.frozen import Frozen


def placed(history: History) -> tuple[History, Problem, Ints]:
    """The problem of a history in which every row can be filled, by persons or by strangers, where that can be.

    Rows that stay orphans are a contradiction.
    """
    while True:
        reader = None
        if history.changed.otherwise != SPLIT:
            reader = _with_absent(history) or _with_anywhere(history)
        if reader is not None:
            history = encode(history.releases, changed=history.changed, reader=reader)
            continue
        built, problem, of_person = build(history)
        orphans = orphan_rows(problem)
        orphans = orphans[problem.row_release[orphans] != STATEMENT]
        reader = _with_strangers(built, problem, orphans) if orphans.size else None
        if reader is None:
            return built, problem, of_person
        try:
            history = encode(history.releases, changed=history.changed, reader=reader)
        except ContradictionError:  # who is known to be present needs the room
            return built, problem, of_person


def _with_strangers(history: History, problem: Problem, orphans: Ints) -> Reader | None:
    """The reader who takes orphans of located releases for rows of strangers; None if there are none.

    Orphans of other releases may be due to persons who were taken to be in a located one, and vanish.
    """
    reader, strangers = history.reader, dict(history.reader.leeway.strangers)
    if not _made_by_reader(history):
        return None
    for r in np.unique(problem.row_release[orphans]).tolist():
        name = history.names[r]
        if not _by_register(history, r) and name not in reader.membership:
            continue
        mine = orphans[problem.row_release[orphans] == r]
        more = np.bincount(
            history.row_group[mine] - history.first_group[r],
            weights=history.row_count[mine],
            minlength=history.labels[r].len(),
        ).astype(np.int64)
        known = np.array(strangers.get(name, np.zeros(more.size)), dtype=np.int64)
        size = history.releases[r].size.to_numpy()
        strangers[name] = tuple(np.minimum(known + more, size).tolist())
    if strangers == reader.leeway.strangers:
        return None
    return replace(reader, leeway=replace(reader.leeway, strangers=Frozen(strangers)))


def _with_absent(history: History) -> Reader | None:
    """The reader who takes persons for absent where every value of their groups is impossible for them.

    None if that is no way out for somebody: the person is known to be in all the releases, or it is not clear
    in which of them it is not.
    """
    register = history.reader.register
    if not _made_by_reader(history) or register is None:
        return None
    history = split_told(history)
    problem, of_person = collapse(history)
    absent: dict[int, list[str]] = {}
    present = _known_present(register)
    for person in np.flatnonzero(np.diff(problem.start)[of_person] == 0).tolist():
        left, guesses = None, {}
        for r, name in enumerate(history.names):
            groups = history.groups_of(r, person)
            if ABSENT in groups:
                continue  # may be outside already
            values = {value for g in groups for value in history.values_in(g)}
            if _by_register(history, r) and str(history.ids[person]) not in present.get(name, ()):
                guesses[r] = values
            else:
                left = values if left is None else left & values
        away = [r for r, values in guesses.items() if left is not None and not values & left]
        stay = [values for r, values in guesses.items() if r not in away]
        if left is None or not left.intersection(*stay) or not away:
            if history.changed.otherwise == REFUSE:
                return None
            continue
        for r in away:
            absent.setdefault(r, []).append(str(history.ids[person]))
    known = history.reader.leeway.absent
    if not absent:
        return None
    if any(id in known.get(history.names[r], ()) for r, ids in absent.items() for id in ids):
        return None
    more = {history.names[r]: (*known.get(history.names[r], ()), *ids) for r, ids in absent.items()}
    return replace(history.reader, leeway=replace(history.reader.leeway, absent=Frozen({**known, **more})))


def _with_anywhere(history: History) -> Reader | None:
    """The reader who lets persons be in any group of a release where only a guess says otherwise.

    They are those to whom even the next centroids leave no value; None if there are none.
    """
    reader = history.reader
    names = [
        name
        for name, release in zip(history.names, history.releases, strict=True)
        if name in reader.leeway.near and isinstance(release, Release) and guessed(reader, release, name)
    ]
    if not names or not _made_by_reader(history):
        return None
    problem, of_person = collapse(split_told(history))
    empty = np.flatnonzero(np.diff(problem.start)[of_person] == 0)
    ids = tuple(str(history.ids[k]) for k in np.unique(empty[empty < history.named]).tolist())
    known = reader.leeway.anywhere
    if not ids or any(set(ids) & set(known.get(name, ())) for name in names):
        return None
    more = {name: (*known.get(name, ()), *ids) for name in names}
    return replace(reader, leeway=replace(reader.leeway, anywhere=Frozen({**known, **more})))


def _made_by_reader(history: History) -> bool:
    """Whether the history follows from releases and a reader alone, so that it can be made again."""
    if any(isinstance(release, Unwritten) for release in history.releases):
        return False  # a draft has no release that could be read again
    told = history.statements is not None or history.prior is not None
    return history.row_upper is None and (not told or history.reader.informed is not None)


def _by_register(history: History, r: int) -> bool:
    """Whether persons are located in a release by the register, and not by a guess that can still be relaxed."""
    release, reader, name = history.releases[r], history.reader, history.names[r]
    if not isinstance(release, Release) or release.roles.id is not None or name in reader.membership:
        return False
    if release.noise is not None:
        return False
    return reader.register is not None and (name in reader.leeway.near or not guessed(reader, release, name))


def _known_present(register: Register) -> dict[str, set[str]]:
    """By release, the ids that are known to be in it, as text."""
    text = register.ids.cast(pl.String)
    return {name: set(text.filter(inside.fill_null(False))) for name, inside in register.presence.items()}
