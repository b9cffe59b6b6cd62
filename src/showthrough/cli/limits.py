"""The limits that a command names, as criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from showthrough.errors import InputError

if TYPE_CHECKING:
    from showthrough.criteria.criterion import Criterion


@dataclass(frozen=True)
class Limits:
    """Limits as they stand on the command line; None is no limit."""

    k: int | None
    distinct_l: int | None
    frequency_l: float | None
    entropy_l: float | None
    recursive: str | None
    m_unique: int | None
    t: float | None
    distance: str
    reference: str
    alpha: float | None
    beta: float | None
    enhanced: bool
    delta_disclosure: float | None
    dissimilarity: str | None
    metric: str
    floor: bool
    k_map: int | None
    presence: str | None

    def criteria(self, sensitive: str | None, trees: Mapping[str, Any], population: Any) -> list[Criterion]:
        """The criteria for one sensitive column, whose hierarchy may be asked for."""
        return [*self._diversity(), *self._shares(sensitive, trees), *self._special(sensitive, trees, population)]

    def _diversity(self) -> list[Criterion]:
        from showthrough.criteria import l_diversity as diversity
        from showthrough.criteria.k_anonymity import KAnonymity
        from showthrough.criteria.m_uniqueness import MUniqueness

        found: list[Criterion] = []
        if self.k is not None:
            found.append(KAnonymity(self.k))
        if self.distinct_l is not None:
            found.append(diversity.DistinctLDiversity(self.distinct_l))
        if self.frequency_l is not None:
            found.append(diversity.FrequencyLDiversity(self.frequency_l))
        if self.entropy_l is not None:
            found.append(diversity.EntropyLDiversity(self.entropy_l))
        if self.recursive is not None:
            c, l = _numbers("--recursive", self.recursive, "C,L", whole=(1,))
            found.append(diversity.RecursiveLDiversity(c, int(l)))
        if self.m_unique is not None:
            found.append(MUniqueness(self.m_unique))
        return found

    def _shares(self, sensitive: str | None, trees: Mapping[str, Any]) -> list[Criterion]:
        from showthrough.criteria.alpha_k import AlphaKAnonymity
        from showthrough.criteria.beta_likeness import BetaLikeness
        from showthrough.criteria.delta_disclosure import DeltaDisclosure
        from showthrough.criteria.t_closeness import TCloseness

        found: list[Criterion] = []
        if self.t is not None:
            found.append(TCloseness(self.t, _by_tree("--distance", self.distance, sensitive, trees), self.reference))
        if self.alpha is not None:
            found.append(AlphaKAnonymity(self.alpha, 1 if self.k is None else self.k))
        if self.beta is not None:
            found.append(BetaLikeness(self.beta, self.enhanced))
        if self.delta_disclosure is not None:
            found.append(DeltaDisclosure(self.delta_disclosure))
        return found

    def _special(self, sensitive: str | None, trees: Mapping[str, Any], population: Any) -> list[Criterion]:
        from showthrough.criteria.dissimilarity import Dissimilarity
        from showthrough.criteria.population import DeltaPresence, KMap

        if population is None and (self.k_map is not None or self.presence is not None):
            raise InputError("k-map and δ-presence compare with a population: name its file with --population.")
        found: list[Criterion] = []
        if self.dissimilarity is not None:
            epsilon, share, k = _numbers("--dissimilarity", self.dissimilarity, "EPS,DELTA,K", whole=(2,))
            metric = _by_tree("--metric", self.metric, sensitive, trees)
            found.append(Dissimilarity(epsilon, share, int(k), metric=metric, strict=not self.floor))
        if self.k_map is not None:
            found.append(KMap(self.k_map, population=population))
        if self.presence is not None:
            lowest, highest = _numbers("--presence", self.presence, "MIN,MAX")
            found.append(DeltaPresence(lowest, highest, population=population))
        return found


def _by_tree(option: str, name: str, sensitive: str | None, trees: Mapping[str, Any]) -> Any:
    """The name of a distance, or the hierarchy of the sensitive column if that is the distance."""
    if name != "hierarchy":
        return name
    if sensitive is None or sensitive not in trees:
        column = "COLUMN" if sensitive is None else sensitive
        raise InputError(f"{option} hierarchy needs that of the sensitive column: --hierarchy {column}=FILE.")
    return trees[sensitive]


def _numbers(option: str, given: str, shape: str, *, whole: tuple[int, ...] = ()) -> list[float]:
    try:
        found = [float(part) for part in given.split(",")]
    except ValueError:
        found = []
    fits = len(found) == shape.count(",") + 1 and all(abs(x) < float("inf") for x in found)
    if not fits or any(found[place] % 1 for place in whole):
        raise InputError(
            f"{option} takes numbers as {shape}, such as {option} {'0.1,0.5,5' if whole == (2,) else '2,3'}."
        )
    return found
