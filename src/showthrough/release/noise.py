"""The noise of a noisy release as plain data: which law, how wide, and what it is claimed to promise.

Reading and reasoning about noise needs no further library: the laws are four, each with one number, its scale.

| mechanism | P(noise = x), or its density | scale |
| --- | --- | --- |
| `geometric` | ∝ e^(−abs(x)/scale) on whole numbers (discrete Laplace) | b |
| `laplace` | ∝ e^(−abs(x)/scale) | b |
| `discrete-gaussian` | ∝ e^(−x²/(2 scale²)) on whole numbers | σ |
| `gaussian` | ∝ e^(−x²/(2 scale²)) | σ |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from showthrough.errors import ParameterError
from showthrough.release.gaussian_claim import claims_too_much
from showthrough.said import private
from showthrough.table.arrays import Reals

GEOMETRIC, LAPLACE = "geometric", "laplace"
GAUSSIAN, DISCRETE_GAUSSIAN = "gaussian", "discrete-gaussian"
MECHANISMS = (GEOMETRIC, LAPLACE, GAUSSIAN, DISCRETE_GAUSSIAN)
REPLACE_ONE, ADD_REMOVE = "replace-one", "add-remove"
NEIGHBOURS = (REPLACE_ONE, ADD_REMOVE)
WIDEST = 1e12  # a scale beyond says nothing of any count, and whole numbers would overflow
NARROWEST = 1e-6  # a scale below adds nothing
FIELDS = ("mechanism", "epsilon", "delta", "sensitivity", "neighbours", "scale", "marginals")
_LARGEST = 700.0  # exponents beyond are as good as infinite
_SLACK = 1 + 1e-9  # claims are rounded
_WIDE = 3.0  # from here on a discrete Gaussian is summed by Poisson's formula


@dataclass(frozen=True)
class Law:
    """The law of the noise of one count.

    >>> round(Law("geometric", 1.0).variance, 6)
    1.841347
    """

    mechanism: str
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanism", known_mechanism(self.mechanism))
        object.__setattr__(self, "scale", positive("scale", self.scale, NARROWEST, WIDEST))

    @property
    def whole(self) -> bool:
        """Whether the noise is a whole number."""
        return self.mechanism in (GEOMETRIC, DISCRETE_GAUSSIAN)

    @property
    def exponential(self) -> bool:
        """Whether it falls off like e^(−abs(x)): such noise gives pure ε, by the sum of all differences."""
        return self.mechanism in (GEOMETRIC, LAPLACE)

    def log_density(self, noise: Any) -> Reals:
        """The logarithm of the probability of each noise (of its density, where noise is not whole)."""
        x = np.asarray(noise, dtype=np.float64)
        if self.exponential:
            return np.asarray(-np.abs(x) / self.scale - self._log_total(), dtype=np.float64)
        return np.asarray(-0.5 * (x / self.scale) ** 2 - self._log_total(), dtype=np.float64)

    def log_ratio(self, noise: Any) -> Reals:
        """The logarithm of how likely each noise is beside the likeliest of them: exact however far from 0 all are."""
        x = np.abs(np.asarray(noise, dtype=np.float64))
        more = x - x.min()
        if self.exponential:
            return np.asarray(-more / self.scale, dtype=np.float64)
        return np.asarray(-0.5 * (more / self.scale) * ((x + x.min()) / self.scale), dtype=np.float64)

    @property
    def variance(self) -> float:
        """The mean square of the noise, whose mean is 0."""
        if self.mechanism == LAPLACE:
            return 2 * self.scale**2
        if self.mechanism == GAUSSIAN:
            return self.scale**2
        if self.mechanism == GEOMETRIC:
            return 0.5 / math.sinh(0.5 / self.scale) ** 2 if 0.5 / self.scale < 350 else 0.0
        if self.scale >= _WIDE:
            return self.scale**2  # to less than 1e-70 of it
        x = _around(self.scale)
        weight = np.exp(-0.5 * (x / self.scale) ** 2)
        return float((weight * x * x).sum() / weight.sum())

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise."""
        return math.sqrt(self.variance)

    def _log_total(self) -> float:
        """The logarithm of the sum (or the integral) of what the density is in proportion to."""
        if self.mechanism == LAPLACE:
            return math.log(2 * self.scale)
        if self.mechanism == GEOMETRIC:
            return -math.log(math.tanh(0.5 / self.scale))
        if self.mechanism == GAUSSIAN or self.scale >= _WIDE:
            return 0.5 * math.log(2 * math.pi) + math.log(self.scale)
        return math.log(float(np.exp(-0.5 * (_around(self.scale) / self.scale) ** 2).sum()))


