"""What a method makes small: five measures of what a node of the lattice, or any grouping, costs.

Three are sums over rows and columns. *loss* is NCP (Xu et al., KDD 2006). *entropy* is non-uniform entropy (Gionis,
Tassa, TKDE 2009): −log₂ n(v)/n(label) for each cell with value v, over the bits of all cells. *precision* is
1 − Prec (Sweeney, IJUFKS 2002): the level over the height of the hierarchy. Two look at sizes of classes:
*discernibility* Σ|E|² + rows · suppressed (Bayardo, Agrawal, ICDE 2005), and *average-class-size*, rows over classes
(C_avg of LeFevre et al., ICDE 2006, without k). A suppressed row loses everything. ``grouping_cost.py`` measures
groupings by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from showthrough.anonymizers.group_loss import label_losses
from showthrough.anonymizers.quasi_columns import QuasiColumn
from showthrough.errors import InputError
from showthrough.table.arrays import Codes, Flags, Ints, Reals

BY_CELLS = ("loss", "entropy", "precision")
BY_CLASSES = ("discernibility", "average-class-size")
OBJECTIVES = (*BY_CELLS, *BY_CLASSES)


def check_objective(name: str) -> str:
    """The name of an objective, if it is one."""
    if name not in OBJECTIVES:
        raise InputError(f"The objective is one of {', '.join(OBJECTIVES)}, not {name!r}.", parameters=("objective",))
    return name


def all_levels(column: QuasiColumn) -> list[Codes]:
    """For each level the label of each leaf; a column without hierarchy has its values, and one label for all."""
    leaves = np.arange(column.size, dtype=np.int32)
    return [leaves, *(column.levels or (np.zeros(column.size, dtype=np.int32),))]


def cell_losses(columns: Sequence[QuasiColumn], name: str) -> tuple[list[list[Reals]], list[Reals]]:
    """For each column the cost of each leaf at each level, and in a suppressed row; a row costs 1 at most.

    Objectives that look at classes order nodes by loss.
    """
    found = {"entropy": _bits, "precision": _heights}.get(name, _shares)
    scale = cell_scale(columns, name).tolist()
    losses = [[level * part for level in found(c)] for c, part in zip(columns, scale, strict=True)]
    if name == "entropy":
        return losses, [one[-1] for one in losses]
    return losses, [np.full(column.size, part) for column, part in zip(columns, scale, strict=True)]


def cell_scale(columns: Sequence[QuasiColumn], name: str) -> Reals:
    """What each column counts, so that a table without anything in it costs 1: its weight, for entropy per bit."""
    share = np.array([column.weight for column in columns])
    share = share / share.sum()
    if name != "entropy":
        return np.asarray(share)
    whole = [float(np.mean(_bits(column)[-1][column.codes])) for column in columns]
    everything = float(share @ np.array(whole))
    return np.asarray(share / everything if everything > 0 else share * 0.0)


def aimed(columns: Sequence[QuasiColumn], name: str) -> list[QuasiColumn]:
    """The columns for methods that group: what their cells cost while groups are made is the objective's."""
    if name == "precision":
        return [replace(column, measure="precision") for column in columns]
    if name != "entropy":
        return list(columns)
    bit = float(cell_scale(columns, name).sum()) or 1.0
    often = [np.bincount(column.codes, minlength=column.size).astype(np.float64) for column in columns]
    return [replace(c, measure="entropy", often=own, bit=bit) for c, own in zip(columns, often, strict=True)]


def refuse_levels_missing(columns: Sequence[QuasiColumn], name: str) -> None:
    """Refuse to count levels where groups are published by anything else."""
    other = [column for column in columns if column.shown != "label"]
    if name == "precision" and other:
        raise InputError(
            f"The objective precision counts levels of hierarchies, and column {other[0].name!r} is published as "
            f"{other[0].shown}s: give every quasi-identifier a hierarchy, or take loss, entropy, discernibility or "
            "average-class-size.",
            parameters=("objective",),
        )


def class_cost(name: str, size: Ints, met: Flags | None = None) -> float:
    """What classes of these sizes cost; those that are not met are suppressed. Without suppression a lower bound, also
    for every coarser node: a row counts its class at least, and classes only grow together.
    """
    rows = int(size.sum())
    kept = size if met is None else size[met]
    if name == "discernibility":
        return float((kept.astype(np.float64) ** 2).sum() + float(rows) * (rows - int(kept.sum())))
    return rows / len(kept) if len(kept) else float("inf")


def _shares(column: QuasiColumn) -> list[Reals]:
    if column.levels:
        return [np.zeros(column.size), *label_losses(column)]
    return [np.zeros(column.size), np.full(column.size, 1.0 if column.size > 1 else 0.0)]


def _heights(column: QuasiColumn) -> list[Reals]:
    height = len(column.levels) or 1
    return [np.full(column.size, level / height) for level in range(height + 1)]


def _bits(column: QuasiColumn) -> list[Reals]:
    often = np.bincount(column.codes, minlength=column.size).astype(np.float64)
    known = np.where(often > 0, often, 1.0)
    return [
        np.where(often > 0, np.log2(np.maximum(np.bincount(level, weights=often)[level], 1.0) / known), 0.0)
        for level in all_levels(column)
    ]
