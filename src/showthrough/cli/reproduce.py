"""``showthrough reproduce``: experiments of papers, run again; the paper's claims beside what came out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live


def reproduce(
    experiment: Annotated[
        Optional[str], typer.Argument(help="Which experiment; --list names them.", show_default=False)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="The experiments and their figures.")] = False,
    figure: Annotated[Optional[str], typer.Option(help="One figure of the paper. Default: all of them.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="In seconds, on synthetic tables with the marginals of the real ones.")
    ] = False,
    data: Annotated[
        Optional[Path],
        typer.Option(help="Folder with the public tables. Default: the one of SHOWTHROUGH_DATA, or data."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for tables (CSV), charts (SVG) and the page (HTML).")
    ] = Path("reproduced"),
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 0,
    json: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Run an experiment of a paper again: the paper's claims beside what comes out, with tables, charts and a page."""
    with errors_as_sentences():
        from showthrough.cli.output import deliver_reproduction, list_experiments
        from showthrough.cli.writing import as_started, check_targets
        from showthrough.errors import InputError
        from showthrough.requests.reproduce import ReproduceRequest, check_folder, run_reproduce

        files = [] if json in (None, "-") else [Path(str(json))]
        if listed:
            check_targets(files, [])
            list_experiments(json)
            return
        if experiment is None:
            raise InputError("Which experiment is to be run? showthrough reproduce --list names them.")
        request = ReproduceRequest(experiment, figure, quick, None if data is None else str(data), seed)
        check_folder(output)
        check_targets(files, [])
        with live(quiet=quiet) as progress:
            result = run_reproduce(request, progress)
        content = replace(result.content, made=as_started(result.content.made))
        deliver_reproduction(replace(result, content=content), output, json, quiet=quiet)