@dataclass(frozen=True)
class Marginal:
    """One table of a noisy release: value by some of its quasi-identifiers, with its part of the budget."""

    quasi: tuple[str, ...]
    epsilon: float
    delta: float
    scale: float


@dataclass(frozen=True)
class Noise:
    """What a noisy release says of its noise.

    ``epsilon`` and ``delta`` are what all its tables cost together. ``sensitivity`` is how far one table can move
    when one record changes, in the distance of its mechanism (the sum of differences, or the root of the sum of
    their squares where noise is Gaussian); ``neighbours`` says what a change is. ``scale`` is that of the widest
    noise; a release of several tables has one `Marginal` for each.
    """

    mechanism: str
    epsilon: float
    delta: float
    sensitivity: float
    neighbours: str
    scale: float
    marginals: tuple[Marginal, ...] = ()

    def law(self, quasi: Sequence[str] | None = None) -> Law:
        """The law of the table of value by these quasi-identifiers; of the only one, if there is but one."""
        if not self.marginals:
            return Law(self.mechanism, self.scale)
        own = {frozenset(m.quasi): m.scale for m in self.marginals}
        return Law(self.mechanism, own[frozenset(quasi or ())])

    def tables(self, quasi: Sequence[str]) -> tuple[Marginal, ...]:
        """Every table; ``quasi`` are the columns of the only one, if there is but one."""
        return self.marginals or (Marginal(tuple(quasi), self.epsilon, self.delta, self.scale),)

    @property
    def by_replacing(self) -> tuple[float, float]:
        """The ε and δ for tables that differ in one replaced record: twice those of one record more or less."""
        return (self.epsilon, self.delta) if self.neighbours == REPLACE_ONE else replaced(self.epsilon, self.delta)

    def parameters(self) -> dict[str, Any]:
        """What a release folder says of it, as plain data."""
        told: dict[str, Any] = {name: getattr(self, name) for name in FIELDS if name != "marginals"}
        if not self.marginals:
            return told
        return {**told, "marginals": [{**vars(m), "quasi": list(m.quasi)} for m in self.marginals]}


def declared(given: Mapping[str, Any]) -> Noise:
    """The noise that somebody declares: mechanism, scale and neighbours; the rest follows, or is checked."""
    mechanism = known_mechanism(given.get("mechanism"))
    neighbours = known_neighbours(given.get("neighbours"))
    marginals = _marginals(given.get("marginals") or ())
    if given.get("scale") is None and not marginals:
        raise ParameterError("A noisy release says the scale of its noise: scale is missing.", parameters=("scale",))
    scales = [m.scale for m in marginals] or [positive("scale", given["scale"], NARROWEST, WIDEST)]
    moves = given.get("sensitivity")
    least = moved(mechanism, neighbours)
    sensitivity = least if moves is None else positive("sensitivity", moves, 1e-9, WIDEST)
    _refuse_still(sensitivity, least, neighbours)
    delta = probability("delta", given.get("delta") or 0.0)
    epsilon = given.get("epsilon")
    if Law(mechanism, scales[0]).exponential:
        given_by = sum(sensitivity / scale for scale in scales)
        epsilon = given_by if epsilon is None else positive("epsilon", epsilon)
        if epsilon * _SLACK < given_by:
            raise ParameterError(
                f"The noise is said to give ε = {epsilon:g}, but its scale and a sensitivity of {sensitivity:g} give "
                f"{given_by:g}.",
                parameters=("epsilon", "scale", "sensitivity"),
            )
    elif epsilon is None or not delta:
        raise ParameterError(
            "Gaussian noise promises an epsilon with a delta above 0: say both.", parameters=("delta",)
        )
    claim = positive("epsilon", epsilon)
    _refuse_small(mechanism, sensitivity, marginals)
    _refuse_gaussian_claims(Law(mechanism, scales[0]), scales, sensitivity, (claim, delta))
    return Noise(mechanism, claim, delta, sensitivity, neighbours, max(scales), marginals)


def _refuse_still(sensitivity: float, least: float, neighbours: str) -> None:
    """Refuse a table of counts that is said to move by less than its counts do."""
    if sensitivity * _SLACK < least:
        cells = "two of its cells by one each" if neighbours == REPLACE_ONE else "one of its cells by one"
        raise ParameterError(
            f"A changed record ({neighbours}) moves {cells}, so the sensitivity of a table of counts is at least "
            f"{least:.6g}, not {sensitivity:g}: correct it and epsilon, or say other neighbours.",
            parameters=("sensitivity", "neighbours"),
        )


