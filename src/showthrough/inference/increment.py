"""One more release: solve again only what it touches, from where the earlier answer stands.

A proven zero stays proven when a release is added, so the log of the face is inherited. Islands of
groups that share no person with the new release keep their answer; the others are solved as a
history of their own, starting from their old multipliers.
"""

from __future__ import annotations

import numpy as np

from showthrough.errors import ChangedValueError
from showthrough.inference import islands
from showthrough.inference.certificate import Certificate
from showthrough.inference.draft import Draft, grown
from showthrough.inference.explain import contradiction_error
from showthrough.inference.face import Contradicted, inherited
from showthrough.inference.history import History, encode
from showthrough.inference.problem import Problem, build, orphan_rows
from showthrough.inference.run import Log, answer, answered, certified, listed, solve
from showthrough.inference.solved import Solved
from showthrough.progress import Progress
from showthrough.register.reader import telling
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints
from showthrough.table.codes import positions


def extend(post: Solved, release: Release, progress: Progress) -> tuple[Solved, Certificate]:
    """The answer of the history with ``release`` at its end."""
    releases = listed([*post.history.releases, release])
    told = telling(releases)
    # a second release of a name renames the first: what is said of the old name must be refused, as `infer` does
    changed, reader = post.history.changed, post.history.reader.strict().called(None).and_read(release).checked(told)
    if release.sensitive is None:  # it tells who is who, not who has what
        return answer(reader, told, changed, progress)
    log = Log(progress.stage)
    with log.stage("reading groups"):
        history = encode(told, changed=changed, reader=reader)
    return _continued(post, history, log)


def consider(post: Solved, draft: Draft, progress: Progress) -> tuple[Solved, Certificate]:
    """The same for a release that is not written yet."""
    log = Log(progress.stage)
    with log.stage("reading groups"):
        history = grown(post.history, draft)
    return _continued(post, history, log)


def _continued(post: Solved, history: History, log: Log) -> tuple[Solved, Certificate]:
    """Solve a history that goes on where an earlier one ended."""
    same_kinds = history.ids.dtype == post.history.ids.dtype and history.values.dtype == post.history.values.dtype
    if history.changed == "split" or not same_kinds or not post.problem.plain or history.set_group.size:
        # ids may be split anew, ids and values sort differently, or candidates grow: nothing keeps its number
        return answered(history, log)
    with log.stage("reading groups"):
        try:
            history, problem, of_person = build(history)
        except ChangedValueError:
            return answered(history, log)  # somebody of a register is absent, or it is a contradiction
        if orphan_rows(problem).size:
            return answered(history, log)  # strangers of a register fill them, or nobody does
        source = _earlier_variables(post, history, problem, of_person)
        face = inherited(post.face, problem, source)
        touched = _touched(problem)
        old_mu = np.zeros(problem.rows.size)
        old_mu[: post.mu.size] = post.mu  # rows of earlier releases keep their numbers
    try:
        x, mu = solve(face, log, among=touched, start=old_mu)
    except Contradicted as found:
        raise contradiction_error(history, face, of_person, found) from None
    kept = np.flatnonzero(~touched[problem.signature])
    x[kept] = post.x[source[kept]]
    at = problem.rows.of(kept)
    mu[at] = old_mu[at]
    return certified(history, of_person, face, x, mu, log)


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
