"""``showthrough data``: public tables that experiments read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live, out

app = typer.Typer(help="Public tables that experiments read.", no_args_is_help=True)


@app.callback()
def family() -> None:
    """Public tables that experiments read."""


@app.command("fetch")
def fetch(
    table: Annotated[str, typer.Argument(help="adult or ipums.")],
    source: Annotated[
        Optional[str],
        typer.Option("--from", metavar="URL", help="Address of another place with the raw files, or a folder."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the tables.")] = Path("data"),
    quiet: options.Quiet = False,
) -> None:
    """Download public tables from the UCI repository, check them by SHA-256, and lay them out for `reproduce`."""
    with errors_as_sentences():
        from showthrough.report.printable import words
        from showthrough.requests.fetch import FetchRequest, run_fetch

        request = FetchRequest(table, source, str(output))
        with live(quiet=quiet) as progress:
            result = run_fetch(request, progress)
        if not quiet:
            for path in result.files:
                out().print(words(f"{path}"), soft_wrap=True)
