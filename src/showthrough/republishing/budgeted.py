"""`anonymize` with the method dp-counts: which of its options mean something there, and which do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showthrough.anonymizers.noisy_counts import DP_COUNTS, PrivacyBudget, noisy_counts
from showthrough.anonymizers.table import Shape
from showthrough.errors import InputError, ParameterError
from showthrough.progress import Progress
from showthrough.release.release import Release

BUDGET = {
    "domain": None, "epsilon": None, "delta": 0.0, "mechanism": "geometric", "neighbours": "replace-one",
    "marginals": (),
}  # fmt: skip
_DEFAULTS = {
    "strategy": "independent", "criteria": (), "history": (), "policy": None, "knowledge": (), "prior": None,
    "output": None, "suppression_limit": 0, "shown": None, "weights": None, "limits": None, "cells": "tight",
    "passes": None, "accept_violations": False, "plan": None, "changed": "refuse", "repair": "report",
    "hold_back": False, "best_effort": False, "exposed": "refuse", "prefer": "lasting", "merge_overlaps": False,
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
    tell.stage("counting, and adding noise")
    return noisy_counts(
        asked["table"],
        roles=(asked["id"], asked["sensitive"], asked["quasi"]),
        domain=asked["domain"],
        budget=budget,
        marginals=asked["marginals"],
        shape=Shape.of(asked["hierarchies"], None, None, None, asked["missing"]),
        name=asked["name"],
    )


def refuse_budget(asked: Mapping[str, Any]) -> None:
    """Options of dp-counts that another method would ignore."""
    strange = [name for name, usual in BUDGET.items() if asked[name] != usual and (usual or asked[name])]
    if strange:
        raise InputError(
            f"{strange[0]} is an option of the method {DP_COUNTS}; {asked['method']} promises no differential privacy.",
            parameters=(strange[0], "method"),
        )


def _refuse_strange(asked: Mapping[str, Any]) -> None:
    """Options of the other methods, which say nothing here."""
    if len(asked["criteria"] or ()):
        raise InputError(
            f"{DP_COUNTS} keeps no criterion of groups: what it promises is epsilon. Leave the criteria out.",
            parameters=("criteria",),
        )
    if len(asked["history"] or ()):
        raise InputError(
            f"{DP_COUNTS} does not look at the history: its promise holds beside any other releases, and what several "
            "noisy ones promise together is told by dp.compose.",
            parameters=("history",),
        )
    for name, usual in _DEFAULTS.items():
        given = asked[name]
        if given is not usual and given != usual and not (usual in ((), None) and not given):
            raise InputError(f"{name} means nothing for the method {DP_COUNTS}.", parameters=(name,))
