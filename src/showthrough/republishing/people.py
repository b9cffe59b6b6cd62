"""Persons over a limit, and the words for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from showthrough.anonymizers.table import Table
from showthrough.errors import PolicyError
from showthrough.inference.posterior import Posterior
from showthrough.policy.judging import SLACK, ExposedPersons
from showthrough.policy.policy import Policy
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.said import private
from showthrough.table.arrays import Flags

LISTED = 20


@dataclass(frozen=True, eq=False)
class People:
    """Persons of the joint posterior by id."""

    ids: pl.Series
    over: Flags
    read: bool = True  # False: readers find a contradiction, or nothing was found out

    def any(self) -> bool:
        """Whether anybody is."""
        return bool(self.over.any())

    def sum(self) -> int:
        """How many are."""
        return int(self.over.sum())

    def without(self, exposed: Collection[str]) -> People:
        """The same without those for whom nothing can be undone."""
        if not exposed:
            return self
        known = self.ids.is_in(pl.Series(sorted(exposed), dtype=pl.String).implode()).to_numpy()
        return People(self.ids, self.over & ~known, self.read)


@dataclass(frozen=True, eq=False)
class Rough:
    """How far probabilities may be off, and who was over a limit by the last full answer."""

    off: float
    suspects: pl.Series

    def over(self, policy: Policy, post: Posterior, before: Posterior | None, exposed: ExposedPersons) -> Flags:
        """[persons] who is over a limit by more than that; of those who were, who may be."""
        limit = policy.max_posterior
        if limit is None:
            return policy.over_limit(post, before, exposed=exposed)
        loose, strict = (replace(policy, max_posterior=max(limit + by, 0.0)) for by in (self.off, -self.off))
        over = loose.over_limit(post, before, exposed=exposed)
        if self.suspects.len():
            known = post.ids.cast(pl.String).is_in(self.suspects.implode()).to_numpy()
            over = over | (known & strict.over_limit(post, before, exposed=exposed))
        return over


def over_by_sets(table: Table, past: Past, proposal: Proposal, before: Posterior | None, *, limit: float) -> People:
    """Persons of the table with fewer common values than the limit on the posterior allows."""
    rows = np.flatnonzero(proposal.group >= 0)
    member = np.concatenate([proposal.group[rows], proposal.counterfeit_group])
    held = np.concatenate([past.value[rows], proposal.counterfeit_value])
    published = pl.DataFrame({"group": member.astype(np.int64), "value": held.astype(np.int64)}).unique()
    ids = table.frame[table.id or ""].cast(pl.String).gather(rows)
    mine = pl.DataFrame({"id": ids, "group": proposal.group[rows].astype(np.int64)})
    fits = mine.join(published, on="group")
    if before is not None:
        kind = past.values.dtype
        words = pl.DataFrame({"word": past.values, "value": np.arange(past.values.len())})
        frame = before.to_frame().select(pl.col("id").cast(pl.String), pl.col("value").cast(kind).alias("word"))
        open_values = frame.join(words, on="word").select("id", "value")
        known = pl.col("id").is_in(frame["id"].unique().implode())
        old = fits.filter(known).join(open_values, on=["id", "value"], how="semi")
        fits = pl.concat([fits.filter(~known), old])
    common = fits.group_by("id").agg(pl.len().alias("n"))
    counted = mine.join(common, on="id", how="left", maintain_order="left")["n"].fill_null(0).to_numpy()
    over: Flags = (limit + SLACK) * np.maximum(counted, 1) < 1.0
    return People(ids, over)


def exposed_by(before: Posterior | None, policy: Policy) -> ExposedPersons:
    """Whom a history alone puts over a limit that is about more than the newest release."""
    lasting = (policy.max_posterior, policy.certain, policy.impossible, policy.proximity)
    if before is None or all(limit is None for limit in lasting):
        return ExposedPersons()
    breaches = replace(policy, max_gain=None).review(before).breaches
    excluded = pl.col("limit") == "impossible"
    return ExposedPersons(breaches.filter(~excluded)["id"], breaches.filter(excluded)["id"])


def once_beside(past: Past, ids: pl.Series) -> pl.Series:
    """Everybody who shared a group of an earlier release with one of some persons, them included."""
    found = [ids]
    for release in past.history:
        link = release.groups().select(pl.col("id").cast(pl.String), "group")
        shared = link["group"].filter(link["id"].is_in(ids.implode())).unique()
        found.append(link["id"].filter(link["group"].is_in(shared.implode())))
    return pl.concat(found).unique(maintain_order=True)


def breaches_of(ids: pl.Series) -> pl.DataFrame:
    """Persons as breaches of a limit that is not known."""
    return pl.DataFrame(
        {"id": ids, "value": pl.Series([None] * ids.len(), dtype=pl.String), "limit": ["unknown"] * ids.len()},
        schema_overrides={"limit": pl.String},
    ).with_columns(pl.lit(None, dtype=pl.Float64).alias("figure"))


def refusal(message: str, breaches: pl.DataFrame, parameters: tuple[str, ...] = ()) -> PolicyError:
    """The error with ids for the person at the keyboard, and without for everybody else."""
    ids = breaches["id"].unique(maintain_order=True).to_list()
    who = f" Concerned: {', '.join(ids[:LISTED])}{' …' if len(ids) > LISTED else ''}." if ids else ""
    return PolicyError(f"{message}{private(who, '')}", breaches=breaches, parameters=parameters)
