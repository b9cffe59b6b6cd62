"""The limits that a request sets, as entries; and the criteria that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from showthrough.criteria import l_diversity as diversity
from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.average_risk import AverageRisk, Uniqueness
from showthrough.criteria.beta_likeness import BetaLikeness
from showthrough.criteria.criterion import Criterion
from showthrough.criteria.delta_disclosure import DeltaDisclosure
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.criteria.implications import CKSafety
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.criteria.population import DeltaPresence, KMap
from showthrough.criteria.skyline import SkylinePrivacy
from showthrough.criteria.t_closeness import TCloseness
from showthrough.errors import FieldError, InputError
from showthrough.table.entries import Entries

Distance = Literal["equal", "ordered", "hierarchy"]
Reference = Literal["all", "kept"]
Metric = Literal["numeric", "equal", "min", "max", "manhattan", "euclidean", "hierarchy"]


@dataclass(frozen=True)
class CriteriaEntries(Entries):
    """Limits, one entry per criterion; None is no limit.

    ``recursive`` is (c, l), ``dissimilarity`` (ε, δ, k), ``presence`` (lowest, highest). ``distance`` and
    ``reference`` are those of ``t``, ``enhanced`` is that of ``beta``, ``metric`` and ``floor`` those of
    ``dissimilarity``; ``ck_safety`` is (c, k), ``skyline`` c and then one or more points of three numbers (excluded,
    known, family); ``population_uniqueness`` is (share, sampling fraction); ``alpha`` takes the k of ``k``, or 1.
    """

    k: int | None = None
    distinct_l: int | None = None
    frequency_l: float | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    m_unique: int | None = None
    t: float | None = None
    distance: Distance = "equal"
    reference: Reference = "all"
    alpha: float | None = None
    beta: float | None = None
    enhanced: bool = False
    delta_disclosure: float | None = None
    dissimilarity: tuple[float, float, int] | None = None
    metric: Metric = "numeric"
    floor: bool = False
    ck_safety: tuple[float, int] | None = None
    skyline: tuple[float, ...] | None = None
    average_risk: float | None = None
    uniqueness: float | None = None
    population_uniqueness: tuple[float, float] | None = None
    k_map: int | None = None
    presence: tuple[float, float] | None = None

    def check(self) -> None:
        """Every criterion accepts its parameters."""
        for name in self._named():
            try:
                _MADE[name](self, _ALONE)
            except InputError as problem:
                raise FieldError(name, f"cannot be used: {problem.said}") from None

    def criteria(self, sensitive: str | None, trees: Mapping[str, Any], population: Any) -> list[Criterion]:
        """The criteria for one sensitive column, whose hierarchy may be asked for."""
        if population is None and (self.k_map is not None or self.presence is not None):
            raise InputError(
                "k-map and δ-presence compare with a population: name its file with population=FILE.",
                parameters=("population",),
            )
        return [criterion for _, criterion in self.named(sensitive, trees, population)]

    def named(
        self, sensitive: str | None, trees: Mapping[str, Any], population: Any = None
    ) -> list[tuple[str, Criterion]]:
        """The same, each with the name of its entry."""
        distance, metric = (
            partial(_by_tree, sensitive=sensitive, trees=trees, field=f) for f in ("distance", "metric")
        )
        return [(name, _MADE[name](self, _Beside(distance, metric, population))) for name in self._named()]

    def limits(self) -> dict[str, Any]:
        """The limits of criteria that are set, by the names of their entries, in the order of `criteria`."""
        return {name: getattr(self, name) for name in self._named()}

    def _named(self) -> list[str]:
        """The entries that are limits of a criterion and set, in the order of every list."""
        return [name for name in _MADE if getattr(self, name) is not None]


@dataclass(frozen=True)
class _Beside:
    """What limits are set beside: distances by their names, and a population."""

    distance: Callable[[str], Any]
    metric: Callable[[str], Any]
    population: Any


_ALONE = _Beside(lambda _: "equal", lambda _: "equal", None)  # enough to see whether parameters make sense


def _dissimilar(given: CriteriaEntries, beside: _Beside) -> Criterion:
    epsilon, share, k = given.dissimilarity or (0.0, 0.0, 1)
    return Dissimilarity(epsilon, share, k, metric=beside.metric(given.metric), strict=not given.floor)


def _triples(numbers: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Numbers by three; a rest makes no point, and is told so by the criterion."""
    return [numbers[at : at + 3] for at in range(0, len(numbers), 3)]


_MADE: Mapping[str, Callable[[Any, _Beside], Criterion]] = {
    "k": lambda given, _: KAnonymity(given.k),
    "distinct_l": lambda given, _: diversity.DistinctLDiversity(given.distinct_l),
    "frequency_l": lambda given, _: diversity.FrequencyLDiversity(given.frequency_l),
    "entropy_l": lambda given, _: diversity.EntropyLDiversity(given.entropy_l),
    "recursive": lambda given, _: diversity.RecursiveLDiversity(*given.recursive),
    "m_unique": lambda given, _: MUniqueness(given.m_unique),
    "t": lambda given, beside: TCloseness(given.t, beside.distance(given.distance), given.reference),
    "alpha": lambda given, _: AlphaKAnonymity(given.alpha, 1 if given.k is None else given.k),
    "beta": lambda given, _: BetaLikeness(given.beta, given.enhanced),
    "delta_disclosure": lambda given, _: DeltaDisclosure(given.delta_disclosure),
    "dissimilarity": _dissimilar,
    "ck_safety": lambda given, _: CKSafety(*given.ck_safety),
    "skyline": lambda given, _: SkylinePrivacy(given.skyline[0], _triples(given.skyline[1:])),
    "average_risk": lambda given, _: AverageRisk(given.average_risk),
    "uniqueness": lambda given, _: Uniqueness(given.uniqueness),
    "population_uniqueness": lambda given, _: Uniqueness(*given.population_uniqueness),
    "k_map": lambda given, beside: KMap(given.k_map, population=beside.population),
    "presence": lambda given, beside: DeltaPresence(given.presence[0], given.presence[1], beside.population),
}


def _by_tree(name: str, *, field: str, sensitive: str | None, trees: Mapping[str, Any]) -> Any:
    """The name of a distance, or the hierarchy of the sensitive column if that is the distance."""
    if name != "hierarchy":
        return name
    if sensitive is None or sensitive not in trees:
        column = "COLUMN" if sensitive is None else sensitive
        needs = f"hierarchy needs that of the sensitive column: hierarchies={{{column!r}: FILE}}."
        raise FieldError(field, needs, parameters=("hierarchies",))
    return trees[sensitive]