def _refuse_small(mechanism: str, sensitivity: float, marginals: Sequence[Marginal]) -> None:
    """Every table costs what its own noise says."""
    for table in marginals:
        if Law(mechanism, table.scale).exponential and table.epsilon * _SLACK < sensitivity / table.scale:
            raise ParameterError(
                f"A table is said to give ε = {table.epsilon:g}, but its scale and a sensitivity of {sensitivity:g} "
                f"give {sensitivity / table.scale:g}.",
                parameters=("marginals",),
            )


def _refuse_gaussian_claims(law: Law, scales: Sequence[float], sensitivity: float, claim: tuple[float, float]) -> None:
    """Refuse an ε and δ that Gaussian noise of these scales does not give."""
    least = None if law.exponential else claims_too_much(sensitivity, scales, claim, whole=law.whole)
    if least is not None:
        raise ParameterError(
            f"The noise is said to give ε = {claim[0]:g} with δ = {claim[1]:g}, but with its scale and a sensitivity "
            f"of {sensitivity:g} δ is at least {least:.3g}.",
            parameters=("epsilon", "delta", "scale", "sensitivity"),
        )


def replaced(epsilon: float, delta: float) -> tuple[float, float]:
    """What a promise for one record more or less is where one is replaced: taken away, and another one added."""
    twice = delta * (1 + math.exp(min(epsilon, _LARGEST)))
    return 2 * epsilon, min(twice, math.nextafter(1.0, 0.0))


def moved(mechanism: str, neighbours: str) -> float:
    """How far a table of counts moves when one record changes, in the distance of the mechanism."""
    cells = 2.0 if neighbours == REPLACE_ONE else 1.0
    return cells if mechanism in (GEOMETRIC, LAPLACE) else math.sqrt(cells)


def known_mechanism(given: Any) -> str:
    """The name of a mechanism, also with other signs between its words."""
    name = given.strip().lower().replace("_", "-").replace(" ", "-") if isinstance(given, str) else given
    if name not in MECHANISMS:
        raise ParameterError(
            f"The mechanism is one of {', '.join(MECHANISMS)}, not {private(repr(given), 'what was given')}.",
            parameters=("mechanism",),
        )
    return str(name)


def known_neighbours(given: Any) -> str:
    """Which tables are neighbours: nothing is taken for granted, as it doubles or halves what ε means."""
    if given is None:
        raise ParameterError(
            'Say which tables are neighbours: neighbours="replace-one" (one record has other values) or "add-remove" '
            "(one record more or less).",
            parameters=("neighbours",),
        )
    if given not in NEIGHBOURS:
        raise ParameterError(
            f"neighbours is one of {', '.join(NEIGHBOURS)}, not {private(repr(given), 'what was given')}.",
            parameters=("neighbours",),
        )
    return str(given)


def _marginals(given: Any) -> tuple[Marginal, ...]:
    """The tables of a release of several, as a release folder lists them."""
    made = []
    for entry in given:
        if isinstance(entry, Marginal):
            made.append(entry)
            continue
        told = entry if isinstance(entry, Mapping) else {}
        columns = told.get("quasi")
        if not isinstance(columns, (list, tuple)) or not all(isinstance(c, str) for c in columns):
            raise ParameterError("Each of marginals lists its quasi-identifiers.", parameters=("marginals",))
        if told.get("epsilon") is None:
            raise ParameterError("Each of marginals says its own epsilon and scale.", parameters=("marginals",))
        epsilon = positive("epsilon", told["epsilon"])
        delta, scale = (
            probability("delta", told.get("delta") or 0.0),
            positive("scale", told.get("scale"), NARROWEST, WIDEST),
        )
        made.append(Marginal(tuple(columns), epsilon, delta, scale))
    if len({frozenset(m.quasi) for m in made}) < len(made):
        raise ParameterError("marginals names the same columns twice.", parameters=("marginals",))
    return tuple(made)


def positive(name: str, given: Any, low: float = 1e-12, high: float = WIDEST) -> float:
    """A number above 0, in its range."""
    number = float(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else math.nan
    if not low <= number <= high:
        raise ParameterError(
            f"{name} is a number above 0, from {low:g} to {high:g}, not {_shown(given)}.", parameters=(name,)
        )
    return number


def probability(name: str, given: Any) -> float:
    """A number from 0 to below 1."""
    number = float(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else math.nan
    if not 0 <= number < 1:
        raise ParameterError(
            f"{name} is a probability, at least 0 and below 1, not {_shown(given)}.", parameters=(name,)
        )
    return number


def _shown(given: Any) -> str:
    """A number as it was given; anything else may be data."""
    return repr(given) if isinstance(given, (int, float)) else private(repr(given), "what was given")


def _around(scale: float) -> Reals:
    """Whole numbers around 0 that carry all of a narrow discrete Gaussian."""
    most = math.ceil(40 * scale) + 2
    return np.arange(-most, most + 1, dtype=np.float64)
