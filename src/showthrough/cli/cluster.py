"""``showthrough cluster``: a Spark cluster on this machine, to see what one does."""

from __future__ import annotations

from typing import Annotated

import typer

from showthrough.cli import options
from showthrough.cli.common import duration, errors_as_sentences, live, out

app = typer.Typer(help="A Spark cluster on this machine.", no_args_is_help=True)


@app.callback()
def family() -> None:
    """A Spark cluster on this machine."""


@app.command("demo")
def demo(
    persons: Annotated[int, typer.Option(help="How many persons the made-up register has.")] = 2_000_000,
    workers: Annotated[int, typer.Option(help="How many workers, each with one core.")] = 2,
    memory: Annotated[str, typer.Option(help="Of each worker's executor, beside its Python.")] = "1g",
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 0,
    seconds: Annotated[float, typer.Option(min=0, help="Longest time for the inference.")] = 3600.0,
    quiet: options.Quiet = False,
) -> None:
    """Begin a master and workers on this machine, let them write and answer two large releases, and end them."""
    with errors_as_sentences():
        from showthrough.report.printable import words
        from showthrough.requests.cluster import ClusterDemoRequest, run_cluster_demo

        request = ClusterDemoRequest(persons, workers, memory, seed, seconds)
        with live(quiet=quiet) as progress:
            result = run_cluster_demo(request, progress)
        if not quiet:
            for line in result.lines(duration):
                out().print(words(line))
