"""Where work runs: this process, all cores, or a Spark cluster.

The names load on first use, as those of the package do.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from showthrough.engines.local import local as local
    from showthrough.engines.processes import processes as processes
    from showthrough.engines.spark import spark as spark

_HOME = {
    "local": "showthrough.engines.local",
    "processes": "showthrough.engines.processes",
    "spark": "showthrough.engines.spark",
}

__all__ = ["local", "processes", "spark"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'showthrough.engines' has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _Room(ModuleType):
    """The import of a file that is called like its function (spark.py) would hide the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room
