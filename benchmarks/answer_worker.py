"""Histories in a process of their own: made, answered, and the answer judged.

Reads specs and limits as lines of JSON from standard input and prints a line of JSON after every stage, so that a
process that is ended at a limit leaves what it had. Run by `benchmarks.answers`.
"""

from __future__ import annotations

import inspect
import json
import pickle
import resource
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import showthrough as st
from benchmarks.real_histories import History, Kind, Spec, make
from benchmarks.real_judge import judge_bounds, judge_facts
from benchmarks.real_oracle import Program

SURE = ("exact", "certified")


@dataclass(frozen=True)
class Order:
    """What is asked of a worker."""

    spec: Spec
    budgets: tuple[float, ...] = (60.0,)  # seconds of the inference, one after the other
    limit: float = 150.0  # CPU seconds after which the process ends, for each budget
    programs: float = 60.0  # seconds for one linear program of the judge; 0: no judge
    bounds: int = 0  # bounds to judge
    cache: str = ""  # folder of releases made before

    @classmethod
    def read(cls, text: str) -> Order:
        """An order as it was written."""
        given = json.loads(text)
        spec = given.pop("spec")
        kinds = tuple(Kind(**kind) for kind in spec.pop("kinds"))
        return cls(spec=Spec(kinds=kinds, **spec), budgets=tuple(given.pop("budgets")), **given)


def main() -> None:
    """Do one order after the other."""
    for number, line in enumerate(sys.stdin.read().splitlines()):
        tell(order=number)
        _do(Order.read(line))


def _do(order: Order) -> None:
    """Make, answer and judge one history, under each budget."""
    began = time.process_time()
    history = _history(order)
    made = time.process_time() - began
    for budget in order.budgets:
        tell(budget=budget, made=made)
        _limit(order.limit)
        post = _answer(budget, history)
        if post is not None:
            _limit(order.limit + (12 + 4 * order.bounds) * order.programs)
            _say(order, budget, history, post)


def tell(**found: Any) -> None:
    """One line for whoever waits."""
    print(json.dumps(found), flush=True)


def _limit(seconds: float) -> None:
    """End this process when it has used so many CPU seconds more."""
    until = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _history(order: Order) -> History:
    if not order.cache:
        return make(order.spec)
    place = Path(order.cache) / f"{st.__version__} {order.spec}.pickle".replace("/", "-")
    if place.exists():
        found: History = pickle.loads(place.read_bytes())
        return found
    history = make(order.spec)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(pickle.dumps(history))
    return history


# The answer ----------------------------------------------------------------------------------


def _answer(budget: float, history: History) -> st.Posterior | None:
    """The posterior, or what was raised instead."""
    given, known = dict(history.arguments), inspect.signature(st.infer).parameters
    if "seconds" in known:
        given["seconds"] = budget
    elif given["changed"] != "refuse":
        given["changed"] = "split"
    before, wall = time.process_time(), time.perf_counter()
    post, outcome, words = None, "answered", ""
    try:
        post = st.infer(history.releases, **given)
    except st.errors.ShowthroughError as error:
        outcome, words = type(error).__name__, str(error)[:300]
        found = getattr(error, "posterior", None)
        post = found if isinstance(found, st.Posterior) else None
    tell(
        outcome=outcome, words=words, cpu=time.process_time() - before, wall=time.perf_counter() - wall,
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )  # fmt: skip
    return post


def states_of(post: st.Posterior) -> pl.Series:
    """Everybody's state; one for all where the package knows no other."""
    if hasattr(post, "states"):
        found: pl.Series = post.states()
        return found
    return pl.Series([str(post.certificate.status)] * post.ids.len(), dtype=pl.String)


def _say(order: Order, budget: float, history: History, post: st.Posterior) -> None:
    """Facts beside the truth, then facts and bounds beside the programs."""
    states = Counter(states_of(post).to_list())
    facts = post.proven()
    sure = facts.filter(~pl.col("conditional")) if "conditional" in facts.columns else facts
    tell(
        status=str(post.certificate.status),
        persons=post.ids.len(),
        states=dict(states),
        certified=sum(states[s] for s in SURE) / max(1, post.ids.len()),
        variables=post.certificate.variables,
        certain=int((sure["fact"] == "certain").sum()),
        facts=sure.height,
        conditional=facts.height - sure.height,
        **_false(history, sure),
    )
    if not order.programs:
        return
    program = Program(post.releases, [post.groups_of(name) for name in post.names])
    program.start_from(history.truth, order.programs)
    judged = judge_facts(program, sure, order.programs)
    tell(judged=asdict(judged))
    if order.bounds:
        _bounds(order, budget, post, program)


def _false(history: History, facts: pl.DataFrame) -> dict[str, int]:
    """How many facts the truth contradicts, of persons whose value did not change and of those whose did."""
    by = ["id", "release"] if "release" in facts.columns else ["id"]
    whole = facts.with_row_index("fact_number").with_columns(pl.col("id").cast(pl.String))
    true = history.truth.rename({"value": "true"})
    parts = [whole.join(true, on="id")]
    if "release" in by:
        split = pl.col("release").is_not_null()
        parts = [
            whole.filter(~split).drop("release").join(true, on="id"),
            whole.filter(split).join(true, on=["id", "release"]).select(pl.all()),
        ]
    wrong = list[tuple[int, str]]()
    for part in parts:
        same = pl.col("value") == pl.col("true")
        certain = pl.col("fact") == "certain"
        false = part.filter((certain & ~same) | ((pl.col("fact") == "impossible") & same))
        wrong += false.select("fact_number", "id").unique("fact_number").rows()
    changed = len({number for number, id in wrong if id in history.changed})
    return {"false": len({number for number, _ in wrong}) - changed, "false_of_changed": changed}


def _bounds(order: Order, budget: float, post: st.Posterior, program: Program) -> None:
    """Some bounds beside the programs, and how many persons have useful ones.

    Everybody has quick bounds; those of some persons are made as sharp as the budget allows again. Useful is what is
    narrower than [0, 1] for a value in all groups of the person: a bound, or a value that the counts exclude.
    """
    chosen = np.random.default_rng(order.spec.seed).permutation(post.ids.len())[: order.bounds]
    before = time.process_time()
    quick = post.bounds(seconds=0)
    some = post.bounds(post.ids.gather(chosen).unique(maintain_order=True), seconds=budget)
    cpu = time.process_time() - before
    picked = [one.sample(min(order.bounds, one.height), seed=order.spec.seed, shuffle=True) for one in (quick, some)]
    judged = judge_bounds(program, pl.concat(picked), order.programs)
    who = [c for c in quick.columns if c in ("id", "release")]
    narrow = (pl.col("lower") > 0) | (pl.col("upper") < 1)
    excluded = post.proven().filter((pl.col("fact") == "impossible") & (pl.col("by") == "counts"))
    useful = pl.concat([frame.select(who) for frame in (quick.filter(narrow), some.filter(narrow), excluded)])
    tell(
        bounds=asdict(judged), bounds_cpu=cpu, asked=quick.select(who).unique().height, useful=useful.unique().height,
        sharp=int(some["sharp"].sum()), sampled=some.height,
    )  # fmt: skip


if __name__ == "__main__":
    main()
