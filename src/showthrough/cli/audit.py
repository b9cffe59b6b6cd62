"""``showthrough audit``: published files in, what they tell together out."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live
from showthrough.cli.interrupts import ending_early
from showthrough.cli.options import Audience
from showthrough.errors import InputError
from showthrough.table.unpacking import unpacked_up_to


def audit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASES...",
            help="CSV or Parquet files, or release folders, in order; or one history file (.toml).",
        ),
    ],
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
    missing: options.Missing = None,
    locate: options.Locate = None,
    spread: options.Spread = None,
    register: options.RegisterFile = None,
    present: options.Present = None,
    knowledge: options.Knowledge = None,
    prior: options.PriorFile = None,
    elastic: options.Elastic = False,
    hierarchy: options.Hierarchies = None,
    value_map: options.ValueMaps = None,
    link: options.Link = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show how cells were understood and who can be located.")
    ] = False,
    values: options.Values = None,
    count: options.Count = None,
    encoding: options.Encoding = None,
    changed: options.WhoChanged = options.ChangedChoice.tolerate,
    tables: Annotated[
        Optional[list[Path]],
        typer.Option(
            metavar="TABLES...",
            help="The publisher's own tables, one for each release, in order: they tell whose value changed.",
        ),
    ] = None,
    contradictions: options.OnContradiction = options.Contradictions.explain,
    seconds: options.Seconds = 600.0,
    audience: options.ForWhom = Audience.shareable,
    people: options.People = None,
    raw: options.Raw = False,
    bounds: options.Bounds = None,
    whole_values: options.WholeValues = None,
    policy: options.PolicyFile = None,
    certain: options.Certain = None,
    max_posterior: options.MaxPosterior = None,
    over_posterior: options.OverPosterior = None,
    max_gain: options.MaxGain = None,
    max_shift: options.MaxShift = None,
    min_anonymity: options.MinAnonymity = None,
    proximity: options.Near = None,
    impossible: options.Impossible = None,
    integral: options.Integral = None,
    k: options.K = None,
    distinct_l: options.DistinctL = None,
    entropy_l: options.EntropyL = None,
    t: options.T = None,
    format: options.Shown = options.Format.text,
    output: options.Page = None,
    json: options.Json = None,
    junit: options.Junit = None,
    sarif: options.Sarif = None,
    markdown: options.Markdown = None,
    unpacked: options.Unpacked = None,
    engine: options.Engine = None,
    master: options.Master = None,
    work_folder: options.WorkFolder = None,
    quiet: options.Quiet = False,
) -> None:
    """Lay releases on top of each other: who can be found out, with what probability, and why."""
    with errors_as_sentences(audience=audience), unpacked_up_to(unpacked):
        from showthrough.cli.inputs import columns, given, history_file, marks, number, pairs, releases
        from showthrough.cli.inputs import proximity as near
        from showthrough.cli.output import Targets, conclude, deliver_audit, show_understood
        from showthrough.cli.writing import as_started, check_targets
        from showthrough.requests.audit import AuditRequest, run_audit
        from showthrough.requests.audit_pieces import run_audit_in_pieces
        from showthrough.requests.understand import run_understand

        shared: dict[str, Any] = {
            "id": id, "sensitive": sensitive, "group": group, "quasi": columns(quasi), "count": count, "kind": kind,
            "spread": pairs("spread", spread) or None, "locate": locate, "missing": tuple(missing or ()),
            "suppressed": marks(suppressed), "rounding": rounding, "totals": tuple(totals) if totals else None,
            "population": population, "value_cells": value_cells or None,
            "encoding": encoding, "link": link, "hierarchies": pairs("hierarchy", hierarchy),
            "value_maps": pairs("value-map", value_map),
        }  # fmt: skip
        limits = {
            "certain": certain, "max_posterior": max_posterior, "over_posterior": number(over_posterior),
            "max_gain": max_gain, "max_shift": max_shift, "min_anonymity": min_anonymity, "proximity": near(proximity),
            "impossible": impossible, "integral": integral, "k": k, "distinct_l": distinct_l, "entropy_l": entropy_l,
            "t": t,
        }  # fmt: skip
        asked: dict[str, Any] = {
            "changed": changed.value, "tables": tuple(map(str, tables or ())), "contradictions": contradictions.value,
            "seconds": seconds, "whole_values": whole_values, "people": people is not None, "bounds": bounds,
            "audience": audience.value, "policy": None if policy is None else str(policy), "limits": given(limits),
            "report": output is not None, "knowledge": tuple(map(str, knowledge or ())),
            "prior": None if prior is None else str(prior), "elastic": elastic, "master": master,
            "engine": None if engine is None else engine.value,
            "work_folder": None if work_folder is None else str(work_folder),
        }  # fmt: skip
        inside = pairs("present", present)
        told = history_file(paths, [*shared.values(), values, register, inside])
        if told is None:
            known = register_entry(register, inside)
            request = AuditRequest.from_dict({"release": releases(paths, values), "register": known, **shared, **asked})
        else:
            unset = {f.name: f.default for f in fields(AuditRequest)} | {"limits": {}}
            own = AuditRequest.read(told)
            request = replace(own, **{k: v for k, v in asked.items() if v != unset[k]})
        everybody = None if request.engine is not None else people
        targets = Targets(format.value, json, {"junit": junit, "sarif": sarif, "markdown": markdown}, everybody, output)
        check_targets(targets.files(), [*paths, *request.files()])
        targets.check(limits=request.rules() is not None)
        if dry_run:
            show_understood(run_understand(request), audience=audience)
            return
        if request.engine is not None:
            with live(quiet=quiet) as progress:
                in_pieces = run_audit_in_pieces(request, progress, keep=people)
                in_pieces = replace(in_pieces, made=as_started(in_pieces.made)).with_page()
            deliver_audit(in_pieces, targets, quiet=quiet)
            conclude(in_pieces, quiet=quiet)
            return
        with live(quiet=quiet) as progress, ending_early(progress):
            result = run_audit(request, progress)
            result = replace(result, made=as_started(result.made))
            result = result.with_glance(progress) if targets.printed == "text" and not quiet else result
            result = result.with_page(progress) if output is not None else result
        deliver_audit(result, targets, quiet=quiet, raw=raw)
        conclude(result, interrupted=progress.satisfied, quiet=quiet)


def register_entry(file: Path | None, present: dict[str, str]) -> dict[str, Any] | None:
    """A register as an entry of a request."""
    if file is not None:
        return {"file": str(file), "present": present or None, "only_published": True}
    if present:
        raise InputError("--present says who of the register is in a release: name the register with --register FILE.")
    return None
