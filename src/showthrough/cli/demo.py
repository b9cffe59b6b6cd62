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
        from rich.text import Text

        from showthrough.auditing.audit import audit
        from showthrough.examples import figure1
        from showthrough.inference.infer import infer
        from showthrough.report.content import facts
        from showthrough.report.terminal import posterior_table, releases_table, show_facts

        releases = figure1.releases()
        files = figure1.write(folder)
        found = audit(releases)
        views = [(f"{r.name} alone", infer([r])) for r in releases] + [("both together", found.posterior)]

        console = out()
        console.print(figure1.STORY)
        console.print()
        console.print(posterior_table(views, title="What a reader can believe of each patient, in percent"))
        console.print()
        console.print(releases_table(found))
        console.print()
        entries = facts(found, proofs=found.posterior.proven().height)
        show_facts(console, entries, total=len(entries))
        console.print(Text(f"Numerics: {found.posterior.certificate}.", style="dim"))
        console.print()
        names = [str(file) for file in files]
        console.print(Text(f"The two tables are in {', '.join(names)}. Run the same on files of your own:"))
        started_as = os.environ.get("SHOWTHROUGH_COMMAND", "showthrough")
        command = f"{started_as} audit {shlex.join(names)} --id pseudonym --sensitive disease --group group"
        console.print(Text(f"  {command} --audience internal", style="bold"), soft_wrap=True)
