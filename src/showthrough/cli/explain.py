"""``showthrough explain``: one person, from every side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import INCONCLUSIVE, errors_as_sentences, live
from showthrough.cli.interrupts import ending_early
from showthrough.errors import InputError
from showthrough.table.unpacking import unpacked_up_to

if TYPE_CHECKING:
    from showthrough.requests.explain import ExplainRequest


def explain(
    person: Annotated[str, typer.Argument(metavar="ID", help="Whom: the pseudonym in the releases or the register.")],
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[VALUE] RELEASES...",
            help="A value to explain (default: the likeliest), then CSV or Parquet files or release folders in order, "
            "or one history file (.toml).",
        ),
    ],
    value: Annotated[Optional[str], typer.Option(help="The value, if it could be taken for a file.")] = None,
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
    register: Annotated[
        Optional[Path], typer.Option(help="Who is who: a table of ids and exact quasi-identifiers.")
    ] = None,
    knowledge: options.Knowledge = None,
    prior: options.PriorFile = None,
    elastic: options.Elastic = False,
    hierarchy: options.Hierarchies = None,
    link: Annotated[
        Optional[bool], typer.Option("--link/--no-link", help="Use private links beside release folders, or not.")
    ] = None,
    part: Annotated[
        Optional[str], typer.Option(help="Of an id that stands for one person per release: which release.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="The answer is what is known after this time.")] = 600.0,
    encoding: options.Encoding = None,
    json: options.Json = None,
    unpacked: options.Unpacked = None,
    quiet: options.Quiet = False,
) -> None:
    """What readers know of one person: alone, together, since which release, and the proof. For internal eyes."""
    with errors_as_sentences(audience="internal"), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, marks, pairs
        from showthrough.cli.output import deliver_person
        from showthrough.cli.writing import check_targets
        from showthrough.requests.explain import run_explain

        said, paths = (value, [Path(word) for word in words]) if value is not None else _told_apart(words)
        shared: dict[str, Any] = {
            "id": id, "sensitive": sensitive, "group": group, "quasi": columns(quasi), "kind": kind,
            "suppressed": marks(suppressed), "rounding": rounding, "totals": tuple(totals) if totals else None,
            "population": population,
            "value_cells": value_cells or None,
            "encoding": encoding, "link": link, "hierarchies": pairs("hierarchy", hierarchy),
        }  # fmt: skip
        whom: dict[str, Any] = {"person": person, "value": said, "part": part, "seconds": seconds}
        informed: dict[str, Any] = {
            "knowledge": tuple(map(str, knowledge or ())), "prior": None if prior is None else str(prior),
            "elastic": elastic,
        }  # fmt: skip
        request = _request(paths, register, shared, whom, informed)
        if json not in (None, "-"):
            check_targets([Path(str(json))], [*paths, *request.files()])
        with live(quiet=quiet) as progress, ending_early(progress):
            result = run_explain(request, progress)
        deliver_person(result, json, quiet=quiet)
        if not result.posterior.certificate.status.certain and result.story.best.p is None:
            raise typer.Exit(INCONCLUSIVE)


def _request(
    paths: list[Path], register: Path | None, shared: dict[str, Any], whom: dict[str, Any], informed: dict[str, Any]
) -> ExplainRequest:
    """What is asked of files, or of a history file."""
    from showthrough.cli.inputs import history_file, releases
    from showthrough.requests.audit import AuditRequest
    from showthrough.requests.explain import ExplainRequest

    told = history_file(paths, [*shared.values(), register])
    if told is None:
        known = None if register is None else {"file": str(register), "only_published": True}
        given = {"release": releases(paths, None), "register": known, **shared, **whom, **informed}
        return ExplainRequest.from_dict(given)
    own = replace(AuditRequest.read(told), **{name: entry for name, entry in informed.items() if entry})
    return ExplainRequest.of_history(own, whom)


def _told_apart(words: list[str]) -> tuple[str | None, list[Path]]:
    """The first word is a value unless it is a file or folder; then come the releases."""
    first = Path(words[0])
    if "\0" not in words[0] and not first.exists() and len(words) > 1:
        return words[0], [Path(word) for word in words[1:]]
    if "\0" not in words[0] and not first.exists():
        raise InputError(f"{words[0]} is no file or folder: name the releases after the id (and the value).")
    return None, [Path(word) for word in words]
