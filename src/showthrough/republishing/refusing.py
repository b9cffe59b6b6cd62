"""The guard's refusal: what was really tried, who stands in the way, and what was found to help."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import polars as pl

from showthrough.errors import PolicyError
from showthrough.numerals import number_of
from showthrough.policy.judging import SLACK
from showthrough.policy.phrases import are, people, were
from showthrough.republishing.people import breaches_of, exposed_by, refusal
from showthrough.republishing.search import Search

_STEPS = 1000  # a limit is suggested in thousandths
_TRIES = 20


def refused(search: Search, held: int | None) -> PolicyError:
    """Why there is no release; ``held`` records would have to be held back, None if that does not help either.

    Nothing is suggested that was not seen to work: holding back was tried, a weaker limit is one that an attempt
    keeps, and more time is named only where the time ended the search.
    """
    guard = search.guard
    parts = ["No release of this table was found that keeps the policy.", _tried(search)]
    if search.contradicted:
        parts.append("The table contradicts what earlier releases say of it: values must have changed.")
    if number := len(search.exposed):
        parts.append(f"{people(number)} {were(number)} exposed by earlier releases already.")
    leaks = search.leaks.unique(maintain_order=True)
    if leaks.len():
        here = guard.table.frame[guard.table.id or ""].cast(pl.String)
        there = int(leaks.is_in(here.implode()).sum())
        among = f"{there or 'none'} of them {are(there)} in the table"
        parts.append(f"The nearest attempt leaves {people(leaks.len())} over a limit; {among}.")
    limit = _weaker(search)
    ways = [] if held is None else [f"hold_back=True (with {number_of(held, 'record')} held back)"]
    ways += [] if limit is None else [f"policy=Policy(max_posterior={limit:g})"]
    near = nearest(search)
    if ways:
        parts.append(f"This would do: {', or '.join(ways)}.")
    elif search.late:
        parts.append("More time may find one.")
    else:
        also = "" if guard.hold_back else " Holding records back was tried too and does not help."
        parts.append(f"More time would not change that.{also}")
    if near is not None:
        parts.append(f"best_effort=True publishes with {people(near)} over a limit.")
    frame = search.last.breaches if search.last is not None else breaches_of(leaks)
    return refusal(" ".join(parts), frame, ("hold_back", "policy", "best_effort"))


def nearest(search: Search) -> int | None:
    """How many persons a best effort would leave over a limit; None if there is none to offer."""
    front = sorted((one for one in search.front if not one[1].cost[0]), key=lambda one: one[0])
    return next((persons for persons, proposal in front if search.satisfies(proposal)), None)


def _tried(search: Search) -> str:
    spent = time.monotonic() - search.began
    ways = ", ".join(search.tried) or "nothing"
    if search.late:
        return f"The time of {search.guard.seconds:g} s ended the search; until then it tried {ways}."
    return f"The search came to its end after {spent:.1f} s; it tried {ways}."


def _weaker(search: Search) -> float | None:
    """The limit on the posterior that the mildest attempt keeps, if it keeps everything else."""
    guard, attempt = search.guard, search.mildest
    if guard.policy.max_posterior is None or attempt is None or not search.satisfies(attempt):
        return None
    post = search.posterior(attempt)
    if post is None:
        return None
    policy, exposed = guard.policy, search.exposed
    for _ in range(_TRIES):
        review = policy.review(post, search.before, exposed=exposed)
        figures = review.breaches.filter(pl.col("limit") == "max_posterior")["figure"]
        if review.holds or not figures.len():
            break
        limit = math.ceil(float(figures.max() or 1.0) * _STEPS - SLACK) / _STEPS  # type: ignore[arg-type]
        policy = replace(policy, max_posterior=limit)
        exposed = exposed_by(search.before, policy)  # fewer than by the stricter limit: the others count again
    weaker = policy.max_posterior or 1.0
    kept = policy is not guard.policy and weaker < 1 and policy.review(post, search.before, exposed=exposed).holds
    return weaker if kept else None
