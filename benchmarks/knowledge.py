"""What statements and a prior cost: the same history with and without, in one run.

    python -m benchmarks.knowledge [--persons 7200] [--statements 10000] [--shares 100]

Two independent Anatomy releases; every statement is true. Statements about one person exclude values that the
person could have and has not; shares speak of the persons of an age. Times are CPU seconds of `infer`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.histories import NAMES, OCCUPATIONS, independent


def truth_of(persons: int, seed: int) -> np.ndarray:
    """Everybody's value, as `independent` draws them."""
    step = persons - int(persons * 5 / 6)
    rng = np.random.default_rng(seed)
    return rng.choice(OCCUPATIONS.size, size=persons + step, p=OCCUPATIONS / OCCUPATIONS.sum())


def statements(post: st.Posterior, truth: np.ndarray, single: int, shares: int, seed: int) -> tuple[list, pl.DataFrame]:
    """True statements: values that somebody could have and has not, and shares among the persons of an age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, post.ids.len())
    register = pl.DataFrame({"id": post.ids, "age": age})
    own = pl.DataFrame({"id": np.arange(truth.size), "true": NAMES.gather(truth)})
    untrue = post.to_frame().join(own, on="id").filter(pl.col("value") != pl.col("true")).select("id", "value")
    some = untrue.sample(min(single, untrue.height), seed=seed)
    found = [st.knowledge.excluded(i, v) for i, v in some.iter_rows()]
    people = register.join(own, on="id")
    for k in range(shares):
        low, value = int(rng.integers(18, 80)), NAMES[k % NAMES.len()]
        who = people.filter(pl.col("age").is_between(low, low + 10))
        share, spread = float((who["true"] == value).mean()), 0.02 if k % 2 else 0.3
        where = {"age": {"at_least": low, "at_most": low + 10}}
        least, most = max(0.0, round(share - spread, 3)), min(1.0, round(share + spread, 3))
        found.append(st.knowledge.share(value, where=where, at_least=least, at_most=most))
    return found, register


def timed(**given: Any) -> tuple[float, st.Posterior]:
    """CPU seconds and the answer."""
    start = time.process_time()
    post = st.infer(**given)
    return time.process_time() - start, post


def main() -> None:
    """Print one row per l."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--persons", type=int, default=7200)
    parser.add_argument("--statements", type=int, default=10_000)
    parser.add_argument("--shares", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("| l | plain s | with statements s | ratio | status | with a prior s | ratio | a pass with a prior, ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for l in (5, 8):
        releases = independent(asked.persons, l, seed=asked.seed)
        said, register = statements(
            st.infer(releases), truth_of(asked.persons, asked.seed), asked.statements, asked.shares, asked.seed
        )
        plain = best(releases=releases)
        told = best(releases=releases, register=register, knowledge=said)
        believed = best(releases=releases, prior=_prior(plain[1], asked.seed))
        print(
            f"| {l} | {plain[0]:.3f} | {told[0]:.3f} | {told[0] / plain[0]:.1f} | {told[1].certificate.status} | "
            f"{believed[0]:.3f} | {believed[0] / plain[0]:.1f} | {_pass(believed[1]) / _pass(plain[1]):.2f} |"
        )


def best(**given: Any) -> tuple[float, st.Posterior]:
    """The quickest of three runs."""
    return min((timed(**given) for _ in range(3)), key=lambda one: one[0])


def _pass(post: st.Posterior) -> float:
    """Seconds of maximum entropy per pass over the variables."""
    return post.certificate.seconds["maximum entropy"] / post.certificate.passes


def _prior(post: st.Posterior, seed: int) -> pl.DataFrame:
    """Everybody's own belief, none of it zero."""
    rng = np.random.default_rng(seed)
    frame = post.to_frame().select("id").unique(maintain_order=True)
    values = post.values.to_list()
    p = rng.dirichlet(np.full(len(values), 5.0), frame.height)
    return pl.DataFrame(
        {
            "id": frame["id"].gather(np.repeat(np.arange(frame.height), len(values))),
            "value": values * frame.height,
            "p": p.ravel(),
        }
    )


if __name__ == "__main__":
    main()
