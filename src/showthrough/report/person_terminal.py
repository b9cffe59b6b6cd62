"""One person for a terminal."""

from __future__ import annotations

from rich.console import Console

from showthrough.report.person import PersonContent, rows_of
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable

_SHOWN = 20  # values


def show_person(console: Console, told: PersonContent) -> None:
    """Sentences first, then the table of values, then the proof."""
    story = told.story
    console.print(words("Internal: this names a person. Keep it private.", "bold yellow"))
    console.print()
    for line in told.summary:
        console.print(words(line))
    console.print()
    heads, rows = rows_of(story, most=_SHOWN)
    columns = [Column(heads[0]), *(Column(head, whole=True) for head in heads[1:-1]), Column(heads[-1])]
    more = len(story.values) - _SHOWN
    caption = f"… and {more} more values" if more > 0 else ""
    console.print(WordTable("How likely each value is", columns, rows, caption=caption))
    console.print()
    if told.proof is not None:
        console.print(words("Why", "bold"))
        console.print(words(told.proof, lines=True))
    elif told.why_no_proof:
        console.print(words(told.why_no_proof, "dim"))
    console.print()
    console.print(words(told.premise, "dim"))
    console.print(words(told.numerics, "dim"))
