"""showthrough: what shows through when published tables are laid on top of each other.

The public names load on first use, so importing the package pulls in neither NumPy nor Polars.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from showthrough import errors as errors
    from showthrough.auditing.audit import Audit as Audit
    from showthrough.auditing.audit import audit as audit
    from showthrough.inference.certificate import Certificate as Certificate
    from showthrough.inference.posterior import Posterior as Posterior
    from showthrough.inference.proof import Proof as Proof
    from showthrough.inference.run import infer as infer
    from showthrough.register.history_file import read_history as read_history
    from showthrough.register.register import Register as Register
    from showthrough.register.register import read_register as read_register
    from showthrough.release.reading import read_release as read_release
    from showthrough.release.release import Release as Release
    from showthrough.table.hierarchy import Hierarchy as Hierarchy

__version__ = "0.1.0"

_HOME = {
    "Audit": "showthrough.auditing.audit",
    "audit": "showthrough.auditing.audit",
    "Certificate": "showthrough.inference.certificate",
    "Posterior": "showthrough.inference.posterior",
    "Proof": "showthrough.inference.proof",
    "Hierarchy": "showthrough.table.hierarchy",
    "Register": "showthrough.register.register",
    "Release": "showthrough.release.release",
    "errors": "showthrough.errors",
    "infer": "showthrough.inference.run",
    "read_history": "showthrough.register.history_file",
    "read_register": "showthrough.register.register",
    "read_release": "showthrough.release.reading",
}

__all__ = [
    "Audit",
    "Certificate",
    "Hierarchy",
    "Posterior",
    "Proof",
    "Register",
    "Release",
    "__version__",
    "audit",
    "errors",
    "infer",
    "read_history",
    "read_register",
    "read_release",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'showthrough' has no attribute {name!r}")
    module = import_module(_HOME[name])
    found = module if name == "errors" else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
