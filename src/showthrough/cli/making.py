"""``showthrough release``: release folders from files that were published without one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, say
from showthrough.table.unpacking import unpacked_up_to

app = typer.Typer(help="Release folders: the data with its kind, roles and hashes.", no_args_is_help=True)


@app.callback()
def release() -> None:
    """Release folders: the data with its kind, roles and hashes."""


@app.command("make")
def make(
    file: Annotated[Path, typer.Argument(help="The published file: CSV or Parquet.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Release folder to write.")],
    id: options.Id = None,
    sensitive: options.Sensitive = None,
    group: options.Group = None,
    quasi: options.Quasi = None,
    kind: options.Kind = None,
    values: Annotated[
        Optional[Path], typer.Option(help="Second table of Anatomy's pair (group, value, count).")
    ] = None,
    count: options.Count = None,
    suppressed: options.Suppressed = None,
    rounding: options.Rounding = None,
    totals: options.Totals = None,
    population: options.Population = None,
    value_cells: options.ValueCells = False,
    hierarchy: options.Hierarchies = None,
    name: Annotated[Optional[str], typer.Option(help="Name of the release. Default: that of the folder.")] = None,
    date: Annotated[Optional[str], typer.Option(help="When it was published.")] = None,
    format: Annotated[str, typer.Option(help="csv or parquet.")] = "csv",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a release folder.")] = False,
    encoding: options.Encoding = None,
    unpacked: options.Unpacked = None,
) -> None:
    """Make a release folder of a published file; its kind is told by the columns or by --kind."""
    with errors_as_sentences(), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, marks, pairs
        from showthrough.requests.make import MakeRequest, run_make

        entries: dict[str, Any] = {
            "file": str(file), "folder": str(output), "id": id, "sensitive": sensitive, "group": group,
            "quasi": columns(quasi), "kind": kind, "values": None if values is None else str(values), "count": count,
            "suppressed": marks(suppressed), "rounding": rounding, "totals": tuple(totals) if totals else None,
            "population": population, "value_cells": value_cells or None,
            "hierarchies": pairs("hierarchy", hierarchy) or None, "name": name, "date": date, "format": format,
            "overwrite": overwrite, "encoding": encoding,
        }  # fmt: skip
        made = run_make(MakeRequest.from_dict({k: v for k, v in entries.items() if v is not None}))
        say(f"Wrote {output}: a {made.kind} release with {made.labels.len()} groups.")
