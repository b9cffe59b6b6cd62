"""Two overlapping parts of a population, published independently of each other, and what both together give away.

Ganta, Kasiviswanathan, Smith, *Composition Attacks and Auxiliary Information in Data Privacy*, KDD 2008, section 3:
persons in both parts are attacked, and everybody's group is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from showthrough.anonymizers.demands import requirement
from showthrough.anonymizers.table import Shape, prepare
from showthrough.attacks.intersection import Intersection, intersection
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.experiments.study_data import ID, SENSITIVE, StudyData, hierarchies, quasi
from showthrough.experiments.textbook_mondrian import textbook_mondrian
from showthrough.progress import Progress
from showthrough.register.centroids import share_correct
from showthrough.register.locating import locate
from showthrough.register.register import Register
from showthrough.register.truth import own_groups
from showthrough.release.release import Release
from showthrough.republishing.anonymize import anonymize
from showthrough.table.arrays import Ints
from showthrough.table.hierarchy import Hierarchy

NAME = "composition-attacks"
TITLES = {"adult": "Adult", "ipums": "IPUMS"}
STRICT, ORDERED, RELAXED, MDAV = "strict", "ordered", "relaxed", "microaggregation"
"""Mondrian with hierarchies, the same on ordered codes, with relaxed cuts on ordered codes, and MDAV."""
OWN, OWN_RELAXED = "package's own, strict", "package's own, relaxed"
_METHODS = {MDAV: "mdav", OWN: "mondrian", OWN_RELAXED: "mondrian-relaxed"}
"""Schemes that `anonymize` makes."""
AGE = "age"  # the column that is cut as a number, also where others have hierarchies
CONFIDENCES = (1.0, 0.5, 1 / 3, 0.25, 0.2, 0.1)
BEYOND = ("certain", "only_by_counts", "ruled_out", "joint_50", "joint_25")


@dataclass(frozen=True)
class Scenario:
    """How both parts are published: a scheme for each, k for both, and perhaps one more criterion."""

    schemes: tuple[str, str]
    k: int
    criterion: Any = None

    @classmethod
    def both(cls, scheme: str, k: int, criterion: Any = None) -> Scenario:
        """One scheme for both parts."""
        return cls((scheme, scheme), k, criterion)

    @property
    def name(self) -> str:
        """In words."""
        first, second = self.schemes
        return first if first == second else f"{first} and {second}"


@dataclass(frozen=True)
class PairSetting:
    """A scenario on two parts of so many rows of a table, with so many persons in both."""

    table: str
    rows: int
    both: int
    scenario: Scenario

    def drawn(self, everybody: int, seed: int) -> tuple[Ints, Ints]:
        """The rows of both parts, in orders that tell nothing about each other: relaxed cuts part ties by the order."""
        drawn = np.random.default_rng(seed).permutation(everybody)
        second = np.concatenate([drawn[: self.both], drawn[self.rows : 2 * self.rows - self.both]])
        return drawn[: self.rows], np.random.default_rng([seed, 1]).permutation(second)


@dataclass(eq=False)
class StudiedPopulation:
    """Everybody, and releases of parts, each made once."""

    name: str
    table: pl.DataFrame
    hierarchies: dict[str, Hierarchy]
    made: dict[Any, Release] = field(default_factory=dict)

    @classmethod
    def of(cls, data: StudyData, name: str) -> StudiedPopulation:
        """A table of the study with its hierarchies."""
        table = data.table(name).with_columns(pl.col(AGE).cast(pl.Int64))
        return cls(name, table, hierarchies(name, [c for c in quasi(name, table) if c != AGE]))

    @property
    def sensitive(self) -> str:
        """The column of values."""
        return SENSITIVE[self.name]

    @property
    def quasi(self) -> list[str]:
        """The columns that are generalized."""
        return quasi(self.name, self.table)

    def pair(self, setting: PairSetting, seed: int) -> list[Release]:
        """Both releases of a setting."""
        return [self._release(setting, which, seed) for which in (0, 1)]

    def _release(self, setting: PairSetting, which: int, seed: int) -> Release:
        own = setting.scenario
        key = (setting.rows, setting.both, seed, which, own.schemes[which], own.k, own.criterion)
        if key not in self.made:
            rows = self.table[setting.drawn(self.table.height, seed)[which]]
            criteria = [KAnonymity(own.k), *([own.criterion] if own.criterion is not None else [])]
            self.made[key] = self.published(rows, own.schemes[which], criteria, name=f"R{which + 1}")
        return self.made[key]

    def published(self, rows: pl.DataFrame, scheme: str, criteria: Sequence[Any], *, name: str = "") -> Release:
        """One release whose readers know everybody's group."""
        told = rows.select(ID, self.sensitive).join(self.groups(rows, scheme, criteria), on=ID, maintain_order="left")
        return Release.bucketized(told, id=ID, sensitive=self.sensitive, group="group", quasi=[], name=name)

    def groups(self, rows: pl.DataFrame, scheme: str, criteria: Sequence[Any]) -> pl.DataFrame:
        """Each person's group."""
        if scheme in _METHODS:
            return self.anonymized(rows, scheme, criteria).groups().rename({"id": ID})
        shape = Shape.of(self.hierarchies if scheme == STRICT else {}, None, None, None, "refuse")
        table = prepare(rows, id=ID, sensitive=self.sensitive, quasi=self.quasi, shape=shape)
        group = textbook_mondrian(table.columns, requirement(table, criteria), relaxed=scheme == RELAXED)
        return pl.DataFrame({ID: table.frame[ID], "group": group})

    def anonymized(self, rows: pl.DataFrame, scheme: str, criteria: Sequence[Any]) -> Release:
        """By a method of the package; MDAV's distance is Euclidean, a text as far from any other text."""
        return anonymize(
            rows, method=_METHODS[scheme], id=ID, sensitive=self.sensitive, quasi=self.quasi, quasi_anyway=self.quasi,
            hierarchies=self.hierarchies if scheme == OWN else None, criteria=criteria, seed=0,
        )  # fmt: skip

    def located(self, rows: pl.DataFrame, k: int) -> float:
        """The share of persons whose nearest centroid is that of their own group (section 2, Locatability)."""
        release = self.anonymized(rows, MDAV, [KAnonymity(k)])
        register = Register.of(rows.select(ID, *self.quasi), id=ID)
        groups = own_groups(release, "R", register, release.groups())
        return share_correct(locate(release, "R", register).candidates, groups)[0]


