"""``showthrough publish``: a raw table in, a release folder out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, out, stages
from showthrough.cli.flags import as_options
from showthrough.errors import InputError
from showthrough.report.printable import printable

BROKEN = 1
INCONCLUSIVE = 4
LISTED = 50


def publish(
    table: Annotated[Path, typer.Argument(help="The raw table: CSV or Parquet, one record per person.")],
    output: Annotated[Optional[Path], typer.Option("--output", "-o", help="Release folder to write.")] = None,
    method: Annotated[
        str,
        typer.Option(help="mondrian, mondrian-relaxed, local-recoding, full-domain, anatomy, mdav or xcolor."),
    ] = "mondrian",
    id: options.Id = None,
    sensitive: options.Sensitive = None,
    quasi: Annotated[
        Optional[str], typer.Option(help="Quasi-identifiers with commas: zip,age. Default: all others.")
    ] = None,
    hierarchy: options.Hierarchies = None,
    k: options.K = None,
    distinct_l: options.DistinctL = None,
    frequency_l: options.FrequencyL = None,
    entropy_l: options.EntropyL = None,
    recursive: options.Recursive = None,
    t: Annotated[Optional[float], typer.Option("--t", help="t-closeness (equal distance).")] = None,
    alpha: options.Alpha = None,
    beta: options.Beta = None,
    delta_disclosure: options.DeltaDisclosure = None,
    dissimilarity: Annotated[
        Optional[str], typer.Option(metavar="EPS,DELTA,K", help="(ε,δ)^k-dissimilarity, for xcolor.")
    ] = None,
    metric: Annotated[str, typer.Option(help="Distance of dissimilarity: numeric or equal.")] = "numeric",
    m_unique: options.MUnique = None,
    k_map: options.KMap = None,
    presence: options.Presence = None,
    population: Annotated[Optional[Path], typer.Option(help="The population, with the same quasi-identifiers.")] = None,
    kind: Annotated[
        Optional[str], typer.Option(help="generalized or bucketized, if not what the method makes.")
    ] = None,
    suppress: Annotated[
        float, typer.Option(min=0, help="Rows that may be suppressed: a share below 1, or a number.")
    ] = 0,
    missing: Annotated[str, typer.Option(help="Empty cells: refuse, value (of their own) or suppress.")] = "refuse",
    coding: Annotated[
        Optional[list[str]],
        typer.Option(help="COLUMN=LOW:HIGH: lowest and highest published number; either may be empty."),
    ] = None,
    cells: Annotated[
        str, typer.Option(help="Ranges of mondrian: tight, or recursion (they cover everybody).")
    ] = "tight",
    passes: Annotated[
        Optional[int], typer.Option(min=0, help="Passes of local recoding. Default: as many as pay.")
    ] = None,
    history: Annotated[
        Optional[list[Path]], typer.Option(help="An earlier release (folder), oldest first; once per release.")
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="independent, history-guided, m-invariance or guarded.")
    ] = "independent",
    max_posterior: Annotated[
        Optional[float], typer.Option(min=0, max=1, help="Guard: largest probability of a value.")
    ] = None,
    max_gain: Annotated[
        Optional[float], typer.Option(min=0, max=1, help="Guard: largest growth by this release.")
    ] = None,
    certain: Annotated[int, typer.Option(min=0, help="Guard: persons who may be certain.")] = 0,
    integral: Annotated[
        str, typer.Option(help="Guard: whole values are not looked at (no), checked or required.")
    ] = "checked",
    repair: Annotated[str, typer.Option(help="History-guided: report, counterfeits, dissolve or hold.")] = "report",
    hold_back: Annotated[bool, typer.Option("--hold-back", help="Records may be held back.")] = False,
    accept_exposed: Annotated[
        bool, typer.Option("--accept-exposed", help="Guard: go on although earlier releases expose somebody.")
    ] = False,
    changed: Annotated[
        str, typer.Option(help="Persons whose value changed: refuse, or split into two persons.")
    ] = "refuse",
    accept_violations: Annotated[
        bool, typer.Option("--accept-violations", help="Write the release although a criterion fails (exit code 1).")
    ] = False,
    proximity: Annotated[
        Optional[str],
        typer.Option(metavar="EPS,LIMIT", help="Guard: largest probability of values within EPS of one."),
    ] = None,
    impossible: Annotated[
        Optional[int], typer.Option(min=0, help="Guard: pairs (person, value) that may be impossible.")
    ] = None,
    prefer: Annotated[
        str, typer.Option(help="Guard: lasting groups (next releases stay possible), or useful.")
    ] = "lasting",
    merge_overlaps: Annotated[
        bool, typer.Option("--merge-overlaps", help="Generalized: merge groups that located persons fit.")
    ] = False,
    audience: Annotated[str, typer.Option(help="shareable, or internal: who is exposed is named.")] = "shareable",
    plan: Annotated[Optional[Path], typer.Option(help="Recode as an earlier release did: its plan.json.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Compare all strategies; write nothing.")] = False,
    link: Annotated[bool, typer.Option("--link", help="Save who is in which group beside it (private).")] = False,
    name: Annotated[Optional[str], typer.Option(help="Name of the release. Default: that of the folder.")] = None,
    format: Annotated[str, typer.Option(help="csv or parquet.")] = "csv",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a release folder.")] = False,
    seconds: Annotated[float, typer.Option(min=1, help="Guard: time limit.")] = 600.0,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same release.")] = 0,
    encoding: options.Encoding = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Publish a table: a release that satisfies your criteria, alone or beside what is out there already."""
    with errors_as_sentences(audience=audience):
        if audience not in ("shareable", "internal"):
            raise InputError(f"--audience is shareable or internal, not {audience!r}.")
        from showthrough.cli.limits import Limits
        from showthrough.cli.publishing import Request, compared, published

        limits = Limits(
            k=k, distinct_l=distinct_l, frequency_l=frequency_l, entropy_l=entropy_l, recursive=recursive,
            m_unique=m_unique, t=t, distance="equal", reference="all", alpha=alpha, beta=beta, enhanced=False,
            delta_disclosure=delta_disclosure, dissimilarity=dissimilarity, metric=metric, floor=False, k_map=k_map,
            presence=presence,
        )  # fmt: skip
        if (output is None) == (not dry_run):
            raise InputError("Name the release folder to write with -o FOLDER, or use --dry-run, which writes nothing.")
        request = Request(
            table=table,
            limits=limits,
            roles={"id": id, "sensitive": sensitive, "quasi": _listed(quasi)},
            hierarchies=hierarchy or [],
            population=population,
            history=history or [],
            coding=coding or [],
            policy=_policy(
                strategy,
                dry_run,
                max_posterior=max_posterior,
                max_gain=max_gain,
                certain=certain,
                impossible=impossible,
                proximity=_proximity(proximity),
                integral=integral,
            ),
            plan=plan,
            encoding=encoding,
            options={
                "method": method, "strategy": strategy, "output": kind, "suppression_limit": suppress,
                "missing": missing,
                "cells": cells, "passes": passes, "repair": repair, "hold_back": hold_back, "changed": changed,
                "accept_violations": accept_violations,
                "exposed": "accept" if accept_exposed else "refuse", "seconds": seconds, "seed": seed,
                "prefer": prefer, "merge_overlaps": merge_overlaps,
                "name": name or ("" if output is None else output.name),
            },
        )  # fmt: skip
        with stages(quiet=quiet) as progress:
            if dry_run:
                found = compared(request, progress)
            else:
                release = published(request, progress)
        if dry_run:
            _show_comparison(found)
            return
        assert output is not None
        _save(release, output, format=format, overwrite=overwrite, link=link)
        if not quiet:
            _show(release, output, audience)
    if not all(check.holds for check in release.made.checks):
        raise typer.Exit(BROKEN)
    guard = release.made.guard
    if guard is not None and not guard.review.conclusive:
        raise typer.Exit(INCONCLUSIVE)


