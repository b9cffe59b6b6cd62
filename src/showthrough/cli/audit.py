"""``showthrough audit``: published files in, what they tell together out."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import counting, errors_as_sentences, stages
from showthrough.cli.options import Audience
from showthrough.errors import InputError


class Changed(Enum):
    refuse = "refuse"
    split = "split"


def audit(
    releases: Annotated[
        list[Path],
        typer.Argument(help="CSV or Parquet files, or release folders, in order; or one history file (.toml)."),
    ],
    id: options.Id = None,
    sensitive: options.Sensitive = None,
    group: options.Group = None,
    quasi: Annotated[
        Optional[str], typer.Option(help="Quasi-identifiers of releases without ids, with commas: zip,age.")
    ] = None,
    kind: options.Kind = None,
    missing: Annotated[
        Optional[list[str]], typer.Option(help="A cell that stands for a missing value, such as ?; once per mark.")
    ] = None,
    locate: Annotated[
        Optional[str], typer.Option(help="Microaggregated releases: nearest centroid, or all within the spread.")
    ] = None,
    spread: Annotated[
        Optional[list[str]], typer.Option(help="COLUMN=COLUMN: where a quasi-identifier's published spread stands.")
    ] = None,
    register: Annotated[
        Optional[Path],
        typer.Option(
            help="Who is who: a table of ids and exact quasi-identifiers; columns in_NAME say who is in NAME."
        ),
    ] = None,
    present: Annotated[
        Optional[list[str]],
        typer.Option(help="NAME=FILE: the ids (one per line) of all who are in the release NAME."),
    ] = None,
    hierarchy: options.Hierarchies = None,
    value_map: Annotated[
        Optional[list[str]],
        typer.Option(help="NAME=FILE: the common value for each value that the release NAME publishes."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show how cells were understood and who can be located.")
    ] = False,
    values: options.Values = None,
    count: options.Count = None,
    encoding: options.Encoding = None,
    changed: Annotated[
        Changed,
        typer.Option(help="An id whose groups share no value: refuse, or split into one person per release."),
    ] = Changed.refuse,
    audience: Annotated[
        Audience, typer.Option(help="shareable: counts only. internal: ids and proofs.")
    ] = Audience.shareable,
    people: Annotated[
        Optional[Path],
        typer.Option(
            help="Write every person's probabilities and facts to this CSV file (keep it private). The first 200 "
            "facts carry a proof, unless it takes more than 30 steps; in Python, Posterior.explain gives any."
        ),
    ] = None,
    bounds: Annotated[
        Optional[float],
        typer.Option(
            min=0,
            max=1,
            help="Add sharp lower and upper bounds to the people file, for persons whose likeliest value has at "
            "least this probability.",
        ),
    ] = None,
    whole_values: Annotated[
        Optional[float],
        typer.Option(min=0, help="Spend up to this many seconds on what no assignment of whole values allows."),
    ] = None,
    json: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Lay releases on top of each other: who can be found out, with what probability, and why."""
    with errors_as_sentences(audience=audience):
        from showthrough.auditing.audit import audit as run
        from showthrough.cli.files import check_targets
        from showthrough.cli.inputs import Named, files_read, located, pairs, read_inputs
        from showthrough.cli.output import Answer, deliver, show_understood
        from showthrough.report.content import facts_frame, people_frame, with_bounds

        file = None if json in (None, "-") else json
        targets = [target for target in (people, file and Path(file)) if target]
        named = Named(pairs("present", present), pairs("hierarchy", hierarchy), pairs("value-map", value_map))
        check_targets(targets, files_read(releases, values, register, named))
        if bounds is not None and people is None:
            raise InputError("--bounds adds columns to the people file: name one with --people FILE.")
        roles: dict[str, Any] = {
            "id": id,
            "sensitive": sensitive,
            "group": group,
            "count": count,
            "kind": kind,
            "encoding": encoding,
        }
        roles |= located(missing, locate, spread)
        columns = None if quasi is None else [c.strip() for c in quasi.split(",") if c.strip()]
        history, people_known = read_inputs(releases, values, register, named=named, quasi=columns, **roles)
        if dry_run:
            show_understood(history, people_known)
            return
        with stages(quiet=quiet) as progress:
            found = run(
                history,
                register=people_known,
                changed=changed.value,
                whole_values=whole_values,
                progress=progress,
            )
            known = None
            if people is not None or audience == Audience.internal:
                progress("proofs")
                known = facts_frame(found)
        frame = None if people is None else people_frame(found, known=known)
        if frame is not None and bounds is not None:
            with counting("bounds", quiet=quiet) as tick:
                limits = found.posterior.bounds(above=bounds, workers=os.cpu_count() or 1, progress=tick)
            frame = with_bounds(frame, limits)
        deliver(Answer(found, known, frame, audience), json=json, people=people, quiet=quiet)
