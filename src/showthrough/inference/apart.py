"""Contradictions kept apart: an island that no assignment fits is set aside, and all others are answered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from showthrough.errors import ContradictionError, InternalError
from showthrough.inference import islands
from showthrough.inference.explain import contradiction_error
from showthrough.inference.face import NEVER, Contradicted, Face, WeighingStep, take_over
from showthrough.inference.history import History
from showthrough.inference.log import Log
from showthrough.inference.problem import STATEMENT, Problem, orphan_error, orphan_rows, unstated
from showthrough.inference.reduce import nothing_left
from showthrough.inference.rows import Rows
from showthrough.inference.solving import solve
from showthrough.numerals import number_of
from showthrough.table.arrays import Flags, Ints, Reals

_LARGE = 0.1  # of all persons; contradictory islands that hold more are answered by counts that give way
_ALL, _EACH = 20.0, 5.0  # seconds for short explanations of contradictions
_ALONE = 0.4  # of the time that is left, for what the releases tell without statements
_GUESSED = "The releases contradict each other where persons are located by a guess."
_EXPLAINED = 50  # contradictions that are explained one by one; further ones are counted


@dataclass(frozen=True, eq=False)
class SetAside:
    """An island of releases that contradict each other, and why; nobody explains the fiftieth."""

    signatures: Flags
    error: ContradictionError | None


@dataclass
class Apart:
    """The answer on all islands that are consistent, as far as is known."""

    face: Face
    held: Face  # with what a prior excludes
    x: Reals
    mu: Reals
    contradictions: list[SetAside] = field(default_factory=list)
    relaxed: Flags | None = None  # [m] signatures on large contradictory islands whose counts gave way
    widened: Rows | None = None  # by how much; None: by as much as the answer needs
    eased: Flags | None = None  # [m] signatures of whom statements were said that gave way

    @property
    def contradictory(self) -> Flags:
        """[m] signatures on islands that no assignment fits."""
        found = np.zeros(self.face.problem.signatures, dtype=bool)
        for one in self.contradictions:
            found |= one.signatures
        return found


class Isolation:
    """Solves a problem again and again until what is left does not contradict itself."""

    def __init__(
        self,
        history: History,
        problem: Problem,
        of_person: Ints,
        log: Log,
        *,
        refuse: bool,
        guessed: bool = False,
        inherits: bool = False,
    ) -> None:
        self.history, self.problem, self.of_person, self.log = history, problem, of_person, log
        self.refuse, self.guessed = refuse, guessed  # whoever guessed gives way, and needs no explanation
        self.inherits = inherits  # exclusions of an earlier history: where it is contradicted they prove nothing
        self.elastic = history.reader.elastic  # then statements give way later
        self.contradictions: list[SetAside] = []
        self.explaining = log.clock.at_most(_ALL)
        self.left = np.ones(problem.signatures, dtype=bool)

    def run(self, face: Face, *, among: Flags | None = None, start: Reals | None = None, relax: bool = True) -> Apart:
        """The answer on consistent islands; ``among`` and ``start`` are those of `solve`.

        Without ``relax`` counts do not give way: for callers who can mend what contradicts, and call `relax` else.
        Whoever ``inherits`` gets the first contradiction back.
        """
        self._orphans()
        while True:
            try:
                chosen = among if self.left.all() else self.left if among is None else self.left & among
                start = self._published(face, chosen, start)
                held = _believed(face, self.log, chosen)
                try:
                    x, mu = solve(held, self.log, among=chosen, start=start)
                except Contradicted as found:
                    raise found.by(held is not face) from None
                break
            except Contradicted as found:
                if self.inherits:
                    raise
                self._set_aside(face, found)
        done = Apart(face, held, x, mu, self.contradictions)
        if self.contradictions:
            self._withdraw(done)
            if relax and not (self.elastic and self.problem.statements):
                self.relax(done)
        return done

    def _published(self, face: Face, among: Flags | None, start: Reals | None) -> Reals | None:
        """Close the face by the releases alone before any statement is looked at, and where to begin then.

        So what is proven is told apart: by the counts, or only with what somebody knows.
        """
        problem = self.problem
        if not problem.statements or face.stated_from is not None:
            return start
        bare = face.of(replace(unstated(problem), log_prior=None))
        rows = np.arange(bare.problem.rows.size)
        try:
            with self.log.at_most(_ALONE * self.log.clock.left()):
                mu = solve(bare, self.log, among=among)[1]
        except Contradicted as found:
            raise found.within(rows, np.arange(problem.variables), problem.rows.size) from None
        finally:
            take_over(face, bare, np.arange(problem.terms), rows)
        face.suspects[:] = False
        face.stated_from = len(face.steps)
        return np.append(mu, np.zeros(len(problem.statements)))

    def _orphans(self) -> None:
        """Published values that nobody can have contradict the other releases without any solving."""
        rows = orphan_rows(self.problem)
        if not rows.size:
            return
        said = self.problem.row_release[rows] == STATEMENT
        error = orphan_error(self.history, self.problem, int(rows[0]))
        if self.refuse and not (self.elastic and said.all()):
            raise error
        island = islands.labelled(self.problem)
        published = rows[~said]
        for number in np.unique(island.of_rows(self.problem, published)).tolist():
            first = int(published[np.argmax(island.of_rows(self.problem, published) == number)])
            self._add(island.signature == number, orphan_error(self.history, self.problem, first))
        for row in rows[said].tolist():  # nobody hangs on it: those of whom it speaks are told by the history
            mine = np.isin(island.signature, island.signature[self._spoken_of(row)]) & self.left
            self._add(mine, orphan_error(self.history, self.problem, row))

    def _spoken_of(self, row: int) -> Ints:
        """The signatures of the persons of whom a statement speaks."""
        told = self.history.statements
        assert told is not None
        number = row - (self.problem.rows.size - len(self.problem.statements))
        return np.asarray(self.of_person[told.person[told.statement == number]])

    def _set_aside(self, face: Face, found: Contradicted) -> None:
        """Take the islands of a contradiction out."""
        if self.guessed:
            raise ContradictionError(_GUESSED)
        island = islands.labelled(self.problem)
        if found.weights is None:
            mine = island.signature == island.signature[self.problem.signature[found.emptied or 0]]
        else:
            rows = np.flatnonzero(found.weights)
            mine = np.isin(island.signature, island.of_rows(self.problem, rows))
        mine &= self.left
        if not mine.any():
            raise InternalError("A contradiction was set aside and found again.")
        explained = self.refuse or len(self.contradictions) < _EXPLAINED
        error = None
        if found.believed:
            persons = int(np.bincount(self.of_person[: self.history.named], minlength=mine.size)[mine].sum())
            error = ContradictionError(
                "The prior excludes what the counts require, in a part of the releases with "
                f"{number_of(persons, 'person')}.",
                parameters=("prior",),
            )
        elif explained:
            seconds = self.explaining.left(_EACH)
            error = contradiction_error(self.history, face, self.of_person, found, seconds)
        if self.refuse and error is not None and not (self.elastic and face.stated_from is not None):
            raise error
        self._add(mine, error)
        for row in found.also:  # each contradicts by itself
            number = island.of_rows(self.problem, np.array([row]))
            own = (island.signature == number[0]) & self.left
            if own.any():
                self._add(own, None)

    def _add(self, signatures: Flags, error: ContradictionError | None) -> None:
        self.contradictions.append(SetAside(signatures, error))
        self.left = self.left & ~signatures

    def _withdraw(self, done: Apart) -> None:
        """Nothing is known of contradictory islands: every value that the sets leave stays possible, evenly."""
        problem = self.problem
        gone = done.contradictory
        variables = gone[problem.signature]
        terms = variables[problem.rows.owner] if problem.rows.seats else variables
        for face in {id(f): f for f in (done.face, done.held)}.values():
            face.alive[terms], face.removed_at[terms], face.suspects[terms] = True, NEVER, False
            face.recount()
        done.x[terms] = nothing_left(problem, done.face.alive)[terms]

    def relax(self, done: Apart) -> None:
        """Let counts give way on contradictory islands that hold many persons."""
        persons = np.bincount(self.of_person[: self.history.named], minlength=self.problem.signatures)
        large = np.zeros(self.problem.signatures, dtype=bool)
        for one in done.contradictions:
            if persons[one.signatures].sum() > _LARGE * self.history.named:
                large |= one.signatures
        if not large.any() or self.log.clock.over or self.problem.log_prior is not None:
            return
        from showthrough.inference.slack import relaxed  # loads the linear-programming library

        with self.log.stage("contradictions"):
            found = relaxed(self.problem, large, self.log)
        if found is None:
            return
        face, x, mu = found.face, found.x, found.mu
        variables = large[self.problem.signature]
        terms = variables[self.problem.rows.owner] if self.problem.rows.seats else variables
        done.face.alive[terms], done.x[terms] = face.alive[terms], x[terms]
        done.face.recount()
        rows = np.isin(np.arange(mu.size), self.problem.rows.of(np.flatnonzero(variables)))
        done.mu[rows] = face.signed(mu)[rows]
        done.widened, done.relaxed = found.rows, large


def _believed(face: Face, log: Log, among: Flags | None) -> Face:
    """The face itself, or where a prior says "never", a copy of the closed face without what it excludes.

    What falls only after the prior's zeros is belief, not proof, so the face is closed without the prior first.
    """
    problem = face.problem
    if problem.log_prior is None or np.isfinite(problem.log_prior).all():
        return face
    known = face.of(replace(problem, log_prior=None))
    try:
        solve(known, log, among=among)
    finally:
        take_over(face, known, np.arange(problem.terms), np.arange(problem.rows.size))
    held = face.copy()
    never = held.possible & ~np.isfinite(problem.log_prior)
    if among is not None:  # of what was set aside somebody may have no value left
        never &= among[problem.signature]
        aside = ~among[problem.signature]
        held.alive[aside[problem.rows.owner] if problem.rows.seats else aside] = True
        held.recount()
    none = np.empty(0, dtype=np.int64)
    try:
        held.exclude(np.flatnonzero(never), WeighingStep(none, none, none))  # what follows is found when it is solved
    except Contradicted as found:
        raise found.by(True) from None
    return held
