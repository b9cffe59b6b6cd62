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
from showthrough.table.arrays import Flags, Ints, Reals

_ROUNDS = 4  # of spreading from island to neighbour before islands are counted out


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


def easy(problem: Problem) -> Easy:
    """Solve what has a closed form."""
    size = np.bincount(problem.row_group)
    total = np.bincount(problem.row_group, weights=problem.count, minlength=size.size)
    choices = np.diff(problem.start)
    many = np.zeros(size.size, dtype=np.int64)
    np.maximum.at(many, problem.row_group, problem.count)
    even = many * size == total  # all counts of the group are the largest
    sure = ~problem.unsure
    groups = problem.groups if problem.plain else problem.groups[:, problem.first_seat[:-1]]
    single = _everywhere(problem, sure & ((groups != ABSENT).sum(axis=0) == 1))
    flat = sure.copy()
    for own in groups:
        here = own != ABSENT
        flat[here] &= even[own[here]] & (size[own[here]] == choices[here])
    flat = _everywhere(problem, flat)
    x, mu = np.zeros(problem.variables), np.zeros(problem.rows)
    chosen = single | flat
    uniform = np.repeat(flat, choices)
    x[uniform] = (1.0 / np.maximum(choices, 1))[problem.signature[uniform]]
    closed = np.flatnonzero(np.repeat(single & ~flat, choices))
    for row in problem.row:
        here = closed[row[closed] != problem.rows]
        at = row[here]
        x[here] = problem.count[at] / total[problem.row_group[at]]
        mu[at] = np.log(x[here])
    return Easy(chosen, x, mu)


def _everywhere(problem: Problem, flags: Flags) -> Flags:
    """True on islands where all signatures are flagged."""
    spoiled = np.zeros(int(problem.groups.max(initial=-1)) + 2, dtype=bool)  # the last is for absences
    good = flags
    for _ in range(_ROUNDS):
        if not good.any():
            return good
        lost = ~good[problem.owner]
        for own in problem.groups:
            spoiled[own[lost]] = True
        spoiled[ABSENT] = False
        reached = good & ~_touching(problem, spoiled)
        if np.array_equal(reached, good):
            return good
        good = reached
    island = label(problem)
    spoiled_island = np.zeros(int(island.max(initial=-1)) + 1, dtype=bool)
    spoiled_island[island[~good]] = True
    return ~spoiled_island[island]


def _touching(problem: Problem, groups: Flags) -> Flags:
    """[m] signatures with a seat in one of the groups."""
    seats = groups[problem.groups].any(axis=0)
    return seats if problem.plain else np.logical_or.reduceat(seats, problem.first_seat[:-1])
