"""Where answers go: tables to the terminal, JSON and people to files, all or none; and what to say where more is."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import typer

from showthrough.cli.common import INCONCLUSIVE, out, reader_left, say
from showthrough.cli.ending import BAD_INPUT, unwritable
from showthrough.cli.flags import TOLD, as_options
from showthrough.cli.writing import as_json, print_json, write_together
from showthrough.report import check_terminal, person_terminal, publish_terminal, terminal
from showthrough.report.printable import words
from showthrough.report.terminal import Hints
from showthrough.table.spreadsheets import escaped

if TYPE_CHECKING:
    from showthrough.report.check import CheckContent
    from showthrough.requests.audit import AuditResult
    from showthrough.requests.explain import ExplainResult
    from showthrough.requests.publish import CompareResult, PublishResult
    from showthrough.requests.understand import Understood

AUDIT = Hints(
    internal="Who and why: --audience internal shows ids and proofs, --people FILE writes them.",
    facts="--people FILE writes them all",
)
UNDERSTOOD = Hints(internal="Which cells: --audience internal shows each with its meaning.")
CHECK = Hints(internal="Which groups: --audience internal names them.")
PUBLISH = Hints(internal="--audience internal names them")


def show_understood(found: Understood, *, audience: str) -> None:
    """How cells were read and who can be located, before anything is inferred; cells for the internal audience."""
    console, internal = out(), audience == "internal"
    if found.cells.height:
        shown = found.cells if internal else found.forms()
        console.print(terminal.frame_table(shown, title="How the cells were understood"))
    if found.locatability is not None:
        console.print()
        console.print(terminal.locatability_table(found.locatability))
    for rows in found.unfilled:
        console.print(words(as_options(rows.sentence(internal=internal), TOLD)))
    if not internal and found.cells.height:
        console.print(words(UNDERSTOOD.internal, "dim"))
    console.print("Nothing was inferred: this was a dry run.")


def deliver_audit(
    result: AuditResult, *, json: str | None, people: Path | None, quiet: bool, raw: bool = False
) -> None:
    """Print and write; files appear together, after everything else succeeded. ``raw`` cells may be formulas."""
    told = result.content()
    told = replace(told, summary=tuple(as_options(line, TOLD) for line in told.summary))
    text = b"" if json is None else as_json(told.as_dict())
    if json == "-":
        print_json(text)
    elif not quiet:
        terminal.show_audit(out(), told, hints=AUDIT)
    every, told_of = result.people, Counter[str]()
    sys.stdout.flush()  # output that nobody gets leaves no files behind
    write_together(
        json=None if json in (None, "-") else (str(json), text, told.audience == "internal"),
        people=None if people is None or every is None else (people, _counted(every.parts(), told_of, raw=raw)),
    )
    if not quiet and (without := told_of["fact"] - told_of["proof"]):
        say(f"{people}: {without} facts carry no proof; in Python, Posterior.explain gives any of them.")


def _counted(parts: Iterable[pl.DataFrame], found: Counter[str], *, raw: bool) -> Iterator[pl.DataFrame]:
    """The same parts as they are written, with their facts and proofs counted as they go by."""
    for part in parts:
        found.update({name: part[name].count() for name in ("fact", "proof")})
        yield part if raw else escaped(part)


def conclude(result: AuditResult, *, interrupted: bool = False) -> None:
    """End the command as its verdict says; without one, as inconclusive where somebody has no answer."""
    if (decided := result.audit.decision) is not None:
        if decided.verdict.exit_code:
            raise typer.Exit(decided.verdict.exit_code)
        return
    found = result.audit.posterior.certificate
    if interrupted:
        say("Inconclusive: the work was interrupted, and this is what was known by then.")
        raise typer.Exit(INCONCLUSIVE)
    if found.changed.tolerated:
        say("Inconclusive: who changed is a guess, so nothing that is tied to them is known to be safe.")
        raise typer.Exit(INCONCLUSIVE)
    if result.audit.untied:
        say("Inconclusive: nothing ties the persons of several releases together, so nobody is known to be safe.")
        raise typer.Exit(INCONCLUSIVE)
    if not found.status.certain:
        open_persons = result.audit.joint.persons - result.audit.joint.answered
        say(f"Inconclusive: {open_persons} of {found.persons} persons have no certified answer.")
        raise typer.Exit(INCONCLUSIVE)


def deliver_check(told: CheckContent, *, json: str | None, quiet: bool) -> None:
    """Tables to the terminal, JSON to a file or to stdout."""
    text = as_json(told.as_dict())
    if json == "-":
        print_json(text)
    elif not quiet:
        check_terminal.show_check(out(), told, hints=CHECK)
    if json not in (None, "-"):
        sys.stdout.flush()
        write_together(json=(str(json), text, told.audience == "internal"), people=None)


def show_published(result: PublishResult) -> None:
    """What was made and what it cost; output that nobody gets ends the command before anything is written."""
    told = result.content()
    try:
        publish_terminal.show_publish(out(), replace(told, words=as_options(told.words, TOLD)), hints=PUBLISH)
        sys.stdout.flush()
    except BrokenPipeError:
        reader_left()
    except OSError as problem:
        say(unwritable(problem))
        raise typer.Exit(BAD_INPUT) from None


def show_link(result: PublishResult) -> None:
    """Where the publisher finds who is in which group, once it is there."""
    publish_terminal.show_link(out(), result.content())


def show_compared(result: CompareResult) -> None:
    """All strategies on one page."""
    told = result.content()
    said = tuple(replace(s, remark=as_options(s.remark, TOLD)) for s in told.strategies)
    publish_terminal.show_comparison(out(), replace(told, strategies=said))


def deliver_person(result: ExplainResult, json: str | None, *, quiet: bool) -> None:
    """Sentences and a table to the terminal, or JSON; whatever is written is private."""
    told = result.content()
    if json == "-":
        print_json(as_json(told.as_dict()))
        return
    if not quiet:
        person_terminal.show_person(out(), told)
    if json is not None:
        write_together(json=(json, as_json(told.as_dict()), True), people=None)
