"""Where work runs: this process, all cores, or a Spark cluster.

The names load on first use, as those of the package do.
"""

from __future__ import annotations

import sys

from showthrough.rooms import Room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from showthrough.engines.cluster_release import published as published
    from showthrough.engines.local import local as local
    from showthrough.engines.processes import processes as processes
    from showthrough.engines.spark import spark as spark

_HOME = {
    "local": "showthrough.engines.local",
    "processes": "showthrough.engines.processes",
    "published": "showthrough.engines.cluster_release",
    "spark": "showthrough.engines.spark",
}

__all__ = ["local", "processes", "published", "spark"]

sys.modules[__name__].__class__ = Room
