"""The guard with records held back, on pasts that leak: what it costs beside m-invariance and a lower bound.

    python -m benchmarks.republishing_guard [--series 200] [--first 1000] [--data DATA] [--results FILE]

Random dynamic series: three tables of about 40 persons who come, leave and come back; the first two are published
without a look at each other (Anatomy or Mondrian, at random), the third is guarded by the limit that its criterion
promises. With DATA (the folder with adult/adult_kdd08.csv.gz) also four releases of 7 200 records of Adult, the first
two independent, and the three releases of 6 000. Persons over the limit are counted by a fresh inference, those whom
the past exposes aside. A refusal is no release, or more than a tenth withheld. Seconds are CPU time. Every finished
case is written to the results at once and is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.republishing_adult import SLACK, tables
from showthrough import FrequencyLDiversity, KAnonymity, MUniqueness, Policy, Release, anonymize
from showthrough.errors import InputError, PolicyError
from showthrough.republishing.tied import joint

WITHHELD = 0.1


def changing(random: np.random.Generator, persons: int = 60, values: int = 5) -> list[pl.DataFrame]:
    """Three tables of persons who come, leave and come back."""
    value, age = random.integers(0, values, persons), random.integers(20, 60, persons)
    area, inside = random.integers(0, 6, persons), random.random(persons) < 0.6
    found = []
    for _ in range(3):
        here = np.flatnonzero(inside)
        found.append(
            pl.DataFrame(
                {
                    "pid": [f"p{i}" for i in here], "age": age[here], "zip": [f"z{a}" for a in area[here]],
                    "value": [f"v{v}" for v in value[here]],
                }
            )
        )  # fmt: skip
        change = random.random(persons) < 0.3
        inside = np.where(change, random.random(persons) < 0.6, inside)
    return found


def guarded(
    every: list[pl.DataFrame], l: int, base: str, roles: dict[str, Any], *, guarded_from: int, seconds: float, seed: int
) -> dict[str, Any]:
    """Releases without a look at each other, then guarded ones; figures of the last."""
    criteria: list[Any] = [FrequencyLDiversity(l)] if base == "anatomy" else [KAnonymity(3), FrequencyLDiversity(l)]
    history: list[Release] = []
    found: dict[str, Any] = {}
    for k, table in enumerate(every):
        given: dict[str, Any] = {"criteria": criteria, "history": history, "name": f"R{k + 1}", "seed": seed, **roles}
        if k < guarded_from:
            given["history"] = []
            history.append(anonymize(table, method=base, output="bucketized", **given))
            continue
        began = time.process_time()
        before = joint(history)
        exposed = set(before.ids.filter(pl.Series(before.largest() > 1 / l + SLACK)).cast(pl.String))
        more = {"policy": Policy(max_posterior=1 / l, integral="no"), "hold_back": True, "exposed": "accept"}
        try:
            release = anonymize(
                table, method=base, output="bucketized", strategy="guarded", seconds=seconds, **more, **given
            )
        except PolicyError as problem:
            return {"rows": table.height, "exposed": len(exposed), "refused": problem.shareable}
        history.append(release)
        post = joint(history)
        over = set(post.ids.filter(pl.Series(post.largest() > 1 / l + SLACK)).cast(pl.String)) - exposed
        least = next((r.figures["least"] for r in release.made.remarks if r.kind == "least"), None)
        made = release.made
        found = {
            "rows": table.height, "exposed": len(exposed), "over": len(over), "counterfeits": made.counterfeits,
            "withheld": made.suppressed, "least": 0 if not made.counterfeits + made.suppressed else least,
            "seconds": round(time.process_time() - began, 2), **beside(table, history[:-1], l, roles, exposed),
        }  # fmt: skip
    return found


def beside(
    table: pl.DataFrame, history: list[Release], l: int, roles: dict[str, Any], exposed: set[str]
) -> dict[str, Any]:
    """What m-invariance with counterfeits takes, and whom it puts over the limit."""
    try:
        other = anonymize(
            table,
            strategy="m-invariance",
            criteria=[MUniqueness(l)],
            history=history,
            hold_back=True,
            name="M",
            **roles,
        )
    except InputError as problem:
        return {"m_invariance": problem.shareable}
    post = joint([*history, other])
    over = set(post.ids.filter(pl.Series(post.largest() > 1 / l + SLACK)).cast(pl.String)) - exposed
    return {"m_invariance": other.made.counterfeits + other.made.suppressed, "m_invariance_over": len(over)}


def random_series(seed: int) -> dict[str, Any]:
    """One series."""
    random = np.random.default_rng(seed)
    base, l = ("anatomy", "mondrian")[int(random.integers(2))], int(random.integers(2, 4))
    roles = {"id": "pid", "sensitive": "value", "quasi": ["age", "zip"]}
    every = changing(random)
    try:
        found = guarded(every, l, base, roles, guarded_from=2, seconds=600.0, seed=seed)
    except InputError as problem:  # the independent releases are not possible
        return {"base": base, "l": l, "impossible": problem.shareable}
    return {"base": base, "l": l, **found}


def adult(frame: pl.DataFrame, case: tuple[int, int, int, int, str]) -> dict[str, Any]:
    """Releases of so many rows, an overlap, a number of releases, l and the base method; from the third on guarded."""
    rows, overlap, releases, l, base = case
    quasi = [c for c in frame.columns if c not in ("pid", "occupation")]
    roles = {"id": "pid", "sensitive": "occupation", "quasi": quasi}
    return guarded(tables(frame, rows, overlap, releases), l, base, roles, guarded_from=2, seconds=600.0, seed=0)


def summary(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The series together, and the worst of them."""
    every = [one for name, one in found.items() if name.startswith("series") and "impossible" not in one]
    made = [one for one in every if "refused" not in one]
    paid = [one["counterfeits"] + one["withheld"] for one in made]
    gap = [p - (one["least"] or 0) for p, one in zip(paid, made, strict=True)]
    dearer = [
        p - one["m_invariance"]
        for p, one in zip(paid, made, strict=True)
        if isinstance(one["m_invariance"], int) and not one["m_invariance_over"]
    ]
    return {
        "series": len(every), "refused": len(every) - len(made),
        "more than a tenth withheld": sum(one["withheld"] > WITHHELD * one["rows"] for one in made),
        "of these also by the bound": sum(
            one["withheld"] > WITHHELD * one["rows"] and (one["least"] or 0) > WITHHELD * one["rows"] for one in made
        ),
        "over": sum(one["over"] for one in made), "paid": sum(paid), "least": sum(one["least"] or 0 for one in made),
        "largest gap": max(gap, default=0), "most above m-invariance where that is safe": max(dearer, default=0),
        "m-invariance over": sum(one.get("m_invariance_over", 0) for one in made),
        "worst seconds": max((one["seconds"] for one in made), default=0.0),
    }  # fmt: skip


