"""Does every real history get an answer, in bounded time, and is what it says true?

    python -m benchmarks.answers [--seeds 0] [--slice 1/8] [--names "five Anatomy" mixed] [--seconds 60] [--persons-limit 10000]
    python -m benchmarks.answers --budgets 0.01,0.1,1,10 [--count 300]
    python -m benchmarks.answers --list

SHOWTHROUGH_DATA names the folder with adult/ and ipums/. Each history of `real_grid` (with seed 0 the named
ones of `real_histories` first) is made, answered and judged in a process of its own that ends at a CPU limit.
A fact is *false* if the truth contradicts it, *refuted* if a linear program does: all facts are judged, one
program for an island. Every finished history is written to the results at once and not run again
(``--again`` does). With budgets small histories are answered under each of them, several in one process, and sampled
bounds are judged too. Seeds from 1000 on are for judging alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.answer_worker import Order
from benchmarks.real_grid import every, small
from benchmarks.real_histories import Spec, folder

_TOGETHER = 20  # small histories that one process answers: starting it takes longer than they do
RESULTS = Path(__file__).parent / "results"
STATES = ("exact", "certified", "uncertified", "undecided", "relaxed", "contradictory")
COLUMNS = (
    "name", "seed", "budget", "history", "outcome", "status", "persons", *STATES, "certified_share", "variables",
    "made_cpu", "cpu", "wall", "memory_gb", "facts", "certain", "conditional", "false", "false_of_changed",
    "confirmed", "refuted", "doubtful", "infeasible", "unjudged", "judge_cpu", "bounds_confirmed", "bounds_refuted",
    "bounds_unjudged", "bounds_cpu", "asked", "useful", "sampled", "sharp", "words", "examples",
)  # fmt: skip
Row = dict[str, Any]


def main() -> None:
    """Run what is missing in the results, then print the table."""
    given = _options()
    specs = _chosen(given)
    if given.list:
        for spec in specs:
            print(f"{spec.name}: {spec}")
        return
    folder()  # says what is missing before anything is run
    budgets = given.budgets or [given.seconds]
    results = given.results or RESULTS / ("budgets.csv" if given.budgets else "answers.csv")
    done = {} if given.again else _read(results)
    missing = [(s, [b for b in budgets if _key(s.name, s.seed, b) not in done]) for s in specs]
    orders = [_order(given, spec, left) for spec, left in missing if left]
    together = _TOGETHER if given.budgets else 1
    for first in range(0, len(orders), together):
        for rows in run(orders[first : first + together]):
            done |= {_key(row["name"], row["seed"], row["budget"]): row for row in rows}
            print(*map(_line, rows), sep="\n", flush=True)
            _write(results, done.values())
    wanted = {_key(spec.name, spec.seed, budget) for spec in specs for budget in budgets}
    rows = [row for key, row in done.items() if key in wanted]
    print()
    print("\n".join(by_budget(rows) if given.budgets else by_family(rows)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=lambda text: [int(s) for s in text.split(",")], default=[0])
    parser.add_argument("--slice", type=lambda text: [int(s) for s in text.split("/")], default=[1, 1])
    parser.add_argument("--names", nargs="+", default=[""], help="parts of names")
    parser.add_argument("--persons-limit", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of an inference")
    parser.add_argument("--limit", type=float, help="CPU seconds after which an inference is ended")
    parser.add_argument("--programs", type=float, default=60.0, help="seconds for one judging program; 0: none")
    parser.add_argument("--bounds", type=int, default=0, help="bounds to judge for each history")
    parser.add_argument("--budgets", type=lambda text: [float(s) for s in text.split(",")], default=[])
    parser.add_argument("--count", type=int, default=300, help="histories for each seed, with budgets")
    parser.add_argument("--cache", type=Path, help="folder for releases that were made")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--list", action="store_true", help="only name the histories")
    return parser.parse_args()


def _chosen(given: argparse.Namespace) -> list[Spec]:
    specs = [s for seed in given.seeds for s in (small(seed, given.count) if given.budgets else every(seed))]
    specs = [s for s in specs if s.persons <= given.persons_limit and any(part in s.name for part in given.names)]
    number, of = given.slice  # in a shuffled order: sizes and tables of a family take turns
    return [specs[int(k)] for k in np.sort(np.random.default_rng(0).permutation(len(specs))[number - 1 :: of])]


def _order(given: argparse.Namespace, spec: Spec, budgets: Sequence[float]) -> Order:
    limit = given.limit or 2 * max(budgets) + 30
    bounds = given.bounds or (10 if given.budgets else 0)
    return Order(spec, tuple(budgets), limit, given.programs, bounds, str(given.cache or ""))


def run(orders: Sequence[Order]) -> Iterator[list[Row]]:
    """Histories in a process of their own, each as a row of the results for each budget.

    A process that is ended at a limit leaves the rest to another.
    """
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    while orders:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.answer_worker"], input="\n".join(json.dumps(asdict(o)) for o in orders),
            capture_output=True, text=True, env={**one, **os.environ}, check=False,
        )  # fmt: skip
        told: list[list[Row]] = []
        for line in map(json.loads, done.stdout.splitlines()):
            told = [*told, []] if "order" in line else [*told[:-1], [*told[-1], line]]
        last = done.stderr.strip().splitlines()[-1:] or [f"ended with {done.returncode}"]
        told = told or [[]]
        for number, lines in enumerate(told):
            ended = done.returncode if number == len(told) - 1 else 0
            yield _rows(orders[number], lines, ended, last[0])
        orders = orders[len(told) :]


def _rows(order: Order, lines: Sequence[Row], ended: int, last: str) -> list[Row]:
    """The lines on one order; ``ended`` is how its process did, and ``last`` its last word."""
    parts: list[Row] = []
    for line in lines:
        parts = [*parts, line] if "budget" in line else [*parts[:-1], parts[-1] | line]
    parts += [{"budget": budget} for budget in order.budgets[len(parts) :]]  # it ended before
    for found in parts:
        if "outcome" not in found:
            found |= {"outcome": "time limit" if ended < 0 else "failed", "words": last}
    if ended and parts[-1]["outcome"] == "answered":
        parts[-1]["words"] = f"{parts[-1]['words']} judge: {last}".strip()
    return [_row(order, found) for found in parts]


def _row(order: Order, found: Row) -> Row:
    """The lines of a worker on one budget as one row."""
    judged, bounds = found.get("judged"), found.get("bounds")
    if judged is None:
        judged = {"unjudged": found["facts"]} if found.get("facts") else {}
    row: Row = {
        "name": order.spec.name, "seed": order.spec.seed, "budget": found["budget"], "history": str(order.spec),
        "outcome": found["outcome"], "status": found.get("status", ""), "persons": found.get("persons", ""),
        **{state: found.get("states", {}).get(state, 0) for state in STATES},
        "certified_share": found.get("certified", ""), "made_cpu": found.get("made", ""),
        "memory_gb": found.get("memory", ""), "judge_cpu": judged.get("seconds", ""),
        "examples": " | ".join(judged.get("examples", [])[:3]),
    }  # fmt: skip
    same = ("variables", "cpu", "wall", "facts", "certain", "conditional", "false", "false_of_changed", "words")
    row |= {name: found.get(name, "") for name in (*same, "bounds_cpu", "asked", "useful", "sampled", "sharp")}
    row |= {name: judged.get(name, "") for name in ("confirmed", "refuted", "doubtful", "infeasible", "unjudged")}
    if bounds is not None:
        row |= {f"bounds_{name}": bounds[name] for name in ("confirmed", "refuted", "unjudged")}
        row["examples"] = " | ".join([row["examples"], *bounds["examples"][:3]]).strip(" |")
    return {name: _short(row.get(name, "")) for name in COLUMNS}


def _short(cell: Any) -> Any:
    return f"{cell:.4g}" if isinstance(cell, float) else " ".join(cell.split()) if isinstance(cell, str) else cell


# The results ---------------------------------------------------------------------------------


def _key(name: str, seed: Any, budget: Any) -> tuple[str, int, float]:
    return name, int(seed), float(budget)


def _read(path: Path) -> dict[tuple[str, int, float], Row]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {_key(row["name"], row["seed"], row["budget"]): dict(row) for row in csv.DictReader(file)}


def _write(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def _number(cell: Any) -> float:
    return float(cell) if cell not in ("", None) else 0.0


def _line(row: Row) -> str:
    states = ", ".join(f"{row[state]} {state}" for state in STATES if _number(row[state]))
    wrong = ", ".join(
        f"{row[name]} {name}"
        for name in ("false", "refuted", "doubtful", "unjudged", "infeasible")
        if _number(row[name])
    )
    return (
        f"{row['name']} ({row['history']}), budget {row['budget']}: {row['outcome']} {row['status']} "
        f"[{states or row['words'][:80]}] {row['cpu']} CPU s, {row['memory_gb']} GB, {row['facts']} facts {wrong}"
    )


def _sum(rows: Sequence[Row], name: str) -> int:
    return round(sum(_number(row[name]) for row in rows))


def by_family(rows: Sequence[Row]) -> list[str]:
    """A table with one line for each family, the part without changed values, and all."""
    families: dict[str, list[Row]] = {}
    for row in rows:
        last = row["name"].rsplit(" ", 1)
        families.setdefault(last[0] if last[-1].isdigit() and len(last[-1]) == 2 else "named", []).append(row)
    still = [row for row in rows if "changed" not in row["history"]]
    lines = [
        "| histories | number | answered | in budget | persons certified | slowest | memory | facts | false | refuted | unjudged |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    return lines + [
        _family(name, own) for name, own in [*families.items(), ("no value changed", still), ("all", rows)] if own
    ]


def _family(name: str, rows: Sequence[Row]) -> str:
    answered = [row for row in rows if row["outcome"] == "answered"]
    quick = [row for row in answered if _number(row["cpu"]) <= _number(row["budget"])]
    persons = _sum(rows, "persons") + sum(_persons(row) for row in rows if not _number(row["persons"]))
    sure = _sum(answered, "exact") + _sum(answered, "certified")
    slowest, memory = (max((_number(row[c]) for row in rows), default=0.0) for c in ("cpu", "memory_gb"))
    unjudged = _sum(rows, "unjudged") + _sum(rows, "doubtful") + _sum(rows, "infeasible")
    return (
        f"| {name} | {len(rows)} | {len(answered)} | {len(quick)} | {sure / max(1, persons):.2%} | {slowest:.0f} s | "
        f"{memory:.2f} GB | {_sum(rows, 'facts'):,} | {_sum(rows, 'false')} + {_sum(rows, 'false_of_changed')} | "
        f"{_sum(rows, 'refuted')} | {unjudged} |"
    )


def _persons(row: Row) -> int:
    """About how many persons a history has that was not answered: those of one release."""
    return int(row["history"].split(";")[0].split()[-1])


def by_budget(rows: Sequence[Row]) -> list[str]:
    """A table with one line for each budget."""
    lines = [
        "| budget | histories | answered | persons certified | persons with useful bounds | facts | refuted | unjudged | bounds "
        "| refuted | unjudged | sharp | slowest |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for budget in sorted({_number(row["budget"]) for row in rows}):
        own = [row for row in rows if _number(row["budget"]) == budget]
        answered = [row for row in own if row["outcome"] == "answered"]
        sure = _sum(answered, "exact") + _sum(answered, "certified")
        lines.append(
            f"| {budget:g} s | {len(own)} | {len(answered)} | {sure / max(1, _sum(answered, 'persons')):.1%} | "
            f"{_sum(own, 'useful') / max(1, _sum(own, 'asked')):.1%} | {_sum(own, 'facts'):,} | {_sum(own, 'refuted')} | "
            f"{_sum(own, 'unjudged') + _sum(own, 'doubtful') + _sum(own, 'infeasible')} | "
            f"{_sum(own, 'bounds_confirmed'):,} | {_sum(own, 'bounds_refuted')} | {_sum(own, 'bounds_unjudged')} | "
            f"{_sum(own, 'sharp') / max(1, _sum(own, 'sampled')):.1%} | "
            f"{max((_number(row['cpu']) for row in own), default=0.0):.1f} s |"
        )
    return lines


if __name__ == "__main__":
    main()
