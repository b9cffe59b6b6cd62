"""The story of an inference: problem → face → solve → certify → posterior."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from showthrough.errors import InputError, NotConvergedError
from showthrough.inference import checker, islands, newton, recession, weighing
from showthrough.inference.certificate import Certificate, Status, judge
from showthrough.inference.explain import contradiction_error
from showthrough.inference.face import (
    Contradicted,
    Face,
    WeighingStep,
    close_by_flow,
    inherited,
    propagate,
    take_over,
)
from showthrough.inference.history import History, encode
from showthrough.inference.pairs import Pairs
from showthrough.inference.posterior import Posterior
from showthrough.inference.problem import build, refuse_orphan_rows, select
from showthrough.inference.reduce import Reduced, reduced_to, shares
from showthrough.inference.remaining import Remaining
from showthrough.register.locating import names_of
from showthrough.register.tying import Given, declared, register_of
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints, Reals

CHANGED = ("refuse", "split")
Progress = Callable[[str], None]

_BURST = 4  # Newton steps before looking for what falls towards zero
_PATIENCE = 60  # Newton steps without a find before the programs are asked
_FEW_VARIABLES = 100_000  # up to here looking for islands with a closed form costs more than it saves
_LITTLE = 2000  # variables
_PROGRAM_SIZE = 4000  # variables of a component that a linear program settles in seconds


@dataclass
class Log:
    """Seconds per stage and the effort spent."""

    progress: Progress
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


def infer(
    releases: Sequence[Release],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    changed: str = "refuse",
    accept_unconverged: bool = False,
    progress: Progress | None = None,
) -> Posterior:
    """P(value | person) for every person, from all releases together, by maximum entropy.

    Persons are tied to groups by id where a release publishes ids. ``register`` (a `Register`, or a frame
    with a column "id") ties them by quasi-identifiers where it does not; a release without a sensitive
    column acts as a register too. ``domain`` are further values that somebody outside a release may have.
    ``membership`` maps the name of a release to a frame of id and group, for releases whose members are
    only partly known: each id is in one of the groups listed for it, or, where an empty group is
    listed too, perhaps in none.

    ``changed`` says what to do with an id whose groups share no value: "refuse", or "split" it into
    one person per release. Numbers that could not be certified raise `NotConvergedError` unless
    ``accept_unconverged``. ``progress`` is called with the name of each stage as it begins.
    """
    if changed not in CHANGED:
        raise InputError(f"changed is one of {', '.join(CHANGED)}, not {changed!r}.")
    told, given = known(_listed(releases), register, membership, domain)
    return infer_given(told, given, changed, accept_unconverged, progress)


def known(
    releases: Sequence[Release],
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
) -> tuple[list[Release], Given]:
    """The releases that publish values, and all that is known about who is where."""
    mute = [r for r in releases if isinstance(r, Release) and r.roles.sensitive is None]
    told = [r for r in releases if not any(r is m for m in mute)]
    if mute and not told:
        raise InputError("No release has a sensitive column: there is nothing to infer.")
    names = names_of(told) if all(isinstance(r, Release) for r in told) else []
    strange = [name for name in membership or {} if name not in names]
    if strange:
        raise InputError(f"A membership is given for {strange[0]!r}, but the releases are {', '.join(names)}.")
    return told, Given(register_of(mute, register), membership or {}, declared(told, domain))


def infer_given(
    releases: Sequence[Release],
    given: Given,
    changed: str,
    accept_unconverged: bool = False,
    progress: Progress | None = None,
) -> Posterior:
    """The same with all that is known about who is where in one object."""
    log = Log(progress or (lambda _: None))
    with log.stage("reading groups"):
        history, problem, of_person = build(encode(releases, changed=changed, given=given))
        refuse_orphan_rows(history, problem)
    face = Face.whole(problem)
    try:
        x, mu = solve(face, log)
    except Contradicted as found:
        raise contradiction_error(history, face, of_person, found) from None
    return accepted(certified(history, of_person, face, x, mu, log), accept_unconverged)


def _listed(releases: Sequence[Release]) -> list[Release]:
    """Several releases, or the one that was given alone."""
    return [releases] if isinstance(releases, Release) else list(releases)


def accepted(posterior: Posterior, accept_unconverged: bool) -> Posterior:
    """Numbers without a certificate are never presented as a result."""
    found = posterior.certificate
    if found.status is Status.NOT_CONVERGED and not accept_unconverged:
        raise NotConvergedError(
            f"The numbers could not be certified (gap {found.gap:.1e} nats, residual {found.residual:.1e} persons). "
            "They are in the error's posterior; accept_unconverged=True returns them.",
            posterior=posterior,
        )
    return posterior


def solve(face: Face, log: Log, *, among: Flags | None = None, start: Reals | None = None) -> tuple[Reals, Reals]:
    """Close the face and solve on it: the answer per variable, and the multiplier of each row.

    Islands with a closed form need no solver. ``among`` restricts the work to some islands (the rest of
    the answer stays 0); ``start`` are multipliers to begin with. ``face`` may hold exclusions already and
    gains more.
    """
    with log.stage("reading groups"):
        problem = face.problem
        worth = problem.variables > _FEW_VARIABLES or problem.groups.shape[0] == 1 or among is not None
        quick = islands.easy(problem) if worth else islands.none(problem)
        hard = ~quick.signatures if among is None else ~quick.signatures & among
        if not hard.any():
            return quick.x, quick.mu
        part = None if hard.all() else select(problem, hard)
    if part is None:
        return _close_and_solve(face, log, start)
    inner = inherited(face, part.problem, part.variables)
    try:
        x, mu = _close_and_solve(inner, log, None if start is None else start[part.rows])
    except Contradicted as found:
        if found.weights is None:
            raise Contradicted(emptied=int(part.variables[found.emptied or 0])) from None
        weights = np.zeros(problem.rows, dtype=np.int64)
        weights[part.rows] = found.weights
        raise Contradicted(weights) from None
    finally:
        take_over(face, inner, part.variables, part.rows)
    quick.x[part.variables], quick.mu[part.rows] = x, mu
    return quick.x, quick.mu


def _close_and_solve(face: Face, log: Log, start: Reals | None) -> tuple[Reals, Reals]:
    with log.stage("certain and impossible"):
        free = propagate(face)
    found = _at_once(free, log, start)
    if found is None:
        with log.stage("certain and impossible"):
            free = close_by_flow(face, free)
        if not free.variable.size:
            return shares(face.problem, face.alive), np.zeros(face.problem.rows)
        found = _newton_in_bursts(face, free, log, start)
    reduced, corrected = found
    x = reduced.undo(np.maximum(corrected.x, 0.0), face.problem, face.alive)
    return x, reduced.undo_rows(corrected.mu, face.problem)


def _at_once(free: Remaining, log: Log, start: Reals | None) -> tuple[Reduced, newton.Corrected] | None:
    """Where little is left, most often nothing more is forced: then there is an answer without any flow."""
    if not 0 < free.variable.size <= _LITTLE:
        return None
    with log.stage("maximum entropy"):
        reduced = reduced_to(free)
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
                reduced, burst = reduced_to(free), _BURST
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
    x, _ = newton.Kernel(reduced).softmax(mu)
    found = recession.prove(reduced, x, direction)
    if not found.zeros.size:
        return False
    zeros = reduced.variable_of[found.zeros]
    face.exclude(zeros, WeighingStep(reduced.row_of[found.rows], found.weights, found.cluster))
    return True


def _settle(face: Face, reduced: Reduced, doubtful: Flags, converged: Flags) -> bool:
    """Let the exact program decide on small components; in large ones doubts become suspects."""
    from showthrough.inference import support  # loads the linear-programming library

    owner = np.repeat(reduced.signature_component, np.diff(reduced.start))
    size = np.bincount(owner, minlength=reduced.components)
    concerned = np.unique(np.concatenate([owner[doubtful], np.flatnonzero(~converged)]))
    found = False
    for component in concerned:
        mine = np.zeros(face.problem.variables, dtype=bool)
        mine[reduced.variable_of[doubtful & (owner == component)]] = True
        if size[component] <= _PROGRAM_SIZE:
            verdict = support.decide(face.problem, face.alive, support.program(reduced, int(component)))
            if verdict.contradiction is not None:
                raise Contradicted(verdict.contradiction)
            for weights in verdict.proofs:
                zeros = weighing.proven_zeros(face.problem, face.alive, weights)
                if zeros is not None and zeros.any():
                    rows = np.flatnonzero(weights)
                    face.exclude(np.flatnonzero(zeros), WeighingStep(rows, weights[rows], np.zeros_like(rows)))
                    found = True
            mine = verdict.zeros
        face.suspects |= mine & face.alive
    return found


def certified(history: History, of_person: Ints, face: Face, x: Reals, mu: Reals, log: Log) -> Posterior:
    """Let the checker judge the answer and hand it out with its certificate."""
    problem = face.problem
    with log.stage("certificate"):
        answer = checker.Answer(
            of_person,
            problem.start,
            problem.value,
            x,
            face.alive,
            mu,
            seat=problem.seat,
            seat_owner=problem.owner,
            seat_groups=problem.groups,
        )
        finding = checker.check(history, answer)
    suspected = int((face.suspects & face.alive).sum())
    pairs = Pairs.of(face, x)
    named = np.bincount(of_person[: history.named], minlength=problem.signatures)
    certificate = Certificate(
        status=judge(finding.gap, finding.residual, suspected, largest_count=int(problem.count.max(initial=1))),
        gap=finding.gap,
        residual=finding.residual,
        persons=history.named,
        releases=len(history.releases),
        signatures=problem.signatures,
        variables=problem.variables,
        rows=problem.rows,
        components=finding.island_gap.size,
        proven_zeros=int(named.take(pairs.signature.take(np.flatnonzero(~pairs.alive))).sum()),
        proven_ones=int(named[pairs.left() == 1].sum()),
        suspected_zeros=suspected,
        newton_steps=log.newton_steps,
        passes=log.passes,
        seconds=log.seconds,
    )
    return Posterior(history, problem, of_person, face, x, mu, certificate)
