"""Differential privacy: what a series of noisy releases promises, and what that means for a person.

The names load on first use, as those of the package do: accounting takes libraries that take seconds to load.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from showthrough.dp.account import Account as Account
    from showthrough.dp.account import NextCost as NextCost
    from showthrough.dp.account import mechanisms as mechanisms
    from showthrough.dp.compose import Guarantee as Guarantee
    from showthrough.dp.compose import compose as compose
    from showthrough.dp.items import discrete_gaussian as discrete_gaussian
    from showthrough.dp.items import gaussian as gaussian
    from showthrough.dp.items import geometric as geometric
    from showthrough.dp.items import laplace as laplace
    from showthrough.dp.items import parallel as parallel

_HOME = {
    "Account": "showthrough.dp.account",
    "Guarantee": "showthrough.dp.compose",
    "NextCost": "showthrough.dp.account",
    "compose": "showthrough.dp.compose",
    "discrete_gaussian": "showthrough.dp.items",
    "gaussian": "showthrough.dp.items",
    "geometric": "showthrough.dp.items",
    "laplace": "showthrough.dp.items",
    "mechanisms": "showthrough.dp.account",
    "parallel": "showthrough.dp.items",
}

__all__ = [
    "Account",
    "Guarantee",
    "NextCost",
    "compose",
    "discrete_gaussian",
    "gaussian",
    "geometric",
    "laplace",
    "mechanisms",
    "parallel",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'showthrough.dp' has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
