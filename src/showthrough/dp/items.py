"""What is added up: promises (ε, δ), mechanisms with their noise, and parts of the data that are disjoint.

All of it is plain data: no item holds a table, a seed or a library. An item says what one release can tell of one
changed record; which change (a record replaced, or added and removed) is the caller's to say once for all items.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from showthrough.errors import InputError, ParameterError
from showthrough.release.noise import DISCRETE_GAUSSIAN, Law, known_mechanism, positive, probability
from showthrough.said import private

MOST_EPSILON = 700.0  # e to this is still a number


@dataclass(frozen=True)
class Promise:
    """An (ε, δ) that somebody states of a release, whatever made it."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon, high=MOST_EPSILON))
        object.__setattr__(self, "delta", probability("delta", self.delta))

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"epsilon": self.epsilon, "delta": self.delta}


@dataclass(frozen=True)
class Mechanism:
    """Noise of one law on numbers of which some move when a record changes, each by one of ``shifts``."""

    mechanism: str
    scale: float
    shifts: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        law = Law(known_mechanism(self.mechanism), self.scale)
        object.__setattr__(self, "mechanism", law.mechanism)
        object.__setattr__(self, "scale", law.scale)
        moved = tuple(sorted(positive("sensitivity", s) for s in self.shifts))
        if law.whole and any(s != round(s) for s in moved):
            raise ParameterError(
                f"{law.mechanism} noise is whole and is added to counts: sensitivity must be whole, too.",
                parameters=("sensitivity",),
            )
        if not moved or len(moved) > 10_000:
            raise ParameterError(
                "sensitivity is a number, or a list of 1 to 10000 of them.", parameters=("sensitivity",)
            )
        object.__setattr__(self, "shifts", moved)
        if self.law.exponential and sum(moved) / law.scale > MOST_EPSILON:
            raise ParameterError(
                f"The noise is too narrow to promise anything: ε would be over {MOST_EPSILON:g}.", parameters=("scale",)
            )

    @property
    def law(self) -> Law:
        """The law of its noise."""
        return Law(self.mechanism, self.scale)

    @property
    def one_by_one(self) -> tuple[Mechanism, ...]:
        """The same as mechanisms with one number that moves; a Gaussian of several is one of their length."""
        if self.mechanism == "gaussian":
            return (replace(self, shifts=(math.sqrt(sum(s * s for s in self.shifts)),)),)
        return tuple(replace(self, shifts=(s,)) for s in self.shifts)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"mechanism": self.mechanism, "scale": self.scale, "sensitivity": list(self.shifts)}


