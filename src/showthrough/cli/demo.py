"""``showthrough demo``: the worked example of the re-publishing paper, end to end, on two screens."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from showthrough.cli.common import errors_as_sentences, out, started_as


def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the example's files.")] = Path("demo"),
) -> None:
    """The worked example of Wang, Zhu, Du and Teng: two safe tables that together give people away."""
    with errors_as_sentences(audience="internal"):
        from showthrough.examples.figure1 import SHOWN, STORY
        from showthrough.report.printable import words
        from showthrough.report.terminal import posterior_table, show_facts
        from showthrough.requests.demo import DemoRequest, run_demo

        names = [str(folder / name) for name in ("D1.csv", "D2.csv")]
        roles = "--id pseudonym --sensitive disease --group group --audience internal"
        command = f"{started_as()} audit {shlex.join(names)} {roles} -o {shlex.quote(str(folder / 'report.html'))}"
        result = run_demo(DemoRequest(str(folder), command))
        told, console = result.content(), out()
        console.print(STORY)
        console.print()
        console.print(posterior_table(result.views, title="What a reader can believe of each patient, in percent"))
        for line in told.summary[:2]:
            console.print(words(f"• {line}"))
        console.print()
        if told.facts is not None:
            every = told.facts.listed()
            shown = [fact for fact in every if (str(fact.id), str(fact.value)) in SHOWN]
            show_facts(console, shown, total=len(shown))
        if result.report is None:
            console.print(words('The report needs two libraries more: pip install "showthrough[report]".'))
        else:
            console.print(words(f"All of them with proofs: {result.report.resolve().as_uri()}"), soft_wrap=True)
        console.print(words(f"The tables are {' and '.join(names)}. The same on files of your own:"), soft_wrap=True)
        console.print(words(f"  {command}", "bold"), soft_wrap=True)
