"""Differential privacy: what a series of noisy releases promises, and what that means for a person.

The names load on first use, as those of the package do: accounting takes libraries that take seconds to load.
"""

from __future__ import annotations

import sys

from showthrough.rooms import Room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from showthrough.dp.account import Account as Account
    from showthrough.dp.account import NextCost as NextCost
    from showthrough.dp.account import mechanisms as mechanisms
    from showthrough.dp.composition import Guarantee as Guarantee
    from showthrough.dp.composition import compose as compose
    from showthrough.dp.indistinguishable import indistinguishability as indistinguishability
    from showthrough.dp.indistinguishable import tv_sanitizer as tv_sanitizer
    from showthrough.dp.interval import PosteriorInterval as PosteriorInterval
    from showthrough.dp.interval import posterior_interval as posterior_interval
    from showthrough.dp.items import discrete_gaussian as discrete_gaussian
    from showthrough.dp.items import gaussian as gaussian
    from showthrough.dp.items import geometric as geometric
    from showthrough.dp.items import laplace as laplace
    from showthrough.dp.items import parallel as parallel
    from showthrough.dp.meaning import Semantic as Semantic
    from showthrough.dp.meaning import semantic as semantic
    from showthrough.dp.movement import After as After
    from showthrough.dp.movement import after as after
    from showthrough.dp.movement import changed_records as changed_records

_HOME = {
    "Account": "showthrough.dp.account",
    "After": "showthrough.dp.movement",
    "Guarantee": "showthrough.dp.composition",
    "NextCost": "showthrough.dp.account",
    "PosteriorInterval": "showthrough.dp.interval",
    "Semantic": "showthrough.dp.meaning",
    "after": "showthrough.dp.movement",
    "changed_records": "showthrough.dp.movement",
    "compose": "showthrough.dp.composition",
    "discrete_gaussian": "showthrough.dp.items",
    "gaussian": "showthrough.dp.items",
    "geometric": "showthrough.dp.items",
    "indistinguishability": "showthrough.dp.indistinguishable",
    "laplace": "showthrough.dp.items",
    "mechanisms": "showthrough.dp.account",
    "parallel": "showthrough.dp.items",
    "posterior_interval": "showthrough.dp.interval",
    "semantic": "showthrough.dp.meaning",
    "tv_sanitizer": "showthrough.dp.indistinguishable",
}

__all__ = [
    "Account",
    "After",
    "Guarantee",
    "NextCost",
    "PosteriorInterval",
    "Semantic",
    "after",
    "changed_records",
    "compose",
    "discrete_gaussian",
    "gaussian",
    "geometric",
    "indistinguishability",
    "laplace",
    "mechanisms",
    "parallel",
    "posterior_interval",
    "semantic",
    "tv_sanitizer",
]

sys.modules[__name__].__class__ = Room
