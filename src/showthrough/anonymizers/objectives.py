"""What a full-domain search makes small: five measures of what a node of the lattice costs.

Three are sums over rows and columns. *loss* is NCP (Xu et al., KDD 2006). *entropy* is non-uniform entropy (Gionis,
Tassa, TKDE 2009): −log₂ n(v)/n(label) for each cell with value v, over the bits of all cells. *precision* is
1 − Prec (Sweeney, IJUFKS 2002): the level over the height of the hierarchy. Two look at sizes of classes:
*discernibility* Σ|E|² + rows · suppressed (Bayardo, Agrawal, ICDE 2005), and *average-class-size*, rows over classes
(C_avg of LeFevre et al., ICDE 2006, without k). A suppressed row loses everything.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    share = np.array([column.weight for column in columns])
    share = share / share.sum()
    if name == "entropy":
        bits = [_bits(column) for column in columns]
        whole = [float(np.mean(one[-1][column.codes])) for one, column in zip(bits, columns, strict=True)]
        everything = float(share @ np.array(whole))
        scale = share / everything if everything > 0 else share * 0.0
        losses = [[level * part for level in one] for one, part in zip(bits, scale.tolist(), strict=True)]
        return losses, [one[-1] for one in losses]
    found = _heights if name == "precision" else _shares
    losses = [[level * part for level in found(c)] for c, part in zip(columns, share.tolist(), strict=True)]
    return losses, [np.full(column.size, part) for column, part in zip(columns, share.tolist(), strict=True)]


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
