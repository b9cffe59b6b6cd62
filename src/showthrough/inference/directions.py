"""A direction of recession of one cluster of rows, by a small linear program.

The program asks for weights d on the rows, in units where whole numbers are likely, such that everything
steady stays at the best score of its signature (and on the best candidate of its release), and as many
falling terms as possible lie one below. Legend: t the largest weight among the candidates of a variable in one
release, best the best score of a signature.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from showthrough.inference.patch import Patch
from showthrough.inference.rows import Rows
from showthrough.table.arrays import Flags, Ints, Reals

SCALES = (1, 2, 3, 4, 6, 12, 5, 10, 20, 60, 7, 8, 9, 24, 120, 420, 840, 2520)


def direction(patch: Patch, cluster: int, rows: Ints, falling: Flags, seconds: float) -> Reals | None:
    """Weights on the rows of one cluster, small ones preferred; None if nothing falls, or time is short."""
    whole = patch.inside
    variables = np.flatnonzero(patch.cluster[: whole.variables] == cluster)
    part, candidates = whole.over(variables)
    part = part.renumbered(rows)
    terms = np.concatenate([variables, whole.variables + candidates])
    falls = falling[terms]
    signatures, owner = np.unique(patch.signature[variables], return_inverse=True)
    score, below, count = _scores(part)
    steady, sinks = ~falls[: variables.size], falls[: variables.size]
    best = sp.csr_array((np.ones(owner.size), (np.arange(owner.size), owner)), shape=(owner.size, signatures.size))
    # columns: d+, d-, t, best, and one z in [0, 1] for each falling term
    gap = sp.hstack([score, -best], format="csr")  # score less best
    wide = sp.hstack([below, sp.csr_array((below.shape[0], signatures.size))], format="csr")  # weight less t
    seat_falls = falls[variables.size :]
    firm = steady[part.owner[variables.size :]] & ~seat_falls
    drop = steady[part.owner[variables.size :]] & seat_falls
    z = int(sinks.sum() + drop.sum())
    fixed = sp.vstack([gap[steady], wide[firm]], format="csr")
    moving = sp.vstack([gap[sinks], wide[drop]], format="csr")
    rest = wide[~firm & ~drop]
    blank = sp.csr_array((fixed.shape[0], z))
    result = linprog(
        np.concatenate([np.full(2 * rows.size, 1e-4), np.zeros(count + signatures.size), -np.ones(z)]),
        A_eq=sp.hstack([fixed, blank], format="csr"),
        b_eq=np.zeros(fixed.shape[0]),
        A_ub=sp.vstack(
            [
                sp.hstack([moving, sp.eye_array(z, format="csr")]),
                sp.hstack([rest, sp.csr_array((rest.shape[0], z))]),
            ],
            format="csr",
        ),
        b_ub=np.zeros(moving.shape[0] + rest.shape[0]),
        bounds=[(0, None)] * (2 * rows.size) + [(None, None)] * (count + signatures.size) + [(0, 1)] * z,
        method="highs",
        options={"time_limit": max(0.01, min(seconds, 1e9))},
    )
    if result.x is None or result.fun > -0.5:
        return None
    return np.asarray(result.x[: rows.size] - result.x[rows.size : 2 * rows.size])


def _scores(part: Rows) -> tuple[sp.csr_array, sp.csr_array, int]:
    """The score of each variable over (d+, d-, t), the weight of each candidate less its t, and the number of t."""
    variables, size = part.variables, part.size
    count = variables * len(part.seats)
    tails = [np.tile(np.arange(variables), part.sure.shape[0]), part.stated.variable]
    heads = [part.sure.ravel().astype(np.int64), part.stated.row.astype(np.int64)]
    figures = [np.ones(part.sure.size), part.stated.coefficient.astype(np.float64)]
    tail, head, figure = (np.concatenate(parts) for parts in (tails, heads, figures))
    on = head < size
    plain = sp.csr_array((figure[on], (tail[on], head[on])), shape=(variables, size))
    tops = sp.hstack([sp.eye_array(variables, format="csr")] * len(part.seats)) if part.seats else None
    parts = [plain, -plain] + ([tops] if tops is not None else [])
    score = sp.hstack(parts, format="csr")
    lines = []
    for k, own in enumerate(part.seats):
        at = np.flatnonzero(own.row < size)
        weight = sp.csr_array((np.ones(at.size), (at, own.row[at].astype(np.int64))), shape=(own.row.size, size))
        top = sp.csr_array(
            (np.ones(own.row.size), (np.arange(own.row.size), k * variables + own.owner)), shape=(own.row.size, count)
        )
        lines.append(sp.hstack([weight, -weight, -top], format="csr"))
    none = sp.csr_array((0, 2 * size + count))
    return score, sp.vstack([none, *lines], format="csr"), count
