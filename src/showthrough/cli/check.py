"""``showthrough check``: one release in, the privacy models that it satisfies out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from showthrough.cli.audit import Audience
from showthrough.cli.common import errors_as_sentences, out
from showthrough.errors import InputError

if TYPE_CHECKING:
    from showthrough.criteria.criterion import Checked

FAILS = 1


class Distance(StrEnum):
    equal = "equal"
    ordered = "ordered"


class Reference(StrEnum):
    all = "all"
    kept = "kept"


class Others(StrEnum):
    alone = "alone"
    quasi = "quasi"


class Cells(StrEnum):
    category = "category"
    wildcard = "wildcard"


class Metric(StrEnum):
    numeric = "numeric"
    equal = "equal"


def check(
    release: Annotated[Path, typer.Argument(help="CSV or Parquet file, or release folder.")],
    id: Annotated[Optional[str], typer.Option("--id", help="Column with the person's pseudonym, if any.")] = None,
    sensitive: Annotated[
        Optional[list[str]], typer.Option(help="Column with the sensitive value; once per column.")
    ] = None,
    group: Annotated[Optional[str], typer.Option(help="Column with the group, if the file has one.")] = None,
    quasi: Annotated[
        Optional[list[str]],
        typer.Option(help="Quasi-identifier; once per column. Rows with equal ones are a group. Default: all others."),
    ] = None,
    values: Annotated[
        Optional[Path], typer.Option(help="Second table of Anatomy's pair (group, value, count).")
    ] = None,
    count: Annotated[str, typer.Option(help="Column with the count in that table.")] = "count",
    encoding: Annotated[Optional[str], typer.Option(help="Text encoding of CSV files, if not UTF-8.")] = None,
    suppressed: Annotated[
        Optional[str], typer.Option(help="Rows whose quasi-identifiers all read this (such as '*') are in no group.")
    ] = None,
    table: Annotated[
        Optional[Path], typer.Option(help="The table that the release was made from: values are compared with it.")
    ] = None,
    population: Annotated[
        Optional[Path], typer.Option(help="The population, recoded like the release: for k-map, presence and risk.")
    ] = None,
    others: Annotated[
        Others, typer.Option(help="With several sensitive columns: leave the others alone, or count them as quasi.")
    ] = Others.alone,
    k: Annotated[Optional[int], typer.Option("--k", help="k-anonymity.")] = None,
    distinct_l: Annotated[Optional[int], typer.Option(help="Distinct l-diversity.")] = None,
    frequency_l: Annotated[Optional[float], typer.Option(help="Frequency l-diversity.")] = None,
    entropy_l: Annotated[Optional[float], typer.Option(help="Entropy l-diversity.")] = None,
    recursive: Annotated[Optional[str], typer.Option(metavar="C,L", help="Recursive (c,l)-diversity.")] = None,
    t: Annotated[Optional[float], typer.Option("--t", help="t-closeness.")] = None,
    distance: Annotated[Distance, typer.Option(help="Ground distance of t-closeness.")] = Distance.equal,
    reference: Annotated[Reference, typer.Option(help="Rows that t-closeness compares with.")] = Reference.all,
    alpha: Annotated[Optional[float], typer.Option(help="(α,k)-anonymity, with the k of --k or 1.")] = None,
    beta: Annotated[Optional[float], typer.Option(help="β-likeness.")] = None,
    enhanced: Annotated[bool, typer.Option("--enhanced", help="Enhanced β-likeness.")] = False,
    delta_disclosure: Annotated[Optional[float], typer.Option(help="δ-disclosure.")] = None,
    dissimilarity: Annotated[
        Optional[str], typer.Option(metavar="EPS,DELTA,K", help="(ε,δ)^k-dissimilarity of numbers.")
    ] = None,
    metric: Annotated[Metric, typer.Option(help="Distance of dissimilarity.")] = Metric.numeric,
    m_unique: Annotated[Optional[int], typer.Option(help="m-uniqueness.")] = None,
    k_map: Annotated[Optional[int], typer.Option(help="k-map (needs --population).")] = None,
    presence: Annotated[Optional[str], typer.Option(metavar="MIN,MAX", help="δ-presence (needs --population).")] = None,
    negations: Annotated[int, typer.Option(min=0, help="Show what so many excluded values of a person leave.")] = 0,
    risk: Annotated[
        Optional[Cells], typer.Option(help="Re-identification risk, with suppressed cells read as this.")
    ] = None,
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Risk above which records are at risk.")] = 0.2,
    audience: Annotated[
        Audience, typer.Option(help="shareable: counts only. internal: the worst groups by name.")
    ] = Audience.shareable,
    json: Annotated[Optional[str], typer.Option(help="Write the result as JSON to this file, or - for stdout.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no tables.")] = False,
) -> None:
    """Check one release: which privacy models it satisfies, how well, and whether your limits hold."""
    with errors_as_sentences(audience=audience):
        from showthrough.cli.files import check_targets
        from showthrough.criteria.examine import examine
        from showthrough.report import check as report
        from showthrough.table.files import read_table

        inputs = [path for path in (release, values, table, population) if path is not None]
        check_targets([] if json in (None, "-") else [Path(json or "")], inputs)
        people = None if population is None else read_table(population, encoding=encoding)
        criteria = _plain(k, distinct_l, frequency_l, entropy_l, recursive, m_unique)
        criteria += _shares(t, distance, reference, alpha, k, beta, enhanced)
        criteria += _special(delta_disclosure, dissimilarity, metric, k_map, presence, people)
        columns = {"id": id, "group": group, "quasi": quasi, "sensitive": sensitive or []}
        found, roles = _read(release, values, columns, count=count, encoding=encoding)
        roles = _with(roles, others=others.value, suppressed=suppressed)
        whole = None if table is None else read_table(table, encoding=encoding)
        parts = examine(found, criteria, roles=roles, reference=whole, negations=negations)
        told = report.content(
            release.stem,
            parts,
            None if risk is None else _risk(found, roles, people, risk.value, threshold),
            audience=audience,
        )
        _deliver(told, json=json, quiet=quiet)
    if told["holds"] is False:
        raise typer.Exit(FAILS)


def _plain(
    k: int | None,
    distinct_l: int | None,
    frequency_l: float | None,
    entropy_l: float | None,
    recursive: str | None,
    m_unique: int | None,
) -> list[Checked]:
    from showthrough.criteria import l_diversity as diversity
    from showthrough.criteria.k_anonymity import KAnonymity
    from showthrough.criteria.m_uniqueness import MUniqueness

    found: list[Checked] = []
    if k is not None:
        found.append(KAnonymity(k))
    if distinct_l is not None:
        found.append(diversity.DistinctLDiversity(distinct_l))
    if frequency_l is not None:
        found.append(diversity.FrequencyLDiversity(frequency_l))
    if entropy_l is not None:
        found.append(diversity.EntropyLDiversity(entropy_l))
    if recursive is not None:
        c, l = _numbers("--recursive", recursive, "C,L", whole=(1,))
        found.append(diversity.RecursiveLDiversity(c, int(l)))
    if m_unique is not None:
        found.append(MUniqueness(m_unique))
    return found


def _shares(
    t: float | None,
    distance: Distance,
    reference: Reference,
    alpha: float | None,
    k: int | None,
    beta: float | None,
    enhanced: bool,
) -> list[Checked]:
    from showthrough.criteria.alpha_k import AlphaKAnonymity
    from showthrough.criteria.beta_likeness import BetaLikeness
    from showthrough.criteria.t_closeness import TCloseness

    found: list[Checked] = []
    if t is not None:
        found.append(TCloseness(t, distance.value, reference.value))
    if alpha is not None:
        found.append(AlphaKAnonymity(alpha, 1 if k is None else k))
    if beta is not None:
        found.append(BetaLikeness(beta, enhanced))
    return found


def _special(
    delta: float | None,
    dissimilarity: str | None,
    metric: Metric,
    k_map: int | None,
    presence: str | None,
    population: Any,
) -> list[Checked]:
    from showthrough.criteria.delta_disclosure import DeltaDisclosure
    from showthrough.criteria.dissimilarity import Dissimilarity
    from showthrough.criteria.population import DeltaPresence, KMap

    if population is None and (k_map is not None or presence is not None):
        raise InputError("k-map and δ-presence compare with a population: name its file with --population.")
    found: list[Checked] = []
    if delta is not None:
        found.append(DeltaDisclosure(delta))
    if dissimilarity is not None:
        epsilon, share, k = _numbers("--dissimilarity", dissimilarity, "EPS,DELTA,K", whole=(2,))
        found.append(Dissimilarity(epsilon, share, int(k), metric=metric.value))
    if k_map is not None:
        found.append(KMap(k_map, population=population))
    if presence is not None:
        lowest, highest = _numbers("--presence", presence, "MIN,MAX")
        found.append(DeltaPresence(lowest, highest, population=population))
    return found


def _numbers(option: str, given: str, shape: str, *, whole: tuple[int, ...] = ()) -> list[float]:
    try:
        found = [float(part) for part in given.split(",")]
    except ValueError:
        found = []
    if len(found) != shape.count(",") + 1 or any(found[place] % 1 for place in whole):
        raise InputError(
            f"{option} takes numbers as {shape}, such as {option} {'0.1,0.5,5' if whole == (2,) else '2,3'}."
        )
    return found


def _read(
    path: Path, values: Path | None, columns: dict[str, Any], *, count: str, encoding: str | None
) -> tuple[Any, Any]:
    """A release folder or bucketized file as a release; any other file as a frame whose roles are named."""
    from showthrough.criteria.several import Roles
    from showthrough.release.reading import read_release
    from showthrough.table.files import read_table

    sensitive, quasi = tuple(columns["sensitive"]), columns["quasi"]
    named = None if quasi is None else tuple(quasi)
    if path.is_dir():
        return read_release(path), Roles(sensitive, named)
    id, group = columns["id"], columns["group"]
    if values is not None or (id is not None and group is not None and len(sensitive) == 1):
        only = sensitive[0] if sensitive else None
        return read_release(path, values, id=id, sensitive=only, group=group, count=count, encoding=encoding), Roles(
            (), named
        )
    frame = read_table(path, encoding=encoding)
    if named is None:
        named = (group,) if group is not None else tuple(c for c in frame.columns if c != id and c not in sensitive)
    elif group is not None:
        raise InputError(
            "Groups are named by a column (--group) or made by equal quasi-identifiers (--quasi): give one."
        )
    return frame, Roles(sensitive, named)


def _with(roles: Any, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(roles, **changes)


def _risk(release: Any, roles: Any, population: Any, cells: str, threshold: float) -> Any:
    from showthrough.criteria.risk import risk

    mark = "*" if roles.suppressed is None else roles.suppressed
    return risk(
        release, quasi=roles.quasi, population=population, threshold=threshold, suppressed_cells=cells, mark=mark
    )


def _deliver(told: dict[str, Any], *, json: str | None, quiet: bool) -> None:
    import json as encoder

    from showthrough.cli.files import print_json, write_together
    from showthrough.report import check as report

    text = f"{encoder.dumps(told, ensure_ascii=False, indent=2)}\n".encode(errors="replace")
    if json == "-":
        print_json(text)
    elif not quiet:
        report.show(out(), told)
    if json not in (None, "-"):
        write_together(json=(str(json), text, told["audience"] == "internal"), people=None)
