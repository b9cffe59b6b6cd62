"""``showthrough demo``: the worked example of the re-publishing paper, end to end."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from showthrough.cli.common import errors_as_sentences, out


def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the example's files.")] = Path("demo"),
) -> None:
    """The worked example of Wang, Zhu, Du and Teng: two safe tables that together give people away."""
    with errors_as_sentences(audience="internal"):
        from showthrough.examples.figure1 import STORY
        from showthrough.report.printable import words
        from showthrough.report.terminal import posterior_table, releases_table, show_facts
        from showthrough.requests.demo import DemoRequest, run_demo

        result = run_demo(DemoRequest(str(folder)))
        told, console = result.content(), out()
        console.print(STORY)
        console.print()
        console.print(posterior_table(result.views, title="What a reader can believe of each patient, in percent"))
        console.print()
        console.print(releases_table(told))
        console.print()
        if told.facts is not None:
            show_facts(console, told.facts.listed(), total=len(told.facts))
        console.print(words(told.numerics, "dim"))
        console.print()
        names = [str(file) for file in result.files]
        console.print(words(f"The two tables are in {', '.join(names)}. Run the same on files of your own:"))
        started_as = os.environ.get("SHOWTHROUGH_COMMAND", "showthrough")
        command = f"{started_as} audit {shlex.join(names)} --id pseudonym --sensitive disease --group group"
        console.print(words(f"  {command} --audience internal", "bold"), soft_wrap=True)
