"""``showthrough ledger``: the memory of an organisation's releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live, out, say, started_as
from showthrough.cli.options import Audience
from showthrough.table.unpacking import unpacked_up_to

app = typer.Typer(help="The ledger: what was ever published, and proof that nobody changed it.", no_args_is_help=True)
NOT_WHOLE = 1


@app.command("init")
def init(
    ledger: Annotated[
        str, typer.Argument(metavar="[LEDGER]", help="A file to make, or postgresql://USER@HOST/DATABASE.")
    ] = "ledger.db",
    hash_ids: Annotated[
        bool, typer.Option("--hash-ids", help="Keep ids as keyed hashes, so that the ledger alone names nobody.")
    ] = False,
    key_file: Annotated[
        Optional[Path],
        typer.Option("--key-file", metavar="FILE", help="With --hash-ids: the key, made if there is no such file."),
    ] = None,
) -> None:
    """Make an empty ledger."""
    with errors_as_sentences():
        from showthrough.requests.ledger import LedgerInitRequest, run_ledger_init

        key = None if key_file is None else str(key_file)
        entries = {"ledger": ledger, "hash_ids": hash_ids, "key_file": key}
        with run_ledger_init(LedgerInitRequest.from_dict(entries)) as made:
            say(f"Made the ledger {made.where}. Record what is out there already: {started_as()} ledger add ...")
        if key_file is not None:
            say(f"Keep {key_file} apart from it, and keep it: without the key the next release cannot be compared.")


@app.command("add")
def add(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASES...",
            help="What is out there already, in order; with --exception one candidate or its name.",
        ),
    ],
    ledger: options.LedgerPlace = "ledger.db",
    id: options.Id = None,
    sensitive: options.Sensitive = None,
    group: options.Group = None,
    quasi: options.Quasi = None,
    kind: options.Kind = None,
    suppressed: options.Suppressed = None,
    rounding: options.Rounding = None,
    totals: options.Totals = None,
    population: options.Population = None,
    value_cells: options.ValueCells = False,
    missing: options.Missing = None,
    locate: options.Locate = None,
    spread: options.Spread = None,
    hierarchy: options.Hierarchies = None,
    value_map: options.ValueMaps = None,
    link: options.Link = None,
    values: options.Values = None,
    count: options.Count = None,
    encoding: options.Encoding = None,
    name: options.ReleaseName = None,
    exception: Annotated[
        Optional[str],
        typer.Option(metavar="WHY", help="Publish a candidate that did not pass all the same: the reason."),
    ] = None,
    owner: Annotated[Optional[str], typer.Option(metavar="WHO", help="Who answers for the exception.")] = None,
    until: Annotated[Optional[str], typer.Option(metavar="DATE", help="The last day on which it excuses.")] = None,
    wait: options.Wait = 600.0,
    key_file: options.KeyFile = None,
    audience: options.ForWhom = Audience.shareable,
    unpacked: options.Unpacked = None,
    quiet: options.Quiet = False,
) -> None:
    """Record releases that are out there already, or one that is published with an exception."""
    with errors_as_sentences(audience=audience), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, history_file, marks, pairs, releases
        from showthrough.requests.ledger import (
            LedgerAddRequest,
            LedgerExceptRequest,
            run_ledger_add,
            run_ledger_except,
        )

        place: dict[str, Any] = {
            "ledger": ledger,
            "key_file": None if key_file is None else str(key_file),
            "wait": wait,
        }
        shared: dict[str, Any] = {
            "id": id, "sensitive": sensitive, "group": group, "quasi": columns(quasi), "count": count, "kind": kind,
            "spread": pairs("spread", spread) or None, "locate": locate, "missing": tuple(missing or ()),
            "suppressed": marks(suppressed), "rounding": rounding, "totals": tuple(totals) if totals else None,
            "population": population, "value_cells": value_cells or None, "encoding": encoding, "link": link,
            "hierarchies": pairs("hierarchy", hierarchy), "value_maps": pairs("value-map", value_map),
        }  # fmt: skip
        entries = {"release": releases(paths, values), **shared, "ledger": place, "name": name}
        if exception is not None or owner is not None or until is not None:
            told = {"candidate": " ".join(map(str, paths)), "exception": exception or "", "owner": owner or ""}
            read = entries if any([*shared.values(), values, name]) else None
            excepted = LedgerExceptRequest.from_dict({**place, **told, "until": until or "", "read": read})
            found = run_ledger_except(excepted, say)
            if not quiet:
                out().print(f"Recorded {found.name} with its exception (event {found.event.number}).")
            return
        listed = history_file(paths, [*shared.values(), values, name])
        if listed is None:
            request = LedgerAddRequest.from_dict(entries)
        else:
            request = LedgerAddRequest.read(listed).at(place)
        with live(quiet=quiet):
            done = run_ledger_add(request, say)
        for known in done.known:
            say(known.shareable)
        for one in () if quiet else done.added:
            out().print(f"Recorded {one.name} (event {one.event.number}).")


@app.command("list")
def listing(ledger: options.LedgerPlace = "ledger.db", json: options.Json = None) -> None:
    """List the releases in counts and hashes."""
    with errors_as_sentences():
        from showthrough.cli.writing import give_json
        from showthrough.report.ledger_terminal import show_releases
        from showthrough.requests.ledger import LedgerRequest

        with LedgerRequest(ledger).open() as opened:
            found, head = opened.releases(), opened.head
        if json != "-":
            show_releases(out(), found, head)
        give_json(json, {"head": head, "releases": found.to_dicts()}, private=False)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="The name of a release.")],
    ledger: options.LedgerPlace = "ledger.db",
    audience: options.ForWhom = Audience.shareable,
    json: options.Json = None,
) -> None:
    """Show what is recorded of a release: counts, hashes, events; with --audience internal its persons."""
    with errors_as_sentences(audience=audience):
        from showthrough.cli.writing import give_json
        from showthrough.report.ledger_terminal import show_people, show_release
        from showthrough.requests.ledger import LedgerRequest

        internal = audience == "internal"
        with LedgerRequest(ledger).open() as opened:
            told, people = opened.show(name), opened.people(name) if internal else None
        if json != "-":
            show_release(out(), told)
            if people is not None:
                show_people(out(), people)
        more = {} if people is None else {"people": people.to_dicts()}
        give_json(json, {**told, **more}, private=internal)


@app.command("log")
def log(ledger: options.LedgerPlace = "ledger.db", json: options.Json = None) -> None:
    """Print every event, in order; the last hash is worth keeping elsewhere."""
    with errors_as_sentences():
        from showthrough.cli.writing import give_json
        from showthrough.report.ledger_terminal import show_log
        from showthrough.requests.ledger import LedgerRequest

        with LedgerRequest(ledger).open() as opened:
            events = opened.log()
        if json != "-":
            show_log(out(), events)
        give_json(json, {"head": events[-1].hash, "events": [event.as_dict() for event in events]}, private=False)


@app.command("verify")
def verify(
    ledger: options.LedgerPlace = "ledger.db",
    expect: Annotated[
        Optional[str],
        typer.Option(metavar="HASH", help="A head that was kept elsewhere: tells whether later events were cut off."),
    ] = None,
    json: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Look for anything that was altered, removed or moved; exit code 1 if there is something."""
    with errors_as_sentences():
        from showthrough.cli.writing import give_json
        from showthrough.report.printable import words
        from showthrough.requests.ledger import LedgerRequest, run_ledger_verify

        with live(quiet=quiet) as progress:
            found = run_ledger_verify(LedgerRequest(ledger), expect, progress)
        if json != "-" and not (quiet and found.holds):
            for line in (str(found), *found.faults[1:], *found.remarks, f"Head of the log: {found.head}"):
                out().print(words(line), soft_wrap=True)
        give_json(json, found.as_dict(), private=False)
        if not found.holds:
            raise typer.Exit(NOT_WHOLE)