@dataclass(frozen=True)
class Parallel:
    """Releases of disjoint parts of the data: a changed record touches one of them, or two if it moves.

    ``crossing`` are the same releases as somebody sees them who adds a record or takes one away; where records
    move between parts, one part loses a record and another gains it.
    """

    parts: tuple[Item, ...]
    moves: bool
    crossing: tuple[Item, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        told: dict[str, Any] = {"parallel": [p.as_dict() for p in self.parts], "moves": self.moves}
        return told if not self.crossing else {**told, "add_remove": [p.as_dict() for p in self.crossing]}

    def choices(self) -> list[tuple[Item, ...]]:
        """What one changed record can touch: each part alone, or two of them; of parts alike the costliest."""
        alone: list[tuple[Item, ...]] = [(part,) for part in _costliest(self.parts, 1)]
        if not self.moves:
            return list(dict.fromkeys(alone))
        touched = _costliest(self.crossing, 2)
        pairs = [(one, other) for k, one in enumerate(touched) for other in touched[k + 1 :]]
        return list(dict.fromkeys([*alone, *pairs]))


Item = Promise | Mechanism | Parallel


def _costliest(parts: Sequence[Item], most: int) -> list[Item]:
    """Of parts that differ in nothing but how much they cost, the costliest: the others tell less at every ε."""
    alike: dict[Any, list[Item]] = {}
    for part in parts:
        alike.setdefault(_but_for_cost(part)[0], []).append(part)
    return [own for found in alike.values() for own in sorted(found, key=lambda one: -_but_for_cost(one)[1])[:most]]


def _but_for_cost(part: Item) -> tuple[Any, float]:
    """What a part is, and a number that grows with what it costs among parts that are the same.

    Wider noise of these laws is narrower noise with more noise on top (the quotients of their characteristic functions
    are characteristic functions); of discrete Gaussians that holds but nearly.
    """
    if isinstance(part, Promise):
        return part.delta, part.epsilon
    if isinstance(part, Mechanism) and part.mechanism != DISCRETE_GAUSSIAN:
        return (part.mechanism, part.shifts), -part.scale
    return part, 0.0


def laplace(scale: float, sensitivity: float | Sequence[float] = 1) -> Mechanism:
    """Laplace noise on a number that moves by ``sensitivity``, or on several that move by so much each."""
    return _mechanism("laplace", scale, sensitivity)


def geometric(scale: float, sensitivity: int | Sequence[int] = 1) -> Mechanism:
    """Geometric noise (discrete Laplace) on a count that moves by ``sensitivity``, or on several.

    A replaced record moves two cells of a table of counts by one each: ``sensitivity=[1, 1]``.
    """
    return _mechanism("geometric", scale, sensitivity)


def gaussian(scale: float, sensitivity: float | Sequence[float] = 1) -> Mechanism:
    """Gaussian noise with this standard deviation on a number that moves by ``sensitivity``, or on several."""
    return _mechanism("gaussian", scale, sensitivity)


def discrete_gaussian(scale: float, sensitivity: int | Sequence[int] = 1) -> Mechanism:
    """Discrete Gaussian noise on a count that moves by ``sensitivity``, or on several."""
    return _mechanism("discrete-gaussian", scale, sensitivity)


def parallel(items: Sequence[Any], *, moves: bool, add_remove: Sequence[Any] | None = None) -> Parallel:
    """Releases of disjoint parts of the data, of which a changed record touches few.

    ``moves`` says whether a changed record may leave one part and enter another, as a replaced record can where
    parts are made by a column; it cannot where neighbours are add-remove, or where parts are fixed by id. If it may,
    the cost is the larger of the costliest part and of the two that cost most when a record is added or removed:
    ``add_remove`` lists these. Count tables whose replaced record moves two cells need no such list.
    """
    parts = as_items(items)
    if not parts:
        raise ParameterError("parallel takes one part or more.", parameters=("items",))
    if not isinstance(moves, bool):
        raise ParameterError(
            "moves says whether a changed record can leave one part and enter another: True or False.",
            parameters=("moves",),
        )
    if not moves:
        return Parallel(parts, False)
    crossing = tuple(map(_crossed, parts)) if add_remove is None else as_items(add_remove)
    if len(crossing) != len(parts):
        raise ParameterError("add_remove lists one item for each part.", parameters=("add_remove",))
    return Parallel(parts, True, crossing)


def as_items(given: Any) -> tuple[Item, ...]:
    """Items from mechanisms, pairs (ε, δ) and plain data."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence):
        raise InputError("Items are a list of (epsilon, delta) pairs and mechanisms.", parameters=("items",))
    return tuple(map(as_item, given))


def as_item(given: Any) -> Item:
    """One item from a mechanism, a pair (ε, δ), or plain data."""
    if isinstance(given, (Promise, Mechanism, Parallel)):
        return given
    if isinstance(given, Mapping):
        return _from_dict(given)
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        raise InputError("An item is a pair (epsilon, delta) or a mechanism: write (ε, 0) for an ε alone.")
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)) and len(given) == 2:
        return Promise(*given)
    raise InputError(
        f"An item is a pair (epsilon, delta) or a mechanism, not {private(repr(given), type(given).__name__)}.",
        parameters=("items",),
    )


def _from_dict(given: Mapping[str, Any]) -> Item:
    keys = set(given)
    if "parallel" in keys and keys <= {"parallel", "moves", "add_remove"}:
        moves = given.get("moves")
        return parallel(given["parallel"], moves=moves, add_remove=given.get("add_remove"))  # type: ignore[arg-type]
    if "mechanism" in keys and keys <= {"mechanism", "scale", "sensitivity"}:
        return _mechanism(given["mechanism"], given.get("scale"), given.get("sensitivity", 1))
    if "epsilon" in keys and keys <= {"epsilon", "delta"}:
        return Promise(given["epsilon"], given.get("delta", 0.0))
    raise InputError("An item has epsilon and delta, or mechanism, scale and sensitivity, or parallel and moves.")


def _mechanism(name: str, scale: Any, sensitivity: Any) -> Mechanism:
    several = isinstance(sensitivity, Sequence) and not isinstance(sensitivity, (str, bytes))
    return Mechanism(name, scale, tuple(sensitivity) if several else (sensitivity,))


def _crossed(part: Item) -> Item:
    """A part as somebody sees it who adds a record or takes one away, where a replaced one moves two cells alike."""
    if isinstance(part, Mechanism) and len(part.shifts) == 2 and part.shifts[0] == part.shifts[1]:
        return replace(part, shifts=part.shifts[:1])
    raise ParameterError(
        "Where records move between parts, one part loses a record and another gains it: say with add_remove what each "
        "part costs when a record is added or removed.",
        parameters=("add_remove",),
    )
