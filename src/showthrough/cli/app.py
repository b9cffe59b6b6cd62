"""The commands of ``showthrough``, and what they end with.

0 pass · 1 block · 2 bad usage or input · 3 review · 4 inconclusive · 70 a bug of ours ·
130 interrupted · 141 whoever read the output left.
"""

from __future__ import annotations

import typer

from showthrough import __version__
from showthrough.cli import (
    attack,
    audit,
    check,
    ci,
    cluster,
    compare,
    data,
    demo,
    dp,
    explain,
    gate,
    ledger,
    making,
    policy,
    publish,
    reproduce,
)
from showthrough.cli.listing import WithLists

app = typer.Typer(
    name="showthrough",
    help="What shows through when published tables are laid on top of each other.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo")(demo.demo)
app.command("audit", cls=WithLists)(audit.audit)
app.command("check")(check.check)
app.command("publish")(publish.publish)
app.command("compare")(compare.compare)
app.command("reproduce")(reproduce.reproduce)
app.command("explain")(explain.explain)
app.command("gate")(gate.gate)
app.command("ci")(ci.ci)
app.add_typer(ledger.app, name="ledger")
app.add_typer(policy.app, name="policy")
app.add_typer(making.app, name="release")
app.add_typer(attack.app, name="attack")
app.add_typer(dp.app, name="dp")
app.add_typer(data.app, name="data")
app.add_typer(cluster.app, name="cluster")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"showthrough {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """What shows through when published tables are laid on top of each other."""
