"""A release that was made, and strategies side by side, for a terminal."""

from __future__ import annotations

from rich.console import Console

from showthrough.policy.phrases import are, people
from showthrough.report.printable import words
from showthrough.report.publish import MEASURES, ComparisonContent, PublishContent
from showthrough.report.tables import Column, WordTable
from showthrough.report.terminal import Hints

LISTED = 50


def show_publish(console: Console, told: PublishContent, *, hints: Hints | None = None) -> None:
    """What was made and what it cost; who is exposed as far as the content holds it."""
    console.print(words(told.release if told.folder is None else f"{told.folder}: {told.release}"))
    console.print(words(told.words, lines=True))
    if told.exposed_ids:
        listed = ", ".join(told.exposed_ids[:LISTED]) + (" …" if told.exposed > LISTED else "")
        console.print(words(f"Exposed: {listed}"))
    elif told.exposed:
        hint = "" if hints is None else f": {hints.internal}"
        console.print(words(f"{people(told.exposed)} {are(told.exposed)} exposed{hint}."))


def show_link(console: Console, told: PublishContent) -> None:
    """Which file says who is in which group, if one was written."""
    if told.link is not None:
        console.print(
            words(f"{told.link} says who is in which group: next releases need it. Keep it, and keep it to yourself.")
        )


def show_comparison(console: Console, told: ComparisonContent) -> None:
    """A column for every strategy, which fits 80 characters, and the remarks as lines below it."""
    rows = []
    for name, (label, digits, _) in MEASURES.items():
        levels = [strategy.figures[name] for strategy in told.strategies]
        rows.append((label, *("" if level is None else f"{level:.{digits}f}" for level in levels)))
    columns = [Column("measure"), *(Column(strategy.strategy, whole=True) for strategy in told.strategies)]
    console.print(WordTable("Strategies for the next release (nothing was written)", columns, rows))
    console.print(words(MEASURES["query_error"][2]))
    for strategy in told.strategies:
        if strategy.remark:
            console.print(words(f"{strategy.strategy}: {strategy.remark}"))
