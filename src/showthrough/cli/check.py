"""``showthrough check``: releases in, the privacy models that each satisfies out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live
from showthrough.cli.options import Audience
from showthrough.table.unpacking import unpacked_up_to

FAILS = 1


class Distance(StrEnum):
    equal = "equal"
    ordered = "ordered"
    hierarchy = "hierarchy"


class Reference(StrEnum):
    all = "all"
    kept = "kept"


class Others(StrEnum):
    alone = "alone"
    quasi = "quasi"
    together = "together"


class Cells(StrEnum):
    category = "category"
    wildcard = "wildcard"


class Metric(StrEnum):
    numeric = "numeric"
    equal = "equal"
    min = "min"
    max = "max"
    manhattan = "manhattan"
    euclidean = "euclidean"
    hierarchy = "hierarchy"


def check(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="RELEASES...", help="CSV or Parquet files, release folders, or a history file (.toml)."),
    ],
    id: options.Id = None,
    sensitive: Annotated[
        Optional[list[str]], typer.Option(help="Column with the sensitive value; once per column.")
    ] = None,
    group: options.Group = None,
    quasi: Annotated[
        Optional[list[str]],
        typer.Option(
            help="Quasi-identifiers, with commas (zip,age) or once per column. Rows with equal ones are a group. "
            "Default: all other columns."
        ),
    ] = None,
    kind: options.Kind = None,
    values: options.Values = None,
    count: options.Count = None,
    encoding: options.Encoding = None,
    suppressed: Annotated[
        Optional[str],
        typer.Option(
            help="Rows whose quasi-identifiers all read this (such as '*') are in no group. In a table of counts "
            "MARK=LOW-HIGH, such as c=1-4, says what a mark stands for: criteria then say that they need exact counts."
        ),
    ] = None,
    hierarchy: Annotated[
        Optional[list[str]], typer.Option(help="COLUMN=FILE: hierarchy of a column, as ARX writes it.")
    ] = None,
    tree: Annotated[
        Optional[list[str]],
        typer.Option(
            help="Draw the hierarchy of this column; with --audience internal, one is proposed if there is none."
        ),
    ] = None,
    table: Annotated[
        Optional[Path],
        typer.Option(
            help="The table that the releases were made from: values are compared with it, and utility is measured."
        ),
    ] = None,
    queries: Annotated[int, typer.Option(min=0, help="Random counting queries for the utility.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of these queries.")] = 0,
    population: Annotated[
        Optional[Path], typer.Option(help="The population, recoded like the release: for k-map, presence and risk.")
    ] = None,
    others: Annotated[
        Others,
        typer.Option(
            help="With several sensitive columns: leave the others alone, count them as quasi, or take all together "
            "as one value."
        ),
    ] = Others.alone,
    k: options.K = None,
    distinct_l: options.DistinctL = None,
    frequency_l: options.FrequencyL = None,
    entropy_l: options.EntropyL = None,
    recursive: options.Recursive = None,
    t: Annotated[Optional[float], typer.Option("--t", help="t-closeness.")] = None,
    distance: Annotated[
        Distance, typer.Option(help="Ground distance of t-closeness; hierarchy: that of the sensitive column.")
    ] = Distance.equal,
    reference: Annotated[Reference, typer.Option(help="Rows that t-closeness compares with.")] = Reference.all,
    alpha: options.Alpha = None,
    beta: options.Beta = None,
    enhanced: Annotated[bool, typer.Option("--enhanced", help="Enhanced β-likeness.")] = False,
    delta_disclosure: options.DeltaDisclosure = None,
    dissimilarity: Annotated[Optional[str], typer.Option(metavar="EPS,DELTA,K", help="(ε,δ)^k-dissimilarity.")] = None,
    metric: Annotated[
        Metric, typer.Option(help="Distance of dissimilarity; of several columns with --others together.")
    ] = Metric.numeric,
    floor: Annotated[
        bool, typer.Option("--floor", help="Dissimilarity in the floor reading: at most so many neighbours, not fewer.")
    ] = False,
    m_unique: options.MUnique = None,
    ck_safety: options.CkSafety = None,
    skyline: options.SkylinePoints = None,
    average_risk: options.AverageRisk = None,
    uniqueness: options.Uniqueness = None,
    population_uniqueness: options.PopulationUniqueness = None,
    k_map: options.KMap = None,
    presence: options.Presence = None,
    negations: Annotated[int, typer.Option(min=0, help="Show what so many excluded values of a person leave.")] = 0,
    risk: Annotated[
        Optional[Cells], typer.Option(help="Re-identification risk, with suppressed cells read as this.")
    ] = None,
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Risk above which records are at risk.")] = 0.2,
    sampling_fraction: Annotated[
        Optional[float],
        typer.Option(min=0, max=1, help="Share of the population in the release: estimates who is unique there."),
    ] = None,
    find_quasi: Annotated[
        int, typer.Option(min=0, help="Rank sets of up to so many columns by how well they tell rows apart.")
    ] = 0,
    audience: Annotated[
        Audience, typer.Option(help="shareable: counts only. internal: the worst groups by name.")
    ] = Audience.shareable,
    format: options.Shown = options.Format.text,
    json: options.Json = None,
    junit: options.Junit = None,
    sarif: options.Sarif = None,
    markdown: options.Markdown = None,
    unpacked: options.Unpacked = None,
    quiet: options.Quiet = False,
) -> None:
    """Check releases: which privacy models each satisfies, how well, and whether your limits hold."""
    with errors_as_sentences(audience=audience), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, numbers, pairs, releases
        from showthrough.cli.output import Targets, deliver_check
        from showthrough.cli.writing import check_targets
        from showthrough.criteria.criteria_entries import CriteriaEntries
        from showthrough.requests.check import CheckRequest, run_check

        limits = {
            "k": k, "distinct_l": distinct_l, "frequency_l": frequency_l, "entropy_l": entropy_l,
            "recursive": numbers("recursive", recursive, "C,L", whole=1), "m_unique": m_unique, "t": t,
            "distance": distance.value, "reference": reference.value, "alpha": alpha, "beta": beta,
            "enhanced": enhanced, "delta_disclosure": delta_disclosure,
            "dissimilarity": numbers("dissimilarity", dissimilarity, "EPS,DELTA,K", whole=2), "metric": metric.value,
            "floor": floor, "ck_safety": numbers("ck-safety", ck_safety, "C,K", whole=1),
            "skyline": numbers("skyline", skyline, "C,L,K,M", more=3), "k_map": k_map,
            "presence": numbers("presence", presence, "MIN,MAX"),
            "average_risk": average_risk, "uniqueness": uniqueness,
            "population_uniqueness": numbers("population-uniqueness", population_uniqueness, "SHARE,SAMPLED"),
        }  # fmt: skip
        entries = {
            "release": releases(paths, values), "id": id, "sensitive": sensitive or (), "group": group,
            "quasi": columns(quasi), "count": count, "kind": kind, "encoding": encoding, "suppressed": suppressed,
            "others": others.value, "hierarchies": pairs("hierarchy", hierarchy), "tree": columns(tree) or (),
            "table": table, "population": population, "criteria": CriteriaEntries.from_dict(limits),
            "negations": negations, "risk": None if risk is None else risk.value, "threshold": threshold,
            "sampling_fraction": sampling_fraction, "find_quasi": find_quasi, "queries": queries, "seed": seed,
            "audience": audience.value,
        }  # fmt: skip
        request = CheckRequest.from_dict(entries)
        targets = Targets(format.value, json, {"junit": junit, "sarif": sarif, "markdown": markdown})
        check_targets(targets.files(), request.files())
        targets.check(limits=bool(request.criteria.limits()), such_as="--k 5")
        with live(quiet=quiet) as progress:
            result = run_check(request, progress)
        told = result.content()
        deliver_check(result, told, targets, quiet=quiet)
    if told.holds is False:
        raise typer.Exit(FAILS)
