"""Whether the master of a cluster answers, asked before anything is started that would wait for it for minutes."""

from __future__ import annotations

import re
import socket

from showthrough.errors import EngineError

_PATIENCE = 5.0  # seconds for a connection


def addresses(master: str) -> tuple[tuple[str, int], ...]:
    """Hosts and ports of a standalone master, of several if they stand by for each other; none for all others.

    >>> addresses("spark://a:7077,b:7077"), addresses("local[2]"), addresses("yarn")
    ((('a', 7077), ('b', 7077)), (), ())
    """
    listed = master.removeprefix("spark://") if master.startswith("spark://") else ""
    found = re.findall(r"(\[[0-9a-fA-F:]+\]|[^,:]+):(\d{1,5})", listed)
    return tuple((host.strip("[]"), int(port)) for host, port in found)


def on_this_machine(master: str) -> bool:
    """Whether driver and workers see the same folders because they are on one machine.

    >>> [on_this_machine(one) for one in ("local[*]", "local-cluster[2,1,1024]", "spark://127.0.0.1:7077", "yarn")]
    [True, True, True, False]
    """
    if master.startswith("local"):
        return True
    hosts = [host for host, _ in addresses(master)]
    return bool(hosts) and all(host in ("localhost", "::1") or host.startswith("127.") for host in hosts)


def reach(master: str) -> None:
    """A sentence if nobody answers at the address of a standalone master."""
    asked = addresses(master)
    if re.match(r"local\b|yarn$|[a-z0-9]+://", master) is None:
        raise EngineError(
            f"{master} is no master of Spark: that is spark://host:7077, yarn, k8s://https://host:6443, or local[2] "
            "for two cores of this machine."
        )
    if master.startswith("spark://") and not asked:
        raise EngineError(f"The master {master} has no host and port, such as spark://host:7077.")
    if asked and not any(_answers(host, port) for host, port in asked):
        raise EngineError(
            f"The Spark master at {master} does not answer. Is it running, and is that its address, with the host and "
            "port that it shows on its page?"
        )


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE):
            return True
    except (OSError, OverflowError, UnicodeError):
        return False
