"""``showthrough attack``: the attacks of the literature on published files, in counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live
from showthrough.table.unpacking import unpacked_up_to

TimeEach = Annotated[float, typer.Option(min=0, help="Time for each inference.")]
BeliefsFile = Annotated[
    Optional[Path], typer.Option(help="Write everybody's beliefs to this file, which only you can read.")
]

app = typer.Typer(help="Attacks of the literature: what somebody with a release learns of persons.")


@app.callback()
def attack() -> None:
    """Attacks of the literature: what somebody with a release learns of persons."""


@app.command("bayes")
def bayes(
    path: Annotated[Path, typer.Argument(metavar="RELEASE", help="CSV or Parquet file, or release folder.")],
    prior: Annotated[
        list[str],
        typer.Option(
            metavar="[NAME=]FILE",
            help="What the attacker believes: p by id, or by quasi-identifiers, and value; once per attacker.",
        ),
    ],
    theta: Annotated[float, typer.Option(help="A belief that moves by so much is a breach.")] = 0.2,
    id: options.Id = None,
    sensitive: options.Sensitive = None,
    group: options.Group = None,
    quasi: options.Quasi = None,
    kind: options.Kind = None,
    values: Annotated[
        Optional[Path], typer.Option(help="Second table of Anatomy's pair (group, value, count).")
    ] = None,
    count: options.Count = None,
    register: Annotated[
        Optional[Path], typer.Option(help="Who is who: a table of ids and exact quasi-identifiers.")
    ] = None,
    hierarchy: options.Hierarchies = None,
    truth: Annotated[
        Optional[Path], typer.Option(help="Your own table: scores the beliefs, in figures that give nobody away.")
    ] = None,
    seconds: TimeEach = 600.0,
    people: BeliefsFile = None,
    encoding: options.Encoding = None,
    json: options.Json = None,
    unpacked: options.Unpacked = None,
    quiet: options.Quiet = False,
) -> None:
    """Bayes-optimal privacy: whose value is believed otherwise after the release than before, by theta or more."""
    with errors_as_sentences(), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, named_files, pairs, releases
        from showthrough.requests.attack import BayesRequest, run_bayes

        known = None if register is None else {"file": str(register), "only_published": True}
        entries: dict[str, Any] = {
            "release": releases([path], None if values is None else [values]), "register": known, "id": id,
            "sensitive": sensitive, "group": group, "quasi": columns(quasi), "count": count, "kind": kind,
            "encoding": encoding, "hierarchies": pairs("hierarchy", hierarchy), "priors": named_files("prior", prior),
            "theta": theta, "truth": None if truth is None else str(truth), "seconds": seconds,
        }  # fmt: skip
        request = BayesRequest.from_dict(entries)
        _attack(request, run_bayes, json, people, quiet=quiet)


@app.command("background")
def background(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RELEASES...", help="CSV or Parquet files, or release folders, in order.")
    ],
    table: Annotated[Path, typer.Option(help="Your own table: its strongest rules are what the attacker knows.")],
    positive: Annotated[int, typer.Option(min=0, help="Rules that say who has a value.")] = 10,
    negative: Annotated[int, typer.Option(min=0, help="Rules that say who does not have a value.")] = 10,
    support: Annotated[int, typer.Option(min=1, help="Persons who bear out a rule, at least.")] = 3,
    rule_columns: Annotated[int, typer.Option(min=1, help="Quasi-identifiers in a rule, at most.")] = 1,
    limit: Annotated[float, typer.Option(help="How sure a reader may be; 1: nothing may be proven.")] = 1.0,
    elastic: Annotated[bool, typer.Option("--elastic", help="Rules that contradict the releases give way.")] = False,
    id: options.Id = None,
    sensitive: options.Sensitive = None,
    group: options.Group = None,
    quasi: options.Quasi = None,
    kind: options.Kind = None,
    register: Annotated[
        Optional[Path], typer.Option(help="Who is who: a table of ids and exact quasi-identifiers. Default: --table.")
    ] = None,
    hierarchy: options.Hierarchies = None,
    seconds: TimeEach = 600.0,
    people: BeliefsFile = None,
    encoding: options.Encoding = None,
    json: options.Json = None,
    unpacked: options.Unpacked = None,
    quiet: options.Quiet = False,
) -> None:
    """Background knowledge: how many rules about sub-populations give somebody away."""
    with errors_as_sentences(), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, pairs, releases
        from showthrough.requests.attack import BackgroundRequest, run_background

        known = None if register is None else {"file": str(register), "only_published": True}
        entries: dict[str, Any] = {
            "release": releases(paths, None), "register": known, "id": id, "sensitive": sensitive, "group": group,
            "quasi": columns(quasi), "kind": kind, "encoding": encoding, "hierarchies": pairs("hierarchy", hierarchy),
            "table": str(table), "positive": positive, "negative": negative, "support": support,
            "columns": rule_columns, "limit": limit, "elastic": elastic, "seconds": seconds,
        }  # fmt: skip
        request = BackgroundRequest.from_dict(entries)
        _attack(request, run_background, json, people, quiet=quiet)


def _attack(request: Any, run: Callable[..., Any], json: str | None, people: Path | None, *, quiet: bool) -> None:
    """Run an attack that was asked for, unless its targets are in the way, and hand out what it found."""
    from showthrough.cli.output import deliver_attack
    from showthrough.cli.writing import check_targets

    targets = [target for target in (people, None if json in (None, "-") else Path(str(json))) if target]
    check_targets(targets, request.files())
    with live(quiet=quiet) as progress:
        result = run(request, progress)
    deliver_attack(result, json, people, quiet=quiet)
