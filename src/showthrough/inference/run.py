"""The story of an inference: problem → face → solve → certify → posterior."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from showthrough.errors import InputError, NotConvergedError
from showthrough.inference import checker, newton, weighing
from showthrough.inference.arrays import Ints, Reals
from showthrough.inference.certificate import Certificate, Status, judge
from showthrough.inference.explain import contradiction_error
from showthrough.inference.face import Contradicted, Face, WeighingStep, close_by_flow, refuse_starved_rows
from showthrough.inference.history import History, encode
from showthrough.inference.posterior import Posterior
from showthrough.inference.problem import Problem, build, refuse_orphan_rows
from showthrough.inference.reduce import Reduced, reduce
from showthrough.release.release import Release

CHANGED = ("refuse", "split")
Progress = Callable[[str], None]

_SUSPICIOUS = 1e-3  # smallness only says where to look: a linear program decides


@dataclass
class _Log:
    """Seconds per stage and the effort spent."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    newton_steps: int = 0
    passes: int = 0

    @contextmanager
    def stage(self, name: str):  # type: ignore[no-untyped-def]
        self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def infer(
    releases: Sequence[Release],
    *,
    changed: str = "refuse",
    accept_unconverged: bool = False,
    progress: Progress | None = None,
) -> Posterior:
    """P(value | person) for every person, from all releases together, by maximum entropy.

    ``changed`` says what to do with an id whose groups share no value: "refuse", or "split" it into
    one person per release. Numbers that could not be certified raise `NotConvergedError` unless
    ``accept_unconverged``. ``progress`` is called with the name of each stage as it begins.
    """
    if changed not in CHANGED:
        raise InputError(f"changed is one of {', '.join(CHANGED)}, not {changed!r}.")
    log = _Log(progress or (lambda _: None))
    with log.stage("reading groups"):
        history = encode(list(releases))
        history, problem, of_person = build(history, changed=changed)
        refuse_orphan_rows(history, problem)
    face = Face.whole(problem)
    try:
        with log.stage("certain and impossible"):
            close_by_flow(face)
        reduced, mu = _solve(face, log)
    except Contradicted as found:
        raise contradiction_error(history, face, of_person, found.weights) from None
    with log.stage("certificate"):
        x, passes = newton.correct(reduced, mu)
        log.passes += passes
        posterior = _certified(history, problem, of_person, face, reduced, x, mu, log)
    if posterior.certificate.status is Status.NOT_CONVERGED and not accept_unconverged:
        raise NotConvergedError(
            "The numbers could not be certified "
            f"(gap {posterior.certificate.gap:.1e} nats, residual {posterior.certificate.residual:.1e} persons). "
            "They are in the error's posterior; accept_unconverged=True returns them.",
            posterior=posterior,
        )
    return posterior


def _solve(face: Face, log: _Log) -> tuple[Reduced, Reals]:
    """Solve; where the answer comes near zero, ask a linear program for the face and solve again."""
    problem = face.problem
    settled = np.zeros(problem.signatures, dtype=bool)
    start: Reals | None = None
    while True:
        with log.stage("maximum entropy"):
            reduced = reduce(problem, face.alive)
            warm = None if start is None else start[reduced.row_of]
            mu, converged = _closed_form_or_newton(reduced, warm, log)
        doubtful = _doubtful(problem, reduced, mu, converged, settled)
        if not doubtful.size:
            return reduced, mu
        with log.stage("certain and impossible"):
            removed = _settle(face, reduced, doubtful)
            refuse_starved_rows(face)
        if not removed and converged[doubtful].all():
            return reduced, mu  # the values are honestly small
        own = np.isin(reduced.signature_component, doubtful)
        settled[problem.signature[reduced.variable_of[reduced.start[:-1][own]]]] = True
        start = reduced.undo_rows(mu, problem)


def _closed_form_or_newton(reduced: Reduced, warm: Reals | None, log: _Log) -> tuple[Reals, np.ndarray]:
    """A component with one signature is c/w; the others go to Newton."""
    if reduced.components == 0:
        return np.zeros(0), np.zeros(0, dtype=bool)
    solution = newton.solve(reduced, start=warm)
    log.newton_steps += solution.newton_steps
    log.passes += solution.passes
    return solution.mu, solution.converged


def _doubtful(problem: Problem, reduced: Reduced, mu: Reals, converged: np.ndarray, settled: np.ndarray) -> Ints:
    """Components that have not been settled and show values near zero, or did not converge."""
    if reduced.components == 0:
        return np.empty(0, dtype=np.int64)
    x, _ = newton.Kernel(reduced).softmax(mu)
    least = np.minimum.reduceat(x, reduced.start[:-1])
    smallest = np.ones(reduced.components)
    np.minimum.at(smallest, reduced.signature_component, least)
    open_signature = ~settled[problem.signature[reduced.variable_of[reduced.start[:-1]]]]
    is_open = np.zeros(reduced.components, dtype=bool)
    is_open[reduced.signature_component[open_signature]] = True
    return np.flatnonzero(is_open & (~converged | (smallest < _SUSPICIOUS)))


def _settle(face: Face, reduced: Reduced, components: Ints) -> bool:
    """Let the exact program decide on each component; say whether anything was removed."""
    from showthrough.inference import support  # loads the linear-programming library

    found = False
    for component in components:
        verdict = support.decide(face.problem, face.alive, support.program(reduced, int(component)))
        if verdict.contradiction is not None:
            raise Contradicted(verdict.contradiction)
        for weights in verdict.proofs:
            zeros = weighing.proven_zeros(face.problem, face.alive, weights)
            if zeros is not None and zeros.any():
                face.exclude(zeros, WeighingStep(weights))
                found = True
        left = verdict.zeros & face.alive
        if left.any():
            face.suspects = left if face.suspects is None else face.suspects | left
    return found


def _certified(
    history: History,
    problem: Problem,
    of_person: Ints,
    face: Face,
    reduced: Reduced,
    x: Reals,
    mu: Reals,
    log: _Log,
) -> Posterior:
    full = reduced.undo(x, face.alive)
    multipliers = reduced.undo_rows(mu, problem)
    answer = checker.Answer(of_person, problem.start, problem.value, full, face.alive, multipliers)
    finding = checker.check(history, answer)
    suspected = 0 if face.suspects is None else int((face.suspects & face.alive).sum())
    alone = face.choices() == 1
    certificate = Certificate(
        status=judge(finding.gap, finding.residual, suspected),
        gap=finding.gap,
        residual=finding.residual,
        persons=history.persons,
        releases=len(history.releases),
        signatures=problem.signatures,
        variables=problem.variables,
        rows=problem.rows,
        components=finding.island_gap.size,
        proven_zeros=int(problem.weight[problem.signature[~face.alive]].sum()),
        proven_ones=int(problem.weight[alone].sum()),
        suspected_zeros=suspected,
        newton_steps=log.newton_steps,
        passes=log.passes,
        seconds=log.seconds,
    )
    return Posterior(history, problem, of_person, face, full, multipliers, certificate)
