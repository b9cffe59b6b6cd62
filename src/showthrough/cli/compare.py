"""``showthrough compare``: a raw table in; what groups and noise tell readers of many releases out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live
from showthrough.table.unpacking import unpacked_up_to


def compare(
    table: Annotated[Path, typer.Argument(help="The raw table: CSV or Parquet, one record per person.")],
    id: Annotated[str, typer.Option("--id", help="Column with the person's id.")],
    sensitive: Annotated[str, typer.Option(help="Column with the sensitive value.")],
    quasi: Annotated[str, typer.Option(help="Quasi-identifiers that readers know, with commas: zip,age.")],
    method: Annotated[
        Optional[list[str]],
        typer.Option(
            help="Groups by mondrian, mondrian-relaxed, local-recoding, mdav or anatomy; once per method. "
            "Default: mondrian and anatomy."
        ),
    ] = None,
    epsilon: Annotated[
        Optional[list[float]], typer.Option(help="Counts with noise, ε of one release; once per ε. Default: 0.1 and 1.")
    ] = None,
    match: Annotated[
        bool, typer.Option("--match/--no-match", help="Also noise that makes queries as wrong as each method does.")
    ] = True,
    k: Annotated[int, typer.Option("--k", min=2, help="Rows of a group.")] = 5,
    l: Annotated[int, typer.Option("--l", min=2, help="Values of a group of Anatomy.")] = 3,
    releases: Annotated[str, typer.Option(help="After how many releases to look, with commas.")] = "1,2,5,10",
    share: Annotated[float, typer.Option(min=0, max=1, help="Share of the persons in each release.")] = 0.9,
    hierarchy: options.Hierarchies = None,
    queries: Annotated[int, typer.Option(min=1, help="Random counting queries for the error.")] = 500,
    seconds: Annotated[float, typer.Option(min=0, help="Time for all inferences together.")] = 600.0,
    seed: Annotated[int, typer.Option(min=0, help="Of groups, of who is in which release, and of queries.")] = 0,
    output: Annotated[Optional[Path], typer.Option("--output", "-o", help="Plot to write: FILE.svg.")] = None,
    encoding: options.Encoding = None,
    json: options.Json = None,
    unpacked: options.Unpacked = None,
    quiet: options.Quiet = False,
) -> None:
    """Groups or noise: what readers learn from one table published once, twice, ten times; and what it costs."""
    with errors_as_sentences(), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, pairs, whole_numbers
        from showthrough.cli.output import deliver_comparison
        from showthrough.cli.writing import as_started, check_targets
        from showthrough.requests.compare import CompareRequest, run_compare_options

        given = {
            "table": str(table), "id": id, "sensitive": sensitive, "quasi": columns(quasi),
            "methods": None if method is None else tuple(method),
            "epsilons": None if epsilon is None else tuple(epsilon), "match": match, "k": k, "l": l,
            "releases": whole_numbers("releases", releases), "share": share, "queries": queries,
            "hierarchies": pairs("hierarchy", hierarchy), "seconds": seconds, "seed": seed, "encoding": encoding,
            "plot": None if output is None else str(output),
        }  # fmt: skip
        request = CompareRequest.from_dict({name: entry for name, entry in given.items() if entry is not None})
        targets = [target for target in (output, None if json in (None, "-") else Path(str(json))) if target]
        check_targets(targets, request.files())
        with live(quiet=quiet) as progress:
            result = run_compare_options(request, progress)
        deliver_comparison(replace(result, made=as_started(result.made)), json, output, quiet=quiet)