@dataclass(frozen=True, eq=False)
class MeasuredPairs:
    """Settings measured on tables of a study: means over draws, told one by one."""

    data: StudyData
    draws: int
    seed: int
    progress: Progress
    people: dict[str, StudiedPopulation] = field(default_factory=dict)

    def population(self, name: str) -> StudiedPopulation:
        """Read once."""
        if name not in self.people:
            self.people[name] = StudiedPopulation.of(self.data, name)
        return self.people[name]

    def most(self, name: str, both: int) -> int:
        """How many rows two parts can have that share so many persons."""
        return (self.population(name).table.height + both) // 2

    def grid(self, settings: Sequence[PairSetting], *, beyond: bool = False) -> pl.DataFrame:
        """One row for each setting; ``beyond`` adds what counts of all groups tell, where sets tell nothing."""
        rows = []
        for at, setting in enumerate(settings):
            found = []
            for k in range(self.draws):
                self.progress.count(at * self.draws + k, len(settings) * self.draws)
                found.append(breached(self.population(setting.table).pair(setting, self.seed + k), beyond=beyond))
            mean = pl.DataFrame(found).mean().row(0, named=True)
            perfect = [one["at_100"] for one in found]
            rows.append({**_named(setting), **mean, "least_perfect": min(perfect), "most_perfect": max(perfect)})
        return pl.DataFrame(rows)


def _named(setting: PairSetting) -> dict[str, Any]:
    own = setting.scenario
    criterion = "" if own.criterion is None else str(own.criterion).partition(" (")[0]
    return {
        "table": TITLES[setting.table], "scheme": own.name, "k": own.k, "criterion": criterion, "rows": setting.rows
    }  # fmt: skip


def breached(releases: Sequence[Release], *, beyond: bool = False) -> dict[str, float]:
    """The paper's figures of one pair, shares of the persons in both."""
    found = intersection(releases, beyond=beyond)
    first, second, _ = found.averages["group size"].to_list()
    anonymity = found.averages["effective anonymity"].to_list()
    return {
        "homogeneous": found.homogeneous / 100,
        **{f"at_{100 * c:.0f}": found.at(c) / 100 for c in CONFIDENCES},
        "vulnerable": found.vulnerable / 100,
        "size": (first + second) / 2,
        "size_by_group": float(np.mean([one.groups().height / one.labels.len() for one in releases])),
        "prior": (anonymity[0] + anonymity[1]) / 2,
        "least_prior": float(np.mean(found.people["prior"].to_numpy())),
        "posterior": anonymity[2],
        **(_beyond(found) if beyond else {}),
    }


def _beyond(found: Intersection) -> dict[str, float]:
    share = dict(found.rates.select("measure", "share").iter_rows())
    measures = (
        "proven certain", "proven certain, by counts beyond sets", "a value ruled out that sets leave",
        "joint probability of 50 % or more", "joint probability of 25 % or more",
    )  # fmt: skip
    return dict(zip(BEYOND, (share[name] for name in measures), strict=True))
