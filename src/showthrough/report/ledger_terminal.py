"""What a ledger tells, for a terminal: counts, hashes and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from rich.console import Console

from showthrough.ledger.events import Event
from showthrough.ledger.gate import Gate
from showthrough.ledger.shapes import ADDED, AUDITED, EXCEPTED, JUDGED, SPENT, WITHDRAWN
from showthrough.numerals import many, number_of
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable

_HASH = 12  # digits that are shown of a hash


def show_releases(console: Console, releases: pl.DataFrame, head: str) -> None:
    """A row for each release."""
    heads = [Column("release"), *(Column(c, whole=True) for c in ("event", "day")), Column("kind")]
    heads += [Column("persons", whole=True), Column("state"), Column("hash", whole=True)]
    rows = [
        (row["name"], str(row["event"]), row["time"][:10], row["kind"], many(row["persons"]), row["state"], row["hash"])
        for row in releases.with_columns(hash=pl.col("fingerprint").str.head(_HASH)).iter_rows(named=True)
    ]
    console.print(WordTable("Releases of the ledger", heads, rows) if rows else words("No release is recorded yet."))
    console.print(words(f"Head of the log: {head}"), soft_wrap=True)


def told_event(kind: str, told: Mapping[str, Any]) -> str:
    """One event in a line: what happened, in counts and hashes."""
    name = told["candidate"]["name"] if kind == JUDGED else told.get("name", "")
    if kind == ADDED:
        return f"{name}: {told['kind']}, {number_of(told['persons'], 'person')}, by {told['by']}"
    if kind == AUDITED:
        return f"{name}: with {number_of(len(told['history']), 'release')} before it, {told['status']}; {told['how']}"
    if kind == JUDGED:
        return f"{name}: {told['verdict']}. {told['said']}"
    if kind == EXCEPTED:
        return f"{name}: until {told['until']}, {told['owner']} answers for it: {told['why']}"
    if kind == WITHDRAWN:
        gone = ", it never left the house" if told["never_left_the_house"] else ", readers may have it"
        return f"{name}{gone}: {told['why']}"
    if kind == SPENT:
        spent = told["together"]
        return f"{name}: together ε = {spent['epsilon']:.6g}, δ = {spent['delta']:.6g}" if spent["known"] else str(name)
    return f"ids {told.get('ids', '')}"


def show_log(console: Console, events: Sequence[Event]) -> None:
    """A line for each event, with the beginning of its hash."""
    for event in events:
        line = (
            f"{event.number:>4}  {event.time}  {event.hash[:_HASH]}  {event.kind}: {told_event(event.kind, event.told)}"
        )
        console.print(words(line), soft_wrap=True)
    console.print(words(f"Head of the log: {events[-1].hash}"), soft_wrap=True)


def show_release(console: Console, told: Mapping[str, Any]) -> None:
    """One release: counts, hashes of its files, and the events that speak of it."""
    counts = [number_of(told[key], key[:-1]) for key in ("persons", "groups", "values") if told[key] is not None]
    console.print(words(f"{told['name']}: {told['kind']}, {told['state']}; {', '.join(counts)}"), soft_wrap=True)
    console.print("As it was published:")
    for one in told["published"]:  # lines, as a hash that is broken in two cannot be compared
        line = f"  {one['sha256']}  {one['name']}, {number_of(one['bytes'], 'byte')}"
        console.print(words(line), soft_wrap=True)
    if not told["published_kept"]:
        console.print("The ledger keeps it with hashed ids, and of these files the hashes alone.")
    for event in told["events"]:
        line = f"{event['number']:>4}  {event['time']}  {event['hash'][:_HASH]}  {event['kind']}"
        console.print(words(f"{line}: {told_event(event['kind'], event['told'])}"), soft_wrap=True)


def show_people(console: Console, people: pl.DataFrame) -> None:
    """Internal: everybody with the group."""
    text = people.select(pl.all().cast(pl.String).fill_null("–"))
    console.print(WordTable("Persons", [Column(c) for c in text.columns], text.rows()))


def show_gate(console: Console, gate: Gate) -> None:
    """What became of the candidate, before and after, and what the ledger remembers."""
    told = gate.as_dict()
    before, after = told["before"], told["after"]
    if before is not None:
        for key, what in (("certain", "certain"), ("at_least_90", "known with at least 90 %")):
            console.print(words(f"{what}: {many(before[key])} persons before, {many(after[key])} with {gate.name}"))
    recorded = "recorded as published" if gate.recorded else "not recorded as published"
    console.print(words(f"{gate.name} is {recorded} in {gate.where} (event {gate.event}; {gate.how})."), soft_wrap=True)
    console.print(words(f"Head of the log: {gate.head}"), soft_wrap=True)
