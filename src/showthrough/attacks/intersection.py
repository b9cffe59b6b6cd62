"""The intersection attack: the values that all groups of a person have in common.

Ganta, Kasiviswanathan, Smith, *Composition Attacks and Auxiliary Information in Data Privacy*, KDD 2008, sections 2.1
and 3. The *effective anonymity* of a person in a release is the number of different values of its group; where the
person fits several groups, of all of them together. After the attack it is the number of values in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.laid import Bits, Laid, counted, laid
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import rates
from showthrough.attacks.targets import attacked
from showthrough.errors import ParameterError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior, Told
from showthrough.policy.phrases import people as some
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals, sum_by
from showthrough.table.codes import positions

LEVELS = (0.5, 0.25)
"""Confidence of a partial breach."""
_ROUNDING = 1e-9
_THREAT = Threat(
    "all releases, and knows who can be in which of their groups",
    "to learn the value of somebody who is in several of them",
    "that nobody's value changed between releases, and that the values left to a person are equally likely",
)


@dataclass(frozen=True, eq=False, repr=False)
class Intersection(Outcome):
    """The outcome of the intersection attack; figures in percent are of the persons in ``people``."""

    paired: ClassVar[bool] = True
    meanings: ClassVar[Mapping[str, str]] = {
        "intersection": "the values that all groups have in common, each alike",
        "joint": "maximum entropy over all releases together",
        "release": "the baseline: the release that leaves the fewest values, each alike",
    }
    averages: pl.DataFrame = field(default_factory=pl.DataFrame)
    """For each release and for all together: persons, the average size of their groups and effective anonymity."""
    _laid: Laid | None = field(default=None, repr=False)
    _places: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    _common: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    _least: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    _joint: pl.DataFrame | None = field(default=None, repr=False)

    def at(self, confidence: float) -> float:
        """PVP_C: of how many percent the attacker is at least so confident."""
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence <= 1:
            raise ParameterError(
                f"confidence is a number above 0 and at most 1, not {confidence!r}.", parameters=("confidence",)
            )
        return self._percent(_confident(pl.col("posterior"), confidence))

    @property
    def perfect(self) -> float:
        """Percent of whom one value is left."""
        return self.at(1)

    @property
    def vulnerable(self) -> float:
        """Percent of whom fewer values are left than in any release alone (VP)."""
        return self._percent(pl.col("drop") > 0)

    @property
    def homogeneous(self) -> float:
        """Percent of whom one release alone leaves one value."""
        return self._percent(pl.col("prior") == 1)

    def _percent(self, which: pl.Expr) -> float:
        many = self.people.height
        return 100 * self.people.filter(which).height / many if many else 0.0

    def candidates(self) -> pl.DataFrame:
        """The values that are left to everybody: id, value."""
        assert self._laid is not None
        ids = self._laid.ids.gather(np.repeat(self._places, self.people["posterior"].to_numpy()))
        return pl.DataFrame([ids.alias("id"), self._laid.values.gather(self._common).alias("value")])

    def believed(self) -> pl.DataFrame:
        """id, value, and how likely it is: to the attacker, with ``beyond`` by maximum entropy, and to a reader of the
        most telling release alone.
        """
        left = self.candidates().with_columns(_left=True)
        each = self.people.select("id", "posterior").join(self._alone(), on="id", how="inner", maintain_order="left")
        each = each.join(left, on=["id", "value"], how="left", maintain_order="left")
        even = pl.when(pl.col("_left").fill_null(False)).then(1 / pl.col("posterior")).otherwise(0.0)
        each = each.with_columns(intersection=pl.when(pl.col("posterior") > 0).then(even))
        if self._joint is None:
            return each.select("id", "value", "intersection", "release")
        lost = self._joint.filter(pl.col("joint").is_null())["id"].unique().implode()
        each = each.join(self._joint, on=["id", "value"], how="left", maintain_order="left")
        joint = pl.when(~pl.col("id").is_in(lost)).then(pl.col("joint").fill_null(0.0)).alias("joint")
        return each.select("id", "value", "intersection", joint, "release")

    def _alone(self) -> pl.DataFrame:
        """The shares of values in the groups of the release that leaves a person the fewest: id, value, release."""
        assert self._laid is not None
        parts = []
        for k, own in enumerate(self._laid.heads):
            mine = np.zeros(self._laid.ids.len(), dtype=bool)
            mine[self._places[self._least == k]] = True
            place, value, count = own.counts()
            kept = mine[own.person[place]] & ~own.outside[place]
            total = sum_by(place, count, own.person.size)
            share = count / np.maximum(total[place], _ROUNDING)
            parts.append((own.person[place[kept]], value[kept], share[kept]))
        person, value, share = (np.concatenate(part) for part in zip(*parts, strict=True))
        return pl.DataFrame(
            [
                self._laid.ids.gather(person).alias("id"),
                self._laid.values.gather(value).alias("value"),
                pl.Series("release", share),
            ]
        )

    def further(self) -> dict[str, pl.DataFrame]:
        """The averages."""
        return {"On average, of the persons in several releases": self.averages}

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        told = {"perfect": self.perfect, "vulnerable": self.vulnerable, "homogeneous": self.homogeneous}
        at = {f"{100 * level:g}": self.at(level) for level in LEVELS}
        return {**super().as_dict(), **told, "at": at, "averages": self.averages.to_dicts()}


def intersection(
    releases: Release | Sequence[Release],
    *,
    register: Any = None,
    least: int | None = None,
    beyond: bool = False,
    seconds: float = SECONDS,
    progress: Told = None,
) -> Intersection:
    """The values that the groups of a person have in common, for all who are in at least ``least`` of the releases.

    That are two, unless there is only one release; give the number of releases for those who are in all of them.
    ``people`` has id, prior (the smallest effective anonymity of one release), posterior, drop, confidence (1 by
    posterior) and the number of releases. Where the releases contradict each other posterior is 0, and drop and
    confidence are null. With ``beyond`` there is also what counts tell beyond sets: ``joint``, the probability of the
    likeliest value by maximum entropy, ``certain``, whether it is proven, and ``left``, how many values are not proven
    impossible.
    """
    tell = Progress.of(progress)
    tell.stage("who is in which group")
    found = laid(releases, register)
    many = _least(least, len(found.names))
    tell.stage("intersection")
    crossed = _crossed(found, many)
    places = np.flatnonzero(crossed.inside >= many)
    people = pl.DataFrame(
        [
            found.ids.gather(places).alias("id"),
            pl.Series("prior", crossed.prior[places]),
            pl.Series("posterior", crossed.posterior[places]),
        ]
    ).with_columns(
        drop=pl.when(pl.col("posterior") > 0).then(pl.col("prior") - pl.col("posterior")),
        confidence=pl.when(pl.col("posterior") > 0).then(1 / pl.col("posterior")),
        releases=pl.Series(crossed.inside[places]),
    )
    told = _counted(people, many)
    outcome = Intersection(
        "intersection", _THREAT, people, *told, ("intersection", "release"), (), _notes(people, found, many),
        _averages(found, crossed, places), found, places, crossed.value, crossed.smallest[places],
    )  # fmt: skip
    if not beyond:
        return outcome
    changed = found.ids.filter(crossed.posterior == 0).to_list()  # nothing that one person could have
    given = attacked(releases)
    post = infer(given, register=register, changed=changed or "refuse", seconds=seconds, progress=tell)
    return _beyond(outcome, post, changed)


def _least(given: int | None, releases: int) -> int:
    if given is None:
        return min(2, releases)
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= releases:
        raise ParameterError(
            f"least is a number of releases from 1 to {releases}, not {given!r}.", parameters=("least",)
        )
    return given


@dataclass(frozen=True, eq=False)
class _Crossed:
    """What the groups of persons have in common."""

    prior: Ints  # [n] the smallest effective anonymity
    smallest: Ints  # [n] the release that has it
    inside: Ints  # [n] releases that the person is in for certain
    posterior: Ints  # [n] values in common
    value: Ints  # the values in common of who is in enough releases, one after the other
    anonymity: Reals  # [releases] Σ of the effective anonymity of who is in enough releases, and in it
    members: Ints  # [releases] how many these are


def _crossed(found: Laid, least: int) -> _Crossed:
    """Sets of values crossed, some persons at a time."""
    heads = range(len(found.names))
    parts: list[tuple[Ints, ...]] = []
    anonymity, members = np.zeros(len(heads)), np.zeros(len(heads), dtype=np.int64)
    for low, high in found.blocks():
        common: Bits = np.full((high - low, found.words), ~np.uint64(0))
        prior, smallest = np.full(high - low, np.iinfo(np.int64).max), np.full(high - low, -1, dtype=np.int64)
        inside, every = np.zeros(high - low, dtype=np.int64), []
        for k in heads:
            sets, member = found.sets_in(k, low, high), found.members(k, low, high)
            common &= sets
            own = counted(sets)
            every.append((own, member))
            fewer = member & (own < prior)
            prior[fewer], smallest[fewer] = own[fewer], k
            inside += member
        enough = inside >= least
        for k, (own, member) in enumerate(every):
            anonymity[k] += own[member & enough].sum()
            members[k] += int((member & enough).sum())
        parts.append((prior, smallest, inside, counted(common), found.values_of(common[enough])[1]))
    joined = [np.concatenate(part) for part in zip(*parts, strict=True)] or [np.empty(0, dtype=np.int64)] * 5
    prior, smallest, inside, posterior, value = joined
    return _Crossed(prior, smallest, inside, posterior, value, anonymity, members)


def _confident(posterior: pl.Expr, confidence: float) -> pl.Expr:
    """Whether 1 by posterior is at least so much."""
    return (posterior > 0) & (posterior * confidence <= 1 + _ROUNDING)


def _counted(people: pl.DataFrame, least: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The measures of the paper, and the same by the most telling release alone."""
    of = people.height
    measures = {"perfect breach": 1.0, **{f"confidence of {100 * c:g} % or more": c for c in LEVELS}}
    after = [
        ({"measure": name}, people.filter(_confident(pl.col("posterior"), c)).height, of)
        for name, c in measures.items()
    ]
    before = [
        ({"measure": name}, people.filter(_confident(pl.col("prior"), c)).height, of) for name, c in measures.items()
    ]
    fewer = ({"measure": "fewer values left than in one release"}, people.filter(pl.col("drop") > 0).height, of)
    return rates([*after, fewer] if least > 1 else after), rates(before)


