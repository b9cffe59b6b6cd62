"""Intervals after a noisy release, on simulated small histories: python -m benchmarks.noisy_intervals [--histories 2000] [--seed 0]

Every history is a truth of two to six persons in one or two bucketized releases, and a table of noisy counts of the value by
a cell that a register tells. The posterior after the table (Bayes' rule over worlds) is compared with three intervals around
the posterior before it: d of every record, d of the records whose cell changes, and the naive d = 1. Noise is OpenDP's where
it is installed, else drawn here; Gaussian noise may leave its interval as often as it says.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

import showthrough as st

ROUNDING = 1e-9
LAWS = ("geometric", "laplace", "gaussian")
FAILURE = 0.1


@dataclass
class Tally:
    """What was seen: posteriors, those outside each interval, and by how much at most."""

    posteriors: int = 0
    outside: dict[str, int] = field(default_factory=lambda: {"records": 0, "cells": 0, "naive": 0})
    worst: dict[str, float] = field(default_factory=lambda: {"records": 0.0, "cells": 0.0, "naive": 0.0})
    runs: int = 0
    runs_outside: dict[str, int] = field(default_factory=lambda: {"records": 0, "cells": 0, "naive": 0})


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """δ of Gaussian noise on counts that move by √2, exactly."""
    shift = math.sqrt(2)

    def below(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    a, b = shift / (2 * sigma), epsilon * sigma / shift
    return below(a - b) - math.exp(epsilon) * below(-a - b)


def noise(rng: np.random.Generator, law: str, scale: float, size: int) -> np.ndarray:
    """Noise of a law, from OpenDP if it is there."""
    try:
        import opendp.prelude as dp
    except ImportError:
        if law == "geometric":
            p = 1 - math.exp(-1 / scale)
            return rng.geometric(p, size) - rng.geometric(p, size)
        return rng.laplace(0, scale, size) if law == "laplace" else rng.normal(0, scale, size)
    dp.enable_features("contrib")
    if law == "geometric":
        return np.array((dp.space_of(list[int], dp.l1_distance(T=int)) >> dp.m.then_geometric(scale))([0] * size))
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    if law == "laplace":
        return np.array(((domain, dp.l1_distance(T=float)) >> dp.m.then_laplace(scale))([0.0] * size))
    return np.array(((domain, dp.l2_distance(T=float)) >> dp.m.then_gaussian(scale))([0.0] * size))


def history(rng: np.random.Generator, law: str) -> tuple[list[st.Release], st.Release, pl.DataFrame]:
    """Bucketized releases of a truth, a noisy table of it, and a register."""
    n, values = int(rng.integers(2, 7)), list("abc"[: int(rng.integers(2, 4))])
    truth = [values[k] for k in rng.integers(0, len(values), n)]
    told = []
    for k in range(int(rng.integers(1, 3))):
        frame = pl.DataFrame({"id": np.arange(n), "group": rng.integers(0, 2, n), "value": truth})
        told.append(st.Release.bucketized(frame, id="id", sensitive="value", group="group", name=f"D{k + 1}"))
    cells = [("x", "y")[k] for k in rng.integers(0, 2, n)]
    rows = [
        (c, v, sum(a == c and b == v for a, b in zip(cells, truth, strict=True))) for c in ("x", "y") for v in values
    ]
    epsilon = float(rng.choice([0.3, 1.0, 2.0]))
    scale = 2 / epsilon if law != "gaussian" else 2.5 / epsilon
    claim = {} if law != "gaussian" else {"epsilon": epsilon, "delta": gaussian_delta(scale, epsilon)}
    noisy = np.array([row[2] for row in rows]) + noise(rng, law, scale, len(rows))
    frame = pl.DataFrame({"cell": [r[0] for r in rows], "value": [r[1] for r in rows], "count": noisy})
    table = st.Release.noisy(
        frame,
        sensitive="value",
        quasi=["cell"],
        mechanism=law,
        scale=scale,
        neighbours="replace-one",
        name="N",
        **claim,
    )
    return told, table, pl.DataFrame({"id": np.arange(n), "cell": cells})


def simulate(histories: int, seed: int, laws: tuple[str, ...] = LAWS) -> dict[str, Tally]:
    """Compare posteriors with their intervals, law by law in turn."""
    rng = np.random.default_rng(seed)
    found = {law: Tally() for law in laws}
    for run in range(histories):
        law = laws[run % len(laws)]
        told, table, register = history(rng, law)
        post = st.infer([*told, table], register=register)
        assert table.noise is not None
        claim = (table.noise.epsilon, table.noise.delta)
        failure = FAILURE if claim[1] else None
        cells = st.dp.after(post, release="N", failure=failure).people
        records = st.dp.after(post, epsilon=claim[0], delta=claim[1], failure=failure).people
        seen = post.to_frame()["p"].to_numpy()
        assert set(records["by"]) == {"worlds"}
        naive = [st.dp.posterior_interval(p, epsilon=claim[0], changed=int(0 < p < 1)) for p in records["p"]]
        ends = {
            "records": (records["low"].to_numpy(), records["high"].to_numpy()),
            "cells": (cells["low"].to_numpy(), cells["high"].to_numpy()),
            "naive": (np.array([one.low for one in naive]), np.array([one.high for one in naive])),
        }
        own = found[law]
        own.posteriors += seen.size
        own.runs += 1
        for name, (low, high) in ends.items():
            over = np.maximum(np.maximum(low - seen, seen - high), 0.0)
            own.outside[name] += int((over > ROUNDING).sum())
            own.worst[name] = max(own.worst[name], float(over.max(initial=0.0)))
            own.runs_outside[name] += bool((over > ROUNDING).any())
    return found


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for law, own in simulate(given.histories, given.seed).items():
        print(f"{law}: {own.runs} histories, {own.posteriors} posteriors")
        for name, outside in own.outside.items():
            print(
                f"  {name}: {outside} outside (by {own.worst[name]:.3f} at most), in {own.runs_outside[name]} histories"
            )


if __name__ == "__main__":
    main()