@app.command("export")
def export(
    folder: Annotated[Path, typer.Argument(help="A new folder for the log and all releases; keep it private.")],
    ledger: options.LedgerPlace = "ledger.db",
) -> None:
    """Write everything that the ledger holds into a folder."""
    with errors_as_sentences():
        from showthrough.requests.ledger import LedgerRequest

        with LedgerRequest(ledger).open() as opened:
            opened.export(folder)
        say(f"Wrote {folder}: the log, and every release as it was published. Only you can read it.")


@app.command("withdraw")
def withdraw(
    name: Annotated[str, typer.Argument(help="The name of a release.")],
    why: Annotated[str, typer.Option(metavar="REASON", help="Why it is withdrawn.")],
    never_left_the_house: Annotated[
        bool,
        typer.Option(
            "--never-left-the-house",
            help="Nobody ever had it: it counts no more. Default: readers may have a copy, and it stays in audits.",
        ),
    ] = False,
    ledger: options.LedgerPlace = "ledger.db",
    wait: options.Wait = 600.0,
) -> None:
    """Record that a release is not offered any more."""
    with errors_as_sentences():
        from showthrough.requests.ledger import LedgerRequest

        with LedgerRequest(ledger, wait=wait).open(say) as opened:
            found = opened.withdraw(name, why=why, never_left_the_house=never_left_the_house)
        out().print(f"{found.name}: {found.state}.")
