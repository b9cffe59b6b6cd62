"""Composition by privacy loss distributions, through the library dp-accounting (the extra `dp`).

The loss of every item is put on a grid, rounded up, and convolved; whole noise has distributions of its own. Of
disjoint parts the worst is taken at every ε: the largest of their δ, again the profile of a pair of distributions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from showthrough.dp.curves import pure, rho
from showthrough.dp.items import Item, Mechanism, Parallel, Promise
from showthrough.errors import InputError, LimitError
from showthrough.release.noise import GAUSSIAN, GEOMETRIC, LAPLACE

FINEST = 1e-4
LONGEST = 4_000_000  # entries of a distribution
MOST_KINDS = 300  # of items that differ: each takes a convolution of its own
COARSEST = 1.0  # steps of the grid beyond tell nothing, and the library cannot take them
LEAST_DELTA = 1e-14  # what is cut off from distributions, and added to δ, adds up to about a tenth of that
INSTALL = 'pip install "showthrough[dp]"'


def installed() -> bool:
    """Whether dp-accounting can be used."""
    from importlib.util import find_spec

    return find_spec("dp_accounting") is not None


def composed_epsilon(items: Sequence[Item], delta: float) -> float:
    """The ε of all items at this δ, rounded up."""
    kinds = Counter(items)
    if len(kinds) > MOST_KINDS:
        raise LimitError(f"Up to {MOST_KINDS} different items are composed by pld: use rdp or advanced.")
    step = _grid(items)
    if step > COARSEST:
        raise LimitError("Noise as narrow as that, or as often, is not composed by pld: use rdp or advanced.")
    total = None
    for item, times in kinds.items():
        own = _losses(item, step)
        own = own if times == 1 else own.self_compose(times)
        total = own if total is None else total.compose(own)
    if total is None:
        return 0.0
    found = float(total.get_epsilon_for_delta(delta))
    if not math.isfinite(found) and delta < LEAST_DELTA:
        raise LimitError(f"Composition by pld is rounded to a δ of about {LEAST_DELTA:g}: use rdp or advanced.")
    if not math.isfinite(found):
        raise InputError("The items take more δ than delta allows.", parameters=("delta",))
    return found


def _library() -> Any:
    try:
        from dp_accounting.pld import common, pld_pmf, privacy_loss_distribution
    except ImportError:
        raise InputError(f"Composition by pld needs the library dp-accounting: {INSTALL}.") from None
    return common, pld_pmf, privacy_loss_distribution


def _grid(items: Sequence[Item]) -> float:
    """A step that is fine for the items and coarse enough for their sum to fit."""
    reach = 2 * sum(_reach(item) for item in items)
    return max(reach / LONGEST, min(FINEST, 1e-3 / max(1, len(items))))


def _reach(item: Item) -> float:
    """About how large a loss can be that matters."""
    most = pure(item)
    if math.isfinite(most):
        return most
    if isinstance(item, Promise):
        return item.epsilon
    if isinstance(item, Parallel):
        return max(sum(map(_reach, own)) for own in item.choices())
    return rho(item) + 2 * math.sqrt(rho(item) * 80)


def _losses(item: Item, step: float) -> Any:
    common, _, library = _library()
    grid = {"value_discretization_interval": step}
    if isinstance(item, Promise):
        return library.from_privacy_parameters(common.DifferentialPrivacyParameters(item.epsilon, item.delta), **grid)
    if isinstance(item, Parallel):
        if len(item.choices()) > MOST_KINDS:
            raise LimitError(f"Up to {MOST_KINDS} parts and pairs of parts are composed by pld: use rdp or advanced.")
        return _of_the_worst([_together(own, step) for own in item.choices()], _reach(item), step)
    parts = item.one_by_one
    if len(parts) > 1:
        return _together(parts, step)
    (shift,) = parts[0].shifts
    if item.mechanism == LAPLACE:
        return library.from_laplace_mechanism(item.scale, sensitivity=shift, **grid)
    if item.mechanism == GEOMETRIC:
        return library.from_discrete_laplace_mechanism(1 / item.scale, sensitivity=int(shift), **grid)
    if item.mechanism == GAUSSIAN:
        return library.from_gaussian_mechanism(item.scale, sensitivity=shift, **grid)
    return _of_discrete_gaussian(item, int(shift), library, grid)


def _of_discrete_gaussian(item: Mechanism, shift: int, library: Any, grid: dict[str, float]) -> Any:
    if item.scale > 1e5:
        raise LimitError("A discrete Gaussian as wide as that is not composed by pld: use zcdp or rdp.")
    return library.from_discrete_gaussian_mechanism(item.scale, sensitivity=shift, **grid)


def _together(own: Sequence[Item], step: float) -> Any:
    found = [_losses(one, step) if n == 1 else _losses(one, step).self_compose(n) for one, n in Counter(own).items()]
    total = found[0]
    for other in found[1:]:
        total = total.compose(other)
    return total


def _of_the_worst(choices: Sequence[Any], reach: float, step: float) -> Any:
    """One distribution that is at least as bad as each: the largest δ at every ε of the grid."""
    if len(choices) == 1:
        return choices[0]
    _, pmf, library = _library()
    end = math.ceil(reach / step) + 1
    at = np.arange(-end, end + 1)
    deltas = np.maximum.reduce([np.asarray(own.get_delta_for_epsilon(at * step), dtype=np.float64) for own in choices])
    deltas = np.minimum.accumulate(np.clip(deltas, 0.0, 1.0))
    return library.PrivacyLossDistribution(pmf.create_pmf_pessimistic_connect_dots(step, at, deltas))
