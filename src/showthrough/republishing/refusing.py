"""The guard's refusal: what was really tried, who stands in the way, and what was found to help."""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from dataclasses import replace

import polars as pl

from showthrough.errors import PolicyError
from showthrough.inference.posterior import Posterior
from showthrough.numerals import number_of
from showthrough.policy.judging import SLACK, ExposedPersons
from showthrough.policy.phrases import are, people, were
from showthrough.policy.policy import Policy, Review
from showthrough.republishing.figures import certain
from showthrough.republishing.people import breaches_of, exposed_by, refusal
from showthrough.republishing.price import price
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.search import Search

_STEPS = 1000  # a limit is suggested in thousandths
_TRIES = 20


_BREACHES = {
    "max_posterior": "likelier than {limit:g} to have a value",
    "max_gain": "surer than before by more than {limit:g}",
    "certain": "certain",
    "impossible": "with a value that is excluded",
    "proximity": "too likely near a value",
}
"""What it is to be over a limit."""


def refused(search: Search, held: Proposal | None) -> PolicyError:
    """Why there is no release; ``held`` is one with records held back, None if that does not help either.

    Nothing is suggested that was not seen to work: holding back was tried, a weaker limit is one that an attempt
    keeps, and more time is named only where the time ended the search.
    """
    guard = search.guard
    parts = ["No release of this table was found that keeps the policy.", _tried(search)]
    if search.contradicted:
        parts.append("The table contradicts what earlier releases say of it: values must have changed.")
    if number := len(search.exposed.everybody):
        parts.append(f"{people(number)} {were(number)} exposed by earlier releases already.")
    leaks = search.leaks.unique(maintain_order=True)
    if leaks.len():
        here = guard.table.frame[guard.table.id or ""].cast(pl.String)
        there = int(leaks.is_in(here.implode()).sum())
        among = f"{there or 'none'} of them {are(there)} in the table"
        which = _of_nearest(search)
        parts.append(f"The nearest attempt leaves {people(leaks.len())} over a limit{which}; {among}.")
        if stuck := cornered(search.before, guard.policy, leaks):
            parts.append(
                f"Earlier releases leave {stuck} of them exactly at the limit with every value that is left to "
                f"{'it' if stuck == 1 else 'them'}: whatever tells anything about such a person puts it over the limit."
            )
    ways = [] if held is None else [f"hold_back=True (with {_price(held)})"]
    ways += _weaker(search)
    near = nearest(search)
    if ways:
        parts.append(f"This would do: {', or '.join(ways)}.")
    elif search.late:
        parts.append("More time may find one.")
    else:
        also = "" if guard.hold_back else " Holding records back was tried too and does not help."
        parts.append(f"More time would not change that.{also}")
    if near is not None:
        parts.append(f"best_effort=True publishes with {people(near)} over a limit at most.")
    frame = search.last.breaches if search.last is not None else breaches_of(leaks)
    return refusal(" ".join(parts), frame, ("hold_back", "policy", "best_effort"))


def exposing(before: Posterior, policy: Policy, ids: Collection[str]) -> PolicyError:
    """Why nothing is published beside a past that puts somebody over a limit."""
    breaches = replace(policy, max_gain=None).review(before).breaches
    told = [
        f"Earlier releases already put {people(len(ids))} over a limit{over_which(policy, breaches)}; no new release "
        "can undo that.",
        *_least(before, policy, breaches),
        'exposed="accept" publishes for all others.',
    ]
    return refusal(" ".join(told), breaches, ("exposed", "policy"))


def _least(before: Posterior, policy: Policy, breaches: pl.DataFrame) -> list[str]:
    """The least limit on what is believed that nobody exceeds by the past alone, or why there is none below 1.

    Nothing is named where another limit, such as one on proximity, is exceeded too: it would still be.
    """
    if policy.max_posterior is None:
        return []
    known = pl.col("id").is_in(pl.Series(sorted(certain(before)), dtype=pl.String).implode())
    sure = breaches.filter(known | (pl.col("limit") == "certain"))["id"].n_unique()
    if sure:
        return [f"{people(sure)} {are(sure)} certain by them, so no limit below 1 is kept for everybody."]
    least = _at_least(float(breaches["figure"].max() or 1.0))  # type: ignore[arg-type]
    if (breaches["limit"] != "max_posterior").any() or least >= 1:
        return []
    return [f"policy=Policy(max_posterior={least:g}) is the least limit that earlier releases keep for everybody."]