def main() -> None:
    """Run what is missing in the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--first", type=int, default=1000, help="first seed")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--results", type=Path, default=Path("republishing_guard.json"))
    options = parser.parse_args()
    done = json.loads(options.results.read_text()) if options.results.exists() else {}
    seeds = range(options.first, options.first + options.series)
    cases: dict[str, Callable[[], dict[str, Any]]] = {f"series {s}": lambda s=s: random_series(s) for s in seeds}
    if options.data is not None:
        frame = pl.read_csv(options.data / "adult" / "adult_kdd08.csv.gz", infer_schema=False).with_row_index("pid")
        frame = frame.with_columns(pl.col("pid").cast(pl.String), pl.col("age").cast(pl.Int64))
        for case in (
            (6000, 5000, 3, 3, "anatomy"), (6000, 5000, 3, 2, "anatomy"), (7200, 6000, 4, 3, "anatomy"),
            (7200, 6000, 4, 2, "anatomy"), (6000, 5000, 3, 2, "mondrian"),
        ):  # fmt: skip
            cases[f"adult {case}"] = lambda c=case: adult(frame, c)
    for name, run in cases.items():
        if name not in done:
            done[name] = run()
            options.results.write_text(json.dumps(done, indent=1))
            print(name, done[name], flush=True)
    print(json.dumps(summary(done), indent=1))


if __name__ == "__main__":
    main()
