"""Fill the tables of README.md from results/*.csv: python -m benchmarks.tables"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

HERE = Path(__file__).parent
SHOWN = (1200, 3600, 7200)


def solvers() -> str:
    """One row per size, one column per solver."""
    frame = pl.read_csv(HERE / "results" / "solvers.csv").filter(pl.col("persons").is_in(SHOWN))
    lines = [
        "| persons | l | variables | showthrough | Clarabel | ratio | Clarabel's error | ECOS | SCS | scaling, 3000 sweeps |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (n, l, variables), part in frame.group_by("persons", "l", "variables", maintain_order=True):
        by = {row["solver"]: row for row in part.iter_rows(named=True)}

        def seconds(name: str, by: dict[str, dict[str, object]] = by) -> str:
            return f"{float(str(by[name]['seconds'])):.3g} s" if name in by else "–"

        ratio = by["Clarabel"]["seconds"] / by["showthrough"]["seconds"]
        lines.append(
            f"| {n} | {l} | {variables:,} | {seconds('showthrough')} | {seconds('Clarabel')} "
            f"({by['Clarabel']['status']}) | {ratio:.0f} × | {by['Clarabel']['error']:.0e} | {seconds('ECOS (cvxpy)')} | "
            f"{seconds('SCS (cvxpy)')} | {seconds('iterative scaling')} (off by {by['iterative scaling']['residual']:.0e}) |"
        )
    return "\n".join(lines)


def growth() -> str:
    """One row per history."""
    lines = [
        "| history | variables | seconds | passes | in passes or joins | peak memory | status, gap |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in pl.read_csv(HERE / "results" / "growth.csv").iter_rows(named=True):
        floor = row["pass_seconds"] or row["join_seconds"]
        of = "one pass" if row["pass_seconds"] else "a Polars join of the two releases on id"
        lines.append(
            f"| {row['kind']}, {row['releases']} × {row['persons']:,}, l = {row['l']} | {row['variables']:,} | "
            f"{row['seconds']:.1f} | {row['passes']} | {row['seconds'] / floor:.0f} × {of} ({floor:.3f} s) | "
            f"{row['peak_mb'] / 1024:.1f} GB | {row['status']}, {row['gap']:.0e} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Replace what stands after each marker."""
    readme = HERE / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, table in (("solvers", solvers()), ("growth", growth())):
        text = re.sub(rf"<!-- {name} -->\n(\|.*\n)*", lambda _, t=table, n=name: f"<!-- {n} -->\n{t}\n", text)
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
