"""Where answers go: tables to the terminal, JSON and people to files, all or none; and what to say where more is."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import typer
from rich.padding import Padding

from showthrough import __version__
from showthrough.cli.common import INCONCLUSIVE, out, reader_left, say
from showthrough.cli.ending import BAD_INPUT, unwritable
from showthrough.cli.flags import TOLD, as_options, option
from showthrough.cli.writing import add_to_summary, as_json, give_json, print_bytes, write_together
from showthrough.errors import InputError
from showthrough.numerals import many
from showthrough.report import attack_terminal, check_terminal, person_terminal, publish_terminal, terminal
from showthrough.report.after import show_after
from showthrough.report.compared import comparison_json, show_comparison
from showthrough.report.formats import Judgement
from showthrough.report.junit import junit
from showthrough.report.markdown import markdown
from showthrough.report.printable import words
from showthrough.report.reproduction_terminal import show_reproduction
from showthrough.report.sarif import sarif
from showthrough.report.terminal import Hints
from showthrough.requests.attack_entries import ATTACKS
from showthrough.table.spreadsheets import escaped

if TYPE_CHECKING:
    from showthrough.ledger.gate import Gate
    from showthrough.policy.decision import Verdict
    from showthrough.report.check import CheckContent
    from showthrough.requests.after import AfterResult
    from showthrough.requests.attack import AttackResult
    from showthrough.requests.attack_all import AllAttacks
    from showthrough.requests.audit import AuditResult
    from showthrough.requests.audit_pieces import PiecesResult
    from showthrough.requests.check import CheckResult
    from showthrough.requests.compare import CompareOptionsResult
    from showthrough.requests.explain import ExplainResult
    from showthrough.requests.publish import PublishResult
    from showthrough.requests.publish_compare import CompareResult
    from showthrough.requests.reproduce import ReproduceResult
    from showthrough.requests.understand import Understood

PARAMETERS = re.compile(r"\b([a-z_]+)=")
_FORMATS: Mapping[str, Callable[[Judgement], bytes]] = {"junit": junit, "sarif": sarif, "markdown": markdown}

REPORTS = {"internal": ", holds ids and proofs: keep it private", "shareable": ", counts only"}
AUDIT = Hints(
    internal="Who and why: --audience internal shows ids and proofs, --people FILE writes them.",
    facts="--people FILE writes them all",
)
IN_PIECES = Hints(internal="Who: --people FOLDER writes tables of everybody, and of what is proven.")
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


@dataclass(frozen=True)
class Targets:
    """What goes where: a format to stdout, others to files."""

    format: str = "text"
    json: str | None = None
    formats: Mapping[str, Path | None] = field(default_factory=dict)
    people: Path | None = None
    page: Path | None = None

    def __post_init__(self) -> None:
        if self.json == "-" and self.format not in ("text", "json"):
            raise InputError(f"--json - and --format {self.format} both print: choose one, and a file for the other.")

    @property
    def printed(self) -> str:
        """The format that is printed."""
        return "json" if self.json == "-" else self.format

    def files(self) -> list[Path]:
        """Every file that is written."""
        json = None if self.json in (None, "-") else Path(str(self.json))
        return [target for target in (self.people, json, self.page, *self.formats.values()) if target]

    def named(self) -> list[str]:
        """Formats for other programs that are asked for."""
        found = [name for name, target in self.formats.items() if target is not None]
        return found if self.printed in ("text", "json", *found) else [*found, self.printed]

    def check(self, *, limits: bool, such_as: str = "--policy FILE or --max-posterior 0.5") -> None:
        """Some formats tell what became of limits, and there must be some."""
        if not limits and (needy := [name for name in self.named() if name != "markdown"]):
            raise InputError(f"{needy[0]} tells what became of limits: set some, such as {such_as}.")

    def deliver(
        self, judgement: Judgement, told: Mapping[str, Any], *, internal: bool, show: Callable[[], None]
    ) -> list[tuple[Path, bytes, bool]]:
        """Print one format, and hand back the files for all others: target, text, whether it is private."""
        made = {name: _FORMATS[name](judgement) for name in self.named()}
        made["json"] = as_json(told)
        if self.printed == "text":
            show()
        else:
            print_bytes(made[self.printed])
        sys.stdout.flush()  # output that nobody gets leaves no files behind
        add_to_summary(markdown(judgement))
        files = [(target, made[name], False) for name, target in self.formats.items() if target is not None]
        return files + ([] if self.json in (None, "-") else [(Path(str(self.json)), made["json"], internal)])


def deliver_audit(
    result: AuditResult | PiecesResult, targets: Targets, *, quiet: bool, raw: bool = False, gate: Gate | None = None
) -> None:
    """Print and write; files appear together, after everything else succeeded. ``raw`` cells may be formulas."""
    told = result.content()
    told = replace(told, summary=tuple(as_options(line, TOLD) for line in told.summary))

    def show() -> None:
        if not quiet:
            terminal.show_audit(out(), told, hints=AUDIT if result.request.engine is None else IN_PIECES)

    judgement = result.judgement()
    judgement = replace(judgement, summary=[as_options(line, TOLD) for line in judgement.summary])
    told_of_all = told.as_dict() | ({} if gate is None else {"gate": gate.as_dict()})
    files = targets.deliver(judgement, told_of_all, internal=told.audience == "internal", show=show)
    if targets.page is not None and result.page is not None:
        files.append((targets.page, result.page.encode(errors="replace"), told.audience == "internal"))
    every, told_of, people = result.people, Counter[str](), targets.people
    write_together(
        files, None if people is None or every is None else (people, _counted(every.parts(), told_of, raw=raw))
    )
    if not quiet and targets.printed == "text" and targets.page is not None:
        out().print(words(f"Report: {targets.page} ({told.audience}{REPORTS[told.audience]})"), soft_wrap=True)
    if not quiet and (without := told_of["fact"] - told_of["proof"]):
        say(f"{people}: {many(without)} facts carry no proof; in Python, Posterior.explain gives any of them.")


def _counted(parts: Iterable[pl.DataFrame], found: Counter[str], *, raw: bool) -> Iterator[pl.DataFrame]:
    """The same parts as they are written, with their facts and proofs counted as they go by."""
    for part in parts:
        found.update({name: part[name].count() for name in ("fact", "proof")})
        yield part if raw else escaped(part)


def say_verdict(verdict: Verdict, sentence: str) -> None:
    """One line for whoever asked for silence, unless all is well."""
    if verdict.exit_code:
        say(f"{str(verdict).capitalize()}: {sentence}")


def conclude(result: AuditResult | PiecesResult, *, interrupted: bool = False, quiet: bool = False) -> None:
    """End the command as its verdict says; without one, as inconclusive where somebody has no answer.

    Where nothing else was printed, whatever is not a pass is one line.
    """
    if (decided := result.audit.decision) is not None:
        if decided.verdict.exit_code:
            if quiet:
                say_verdict(decided.verdict, decided.said)
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
        say(f"Inconclusive: {many(open_persons)} of {many(found.persons)} persons have no certified answer.")
        raise typer.Exit(INCONCLUSIVE)


def deliver_check(result: CheckResult, told: CheckContent, targets: Targets, *, quiet: bool) -> None:
    """Tables to the terminal, or another format; others to files."""

    def show() -> None:
        if not quiet:
            check_terminal.show_check(out(), told, hints=CHECK)

    internal, judgement = told.audience == "internal", result.judgement()
    write_together(targets.deliver(judgement, told.as_dict(), internal=internal, show=show))
    if quiet and judgement.decision is not None:
        say_verdict(judgement.decision.verdict, judgement.decision.said)


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


def deliver_attack(result: AttackResult, json: str | None, people: Path | None, *, quiet: bool) -> None:
    """Counts to the terminal, or as JSON; the people file is private, and notes speak of options."""
    notes = tuple(as_options(note, PARAMETERS.findall(note)) for note in result.outcome.notes)
    result = replace(result, outcome=replace(result.outcome, notes=notes))
    if json == "-":
        print_bytes(as_json(result.as_dict()))
    elif not quiet:
        attack_terminal.show_attack(out(), result.outcome, result.score)
    sys.stdout.flush()
    files = [] if json in (None, "-") else [(Path(str(json)), as_json(result.as_dict()), False)]
    write_together(files, None if people is None else (people, [escaped(result.outcome.private())]))


def deliver_all_attacks(result: AllAttacks, json: str | None, people: Path | None, *, quiet: bool) -> None:
    """One table to the terminal, or one object as JSON; the people file is private, and sentences speak of options."""
    told = {
        name: as_options(why, PARAMETERS.findall(why)) + _command(name, result.lacking.get(name, ()))
        for name, why in result.not_run.items()
    }
    wants = {name: one.outcome.threat.wants for name, one in result.results.items()}
    content = {**result.as_dict(), "not_run": told}
    if json == "-":
        print_bytes(as_json(content))
    elif not quiet:
        attack_terminal.show_all_attacks(out(), result.table, result.scores, wants, told)
    sys.stdout.flush()
    files = [] if json in (None, "-") else [(Path(str(json)), as_json(content), False)]
    write_together(files, None if people is None else (people, [escaped(result.private())]))


def _command(attack: str, lacking: Sequence[str]) -> str:
    """The command that would run an attack, where something is missing."""
    if not lacking:
        return ""
    name = attack.partition(" (")[0]
    said = ATTACKS[name].choices()
    wanted = [f"{option(one)} {'FILE' if one not in said or said[one].file else '…'}" for one in lacking]
    return f" showthrough attack {name} … {' '.join(wanted)}"


def deliver_comparison(result: CompareOptionsResult, json: str | None, plot: Path | None, *, quiet: bool) -> None:
    """A table to the terminal, or JSON; the plot beside it."""
    told = as_json(comparison_json(result.comparison, result.made))
    if json == "-":
        print_bytes(told)
    elif not quiet:
        show_comparison(out(), result.comparison)
    sys.stdout.flush()
    files = [] if json in (None, "-") else [(Path(str(json)), told, False)]
    if plot is not None and result.plot is not None:
        files.append((plot, result.plot, False))
    write_together(files)


def deliver_person(result: ExplainResult, json: str | None, *, quiet: bool) -> None:
    """Sentences and a table to the terminal, or JSON; whatever is written is private."""
    told = result.content()
    if json == "-":
        print_bytes(as_json(told.as_dict()))
        return
    if not quiet:
        person_terminal.show_person(out(), told)
    if json is not None:
        write_together([(Path(json), as_json(told.as_dict()), True)])


def deliver_after(result: AfterResult, json: str | None, people: Path | None, *, quiet: bool, raw: bool) -> None:
    """Counts to the terminal, or JSON; everybody's intervals to a private file. All files appear together."""
    told = result.content()
    if json == "-":
        print_bytes(as_json(told.as_json()))
    elif not quiet:
        show_after(out(), told)
    sys.stdout.flush()
    files = [] if json in (None, "-") else [(Path(str(json)), as_json(told.as_json()), told.people is not None)]
    rows = result.after.people
    write_together(files, None if people is None else (people, [rows if raw else escaped(rows)]))
    if people is not None and not quiet:
        say(f"{people} names persons: keep it private.")


