"""Draw time against variables with the peers' curves: python -m benchmarks.plot (needs vl-convert-python)

Reads benchmarks/results/*.csv, writes benchmarks/results/time.svg.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

RESULTS = Path(__file__).parent / "results"
COLOURS = {
    "showthrough": "#b2182b",
    "Clarabel": "#2166ac",
    "ECOS (cvxpy)": "#1b7837",
    "SCS (cvxpy)": "#762a83",
    "SciPy trust-constr": "#555555",
    "iterative scaling": "#b35806",
}


def main() -> None:
    """One point per run, one colour per solver, both axes logarithmic."""
    import vl_convert

    keep = ["solver", "variables", "seconds"]
    peers = pl.read_csv(RESULTS / "solvers.csv").select(keep)
    growth = pl.read_csv(RESULTS / "growth.csv").filter(pl.col("kind") == "independent", pl.col("releases") == 2)
    rows = pl.concat([peers, growth.with_columns(pl.lit("showthrough").alias("solver")).select(keep)])
    axis = {"grid": True, "tickCount": 6, "format": "~s"}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 620,
        "height": 400,
        "title": "Seconds to the answer, by number of variables (two releases, overlap 5/6)",
        "data": {"values": rows.to_dicts()},
        "mark": {"type": "point", "filled": True, "size": 60},
        "encoding": {
            "x": {"field": "variables", "type": "quantitative", "scale": {"type": "log"}, "axis": axis},
            "y": {"field": "seconds", "type": "quantitative", "scale": {"type": "log"}, "axis": {"tickCount": 6}},
            "color": {
                "field": "solver",
                "type": "nominal",
                "title": None,
                "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
            },
            "shape": {"field": "solver", "type": "nominal", "title": None, "scale": {"domain": list(COLOURS)}},
        },
    }
    (RESULTS / "time.svg").write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


if __name__ == "__main__":
    main()
