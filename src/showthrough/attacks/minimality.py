"""Minimality: what the algorithm itself gives away, as it generalizes only where it must.

Wong, Fu, Wang, Pei, *Minimality Attack in Privacy Preserving Data Publishing*, VLDB 2007. The attacker knows
everybody's quasi-identifiers and the algorithm. Of all worlds (who has which value) that the release allows, only
those count in which the algorithm would have published this very release: it is run again on each. The credibility of
a value is its share in them; a release is m-confidential if none is larger than 1/m.

All worlds are tried where there are few. Otherwise classes are looked at side by side: each replay of the whole table
tries one world of every class at once, and a class that comes out as it was published has accepted its world. That is
exact if what the algorithm does with one class does not depend on who has which of the same values in another one;
the world that is put together from all accepted ones is replayed too, and a note tells how many classes came out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.class_worlds import joint
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.replay import Publisher
from showthrough.attacks.statistics import rates
from showthrough.attacks.targets import attacked_alone
from showthrough.attacks.world_replays import BASELINE, WorldReplays
from showthrough.errors import InputError, ParameterError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Told
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.release.noisy import refuse_noise
from showthrough.release.release import Release
from showthrough.table.frames import to_polars

MOST = 2000
"""Worlds of the whole table that are all tried."""
LIKELY = 0.5
_ROUNDING = 1e-9
_THREAT = Threat(
    "the release, everybody's quasi-identifiers, and the algorithm that published it with its parameters",
    "to learn from the fact that the algorithm published this and nothing finer who has a value that is more likely "
    "than not",
    "that everybody in the register is in the table, and that all worlds that the release allows are alike beforehand",
)

_APART = (
    "and, as there are too many worlds to try all, that what the algorithm does with one class does not depend on who "
    "has which of the published values in another one"
)


@dataclass(frozen=True, eq=False, repr=False)
class Minimality(Outcome):
    """The outcome of replaying the publisher's algorithm."""

    meanings: ClassVar[Mapping[str, str]] = {
        "p": "the credibility: the share of the worlds in which the algorithm would have published this release",
        BASELINE: "the baseline: the share of all worlds that the release allows",
    }
    confidentiality: float | None = None
    """The largest credibility of anybody's value: the release is m-confidential for m up to 1 over it."""
    interval: tuple[float, float] | None = None
    """Its own 95 % interval; the largest of many estimates tends to be one that chance made large."""
    exact: bool = True
    """Whether all worlds were tried, of the whole table or of every class."""
    replays: int = 0
    inconclusive: int = 0
    """Persons of whom nothing is known, as no world of theirs came out as published."""

    @property
    def said(self) -> str:
        """The largest credibility in words."""
        if self.confidentiality is None:
            return "No credibility is known of anybody."
        low, high = self.interval or (self.confidentiality, self.confidentiality)
        about = f" ({low:.3f} to {high:.3f})" if low < high else ""
        return (
            f"The largest credibility of a value is {self.confidentiality:.3f}{about}: the release is m-confidential "
            f"up to m = {1 / self.confidentiality:.2f}."
        )

    def believed(self) -> pl.DataFrame:
        """The persons of whom a credibility is known: the baseline is scored on the same ones."""
        return self.people.filter(pl.col("p").is_not_null())

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        names = ("confidentiality", "interval", "exact", "replays", "inconclusive")
        return {**super().as_dict(), **{name: getattr(self, name) for name in names}}


def minimality(
    release: Release,
    *,
    register: Any,
    publish: Any,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Told = None,
) -> Minimality:
    """What the algorithm gives away by publishing this and nothing finer.

    ``register`` is a frame of id and exact quasi-identifiers of everybody in the table. ``publish`` is the algorithm: a
    function from such a frame with the sensitive column to a release (None: it refuses; with a parameter ``seed`` if it
    draws at random), or a dict of the arguments of `anonymize`. ``people`` has id, value, p (the credibility), its
    interval low and high (p itself where all worlds were tried), and the ``release``'s own probability.
    """
    release = attacked_alone(release)
    _check(release, seed)
    tell, end = Progress.of(progress), monotonic() + seconds
    publisher = Publisher.of(publish, release)
    known, table = _table(release, register)
    post = infer([release], register=known, seconds=seconds, progress=tell)
    work = WorldReplays(release, post, publisher, table, np.random.default_rng(seed), tell)

    def over() -> bool:
        return monotonic() >= end or tell.satisfied

    whole = joint(work.blocks, MOST)
    finished = work.all_worlds(over) if whole else work.side_by_side(over)
    people, lost = work.people()
    told = people.filter(pl.col("p").is_not_null())
    top = told.sort("p", "low", descending=True).head(1)
    largest = None if not top.height else float(top["p"][0])
    every = [_counted(told, belief) for belief in ("p", BASELINE)]  # the baseline is of the same persons
    exact = finished and not lost and all(block.settled for block in work.blocks)
    threat = _THREAT if whole else replace(_THREAT, assumes=f"{_THREAT.assumes}; {_APART}")
    return Minimality(
        "minimality", threat, people, rates(every[:1]), rates(every[1:]), ("p", BASELINE), (),
        tuple(work.notes(lost, whole=whole, finished=finished)),
        largest, None if largest is None else (float(top["low"][0]), float(top["high"][0])), exact,
        publisher.replays, lost,
    )  # fmt: skip


def _check(release: Release, seed: Any) -> None:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(f"seed is a whole number of 0 or more, not {seed!r}.", parameters=("seed",))
    refuse_noise(release, "minimality")
    if release.sensitive is None:
        raise InputError("The release has no sensitive column: there is no value to learn.")
    if release.ranged or release.value_cells:
        raise InputError("Counts that are ranges, or values that are cells, cannot be compared with replays.")
    if int(release.counterfeits["n"].sum()):
        raise InputError("The release has counterfeits: which tables it can come from is not defined by its persons.")


def _table(release: Release, register: Any) -> tuple[Register, pl.DataFrame]:
    """The register to locate persons by, and the table that is published again but for its values."""
    if register is None:
        raise InputError(
            "Minimality replays the algorithm on everybody's quasi-identifiers: give a register of them.",
            parameters=("register",),
        )
    if isinstance(register, Register):
        known = register
        table = register.quasi.with_columns(register.ids.alias("id"))
    else:
        known = Register.of(register)
        frame = to_polars(register)
        table = frame.rename(
            {c: "id" for c in frame.columns if c != "id" and "id" not in frame.columns and c not in known.quasi.columns}
        )
    missing = [c for c in release.roles.quasi if c not in table.columns]
    if missing:
        raise InputError(
            f"The register lacks the quasi-identifier {missing[0]!r} of the release.", parameters=("register",)
        )
    persons = release.members - table.height
    if persons > 0:
        raise InputError(
            f"The register lists fewer persons than the release holds, by {persons}: list everybody in the table.",
            parameters=("register",),
        )
    return known, table.select("id", *release.roles.quasi)


def _counted(people: pl.DataFrame, belief: str) -> tuple[dict[str, Any], int, int]:
    """Persons with a value that is more likely than not, among those with a belief."""
    each = people.filter(pl.col(belief).is_not_null()).group_by("id").agg(pl.col(belief).max())
    return {"belief": belief}, int((each[belief] > LIKELY + _ROUNDING).sum()), each.height