def _save(release: Any, output: Path, *, format: str, overwrite: bool, link: bool) -> None:
    from showthrough.anonymizers.plan import write_plan

    release.save(output, format=format, overwrite=overwrite, link=link)
    write_plan(release, output)


def _show(release: Any, output: Path, audience: str) -> None:
    """What was made and what it cost; who is exposed is for internal eyes."""
    from rich.text import Text

    console, exposed = out(), release.made.exposed
    console.print(Text(f"{output}: {release!r}"))
    console.print(Text(as_options(str(release.made), ("merge_overlaps",))))
    if (output / "link.csv").exists():
        console.print(
            Text(f"{output / 'link.csv'} says who is in which group: take it out before you pass the folder on.")
        )
    if exposed and audience == "internal":
        listed = ", ".join(exposed[:LISTED]) + (" …" if len(exposed) > LISTED else "")
        console.print(Text(printable(f"Exposed: {listed}")))
    elif exposed:
        console.print(Text(f"{len(exposed)} persons are exposed: --audience internal names them."))


def _show_comparison(found: Any) -> None:
    from rich.text import Text

    from showthrough.report.terminal import frame_table
    from showthrough.republishing.compare import page

    table, remarks = page(found)
    console = out()
    title = "Strategies for the next release (nothing was written)"
    console.print(frame_table(table, title=title, whole=table.columns[1:]))
    for remark in remarks:
        console.print(Text(printable(remark)))


def _policy(strategy: str, dry_run: bool, **limits: Any) -> Any:
    from showthrough.policy.policy import Policy

    given = [limits[name] for name in ("max_posterior", "max_gain", "impossible", "proximity")]
    if strategy != "guarded" and not dry_run and any(limit is not None for limit in given):
        raise InputError("Limits on the joint posterior are kept by --strategy guarded.")
    if strategy != "guarded" and not (dry_run and any(limit is not None for limit in given)):
        return None
    return Policy(**limits)


def _proximity(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        reach, limit = (float(part) for part in given.split(","))
    except ValueError:
        raise InputError(f"--proximity takes EPS,LIMIT, such as 5,0.4, not {given!r}.") from None
    return reach, limit


def _listed(given: str | None) -> Sequence[str] | None:
    return None if given is None else [c.strip() for c in given.split(",") if c.strip()]
