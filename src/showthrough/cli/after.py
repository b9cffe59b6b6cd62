"""``showthrough dp after``: how far a noisy release can move everybody's probabilities on top of a history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import INCONCLUSIVE, errors_as_sentences, live
from showthrough.cli.interrupts import ending_early
from showthrough.cli.options import Audience
from showthrough.table.unpacking import unpacked_up_to

if TYPE_CHECKING:
    from showthrough.requests.after import AfterRequest


def after(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASES...",
            help="CSV or Parquet files, or release folders, in order; or one history file (.toml).",
        ),
    ],
    epsilon: Annotated[
        Optional[float], typer.Option(help="ε of the noisy release that comes on top (one record replaced).")
    ] = None,
    delta: Annotated[float, typer.Option(help="δ of it.")] = 0.0,
    promised_by: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME", help="Instead of --epsilon: a noisy release of the history; only cells that change count."
        ),
    ] = None,
    failure: Annotated[
        Optional[float], typer.Option(help="With a δ: the probability with which an interval may fail. Default: √δ.")
    ] = None,
    whatever: Annotated[
        bool,
        typer.Option(
            "--whatever",
            help="Start from bounds: for readers who believe anything that the releases allow. Default: all "
            "assignments of values are equally likely.",
        ),
    ] = False,
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
    values: options.Values = None,
    count: options.Count = None,
    encoding: options.Encoding = None,
    seconds: Annotated[
        float, typer.Option(min=0, help="Time for the inference, and again for counting records.")
    ] = 600.0,
    audience: Annotated[
        Audience, typer.Option(help="shareable: counts only. internal: ids, too.")
    ] = Audience.shareable,
    people: Annotated[
        Optional[Path], typer.Option(help="Write everybody's intervals to this CSV file (keep it private).")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Write the people file as it is. Default: an apostrophe before cells that a spreadsheet would run.",
        ),
    ] = False,
    json: options.Json = None,
    unpacked: options.Unpacked = None,
    quiet: options.Quiet = False,
) -> None:
    """How far a noisy release can move what readers of the others believe of everybody, and what is promised."""
    with errors_as_sentences(audience=audience), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, marks, pairs
        from showthrough.cli.output import deliver_after
        from showthrough.cli.writing import as_started, check_targets
        from showthrough.requests.after import run_after

        shared: dict[str, Any] = {
            "id": id, "sensitive": sensitive, "group": group, "quasi": columns(quasi), "kind": kind, "count": count,
            "suppressed": marks(suppressed), "rounding": rounding, "totals": tuple(totals) if totals else None,
            "population": population, "value_cells": value_cells or None, "encoding": encoding, "link": link,
            "hierarchies": pairs("hierarchy", hierarchy),
        }  # fmt: skip
        asked: dict[str, Any] = {
            "epsilon": epsilon, "delta": delta, "promised_by": promised_by, "failure": failure,
            "p": "bounds" if whatever else "worlds", "seconds": seconds, "audience": audience.value,
        }  # fmt: skip
        informed: dict[str, Any] = {
            "knowledge": tuple(map(str, knowledge or ())), "prior": None if prior is None else str(prior),
            "elastic": elastic,
        }  # fmt: skip
        request = _request((paths, values, register), shared, asked, informed)
        files = [] if json in (None, "-") else [Path(str(json))]
        check_targets([*files, *([] if people is None else [people])], [*paths, *request.files()])
        with live(quiet=quiet) as progress, ending_early(progress):
            result = run_after(request, progress)
        result = replace(result, made=as_started(result.made))
        deliver_after(result, json, people, quiet=quiet, raw=raw)
        if not result.posterior.certificate.status.certain and result.content().open:
            raise typer.Exit(INCONCLUSIVE)


def _request(
    read: tuple[list[Path], list[Path] | None, Path | None],
    shared: dict[str, Any],
    asked: dict[str, Any],
    informed: dict[str, Any],
) -> AfterRequest:
    """What is asked of files, or of a history file."""
    from showthrough.cli.inputs import history_file, releases
    from showthrough.requests.after import AfterRequest
    from showthrough.requests.audit import AuditRequest

    paths, values, register = read
    told = history_file(paths, [*shared.values(), values, register])
    if told is None:
        known = None if register is None else {"file": str(register), "only_published": True}
        given = {"release": releases(paths, values), "register": known, **shared, **asked, **informed}
        return AfterRequest.from_dict(given)
    own = replace(AuditRequest.read(told), **{name: entry for name, entry in informed.items() if entry})
    return AfterRequest.of_history(own, asked)
