"""``showthrough audit``: published files in, what they tell together out."""

from __future__ import annotations

from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer

from showthrough.cli.common import errors_as_sentences, out, stages


class Audience(StrEnum):
    shareable = "shareable"
    internal = "internal"


class Changed(Enum):
    refuse = "refuse"
    split = "split"


def audit(
    releases: Annotated[list[Path], typer.Argument(help="CSV or Parquet files, or release folders, in order.")],
    id: Annotated[Optional[str], typer.Option("--id", help="Column with the person's pseudonym.")] = None,
    sensitive: Annotated[Optional[str], typer.Option(help="Column with the sensitive value.")] = None,
    group: Annotated[Optional[str], typer.Option(help="Column with the group.")] = None,
    values: Annotated[
        Optional[list[Path]],
        typer.Option(help="Second table of Anatomy's pair (group, value, count); once per release, in order."),
    ] = None,
    count: Annotated[str, typer.Option(help="Column with the count in those tables.")] = "count",
    encoding: Annotated[Optional[str], typer.Option(help="Text encoding of CSV files, if not UTF-8.")] = None,
    changed: Annotated[
        Changed,
        typer.Option(help="An id whose groups share no value: refuse, or split into one person per release."),
    ] = Changed.refuse,
    audience: Annotated[
        Audience, typer.Option(help="shareable: counts only. internal: ids and proofs.")
    ] = Audience.shareable,
    people: Annotated[
        Optional[Path],
        typer.Option(help="Write ids, probabilities and proofs to this CSV file (keep it private)."),
    ] = None,
    json: Annotated[Optional[str], typer.Option(help="Write the audit as JSON to this file, or - for stdout.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no tables and no progress.")] = False,
) -> None:
    """Lay releases on top of each other: who can be found out, with what probability, and why."""
    with errors_as_sentences(audience=audience):
        from showthrough.auditing.audit import audit as run
        from showthrough.cli.files import read_all, write_json, write_people
        from showthrough.table.files import check_writable

        for target in (people, Path(json) if json not in (None, "-") else None):
            if target is not None:
                check_writable(target)
        history = read_all(releases, values, id=id, sensitive=sensitive, group=group, count=count, encoding=encoding)
        with stages(quiet=quiet) as progress:
            found = run(history, changed=changed.value, progress=progress)
        if people is not None:
            write_people(found, people)
        if json is not None:
            write_json(found, json, audience=audience.value)
        if not quiet and json != "-":
            from showthrough.report.terminal import show_audit

            show_audit(out(), found, audience=audience.value)