def _at_least(figure: float) -> float:
    """The least limit in steps that a figure is within, or is at, as policies judge it."""
    steps = int(figure * _STEPS)
    return (steps if figure <= steps / _STEPS + SLACK else steps + 1) / _STEPS


def cornered(before: Posterior | None, policy: Policy, ids: pl.Series) -> int:
    """How many of some persons had nothing but values as likely as the limit: any change makes one of them likelier."""
    limit = policy.max_posterior
    if before is None or limit is None:
        return 0
    told = before.to_frame().select(pl.col("id").cast(pl.String), "p").filter(pl.col("p") > SLACK)
    mine = told.filter(pl.col("id").is_in(ids.cast(pl.String).implode()))
    at = (pl.col("p") - limit).abs() <= SLACK
    return mine.group_by("id").agg(at.all()).filter(pl.col("p")).height


def nearest(search: Search) -> int | None:
    """How many persons a best effort would leave over a limit; None if there is none to offer."""
    best = next(search.front.offered(search.satisfies), None)
    return None if best is None else best.persons


def _tried(search: Search) -> str:
    spent = time.monotonic() - search.began
    ways = ", ".join(search.tried) or "nothing"
    if search.late:
        return f"The time of {search.guard.seconds:g} s ended the search; until then it tried {ways}."
    return f"The search came to its end after {spent:.1f} s; it tried {ways}."


def over_which(policy: Policy, breaches: pl.DataFrame) -> str:
    """How many persons are over each limit, in brackets; nothing where no limit is known."""
    said = []
    for limit, number in breaches.group_by("limit", maintain_order=True).agg(pl.col("id").n_unique()).iter_rows():
        if limit in _BREACHES:
            said.append(f"{number} {_BREACHES[limit].format(limit=getattr(policy, limit))}")
    return f" ({', '.join(said)})" if said else ""


def _of_nearest(search: Search) -> str:
    """The limits of those over one in the nearest attempt."""
    post = None if search.nearest is None else search.posterior(search.nearest)
    if post is None:
        return ""
    return over_which(search.guard.policy, _reviewed(search, search.guard.policy, post, search.exposed).breaches)


def _price(held: Proposal) -> str:
    """What a release takes that holds records back."""
    fakes = f" and {number_of(held.counterfeits, 'counterfeit')}" if held.counterfeits else ""
    return f"{number_of(held.held, 'record')} held back{fakes}"


def _reviewed(search: Search, policy: Policy, post: Posterior, exposed: ExposedPersons) -> Review:
    return policy.review(post, search.before, exposed=exposed)


def _lost(search: Search, attempt: Proposal) -> str:
    """What readers lose by an attempt."""
    guard = search.guard
    return price(guard.table, guard.past, attempt, kind=guard.kind).lost


def _weaker(search: Search) -> list[str]:
    """The limits on what is believed that the mildest attempt keeps, or the nearest, if it keeps everything else.

    They are said with what that attempt takes; none where neither does.
    """
    attempts = [search.mildest, *([search.nearest] if search.nearest is not search.mildest else [])]
    for attempt in attempts:
        if attempt is None or not search.satisfies(attempt):
            continue
        post = search.posterior(attempt)
        found = {} if post is None else _kept(search, post)
        if found:
            limits = ", ".join(f"{name}={limit:g}" for name, limit in found.items())
            return [f"policy=Policy({limits}) (kept with {_price(attempt)}, {_lost(search, attempt)})"]
    return []


def _kept(search: Search, post: Posterior) -> dict[str, float]:
    """The limits that an attempt keeps, where those on what is believed are all that must give way."""
    policy, exposed = search.guard.policy, search.exposed
    found: dict[str, float] = {}
    for _ in range(_TRIES):
        review = _reviewed(search, policy, post, exposed)
        if review.holds:
            return found if all(limit < 1 for limit in found.values()) else {}
        before = dict(found)
        for name in ("max_posterior", "max_gain"):
            figures = review.breaches.filter(pl.col("limit") == name)["figure"]
            if figures.len():
                # rounded up with all of the slack left: a release infers its own figures, which may lie a bar higher
                found[name] = math.ceil(float(figures.max() or 1.0) * _STEPS - SLACK) / _STEPS  # type: ignore[arg-type]
        if found == before:
            break
        posterior, gain = found.get("max_posterior", policy.max_posterior), found.get("max_gain", policy.max_gain)
        policy = replace(policy, max_posterior=posterior, max_gain=gain)
        exposed = exposed_by(search.before, policy)  # fewer than by the stricter limit: the others count again
    return {}
