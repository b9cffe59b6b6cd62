"""One more release: solve again only what it touches, from where the earlier answer stands.

A proven zero stays proven when a release is added, so the log of the face is inherited. Islands of
groups that share no person with the new release keep their answer; the others are solved as a
history of their own, starting from their old multipliers.
"""

from __future__ import annotations

import numpy as np

from showthrough.inference import islands
from showthrough.inference.apart import Isolation
from showthrough.inference.certificate import Certificate
from showthrough.inference.draft import Draft, grown
from showthrough.inference.face import Contradicted, inherited
from showthrough.inference.history import History, encode
from showthrough.inference.log import Log
from showthrough.inference.problem import Problem, build
from showthrough.inference.run import Wanted, answer, answered, certified, listed
from showthrough.inference.solved import Solved
from showthrough.register.informing import informed
from showthrough.register.reader import telling
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints
from showthrough.table.codes import positions


def extend(post: Solved, release: Release, wanted: Wanted, log: Log) -> tuple[Solved, Certificate]:
    """The answer of the history with ``release`` at its end."""
    releases = listed([*post.history.releases, release])
    told = telling(releases, post.history.reader.domain, noisy=True)
    # a second release of a name renames the first: what is said of the old name must be refused, as `infer` does
    reader = post.history.reader.strict().called(None).and_read(release).checked(told)
    reader = informed(reader, releases)
    if release.sensitive is None:  # it tells who is who, not who has what
        return answer(reader, told, wanted, log)
    if reader.register is not None:  # who is absent, a stranger, or only a guess is decided anew
        return answer(reader, told, wanted, log)
    with log.stage("reading groups"):
        history = encode(told, changed=wanted.changed, reader=reader)
    return _continued(post, history, log, refuse=wanted.contradictions == "refuse")


def consider(post: Solved, draft: Draft, wanted: Wanted, log: Log) -> tuple[Solved, Certificate]:
    """The same for a release that is not written yet."""
    with log.stage("reading groups"):
        history = grown(post.history, draft)
    return _continued(post, history, log, refuse=wanted.contradictions == "refuse")


def _continued(post: Solved, history: History, log: Log, *, refuse: bool) -> tuple[Solved, Certificate]:
    """Solve a history that goes on where an earlier one ended."""
    same_kinds = history.ids.dtype == post.history.ids.dtype and history.values.dtype == post.history.values.dtype
    plain = post.problem.plain and not history.set_group.size and history.row_upper is None and not history.covers
    if history.changed.splits or history.noise or not same_kinds or not plain or not post.certified.all():
        # ids may be split anew, ids and values sort differently, candidates grow, noise is weighed at the end, or there
        # is no answer to go on from
        return answered(history, log, refuse=refuse)
    given = history
    with log.stage("reading groups"):
        history, problem, of_person = build(history)
        source = _earlier_variables(post, history, problem, of_person)
        face = inherited(post.face, problem, source)
        touched = _touched(problem)
        old_mu = np.zeros(problem.rows.size)
        old_mu[: post.mu.size] = post.mu  # rows of earlier releases keep their numbers
    isolation = Isolation(history, problem, of_person, log, refuse=refuse, inherits=True)
    try:
        apart = isolation.run(face, among=touched, start=old_mu)
    except Contradicted:  # the log of the earlier history does not explain why nothing fits any more
        return answered(given, log, refuse=refuse)
    kept = np.flatnonzero(~touched[problem.signature])
    apart.x[kept] = post.x[source[kept]]
    at = problem.rows.of(kept)
    apart.mu[at] = old_mu[at]
    return certified(history, of_person, apart, log)


def _earlier_columns(post: Solved, history: History) -> Ints:
    """[columns] the column of the earlier history, or −1: persons keep their numbers, unnamed members their order."""
    old, new = post.history, history
    found = np.full(new.group_of.shape[1], -1, dtype=np.int64)
    found[: old.named] = np.arange(old.named)
    unnamed = old.group_of.shape[1] - old.named
    found[new.named : new.named + unnamed] = old.named + np.arange(unnamed)
    return found


def _earlier_variables(post: Solved, history: History, problem: Problem, of_person: Ints) -> Ints:
    """[v] the variable of the earlier problem for the same person and value, or −1."""
    earlier, span = post.problem, history.values.len()
    code = positions(post.history.values, history.values).astype(np.int64)
    key = earlier.signature * span + code[earlier.value]
    person = np.zeros(problem.signatures, dtype=np.int64)
    person[of_person[::-1]] = np.arange(of_person.size)[::-1]
    column = _earlier_columns(post, history)[person]
    known = column >= 0
    signature = np.where(known, post.of_person[column], -1)
    wanted = signature[problem.signature] * span + problem.value
    at = np.minimum(np.searchsorted(key, wanted), key.size - 1)
    return np.where(known[problem.signature] & (key[at] == wanted), at, -1)


def _touched(problem: Problem) -> Flags:
    """[m] signatures on an island with a group of the last release."""
    island = islands.label(problem)
    hit = np.zeros(int(island.max()) + 1, dtype=bool)
    hit[island[problem.places.present(problem.places.releases - 1)]] = True
    return np.asarray(hit[island])
