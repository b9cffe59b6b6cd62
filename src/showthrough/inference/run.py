"""The story of an inference: problem → face → solve → certify."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from showthrough.errors import ContradictionError, InputError
from showthrough.inference import checker, islands, newton, recession
from showthrough.inference.certificate import Certificate, judge
from showthrough.inference.closing import close_by_flow, propagate
from showthrough.inference.explain import contradiction_error
from showthrough.inference.face import Contradicted, Face, WeighingStep, inherited, take_over
from showthrough.inference.history import ABSENT, History, encode
from showthrough.inference.pairs import Pairs
from showthrough.inference.problem import select
from showthrough.inference.reduce import Reduced, nothing_left, reduced_to, unweighed
from showthrough.inference.remaining import Remaining
from showthrough.inference.solved import Solved
from showthrough.inference.strangers import placed
from showthrough.progress import Progress
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints, Reals

_BURST = 4  # Newton steps before looking for what falls towards zero
_PATIENCE = 60  # Newton steps without a find before the programs are asked
_FEW_VARIABLES = 100_000  # up to here looking for islands with a closed form costs more than it saves
_LITTLE = 2000  # variables
_PROGRAM_SIZE = 4000  # variables of a component that a linear program settles in seconds


@dataclass
class Log:
    """Seconds per stage and the effort spent."""

    progress: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)
    newton_steps: int = 0
    passes: int = 0

    def add(self, solution: newton.Solution) -> None:
        """Count the effort of a burst."""
        self.newton_steps += solution.newton_steps
        self.passes += solution.passes

    @contextmanager
    def stage(self, name: str):  # type: ignore[no-untyped-def]
        self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def answer(reader: Reader, releases: Sequence[Release], changed: str, progress: Progress) -> tuple[Solved, Certificate]:
    """What a reader learns from the releases that publish values."""
    log = Log(progress.stage)
    with log.stage("reading groups"):
        history = encode(releases, changed=changed, reader=reader)
    return answered(history, log)


def answered(history: History, log: Log) -> tuple[Solved, Certificate]:
    """What follows from a history."""
    with log.stage("reading groups"):
        history, problem, of_person = placed(history)
    face = Face.whole(problem)
    try:
        held = believed(face, log)
        x, mu = solve(held, log)
    except Contradicted as found:
        raise contradiction_error(history, face, of_person, found) from None
    return certified(history, of_person, face, x, mu, log, held)


def believed(face: Face, log: Log) -> Face:
    """The face itself, or where a prior says "never", a copy of the closed face without what it excludes.

    What falls only after the prior's zeros is belief, not proof, so the face is closed without the prior first.
    """
    problem = face.problem
    if problem.log_prior is None or np.isfinite(problem.log_prior).all():
        return face
    known = Face.whole(replace(problem, log_prior=None))
    try:
        solve(known, log)
    finally:
        take_over(face, known, np.arange(problem.terms), np.arange(problem.rows.size))
    held = face.copy()
    never = np.flatnonzero(held.possible & ~np.isfinite(problem.log_prior))
    none = np.empty(0, dtype=np.int64)
    try:
        held.exclude(never, WeighingStep(none, none, none))
        propagate(held)
    except Contradicted:
        raise ContradictionError("The prior excludes what the counts require.") from None
    return held


def listed(releases: Sequence[Release] | Release) -> list[Release]:
    """Several releases, or the one that was given alone."""
    found: list[Release] = [releases] if isinstance(releases, Release) else list(releases)
    strange = next((r for r in found if not isinstance(r, Release)), None)
    if strange is not None:
        raise InputError(f"Expected releases, got {type(strange).__name__}: see read_release.")
    return found


def solve(face: Face, log: Log, *, among: Flags | None = None, start: Reals | None = None) -> tuple[Reals, Reals]:
    """Close the face and solve on it: the answer over terms, and the multiplier of each row.

    Islands with a closed form need no solver. ``among`` restricts the work to some islands (the rest of
    the answer stays 0); ``start`` are multipliers to begin with. ``face`` may hold exclusions already and
    gains more.
    """
    with log.stage("reading groups"):
        problem = face.problem
        worth = problem.variables > _FEW_VARIABLES or problem.places.releases == 1 or among is not None
        quick = islands.easy(problem) if worth else islands.none(problem)
        hard = ~quick.signatures if among is None else ~quick.signatures & among
        if not hard.any():
            return quick.x, quick.mu
        part = None if hard.all() else select(problem, hard)
    if part is None:
        return _close_and_solve(face, log, start)
    inner = inherited(face, part.problem, part.terms)
    try:
        x, mu = _close_and_solve(inner, log, None if start is None else start[part.rows])
    except Contradicted as found:
        if found.weights is None:
            raise Contradicted(emptied=int(part.variables[found.emptied or 0])) from None
        weights = np.zeros(problem.rows.size, dtype=np.int64)
        weights[part.rows] = found.weights
        raise Contradicted(weights) from None
    finally:
        take_over(face, inner, part.terms, part.rows)
    quick.x[part.terms], quick.mu[part.rows] = x, mu
    return quick.x, quick.mu


def _close_and_solve(face: Face, log: Log, start: Reals | None) -> tuple[Reals, Reals]:
    with log.stage("certain and impossible"):
        free = propagate(face)
    found = _at_once(face, free, log, start)
    if found is None:
        with log.stage("certain and impossible"):
            free = close_by_flow(face, free)
        if not free.variable.size:
            return nothing_left(face.problem, face.alive), np.zeros(face.problem.rows.size)
        found = _newton_in_bursts(face, free, log, start)
    reduced, corrected = found
    x = reduced.undo(np.maximum(corrected.x, 0.0), face.problem, face.alive)
    return x, reduced.undo_rows(corrected.mu, face.problem)


def _reduced(face: Face, free: Remaining) -> Reduced:
    """What remains and is weighed by some row."""
    if face.problem.plain:
        return reduced_to(free)
    return reduced_to(free.only(~unweighed(face.problem, face.alive)[free.signature]), face.rows)


def _at_once(face: Face, free: Remaining, log: Log, start: Reals | None) -> tuple[Reduced, newton.Corrected] | None:
    """Where little is left, most often nothing more is forced: then there is an answer without any flow."""
    if not 0 < free.variable.size <= _LITTLE:
        return None
    with log.stage("maximum entropy"):
        reduced = _reduced(face, free)
        start = None if start is None else start[reduced.row_of]
        solution = newton.solve(reduced, start=start, max_steps=_BURST)
        log.add(solution)
        if not solution.converged.all():
            return None
        corrected = newton.correct(reduced, solution.mu)
        log.passes += corrected.passes
        return None if corrected.doubtful.any() or corrected.far else (reduced, corrected)


def _newton_in_bursts(face: Face, free: Remaining, log: Log, start: Reals | None) -> tuple[Reduced, newton.Corrected]:
    """What falls towards zero is proven zero and taken out, until the rest converges."""
    burst = spent = 0
    reduced = None
    while True:
        with log.stage("maximum entropy"):
            if reduced is None:
                reduced, burst = _reduced(face, free), _BURST
                start = None if start is None else start[reduced.row_of]
            solution = newton.solve(reduced, start=start, max_steps=burst)
            log.add(solution)
            start, falling, corrected = solution.mu, solution.step, None
            if solution.converged.all() or spent > _PATIENCE:
                corrected = newton.correct(reduced, solution.mu)
                log.passes += corrected.passes
                falling = corrected.direction
                if not corrected.doubtful.any():
                    if not corrected.far or spent > _PATIENCE:
                        return reduced, corrected
                    spent, start = spent + 1, corrected.mu
                    continue
        with log.stage("certain and impossible"):
            found = _take_falling(face, reduced, solution.mu, falling)
            if corrected is not None and not found:
                found = _settle(face, reduced, corrected.doubtful, solution.converged)
                if not found:
                    return reduced, corrected
            if found:
                free = propagate(face)
                start, reduced = reduced.undo_rows(solution.mu, face.problem), None
            else:
                spent, burst = spent + solution.newton_steps, 2 * burst


def _take_falling(face: Face, reduced: Reduced, mu: Reals, direction: Reals) -> bool:
    """Exclude what the direction proves to be zero; say whether it was anything."""
    x, _ = reduced.sweeps.softmax(mu)
    found = recession.prove(reduced, reduced.sweeps.mass(x), direction)
    zeros = reduced.term_of[found.zeros]
    zeros = zeros[zeros >= 0]
    if not zeros.size:
        return False
    face.exclude(zeros, WeighingStep(reduced.row_of[found.rows], found.weights, found.cluster))
    return True


def _settle(face: Face, reduced: Reduced, doubtful: Flags, converged: Flags) -> bool:
    """Let the exact program decide on small components; in large ones doubts become suspects."""
    from showthrough.inference import support  # loads the linear-programming library

    owner = reduced.term_component
    size = np.bincount(owner, minlength=reduced.components)
    concerned = np.unique(np.concatenate([owner[doubtful], np.flatnonzero(~converged)]))
    found = False
    for component in concerned:
        mine = np.zeros(face.problem.terms, dtype=bool)
        doubts = reduced.term_of[doubtful & (owner == component)]
        mine[doubts[doubts >= 0]] = True
        if size[component] <= _PROGRAM_SIZE:
            verdict = support.decide(face, support.program(reduced, int(component)))
            if verdict.contradiction is not None:
                raise Contradicted(verdict.contradiction)
            for weights in verdict.proofs:
                weighed = face.weigh(weights)
                zeros: Ints = np.flatnonzero(weighed.zeros()) if weighed.proven else np.empty(0, dtype=np.int64)
                if zeros.size:
                    rows = np.flatnonzero(weights)
                    face.exclude(zeros, WeighingStep(rows, weights[rows], np.zeros_like(rows)))
                    found = True
            mine = verdict.zeros
        face.suspects |= mine & face.alive
    return found


def certified(
    history: History, of_person: Ints, face: Face, x: Reals, mu: Reals, log: Log, held: Face | None = None
) -> tuple[Solved, Certificate]:
    """Let the checker judge the answer and hand it out with its certificate; ``held`` adds what a prior excludes."""
    problem, held = face.problem, held or face
    with log.stage("certificate"):
        pairs = Pairs.of(face, x)
        mu = held.signed(mu)
        finding = checker.check(history, answer_of(history, of_person, held, Pairs.of(held, x), (x, mu)))
    suspected = int((held.suspects & held.alive).sum())
    named = np.bincount(of_person[: history.named], minlength=problem.signatures)
    certificate = Certificate(
        status=judge(finding.gap, finding.residual, suspected, largest_count=int(problem.count.max(initial=1))),
        gap=finding.gap,
        residual=finding.residual,
        persons=history.named,
        releases=len(history.releases),
        signatures=problem.signatures,
        variables=problem.variables,
        rows=problem.rows.size,
        components=finding.island_gap.size,
        proven_zeros=int(named.take(pairs.signature.take(np.flatnonzero(~pairs.alive))).sum()),
        proven_ones=int(named[pairs.left() == 1].sum()),
        suspected_zeros=suspected,
        newton_steps=log.newton_steps,
        passes=log.passes,
        seconds=log.seconds,
    )
    return Solved(history, problem, of_person, face, x, mu), certificate


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
