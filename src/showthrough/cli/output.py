"""Where the answer of an audit goes: tables to the terminal, JSON and people to files, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from showthrough.auditing.audit import Audit
from showthrough.cli.common import out, say
from showthrough.cli.files import as_json, print_json, write_together
from showthrough.register.reader import Reader, telling
from showthrough.register.register import Register
from showthrough.register.tying import locatability_of
from showthrough.release.release import Release
from showthrough.report import terminal


@dataclass(frozen=True)
class Answer:
    """An audit with the facts and the people frame, as far as they were asked for."""

    audit: Audit
    facts: pl.DataFrame | None
    people: pl.DataFrame | None
    audience: str


def show_understood(releases: Sequence[Release], register: Register | None) -> None:
    """How cells were read and who can be located, before anything is inferred."""
    from showthrough.cli.inputs import how_understood

    console = out()
    cells = how_understood(releases, register)
    if cells.height:
        console.print(terminal.frame_table(cells, title="How the cells were understood"))
    reader = Reader.of(releases, register=register)
    if reader.register is not None:
        located = locatability_of(telling(releases), reader)
        if located is not None:
            console.print()
            console.print(terminal.locatability_table(located))
    console.print("Nothing was inferred: this was a dry run.")


def deliver(answer: Answer, *, json: str | None, people: Path | None, quiet: bool) -> None:
    """Print and write; files appear together, after everything else succeeded."""
    text = b"" if json is None else as_json(answer.audit, audience=answer.audience, known=answer.facts)
    if json == "-":
        print_json(text)
    elif not quiet:
        terminal.show_audit(out(), answer.audit, audience=answer.audience, known=answer.facts)
    frame = answer.people
    write_together(
        json=None if json in (None, "-") else (json, text, answer.audience == "internal"),
        people=None if people is None or frame is None else (people, frame),
    )
    if frame is not None and not quiet and frame["fact"].count() > frame["proof"].count():
        without = frame["fact"].count() - frame["proof"].count()
        say(f"{people}: {without} facts carry no proof; in Python, Posterior.explain gives any of them.")
