"""What a series of releases promises together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

from showthrough.dp import formulas, losses
from showthrough.dp.items import Item, as_items
from showthrough.errors import InputError, ParameterError
from showthrough.release.noise import probability
from showthrough.said import private
from showthrough.table.frozen import Frozen

METHODS = ("basic", "advanced", "zcdp", "rdp", "pld", "best")
MOST_ITEMS = 100_000


class Guarantee(tuple[float, float]):
    """A pair (ε, δ) that holds for everything together; ``method`` says by which composition.

    ``tried`` has the ε of every method that was asked, and a sentence where it could not answer.
    """

    method: str
    tried: Mapping[str, float | str]

    def __new__(cls, epsilon: float, delta: float, method: str, tried: Mapping[str, float | str] | None = None) -> Self:
        """A pair with names."""
        made = super().__new__(cls, (float(epsilon), float(delta)))
        made.method = method
        made.tried = Frozen(dict(tried or {method: float(epsilon)}))
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.method, dict(self.tried))

    @property
    def epsilon(self) -> float:
        """What is lost at most, but for δ."""
        return self[0]

    @property
    def delta(self) -> float:
        """How likely more is lost."""
        return self[1]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"epsilon": self.epsilon, "delta": self.delta, "method": self.method, "tried": dict(self.tried)}

    def __repr__(self) -> str:
        return f"(ε = {self.epsilon:.6g}, δ = {self.delta:.6g}) by {self.method}"


def compose(items: Sequence[Any], *, delta: float | None = None, method: str | None = None) -> Guarantee:
    """The (ε, δ) that all items promise together, also where each was chosen after looking at those before.

    Items are pairs (ε, δ) and mechanisms: `laplace`, `geometric`, `gaussian`, `discrete_gaussian`, `parallel`.
    Without ``delta`` this is basic composition, the sums. ``delta`` is what may be spent in all; ``method`` is basic,
    advanced, zcdp, rdp, pld or best, which takes the least ε of all of them (default where there is a delta) and
    names it.
    """
    own = as_items(items)
    if len(own) > MOST_ITEMS:
        raise ParameterError(f"Up to {MOST_ITEMS} items are composed, not {len(own)}.", parameters=("items",))
    allowed = None if delta is None else probability("delta", delta)
    chosen = ("best" if allowed else "basic") if method is None else method
    if chosen not in METHODS:
        raise ParameterError(
            f"The method is one of {', '.join(METHODS)}, not {private(repr(method), 'what was given')}.",
            parameters=("method",),
        )
    if not own:
        return Guarantee(0.0, 0.0, chosen)
    if chosen == "basic":
        epsilon, spent = formulas.basic(own, allowed)
        if allowed is not None and spent > allowed * (1 + 1e-12):
            raise InputError("The items take more δ than delta allows.", parameters=("delta",))
        return Guarantee(epsilon, spent, "basic")
    if not allowed:
        raise ParameterError(f"The method {chosen} needs a delta above 0.", parameters=("delta",))
    if chosen == "best":
        return _best(own, allowed)
    epsilon, name = _by(chosen, own, allowed)
    return Guarantee(epsilon, allowed, name)


def _by(method: str, items: Sequence[Item], delta: float) -> tuple[float, str]:
    if method == "advanced":
        return formulas.advanced(items, delta)
    if method == "basic":
        epsilon, spent = formulas.basic(items, delta)
        if spent > delta * (1 + 1e-12):
            raise InputError("The items take more δ than delta allows.", parameters=("delta",))
        return epsilon, method
    if method == "pld":
        return losses.composed_epsilon(items, delta), method
    return (formulas.zcdp if method == "zcdp" else formulas.rdp)(items, delta), method


def _best(items: Sequence[Item], delta: float) -> Guarantee:
    found: dict[str, tuple[float, str]] = {}
    tried: dict[str, float | str] = {}
    for method in METHODS[:-1]:
        try:
            found[method] = _by(method, items, delta)
            tried[method] = found[method][0]
        except InputError as problem:
            tried[method] = str(problem)
    if not found:
        raise InputError("The items take more δ than delta allows.", parameters=("delta",))
    epsilon, name = min(found.values(), key=lambda one: one[0])
    if not math.isfinite(epsilon):
        raise InputError("The items promise no ε at this delta.", parameters=("delta",))
    return Guarantee(epsilon, delta, name, tried)
