"""``showthrough policy``: write a policy file to begin with, and say what one means."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer

from showthrough.cli.common import errors_as_sentences, out, say, started_as

app = typer.Typer(help="Policy files: what may be published, in limits.")


class Preset(StrEnum):
    strict = "strict"
    research = "research"
    internal = "internal"


@app.command("init")
def init(
    preset: Annotated[
        Preset,
        typer.Option(help="strict: anybody may read it. research: under a contract. internal: it stays in the house."),
    ] = Preset.research,
    output: Annotated[Optional[Path], typer.Option("--output", "-o", help="File to write. Default: print it.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Write a commented policy file to begin with."""
    with errors_as_sentences():
        from showthrough.requests.policy import PolicyInitRequest, run_policy_init

        text = run_policy_init(PolicyInitRequest(preset.value, None if output is None else str(output), overwrite))
        if output is None:
            typer.echo(text, nl=False)
        else:
            say(f"Wrote {output}. Use it: {started_as()} audit ... --policy {output}")


@app.command("explain")
def explain(file: Annotated[Path, typer.Argument(help="A policy file.")]) -> None:
    """Say in words what a policy file means."""
    with errors_as_sentences(audience="internal"):  # a policy file holds nobody's data, so its values may be shown
        from showthrough.policy.in_words import BULLET
        from showthrough.report.printable import words
        from showthrough.report.terminal import bullets
        from showthrough.requests.policy import PolicyExplainRequest, run_policy_explain

        console = out()
        for line in run_policy_explain(PolicyExplainRequest(str(file))):
            console.print(bullets([line.removeprefix(BULLET)], indent=2) if line.startswith(BULLET) else words(line))
