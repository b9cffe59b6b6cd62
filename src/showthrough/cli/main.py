"""The command ``showthrough``: every fault becomes a sentence and an exit code.

0 pass · 1 block · 2 bad usage or input · 3 review · 4 inconclusive · 70 a bug of ours ·
130 interrupted · 141 whoever read the output left.
"""

from __future__ import annotations

import io
import os
import sys
import traceback

import typer

from showthrough import __version__
from showthrough.cli import audit, check, demo, publish
from showthrough.cli.listing import WithLists
from showthrough.storage import outcome

app = typer.Typer(
    name="showthrough",
    help="What shows through when published tables are laid on top of each other.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo")(demo.demo)
app.command("audit", cls=WithLists)(audit.audit)
app.command("check")(check.check)
app.command("publish")(publish.publish)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"showthrough {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """What shows through when published tables are laid on top of each other."""


def main() -> None:
    """Run the command; a bug of ours ends in exit code 70 and never prints data."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without × or • is no reason to fail
    try:
        app(prog_name="showthrough")
    except Exception as bug:
        if os.environ.get("SHOWTHROUGH_DEBUG"):
            traceback.print_exc()
        place = traceback.extract_tb(bug.__traceback__)[-1]
        told = outcome.what_was_written()
        print(
            f"This is a bug in showthrough {__version__}: {type(bug).__name__} in {os.path.basename(place.filename)}, "
            f"line {place.lineno}. {told[0].upper()}{told[1:]}. Please report it; SHOWTHROUGH_DEBUG=1 shows the "
            "details, which may hold data.",
            file=sys.stderr,
        )
        sys.exit(70)