def _notes(people: pl.DataFrame, found: Laid, least: int) -> tuple[str, ...]:
    told = []
    if least > 1:
        others = found.ids.len() - people.height
        told.append(
            f"{some(people.height)} in {least} or more of {len(found.names)} releases; {some(others)} in fewer, or "
            "perhaps outside, and not counted."
        )
    none = people.filter(pl.col("posterior") == 0).height
    if none:
        told.append(
            f"{some(none)} without any value in common: their values changed, or they are not in the groups that they "
            "fit."
        )
    return tuple(told)


def _averages(found: Laid, crossed: _Crossed, places: Ints) -> pl.DataFrame:
    """Group sizes and effective anonymity, release by release and together."""
    asked = np.zeros(found.ids.len(), dtype=bool)
    asked[places] = True
    rows: list[tuple[str, int, float | None, float | None]] = []
    for own, total, many in zip(found.heads, crossed.anonymity, crossed.members, strict=True):
        size = own.sizes()[asked[own.person] & ~own.outside]
        rows.append((own.name, int(many), _mean(size), float(total) / int(many) if many else None))
    rows.append(("all together", places.size, None, _mean(crossed.posterior[places])))
    schema = {"release": pl.String, "persons": pl.Int64, "group size": pl.Float64, "effective anonymity": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _mean(numbers: Ints | Reals) -> float | None:
    return float(numbers.mean()) if numbers.size else None


def _beyond(outcome: Intersection, post: Posterior, changed: list[Any]) -> Intersection:
    """The same beside maximum entropy and proofs; who changed is several persons there, and has no figure."""
    same = ~post.ids.is_in(pl.Series(changed, dtype=post.ids.dtype).implode()).to_numpy()
    ids = post.ids.filter(same)
    row = positions(outcome.people["id"], ids)
    believed = post.to_frame().select("id", "value", pl.col("p").alias("joint"))
    believed = believed.filter(pl.col("id").is_in(ids.implode()))
    left = np.bincount(positions(believed["id"], ids), minlength=ids.len())
    people = outcome.people.with_columns(
        pl.Series("joint", np.append(post.largest()[same], np.nan)[row]).fill_nan(None),
        pl.Series("certain", np.append(post.certain()[same], False)[row]),
        pl.Series("left", np.append(left, 0)[row]),
    )
    sure, known = pl.col("certain"), pl.col("joint").is_not_null()
    measures = {
        "proven certain": sure,
        "proven certain, by counts beyond sets": sure & (pl.col("posterior") > 1),
        "a value ruled out that sets leave": known & (pl.col("left") < pl.col("posterior")),
        **{f"joint probability of {100 * c:g} % or more": pl.col("joint") >= c - _ROUNDING for c in LEVELS},
    }
    more = rates([({"measure": name}, people.filter(who).height, people.height) for name, who in measures.items()])
    sets = {"measure": "proven certain, of everybody in any release"}
    more = pl.concat([more, rates([(sets, int(post.certain()[same].sum()), ids.len())])])
    lost = people["joint"].null_count()
    return replace(
        outcome,
        people=people,
        rates=pl.concat([outcome.rates, more]),
        beliefs=("intersection", "joint", "release"),
        notes=(*outcome.notes, *([f"{some(lost)} without a certified probability."] if lost else [])),
        _joint=believed,
    )
