"""``showthrough dp``: what noisy releases promise, alone, together and on top of a history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from showthrough.cli import after, options
from showthrough.cli.common import errors_as_sentences, out
from showthrough.cli.listing import WithLists

app = typer.Typer(help="Differential privacy: what noisy releases promise.", no_args_is_help=True)


@app.callback()
def family() -> None:
    """Differential privacy: what noisy releases promise."""


app.command("after", cls=WithLists)(after.after)


@app.command("meaning")
def meaning(
    epsilon: Annotated[float, typer.Option(help="ε of the promise.")],
    delta: Annotated[float, typer.Option(help="δ of the promise.")] = 0.0,
    persons: Annotated[Optional[int], typer.Option(help="How many records there are: needed with a δ.")] = None,
    neighbours: Annotated[
        str, typer.Option(help="What it is promised for: replace-one (a record changes) or add-remove.")
    ] = "replace-one",
    failure: Annotated[
        Optional[float], typer.Option(help="With a δ: the probability with which bounds may fail. Default: n√δ.")
    ] = None,
    json: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """What an ε means for a person, in words: by the papers, and by sharper bounds."""
    with errors_as_sentences():
        from showthrough.cli.writing import check_targets, give_json
        from showthrough.report.meaning import show_meaning
        from showthrough.requests.meaning import MeaningRequest, run_meaning

        entries = {
            "epsilon": epsilon, "delta": delta, "persons": persons, "neighbours": neighbours, "failure": failure,
        }  # fmt: skip
        request = MeaningRequest.from_dict(entries)
        check_targets([] if json in (None, "-") else [Path(str(json))], [])
        told = run_meaning(request)
        if not quiet and json != "-":
            show_meaning(out(), told)
        give_json(json, told.as_json(), private=False)


@app.command("account")
def account(
    releases: Annotated[
        list[Path], typer.Argument(help="Release folders, and states of accounts (.json), in any order.")
    ],
    delta: Annotated[
        Optional[float], typer.Option(help="δ for everything together. Default: what the releases claim.")
    ] = None,
    method: Annotated[
        Optional[str],
        typer.Option(help="basic, advanced, zcdp, rdp, pld or best. Default: best where there is a δ, else basic."),
    ] = None,
    next: Annotated[
        Optional[str],
        typer.Option(
            metavar="RELEASE",
            help="What one more would cost: a folder, MECHANISM:SCALE (geometric:4) or EPSILON[,DELTA].",
        ),
    ] = None,
    neighbours: Annotated[
        Optional[str], typer.Option(help="replace-one or add-remove. Default: that of the releases.")
    ] = None,
    max_epsilon: Annotated[Optional[float], typer.Option(help="Limit: end with exit code 1 above this ε.")] = None,
    json: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Add up what noisy releases promise, and tell what one more would cost."""
    with errors_as_sentences():
        from showthrough.cli.output import say_verdict
        from showthrough.cli.writing import as_started, check_targets, give_json
        from showthrough.report.account import show_account
        from showthrough.requests.account import AccountRequest, run_account

        entries = {
            "releases": tuple(map(str, releases)), "delta": delta, "method": method, "next": next,
            "neighbours": neighbours, "max_epsilon": max_epsilon,
        }  # fmt: skip
        request = AccountRequest.from_dict(entries)
        check_targets([] if json in (None, "-") else [Path(str(json))], request.files())
        told = run_account(request).content
        if not quiet and json != "-":
            show_account(out(), told)
        content = told.as_json()
        if told.made is not None:
            content["made"] = as_started(told.made).as_dict()
        give_json(json, content, private=False)
        if quiet:
            say_verdict(told.verdict, told.sentences[-1])
    if told.verdict.exit_code:
        raise typer.Exit(told.verdict.exit_code)
