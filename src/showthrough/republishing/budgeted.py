"""`anonymize` with the method dp-counts: which of its options mean something there, and which do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from showthrough.anonymizers.noisy_counts import DP_COUNTS, Counting, PrivacyBudget, noisy_counts
from showthrough.anonymizers.table import Shape
from showthrough.errors import InputError, ParameterError
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.republishing.spending import Spending

BUDGET = {
    "domain": None, "epsilon": None, "delta": 0.0, "mechanism": "geometric", "neighbours": "replace-one",
    "marginals": (),
}  # fmt: skip
_DEFAULTS = {
    "strategy": "independent", "criteria": (), "others": "alone", "knowledge": (), "prior": None,
    "output": None, "suppression_limit": 0, "shown": None, "weights": None, "limits": None, "levels": None,
    "objective": "loss", "cells": "tight", "passes": None, "accept_violations": False, "plan": None,
    "changed": "refuse", "repair": "report",
    "hold_back": False, "best_effort": False, "exposed": "refuse", "prefer": "lasting", "readers": "groups",
    "merge_overlaps": False,
    "publish_ids": False, "seconds": 600.0,
}  # fmt: skip


def with_differential_privacy(asked: Mapping[str, Any]) -> Release:
    """The release that dp-counts makes of what `anonymize` was asked."""
    if asked["seed"] is not None:
        raise ParameterError(
            "Noise takes no seed: whoever knows it takes the noise away. Leave seed out.", parameters=("seed",)
        )
    _refuse_strange(asked)
    budget = PrivacyBudget.of(*(asked[name] for name in ("epsilon", "delta", "mechanism", "neighbours")))
    tell = Progress.of(asked["progress"])
    tell.stage("reading the table")
    counting = Counting.of(
        asked["table"],
        roles=(asked["id"], asked["sensitive"], asked["quasi"]),
        domain=asked["domain"],
        marginals=asked["marginals"],
        shape=Shape.of(asked["hierarchies"], None, None, None, asked["missing"]),
    )
    tell.stage("adding up what was spent")
    beside = Spending.of(asked["history"] or (), asked["policy"]).remarks(budget, counting.wanted, tell.silent())
    tell.stage("counting, and adding noise")
    release = noisy_counts(counting, budget, name=asked["name"])
    return replace(release, made=replace(release.made, remarks=(*release.made.remarks, *beside)))


def refuse_budget(asked: Mapping[str, Any]) -> None:
    """Options of dp-counts that another method would ignore."""
    strange = [name for name, usual in BUDGET.items() if asked[name] != usual and (usual or asked[name])]
    if strange:
        raise InputError(
            f"{strange[0]}= is for the method {DP_COUNTS}; {asked['method']} promises no differential privacy.",
            parameters=(strange[0], "method"),
        )


def _refuse_strange(asked: Mapping[str, Any]) -> None:
    """Options of the other methods, which say nothing here."""
    if len(asked["criteria"] or ()):
        raise InputError(
            f"{DP_COUNTS} keeps no criterion of groups: what it promises is epsilon. Leave the criteria out.",
            parameters=("criteria",),
        )
    for name, usual in _DEFAULTS.items():
        given = asked[name]
        if given is not usual and given != usual and not (usual in ((), None) and not given):
            raise InputError(f"{name}= means nothing for the method {DP_COUNTS}.", parameters=(name,))
