"""``showthrough attack``: the attacks of the literature on published files, in counts.

Each attack of `ATTACKS` is a command: the options of its own first, then those that all of them share.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Optional, Union, get_args, get_origin

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live
from showthrough.cli.interrupts import ending_early
from showthrough.requests.attack_entries import ATTACKS
from showthrough.requests.attack_entries.base import AttackEntries, Choice
from showthrough.table.entries import hints
from showthrough.table.unpacking import unpacked_up_to

app = typer.Typer(help="Attacks of the literature: what somebody with a release learns of persons.")

_ONE = Annotated[
    list[Path], typer.Argument(metavar="RELEASE", help="CSV or Parquet file, or release folder; or a history file.")
]
_MANY = Annotated[
    list[Path],
    typer.Argument(
        metavar="RELEASES...", help="CSV or Parquet files, or release folders, in order; or one history file (.toml)."
    ),
]
_READ: Mapping[str, tuple[Any, Any]] = {
    "id": (options.Id, None),
    "sensitive": (options.Sensitive, None),
    "group": (options.Group, None),
    "quasi": (options.Quasi, None),
    "kind": (options.Kind, None),
    "values": (options.Values, None),
    "count": (options.Count, None),
    "suppressed": (options.Suppressed, None),
    "rounding": (options.Rounding, None),
    "totals": (options.Totals, None),
    "population": (options.Population, None),
    "register": (
        Annotated[Optional[Path], typer.Option(help="Who is who: a table of ids and exact quasi-identifiers.")],
        None,
    ),
    "hierarchy": (options.Hierarchies, None),
    "truth": (
        Annotated[
            Optional[Path],
            typer.Option(help="Your own table: scores the beliefs, in figures that give nobody away."),
        ],
        None,
    ),
    "seconds": (Annotated[float, typer.Option(min=0, help="Time for each inference.")], 600.0),
}
_SEED = {"seed": (Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")], 0)}
_WRITTEN: Mapping[str, tuple[Any, Any]] = {
    "people": (
        Annotated[
            Optional[Path],
            typer.Option(help="Write what comes out for everybody to this file, which only you can read."),
        ],
        None,
    ),
    "encoding": (options.Encoding, None),
    "json": (options.Json, None),
    "unpacked": (options.Unpacked, None),
    "quiet": (options.Quiet, False),
}


@app.callback()
def attack() -> None:
    """Attacks of the literature: what somebody with a release learns of persons."""


def _annotated(name: str, hint: Any, said: Choice) -> Any:
    """The type of an option as Typer reads it."""
    ends: dict[str, Any] = {} if said.least is None else {"min": said.least, "max": said.most}
    shown: dict[str, Any] = {"help": said.help, "metavar": said.metavar}
    if hint is bool:
        return Annotated[bool, typer.Option(f"--{name.replace('_', '-')}", help=said.help)]
    if isinstance(get_origin(hint), type) and issubclass(get_origin(hint) or object, Mapping):
        return Annotated[Optional[list[str]], typer.Option(**{**shown, "metavar": said.metavar or "[NAME=]FILE"})]
    if get_origin(hint) is tuple:
        kind: Any = Path if said.file else get_args(hint)[0]
        return Annotated[Optional[list[kind]], typer.Option(**shown)]
    if get_origin(hint) in (Union, types.UnionType):
        inner = _inner(hint)
        if get_origin(inner) is tuple:  # numbers with commas between them
            return Annotated[Optional[str], typer.Option(**shown)]
        kind = Path if said.file else inner
        return Annotated[Optional[kind], typer.Option(**shown, **ends)]
    return Annotated[Path if said.file else hint, typer.Option(**shown, **ends)]


def _inner(hint: Any) -> Any:
    """The type of an option that need not be given."""
    return next(kind for kind in get_args(hint) if kind is not type(None))


def _own(kind: type[AttackEntries]) -> dict[str, tuple[Any, Any]]:
    """The options of one attack with their defaults; those that are needed have none."""
    found, said = {}, kind.choices()
    for entry in fields(kind):
        if entry.name not in said:
            continue
        default = entry.default if entry.default is not MISSING else None
        many = isinstance(default, tuple) and not default
        needed = Parameter.empty if said[entry.name].needed else None if many else default
        found[entry.name] = (_annotated(entry.name, hints(kind)[entry.name], said[entry.name]), needed)
    return found


def _command(name: str, kind: type[AttackEntries]) -> Callable[..., None]:
    """The command of one attack."""

    def command(**chosen: Any) -> None:
        with errors_as_sentences(), unpacked_up_to(chosen["unpacked"]):
            _run(name, chosen)

    paths: dict[str, tuple[Any, Any]] = {"paths": (_ONE if kind.one else _MANY, Parameter.empty)}
    every = {**paths, **_own(kind), **_READ, **(_SEED if kind.samples else {}), **_WRITTEN}
    command.__doc__ = kind.__doc__
    return _declared(command, every)


def _declared(command: Callable[..., None], every: Mapping[str, tuple[Any, Any]]) -> Callable[..., None]:
    """A command with its options where Typer looks for them."""
    listed = [
        Parameter(one, Parameter.KEYWORD_ONLY, default=default, annotation=kind_of)
        for one, (kind_of, default) in every.items()
    ]
    vars(command)["__signature__"] = Signature(listed, return_annotation=None)
    command.__annotations__ = {one: kind_of for one, (kind_of, _) in every.items()}
    return command


def _all() -> Callable[..., None]:
    """The command of all attacks together."""

    def command(**chosen: Any) -> None:
        """All attacks that can run on what is given, in one table; and why the others could not."""
        with errors_as_sentences(), unpacked_up_to(chosen["unpacked"]):
            from showthrough.cli.output import deliver_all_attacks
            from showthrough.cli.writing import check_targets
            from showthrough.requests.attack_all import AllAttacksRequest, run_all_attacks

            people, json, quiet = chosen["people"], chosen["json"], chosen["quiet"]
            request = _asked(AllAttacksRequest, chosen, {})
            check_targets(_targets(people, json), [*chosen["paths"], *request.files()])
            with live(quiet=quiet) as progress, ending_early(progress):
                result = run_all_attacks(request, progress)
            deliver_all_attacks(result, json, people, quiet=quiet)

    timed = {**_READ, "seconds": (Annotated[float, typer.Option(min=0, help="Time for all of them.")], 600.0)}
    return _declared(command, {"paths": (_MANY, Parameter.empty), **timed, **_SEED, **_WRITTEN})


def _targets(people: Path | None, json: str | None) -> list[Path]:
    """The files that are to be written."""
    return [target for target in (people, None if json in (None, "-") else Path(str(json))) if target]


def _run(name: str, chosen: Mapping[str, Any]) -> None:
    """Run an attack that was asked for, unless its targets are in the way, and hand out what it found."""
    from showthrough.cli.output import deliver_attack
    from showthrough.cli.writing import check_targets
    from showthrough.requests.attack import AttackRequest, run_attack

    people, json, quiet = chosen["people"], chosen["json"], chosen["quiet"]
    own = {"attack": name, "options": _options(ATTACKS[name], chosen)}
    request = _asked(AttackRequest, chosen, own)
    check_targets(_targets(people, json), [*chosen["paths"], *request.files()])
    with live(quiet=quiet) as progress:
        result = run_attack(request, progress)
    deliver_attack(result, json, people, quiet=quiet)


def _asked(kind: Any, chosen: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
    """Options as a request of some kind, with entries of its own."""
    from showthrough.cli.inputs import columns, history_file, marks, pairs, releases
    from showthrough.register.history_file import HistoryEntries

    register, truth, totals = chosen["register"], chosen["truth"], chosen["totals"]
    shared: dict[str, Any] = {
        **{one: chosen[one] for one in ("id", "sensitive", "group", "kind", "count", "rounding", "encoding")},
        "quasi": columns(chosen["quasi"]),
        "suppressed": marks(chosen["suppressed"]),
        "totals": tuple(totals) if totals else None,
        "population": chosen["population"],
        "hierarchies": pairs("hierarchy", chosen["hierarchy"]),
    }
    asked: dict[str, Any] = {
        **own,
        "truth": None if truth is None else str(truth),
        "seconds": chosen["seconds"],
        "seed": chosen.get("seed", 0),
    }
    told = history_file(chosen["paths"], [*shared.values(), chosen["values"], register])
    if told is not None:
        return kind.of_history(HistoryEntries.read(told), asked)
    known = None if register is None else {"file": str(register), "only_published": True}
    listed = releases(chosen["paths"], chosen["values"])
    return kind.from_dict({"release": listed, "register": known, **shared, **asked})


def _options(kind: type[AttackEntries], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an attack as plain data."""
    from showthrough.cli.inputs import named_files, numbers

    found: dict[str, Any] = {}
    said = kind.choices()
    for name, hint in hints(kind).items():
        given = chosen[name]
        origin = get_origin(hint)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            found[name] = named_files(name, given or [])
        elif origin in (Union, types.UnionType) and get_origin(_inner(hint)) is tuple:
            parts = get_args(_inner(hint))
            whole = parts.index(int) if int in parts else None
            parted = numbers(name.replace("_", "-"), given, said[name].metavar or "", whole=whole)
            found.update({} if parted is None else {name: parted})
        elif isinstance(given, list):
            found[name] = tuple(str(one) if isinstance(one, Path) else one for one in given)
        elif given is not None:
            found[name] = str(given) if isinstance(given, Path) else given
    return found


for _name, _kind in ATTACKS.items():
    app.command(_name)(_command(_name, _kind))
app.command("all")(_all())