def list_experiments(json: str | None) -> None:
    """Every experiment with its figures, and what the paper says of each: in words, or as JSON."""
    from showthrough.experiments import EXPERIMENTS

    figures = [(one, number, figure) for one in EXPERIMENTS.values() for number, figure in one.figures.items()]
    if json is not None:
        told = [
            {"experiment": one.name, "paper": one.paper, "figure": number or None, "shows": figure.title,
             "says": figure.claim, "reads": list(figure.reads)}
            for one, number, figure in figures
        ]  # fmt: skip
        head = {"schema": "showthrough.experiments", "version": 1, "showthrough": __version__}
        give_json(json, {**head, "figures": told}, private=False)
        return
    console = out()
    for one in EXPERIMENTS.values():
        console.print(words(one.name, "bold"))
        console.print(words(one.paper, "dim"))
        for number, figure in one.figures.items():
            name = f"--figure {number}: " if number else ""
            reads = f" Reads {', '.join(figure.reads)}." if figure.reads else ""
            console.print(Padding(words(f"{name}{figure.title}. {figure.claim}{reads}"), (0, 0, 0, 2)))
        console.print()


def deliver_reproduction(result: ReproduceResult, folder: Path, json: str | None, *, quiet: bool) -> None:
    """Claims and tables to the terminal, or JSON; all files appear together."""
    from showthrough.requests.reproduce import make_folder

    told = as_json(result.content.as_json())
    if json == "-":
        print_bytes(told)
    elif not quiet:
        show_reproduction(out(), result.content)
    sys.stdout.flush()
    made = result.files()
    make_folder(folder)
    files = [(folder / name, content, False) for name, content in made.items()]
    write_together([*files, *([] if json in (None, "-") else [(Path(str(json)), told, False)])])
    if json != "-" and not quiet:
        shown = next((name for name in made if name.endswith(".html")), f"{result.content.name}.md")
        out().print(words(f"Tables and charts: {folder}; the page: {folder / shown}"), soft_wrap=True)
