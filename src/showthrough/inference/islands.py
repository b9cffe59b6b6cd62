"""Islands: groups tied together by common persons. Many need no solver at all.

An island that is one group has the closed form c/|g|. An island is *flat* if every group on it
publishes the same values, each equally often: then everybody has every value with the same
probability, which meets all counts and cannot be less certain. Re-publications that keep their
groups are made of flat islands. Where somebody fits several groups there is no closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.history import ABSENT
from showthrough.inference.problem import Problem
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by

_ROUNDS = 20  # of spreading from island to neighbour before islands are counted out


@dataclass(frozen=True)
class Easy:
    """The signatures that need no solver, with their answer and its multipliers."""

    signatures: Flags  # [m]
    x: Reals  # [v], 0 elsewhere
    mu: Reals  # [rows], 0 elsewhere


def label(problem: Problem) -> Ints:
    """[m] the island of each signature."""
    groups = int(problem.groups.max(initial=-1)) + 1
    own = problem.owner
    # an absence becomes a loop, so that the edges stay sorted by signature
    heads = np.where(problem.groups == ABSENT, own, problem.signatures + problem.groups.astype(np.int64))
    tails = np.repeat(own, problem.groups.shape[0])
    _, island = graphs.components(problem.signatures + groups, tails, heads.T.ravel())
    return island[: problem.signatures]


def none(problem: Problem) -> Easy:
    """Leave everything to the solver."""
    return Easy(np.zeros(problem.signatures, dtype=bool), np.zeros(problem.variables), np.zeros(problem.rows))


def easy(problem: Problem) -> Easy:
    """Solve what has a closed form."""
    size = np.bincount(problem.row_group)
    total = sum_by(problem.row_group, problem.count.astype(np.float64), size.size)
    choices = np.diff(problem.start)
    groups = problem.groups if problem.plain else problem.groups[:, problem.first_seat[:-1]]
    single, flat = _alone(problem, groups), _flat(problem, groups, size, total)
    x, mu = np.zeros(problem.variables), np.zeros(problem.rows)
    if flat.any():
        uniform = np.flatnonzero(np.repeat(flat, choices))
        x[uniform] = (1.0 / np.maximum(choices, 1))[problem.signature[uniform]]
    if single.any():
        closed = np.flatnonzero(np.repeat(single & ~flat, choices))
        for row in problem.row:
            here = closed[row[closed] != problem.rows]
            at = row[here]
            x[here] = problem.count[at] / total[problem.row_group[at]]
            mu[at] = np.log(x[here])
    return Easy(single | flat, x, mu)


def _alone(problem: Problem, groups: Codes) -> Flags:
    """[m] signatures of groups that share nobody: their island is that group."""
    here = groups != ABSENT
    alone = here.sum(axis=0) == 1
    if not problem.plain:
        alone &= ~problem.unsure
    spoiled = _spoiled(problem, np.flatnonzero(~alone[problem.owner]))
    return np.asarray(alone & ~spoiled[groups.max(axis=0)])


def _flat(problem: Problem, groups: Codes, size: Ints, total: Reals) -> Flags:
    """[m] signatures of flat islands: all counts of a group are the largest, all groups have the same values."""
    many = np.zeros(size.size, dtype=np.int64)
    np.maximum.at(many, problem.row_group, problem.count)
    values = np.where(many * size == total, size, -1)  # −1: the group is uneven
    values = np.append(values, -1)
    choices = np.diff(problem.start)
    flat = np.ones(problem.signatures, dtype=bool) if problem.plain else ~problem.unsure
    for own in groups:
        flat &= (own == ABSENT) | (values[own] == choices)
    return _everywhere(problem, flat)


def _everywhere(problem: Problem, flags: Flags) -> Flags:
    """True on islands where all signatures are flagged: what is not spreads over the groups it is in."""
    if not flags.any():
        return flags
    good = np.flatnonzero(flags)  # sure of their groups: one seat each
    groups = problem.groups[:, good] if problem.plain else problem.groups[:, problem.first_seat[good]]
    spoiled = _spoiled(problem, np.flatnonzero(~flags[problem.owner]))
    for _ in range(_ROUNDS):
        lost = spoiled[groups].any(axis=0)
        if not lost.any():
            break
        spoiled[groups[:, lost]] = True
        spoiled[ABSENT] = False
        good, groups = good[~lost], groups[:, ~lost]
    else:
        island, bad = label(problem), np.ones(problem.signatures, dtype=bool)
        bad[good] = False
        spoiled_island = np.zeros(int(island.max(initial=-1)) + 1, dtype=bool)
        spoiled_island[island[bad]] = True
        return ~spoiled_island[island]
    found = np.zeros(problem.signatures, dtype=bool)
    found[good] = True
    return found


def _spoiled(problem: Problem, seats: Ints) -> Flags:
    """[groups + 1] the groups of some seats; the last entry, which ABSENT meets, is not one."""
    spoiled = np.zeros(int(problem.groups.max(initial=-1)) + 2, dtype=bool)
    for own in problem.groups:
        spoiled[own[seats]] = True
    spoiled[ABSENT] = False
    return spoiled
