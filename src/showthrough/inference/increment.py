"""One more release: solve again only what it touches, from where the earlier answer stands.

A proven zero stays proven when a release is added, so the log of the face is inherited. Islands of
groups that share no person with the new release keep their answer; the others are solved as a
history of their own, starting from their old multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from showthrough.inference import islands
from showthrough.inference.explain import contradiction_error
from showthrough.inference.face import Contradicted, inherited
from showthrough.inference.history import ABSENT, History, encode
from showthrough.inference.problem import Problem, build, refuse_orphan_rows
from showthrough.inference.run import Log, accepted, certified, infer_given, solve
from showthrough.register.tying import register_of
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints
from showthrough.table.codes import positions

if TYPE_CHECKING:
    from showthrough.inference.posterior import Posterior


def extend(post: Posterior, release: Release, *, progress: Callable[[str], None] | None = None) -> Posterior:
    """The posterior of the history with ``release`` at its end."""
    releases = [*post.history.releases, release]
    changed, given = post.history.changed, replace(post.history.given, names=None)
    if isinstance(release, Release) and release.sensitive is None:  # it tells who is who, not who has what
        given = replace(given, register=register_of([release], given.register))
        return infer_given(post.history.releases, given, changed, progress=progress)
    log = Log(progress or (lambda _: None))
    with log.stage("reading groups"):
        grown = encode(releases, changed=changed, given=given)
        same_kinds = grown.ids.dtype == post.history.ids.dtype and grown.values.dtype == post.history.values.dtype
        named = post.of_person.size == post.history.named and grown.group_of.shape[1] == grown.named
        if changed == "split" or not same_kinds or not named or not post.problem.plain or grown.set_group.size:
            # ids may be split anew, ids and values sort differently, or seats grow: nothing keeps its number
            return infer_given(releases, given, changed, progress=progress)
        history, problem, of_person = build(grown)
        refuse_orphan_rows(history, problem)
        source = _earlier_variables(post, history, problem, of_person)
        face = inherited(post.face, problem, source)
        touched = _touched(problem)
        old_mu = np.zeros(problem.rows)
        old_mu[: post.mu.size] = post.mu  # rows of earlier releases keep their numbers
    try:
        x, mu = solve(face, log, among=touched, start=old_mu)
    except Contradicted as found:
        raise contradiction_error(history, face, of_person, found) from None
    kept = np.flatnonzero(~touched[problem.signature])
    x[kept] = post.x[source[kept]]
    for row in problem.row:
        at = row[kept]
        mu[at[at < problem.rows]] = old_mu[at[at < problem.rows]]
    return accepted(certified(history, of_person, face, x, mu, log), accept_unconverged=False)


def _earlier_variables(post: Posterior, history: History, problem: Problem, of_person: Ints) -> Ints:
    """[v] the variable of the earlier problem for the same person and value, or −1."""
    earlier, span = post.problem, history.values.len()
    code = positions(post.history.values, history.values).astype(np.int64)
    key = earlier.signature * span + code[earlier.value]
    person = np.zeros(problem.signatures, dtype=np.int64)
    person[of_person[::-1]] = np.arange(of_person.size)[::-1]
    known = person < post.of_person.size  # persons keep their numbers, newcomers follow
    signature = np.where(known, post.of_person[np.minimum(person, post.of_person.size - 1)], -1)
    wanted = signature[problem.signature] * span + problem.value
    at = np.minimum(np.searchsorted(key, wanted), key.size - 1)
    return np.where(known[problem.signature] & (key[at] == wanted), at, -1)


def _touched(problem: Problem) -> Flags:
    """[m] signatures on an island with a group of the last release."""
    island = islands.label(problem)
    hit = np.zeros(int(island.max()) + 1, dtype=bool)
    hit[island[problem.groups[-1] != ABSENT]] = True
    return np.asarray(hit[island])
