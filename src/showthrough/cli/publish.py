"""``showthrough publish``: a raw table in, a release folder out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live, out, say
from showthrough.errors import FieldError, InputError
from showthrough.table.unpacking import unpacked_up_to

if TYPE_CHECKING:
    from showthrough.policy.policy import Policy


def publish(
    table: Annotated[Path, typer.Argument(help="The raw table: CSV or Parquet, one record per person.")],
    output: Annotated[Optional[Path], typer.Option("--output", "-o", help="Release folder to write.")] = None,
    method: Annotated[
        str,
        typer.Option(
            help="mondrian, mondrian-relaxed, local-recoding, full-domain, anatomy, mdav, xcolor or dp-counts."
        ),
    ] = "mondrian",
    id: options.Id = None,
    sensitive: Annotated[
        Optional[list[str]],
        typer.Option(help="Column with the sensitive value; once per column, if several are published."),
    ] = None,
    quasi: Annotated[
        Optional[str], typer.Option(help="Quasi-identifiers with commas: zip,age. Default: all others.")
    ] = None,
    hierarchy: options.Hierarchies = None,
    on: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="COLUMN:LIMIT=VALUE",
            help="A limit for one of several sensitive columns: pay:t=0.3, ill:recursive=3,2; once per "
            "limit. All other limits on values are for each of them.",
        ),
    ] = None,
    others: Annotated[
        str,
        typer.Option(
            help="Several sensitive columns: while one is judged, the others are left alone, count as quasi "
            "(identifiers), or all make one value together."
        ),
    ] = "alone",
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
    average_risk: options.AverageRisk = None,
    uniqueness: options.Uniqueness = None,
    population_uniqueness: options.PopulationUniqueness = None,
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
    level: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="COLUMN=LEAST:GREATEST",
            help="Least and greatest level of a column's --hierarchy that may be published (0: the value itself); "
            "either may be empty.",
        ),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            help="What methods that generalize make small: loss, entropy, precision (levels of hierarchies), "
            "discernibility or average-class-size."
        ),
    ] = "loss",
    cells: Annotated[
        str, typer.Option(help="Ranges of mondrian: tight, or recursion (they cover everybody).")
    ] = "tight",
    passes: Annotated[
        Optional[int], typer.Option(min=0, help="Passes of local recoding. Default: as many as pay.")
    ] = None,
    history: Annotated[
        Optional[list[Path]],
        typer.Option(
            help="An earlier release (folder, or file whose columns are called as the table's), oldest first; once per "
            "release. Or one history file (.toml)."
        ),
    ] = None,
    group: Annotated[Optional[str], typer.Option(help="The column of groups in the files of --history.")] = None,
    ledger: Annotated[
        Optional[str],
        typer.Option(
            metavar="LEDGER",
            help="The history is what this ledger holds; the release has to pass its gate, and is recorded there.",
        ),
    ] = None,
    gate: Annotated[
        Optional[Path],
        typer.Option(
            "--policy",
            metavar="FILE",
            help="A policy file: the guard keeps what blocks there; with --ledger it is that of the gate.",
        ),
    ] = None,
    key_file: options.KeyFile = None,
    wait: options.Wait = 600.0,
    register: Annotated[
        Optional[Path],
        typer.Option(
            help="Who is in earlier releases without ids: ids and exact quasi-identifiers. With --ledger and noise: "
            "whom readers know.",
        ),
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
    best_effort: Annotated[
        bool,
        typer.Option("--best-effort", help="Guard: where the policy cannot be kept, come near to it (exit code 1)."),
    ] = False,
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
    readers: Annotated[
        str, typer.Option(help="Guard: readers know everybody's groups, or located: where persons fit (generalized).")
    ] = "groups",
    merge_overlaps: Annotated[
        bool, typer.Option("--merge-overlaps", help="Generalized: merge groups that located persons fit.")
    ] = False,
    epsilon: Annotated[
        Optional[float], typer.Option(help="dp-counts: what all tables of noisy counts may cost together.")
    ] = None,
    delta: Annotated[float, typer.Option(help="dp-counts: δ of Gaussian noise, for all tables together.")] = 0.0,
    mechanism: Annotated[
        str, typer.Option(help="dp-counts: geometric, laplace, gaussian or discrete-gaussian noise.")
    ] = "geometric",
    neighbours: Annotated[
        str, typer.Option(help="dp-counts: what ε holds for, replace-one (a record changes) or add-remove.")
    ] = "replace-one",
    max_epsilon: Annotated[
        Optional[float], typer.Option(help="dp-counts: ε of all noisy releases, those of --history included.")
    ] = None,
    max_delta: Annotated[
        Optional[float], typer.Option(help="dp-counts: δ of all of them. Default: what they claim.")
    ] = None,
    domain: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="COLUMN=VALUES",
            help="dp-counts: all values of a column, or cells that cover them: sex=f,m, age=0-39;40+, age=level:1 (of "
            "its --hierarchy); once per column. Or a TOML file with all of them.",
        ),
    ] = None,
    marginal: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="COLUMNS[:SHARE]",
            help="dp-counts: a table by these quasi-identifiers, with its share of ε; once per table. "
            "Default: one table of all.",
        ),
    ] = None,
    audience: Annotated[str, typer.Option(help="shareable, or internal: who is exposed is named.")] = "shareable",
    plan: Annotated[Optional[Path], typer.Option(help="Recode as an earlier release did: its plan.json.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Compare all strategies; write nothing.")] = False,
    link: Annotated[
        Optional[bool],
        typer.Option(
            "--link/--no-link",
            help="Write who is in which group to NAME.link.csv beside the folder, for your eyes only. "
            "Default: where there is an --id.",
        ),
    ] = None,
    publish_ids: Annotated[
        bool, typer.Option("--publish-ids", help="Publish the ids, in bucketized releases. Default: they stay out.")
    ] = False,
    quasi_anyway: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="COLUMN",
            help="Publish this column although it seems to identify persons; once per column.",
        ),
    ] = None,
    name: Annotated[Optional[str], typer.Option(help="Name of the release. Default: that of the folder.")] = None,
    format: Annotated[str, typer.Option(help="csv or parquet.")] = "csv",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a release folder.")] = False,
    seconds: Annotated[float, typer.Option(min=1, help="Guard: time limit.")] = 600.0,
    seed: Annotated[
        Optional[int], typer.Option(min=0, help="Same seed, same release (0 unless set; dp-counts takes none).")
    ] = None,
    knowledge: options.Knowledge = None,
    prior: options.PriorFile = None,
    encoding: options.Encoding = None,
    json: options.Json = None,
    unpacked: options.Unpacked = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but what fails.")] = False,
) -> None:
    """Publish a table: a release that satisfies your criteria, alone or beside what is out there already."""
    with errors_as_sentences(audience=audience), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import codings, columns, domains, level_ranges, limits_on, marginals, numbers, pairs
        from showthrough.cli.inputs import proximity as near
        from showthrough.cli.output import say_verdict, show_compared, show_link, show_published
        from showthrough.cli.writing import as_started, check_targets, give_json
        from showthrough.criteria.criteria_entries import CriteriaEntries
        from showthrough.report.ledger_terminal import show_gate
        from showthrough.requests.publish import PublishRequest, run_publish
        from showthrough.requests.publish_compare import run_compare

        if (output is None) == (not dry_run):
            raise InputError(
                "Use one of the two: -o FOLDER names the release folder to write, --dry-run writes nothing."
            )
        limits = {
            "k": k, "distinct_l": distinct_l, "frequency_l": frequency_l, "entropy_l": entropy_l,
            "recursive": numbers("recursive", recursive, "C,L", whole=1), "m_unique": m_unique, "t": t, "alpha": alpha,
            "beta": beta, "delta_disclosure": delta_disclosure,
            "dissimilarity": numbers("dissimilarity", dissimilarity, "EPS,DELTA,K", whole=2), "metric": metric,
            "k_map": k_map, "presence": numbers("presence", presence, "MIN,MAX"),
            "average_risk": average_risk, "uniqueness": uniqueness,
            "population_uniqueness": numbers("population-uniqueness", population_uniqueness, "SHARE,SAMPLED"),
        }  # fmt: skip
        guard = {
            "max_posterior": max_posterior, "max_gain": max_gain, "impossible": impossible,
            "proximity": near(proximity), "epsilon": max_epsilon, "delta": max_delta,
        }  # fmt: skip
        if method != "dp-counts" and (max_epsilon is not None or max_delta is not None):
            raise InputError("--max-epsilon and --max-delta are limits of --method dp-counts.")
        secret = sensitive or ()
        entries = {
            "table": table, "method": method, "id": id, "sensitive": next(iter(secret), None),
            "also": tuple(secret[1:]), "limits_on": limits_on(on), "others": others, "quasi": columns(quasi),
            "hierarchies": pairs("hierarchy", hierarchy), "criteria": CriteriaEntries.from_dict(limits),
            "population": population, "output": kind, "suppression_limit": suppress, "missing": missing,
            "limits": codings(coding), "levels": level_ranges(level), "objective": objective, "cells": cells,
            "passes": passes, "plan": plan, "history": history or (),
            "group": group, "register": None if register is None else str(register),
            "strategy": strategy,
            "policy": _policy(guard, certain, integral, needed=gate is None and strategy == "guarded"),
            "repair": repair, "hold_back": hold_back, "best_effort": best_effort,
            "exposed": "accept" if accept_exposed else "refuse", "changed": changed, "prefer": prefer,
            "readers": readers,
            "merge_overlaps": merge_overlaps,
            "accept_violations": accept_violations, "epsilon": epsilon, "delta": delta, "mechanism": mechanism,
            "neighbours": neighbours, "domain": domains(domain), "marginals": marginals(marginal),
            "seconds": seconds, "seed": seed, "name": name or "",
            "encoding": encoding, "folder": output, "format": format, "overwrite": overwrite, "link": link,
            "knowledge": tuple(map(str, knowledge or ())), "prior": None if prior is None else str(prior),
            "gate": None if gate is None else str(gate),
            "ledger": None if ledger is None else {
                "ledger": ledger, "key_file": None if key_file is None else str(key_file), "wait": wait
            },
            "publish_ids": publish_ids, "quasi_anyway": tuple(quasi_anyway or ()), "audience": audience,
        }  # fmt: skip
        request = PublishRequest.from_dict(entries)
        check_targets([] if json in (None, "-") else [Path(str(json))], request.files())
        shown = not quiet and json != "-"
        with live(quiet=quiet) as progress:
            compared = run_compare(request, progress) if dry_run else None
            told = show_published if shown else None  # first, so that output that nobody gets leaves nothing behind
            result = None if dry_run else run_publish(request, progress, before_writing=told, waiting=say)
        if compared is not None:
            if shown:
                show_compared(compared)
            give_json(json, replace(compared.content(), made=as_started(compared.made)).as_json(), private=False)
        if result is None:
            return
        if shown and (result.gate is None or result.gate.recorded):
            show_link(result)
        if result.gate is not None and shown:
            show_gate(out(), result.gate)
        content = replace(result.content(), made=as_started(result.made))
        give_json(json, content.as_json(), private=audience == "internal")
        if quiet:
            say_verdict(content.verdict, content.said)
        refused = result.gate is not None and not result.gate.recorded
        if refused and result.gate is not None and result.gate.audit.decision is not None:
            decided = result.gate.audit.decision
            say(f"{str(decided.verdict).capitalize()}: {decided.said} Nothing was written.")
            raise typer.Exit(decided.verdict.exit_code)
    if content.verdict.exit_code:
        raise typer.Exit(content.verdict.exit_code)


def _policy(limits: Mapping[str, Any], certain: int, integral: str, *, needed: bool) -> Policy | None:
    """A policy if the guard is at work, or if a limit is named."""
    from showthrough.policy.policy import Policy

    named = any(limit is not None for limit in limits.values())
    wanted = needed or named or certain != Policy.certain or integral != Policy.integral
    try:
        return Policy(certain=certain, integral=integral, **limits) if wanted else None
    except FieldError as error:
        if error.field in ("epsilon", "delta"):  # here these are of the noise, and the limits have other names
            raise FieldError(f"max_{error.field}", error.sentence) from None
        raise
