"""The story of an inference: problem → face → solve → certify."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from showthrough.engines.cluster_release import spark_frame
from showthrough.errors import ContradictionError, InputError, ParameterError
from showthrough.inference import checker
from showthrough.inference.apart import Apart, Isolation
from showthrough.inference.certificate import STATES, Certificate, Status, states
from showthrough.inference.face import Face
from showthrough.inference.history import ABSENT, History, encode
from showthrough.inference.log import Log
from showthrough.inference.noise_belief import believed
from showthrough.inference.pairs import Pairs
from showthrough.inference.problem import collapse
from showthrough.inference.rows import Rows
from showthrough.inference.solved import Doubts, Solved
from showthrough.inference.splitting import TOLERATED, changed_counts, untolerated
from showthrough.inference.strangers import placed
from showthrough.register.changed import REFUSE, TOLERATE, Changed
from showthrough.register.reader import Reader
from showthrough.register.relaxing import loosened, relaxed
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals

CONTRADICTIONS = ("explain", "refuse")
_GUESSING = 0.2, 0.6  # of the time that is left, for an answer under each guess; the last one has the rest
_READING = 4.0  # times as long as a reading took, for another with more candidates
_TOLERATING = 60.0  # seconds for the fewest persons who changed, and again for what holds whoever they are
UNCERTIFIED, UNDECIDED = STATES.index(Status.UNCERTIFIED), STATES.index(Status.UNDECIDED)


@dataclass(frozen=True)
class Wanted:
    """How an answer is wanted: what to do with ids whose value changed, and with releases that contradict."""

    changed: Changed = field(default_factory=Changed)
    contradictions: str = "explain"

    def __post_init__(self) -> None:
        if self.contradictions not in CONTRADICTIONS:
            known = ", ".join(CONTRADICTIONS)
            text = f"contradictions is one of {known}, not {self.contradictions!r}."
            raise ParameterError(text, parameters=("contradictions",))


def answer(reader: Reader, releases: Sequence[Release], wanted: Wanted, log: Log) -> tuple[Solved, Certificate]:
    """What a reader learns from the releases that publish values.

    Where persons are located by a guess, the guess gives way before anything is called a contradiction, and where it
    is neither answered nor refuted in a part of the time. So does the assumption that all who fit are in a table that
    hides how many it holds.
    """
    for part in _GUESSING:
        wider = relaxed(reader, releases)
        if wider is reader:
            break
        try:
            found, again = guessed_answer(reader, releases, wanted, log, part)
            if not again:
                return found
        except ContradictionError:
            pass
        reader = wider
    looser = loosened(reader, releases)
    if looser is not reader:
        try:
            with log.stage("reading groups"):
                history = encode(releases, changed=replace(wanted.changed, otherwise=REFUSE), reader=reader)
            return answered(history, log, refuse=True, guessed=True)
        except ContradictionError:
            reader = looser
    with log.stage("reading groups"):
        history = encode(releases, changed=wanted.changed, reader=reader)
    return answered(history, log, refuse=wanted.contradictions == "refuse")


def guessed_answer(
    reader: Reader, releases: Sequence[Release], wanted: Wanted, log: Log, part: float = _GUESSING[0]
) -> tuple[tuple[Solved, Certificate], bool]:
    """The answer where persons are guessed to be, in a part of the time; whether it is worth another guess.

    A guess that the releases refute is a contradiction.
    """
    strict, began = replace(wanted.changed, otherwise=REFUSE), time.monotonic()
    with log.stage("reading groups"):
        history = encode(releases, changed=strict, reader=reader)
    reading = time.monotonic() - began
    with log.at_most(part * log.clock.left()):
        found = answered(history, log, refuse=True, guessed=True)
    return found, Status.UNDECIDED in found[1].persons_by_state and log.clock.left() > _READING * reading


def answered(history: History, log: Log, *, refuse: bool = True, guessed: bool = False) -> tuple[Solved, Certificate]:
    """What follows from a history; ``refuse`` says that a contradiction is an error, not a part of the answer.

    Where persons are ``guessed`` to be, the error comes without an explanation: the guess gives way.
    """
    with log.stage("reading groups"):
        history, problem, of_person = placed(history)
    asked = history.changed.otherwise == TOLERATE
    # the program for the fewest changes knows exact counts of single values
    tolerant = asked and history.row_upper is None and not history.covers
    refusing = refuse and not tolerant
    isolation = Isolation(history, problem, of_person, log, refuse=refusing, guessed=guessed)
    try:
        apart = isolation.run(Face.whole(problem), relax=not tolerant)
    except ContradictionError as error:
        raise (untolerated(error) if asked else error) from None
    if asked and not tolerant:
        apart.contradictions = [
            replace(one, error=one.error and untolerated(one.error)) for one in apart.contradictions
        ]
    if history.reader.elastic and apart.contradictions and history.statements is not None:
        history, of_person, apart = _eased(history, of_person, apart, log, refuse=refuse)
    doubts = None
    if asked:
        found = (history, of_person, apart)
        history, of_person, apart, doubts = _tolerated(isolation, *found, refuse=refuse, search=tolerant)
    return believed(*certified(history, of_person, apart, log, doubts), log)


def _eased(history: History, of_person: Ints, apart: Apart, log: Log, *, refuse: bool) -> tuple[History, Ints, Apart]:
    """The answer with statements that give way where they contradict the releases."""
    from showthrough.inference.elastic import eased  # loads the linear-programming library

    problem, against = apart.face.problem, apart.contradictory
    with log.stage("contradictions"):
        found = eased(history, problem, against, log.clock.at_most(0.5 * log.clock.left()))
    if found is None:
        if refuse and apart.contradictions[0].error is not None:
            raise apart.contradictions[0].error
        return history, of_person, apart
    problem, now = collapse(found)
    again = Isolation(found, problem, now, log, refuse=refuse).run(Face.whole(problem))
    again.eased = np.zeros(problem.signatures, dtype=bool)
    again.eased[now[against[of_person]]] = True
    said, missed = found.statements, history.statements
    if said is not None and missed is not None:  # whoever a statement speaks of that nothing fits
        ends = said.lower[: missed.lower.size] != missed.lower
        again.eased[now[missed.person[ends[missed.statement]]]] = True
    return found, now, again


def _tolerated(
    isolation: Isolation, history: History, of_person: Ints, apart: Apart, *, refuse: bool, search: bool
) -> tuple[History, Ints, Apart, Doubts | None]:
    """The answer with the fewest persons split that make contradictory islands consistent, and what hangs on whom.

    Without ``search`` nobody is split besides those whose groups share no value.
    """
    log = isolation.log
    parts = history.split_why is not None and bool((history.split_why == TOLERATED).any())
    if not parts and not (search and apart.contradictions):
        return history, of_person, apart, None
    from showthrough.inference.firm import firm  # these load the linear-programming library
    from showthrough.inference.tolerance import tolerate

    with log.stage("changed values"):
        problem, against = apart.face.problem, apart.contradictory & search
        found = tolerate(history, problem, of_person, against, seconds=min(_TOLERATING, 0.4 * log.clock.left()))
    if found.persons:
        again = Isolation(found.history, found.problem, found.of_person, log, refuse=refuse)
        apart = again.run(Face.whole(found.problem))
    elif refuse and apart.contradictions and apart.contradictions[0].error is not None:
        raise apart.contradictions[0].error
    elif apart.contradictions and search and history is isolation.history:
        isolation.relax(apart)
    with log.stage("changed values"):
        held = firm(found, seconds=log.clock.left(_TOLERATING))
    return found.history, found.of_person, apart, Doubts(found.touched, held)


def listed(releases: Sequence[Release] | Release) -> list[Release]:
    """Several releases, or the one that was given alone."""
    given: Any = releases
    found = [given] if isinstance(given, Release) or not isinstance(given, Iterable) else list(given)
    for one in found:
        if not isinstance(one, Release):
            how = "st.engines.published says which columns it has" if spark_frame(one) else "see read_release"
            raise InputError(f"Expected releases, got {type(one).__name__}: {how}.")
    return found


def certified(
    history: History, of_person: Ints, apart: Apart, log: Log, doubts: Doubts | None = None
) -> tuple[Solved, Certificate]:
    """Let the checker judge the answer, island by island, and hand it out with its certificate."""
    face, held, x = apart.face, apart.held, apart.x
    problem = face.problem
    with log.stage("certificate"):
        pairs = Pairs.of(face, x)
        mu = held.signed(apart.mu)
        judged = history if apart.widened is None else _widened(history, apart.widened)
        finding = checker.check(judged, answer_of(history, of_person, held, Pairs.of(held, x), (x, mu)))
        suspects = np.flatnonzero(held.suspects & held.alive)
        owner = problem.rows.owner[suspects] if problem.rows.seats else suspects
        suspected = np.bincount(finding.island[problem.signature[owner]], minlength=finding.island_gap.size)
        largest = int(problem.count.max(initial=1))
        state = states(finding.island_gap, finding.island_residual, suspected, largest)
        good = state < UNCERTIFIED
        state[finding.island[apart.contradictory]] = STATES.index(Status.CONTRADICTORY)
        if apart.eased is not None:
            own = finding.island[apart.eased]
            state[own[good[own]]] = STATES.index(Status.RELAXED)
        if apart.relaxed is not None:
            own = finding.island[apart.relaxed]
            own = own if apart.widened is None else own[good[own]]
            state[own] = STATES.index(Status.RELAXED)
    told = tuple(one.error for one in apart.contradictions if one.error is not None)
    mine, gap = state[finding.island], finding.island_gap[finding.island]
    solved = Solved(history, problem, of_person, face, x, mu, mine, told, doubts, gap=gap)
    named = np.bincount(of_person[: history.named], minlength=problem.signatures)
    good, known = state < UNCERTIFIED, mine < UNDECIDED
    counted = _counted(solved, log)
    certificate = Certificate(
        status=STATES[int(state.max(initial=0))],
        gap=float(finding.island_gap[good].max(initial=0.0)),
        residual=float(finding.island_residual[good].max(initial=0.0)),
        persons=history.named,
        releases=len(history.heads),
        signatures=problem.signatures,
        variables=problem.variables,
        rows=problem.rows.size,
        components=finding.island_gap.size,
        proven_zeros=int((named * known).take(pairs.signature.take(np.flatnonzero(~pairs.alive))).sum()),
        proven_ones=int(named[(pairs.left() == 1) & known].sum()),
        suspected_zeros=int(suspected.sum()),
        newton_steps=log.newton_steps,
        passes=log.passes,
        seconds=log.seconds,
        persons_by_state=counted["persons_by_state"],
        bounded_by_state=counted.get("bounded_by_state", {}),
        contradictions=len(apart.contradictions),
        changed=changed_counts(history),
    )
    return solved, certificate


def _counted(solved: Solved, log: Log) -> dict[str, dict[str, int]]:
    """Persons by state; where somebody has no answer, also who has bounds that say something."""
    persons = np.bincount(solved.states, minlength=len(STATES)).tolist()
    found = {"persons_by_state": {str(s): n for s, n in zip(STATES, persons, strict=True) if n}}
    if not solved.certified.all():
        with log.stage("bounds"):
            useful = np.bincount(solved.states[solved.bounded(log.whole)], minlength=len(STATES)).tolist()
        found["bounded_by_state"] = {s: useful[STATES.index(Status(s))] for s in found["persons_by_state"]}
    return found


def _widened(history: History, rows: Rows) -> History:
    """The history with counts that gave way."""
    published, said = history.row_count.size, history.statements
    if said is not None:
        said = replace(said, lower=rows.lower[published:], upper=rows.upper[published:])
    return replace(history, row_count=rows.lower[:published], row_upper=rows.upper[:published], statements=said)


def answer_of(
    history: History, of_person: Ints, face: Face, pairs: Pairs, found: tuple[Reals, Reals]
) -> checker.Answer:
    """What was found (x of terms, mu of rows) as the checker wants it."""
    rows, (x, mu) = face.problem.rows, found
    seats: list[checker.SeatShares | None] = [None] * face.problem.places.releases
    groups = np.append(face.problem.row_group, ABSENT).astype(np.int32)
    for own in rows.seats:
        places = rows.places(own)
        seats[own.release] = checker.SeatShares(own.start, groups[own.row], x[places], face.alive[places])
    published = history.row_count.size
    values = (pairs.start, pairs.value, pairs.p, pairs.alive)
    return checker.Answer(of_person, *values, mu[:published], tuple(seats), mu[published:])
