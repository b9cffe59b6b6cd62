"""``showthrough gate``: a candidate in, a verdict out that counts everything the ledger remembers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from showthrough.cli import options
from showthrough.cli.common import errors_as_sentences, live, out, say
from showthrough.cli.interrupts import ending_early
from showthrough.cli.options import Audience
from showthrough.errors import RecordedError
from showthrough.table.unpacking import unpacked_up_to

EXCEPTION = "Published all the same? showthrough ledger add NAME --exception WHY --owner WHO --until DATE"


def gate(
    candidate: Annotated[
        Path, typer.Argument(help="The release to judge: a release folder, or a CSV or Parquet file.")
    ],
    ledger: options.LedgerPlace = "ledger.db",
    policy: options.PolicyFile = None,
    name: options.ReleaseName = None,
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
    keep_register: Annotated[
        bool, typer.Option("--keep-register", help="Store the register in the ledger. Default: its hash alone.")
    ] = False,
    present: options.Present = None,
    knowledge: options.Knowledge = None,
    prior: options.PriorFile = None,
    elastic: options.Elastic = False,
    hierarchy: options.Hierarchies = None,
    value_map: options.ValueMaps = None,
    link: options.Link = None,
    values: options.Values = None,
    count: options.Count = None,
    encoding: options.Encoding = None,
    changed: options.WhoChanged = options.ChangedChoice.tolerate,
    contradictions: options.OnContradiction = options.Contradictions.explain,
    seconds: options.Seconds = 600.0,
    wait: options.Wait = 600.0,
    key_file: options.KeyFile = None,
    audience: options.ForWhom = Audience.shareable,
    people: options.People = None,
    raw: options.Raw = False,
    bounds: options.Bounds = None,
    whole_values: options.WholeValues = None,
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
    quiet: options.Quiet = False,
) -> None:
    """Judge the next release together with everything that is out there; what passes is recorded as published."""
    with errors_as_sentences(audience=audience), unpacked_up_to(unpacked):
        from showthrough.cli.audit import register_entry
        from showthrough.cli.inputs import columns, given, marks, number, pairs, releases
        from showthrough.cli.inputs import proximity as near
        from showthrough.cli.output import Targets, conclude, deliver_audit
        from showthrough.cli.writing import as_started, check_targets
        from showthrough.report.ledger_terminal import show_gate
        from showthrough.requests.gate import GateRequest, run_gate

        limits = {
            "certain": certain, "max_posterior": max_posterior, "over_posterior": number(over_posterior),
            "max_gain": max_gain, "max_shift": max_shift, "min_anonymity": min_anonymity, "proximity": near(proximity),
            "impossible": impossible, "integral": integral, "k": k, "distinct_l": distinct_l, "entropy_l": entropy_l,
            "t": t,
        }  # fmt: skip
        entries: dict[str, Any] = {
            "release": releases([candidate], values), "register": register_entry(register, pairs("present", present)),
            "id": id, "sensitive": sensitive, "group": group, "quasi": columns(quasi), "count": count, "kind": kind,
            "spread": pairs("spread", spread) or None, "locate": locate, "missing": tuple(missing or ()),
            "suppressed": marks(suppressed), "rounding": rounding, "totals": tuple(totals) if totals else None,
            "population": population, "value_cells": value_cells or None, "encoding": encoding, "link": link,
            "hierarchies": pairs("hierarchy", hierarchy), "value_maps": pairs("value-map", value_map),
            "changed": changed.value, "contradictions": contradictions.value, "seconds": seconds,
            "whole_values": whole_values, "people": people is not None, "bounds": bounds, "audience": audience.value,
            "policy": None if policy is None else str(policy), "limits": given(limits), "report": output is not None,
            "knowledge": tuple(map(str, knowledge or ())), "prior": None if prior is None else str(prior),
            "elastic": elastic, "keep_register": keep_register, "name": name,
            "ledger": {"ledger": ledger, "key_file": None if key_file is None else str(key_file), "wait": wait},
        }  # fmt: skip
        request = GateRequest.from_dict(entries)
        targets = Targets(format.value, json, {"junit": junit, "sarif": sarif, "markdown": markdown}, people, output)
        check_targets(targets.files(), request.files())
        try:
            with live(quiet=quiet) as progress, ending_early(progress):
                found = run_gate(request, progress, say)
                result = replace(found.told, made=as_started(found.told.made))
                result = result.with_glance(progress) if targets.printed == "text" and not quiet else result
                result = result.with_page(progress) if output is not None else result
        except RecordedError as problem:  # a pipeline that runs again finds what it recorded
            if not problem.passed:
                raise
            say(f"{problem.shareable}{' No file was written.' * bool(targets.files())}")
            return
        deliver_audit(result, targets, quiet=quiet, raw=raw, gate=found.gate)
        if not quiet and targets.printed == "text":
            show_gate(out(), found.gate)
            if not found.gate.recorded:
                out().print(EXCEPTION, soft_wrap=True)
        conclude(result, interrupted=progress.satisfied, quiet=quiet)
