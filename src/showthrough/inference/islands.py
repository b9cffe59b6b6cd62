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


@dataclass(frozen=True)
class Labels:
    """The island of each signature, group and row of a statement."""

    signature: Ints  # [m]
    group: Ints  # [G]
    stated: Ints  # [rows], of those of statements

    def of_rows(self, problem: Problem, rows: Ints) -> Ints:
        """The islands of some rows."""
        group = problem.row_group[rows].astype(np.int64)
        if not self.stated.size:
            return self.group[group]
        return np.where(group >= 0, np.append(self.group, -1)[group], self.stated[rows])  # there may be no group


def label(problem: Problem) -> Ints:
    """[m] the island of each signature: groups that share somebody, and whom one statement speaks of."""
    return labelled(problem).signature


def labelled(problem: Problem) -> Labels:
    """The islands of signatures, groups and statements."""
    places, size = problem.places, problem.signatures
    if places.plain:
        own = np.arange(size)
        # an absence becomes a loop, so that the edges stay sorted by signature
        heads = np.where(places.codes == ABSENT, own, size + places.codes.astype(np.int64)).T.ravel()
        tails = np.repeat(own, places.releases)
    else:
        fits = [places.fits(r) for r in range(places.releases)]
        tails, group = np.concatenate([f[0] for f in fits]), np.concatenate([f[1] for f in fits])
        heads = np.where(group == ABSENT, tails, size + group)
    nodes, stated = size + places.known, problem.rows.stated
    if stated.row.size:
        tails = np.concatenate([tails, problem.signature[stated.variable]])
        heads = np.concatenate([heads, nodes + stated.row])
        nodes += problem.rows.size
    _, island = graphs.components(nodes, tails, heads)
    return Labels(island[:size], island[size : size + places.known], island[size + places.known :])


def none(problem: Problem) -> Easy:
    """Leave everything to the solver."""
    return Easy(np.zeros(problem.signatures, dtype=bool), np.zeros(problem.terms), np.zeros(problem.rows.size))


def easy(problem: Problem) -> Easy:
    """Solve what has a closed form; there is none where anything but exact counts is known."""
    if problem.log_prior is not None or problem.statements or not problem.rows.exact:
        return none(problem)
    if not problem.count.all() or problem.several is not None:  # a row that takes nobody is for the face
        return none(problem)
    size = np.bincount(problem.row_group)
    total = sum_by(problem.row_group, problem.count.astype(np.float64), size.size)
    choices = np.diff(problem.start)
    groups = problem.places.groups
    single, flat = _alone(problem, groups), _flat(problem, groups, size, total)
    x, mu = np.zeros(problem.terms), np.zeros(problem.rows.size)
    if flat.any():
        uniform = np.flatnonzero(np.repeat(flat, choices))
        x[uniform] = (1.0 / np.maximum(choices, 1))[problem.signature[uniform]]
    if single.any():
        closed = np.flatnonzero(np.repeat(single & ~flat, choices))
        own = problem.signature[closed]
        # who is alone is in one release only: its rows are those of its group, in order
        at = _rows_of_groups(problem, groups.max(axis=0)[own], problem.value[closed])
        x[closed] = problem.count[at] / total[problem.row_group[at]]
        mu[at] = np.log(x[closed])
    for own_seats in problem.rows.seats:  # whoever is here has one candidate in each release
        places = problem.rows.places(own_seats)
        x[places] = x[: problem.variables].take(own_seats.owner)
    return Easy(single | flat, x, mu)


def _rows_of_groups(problem: Problem, group: Ints, value: Codes) -> Ints:
    """The row of each (group, value); rows are sorted by both."""
    span = problem.values
    key = problem.row_group.astype(np.int64) * span + problem.row_value
    return np.searchsorted(key, group.astype(np.int64) * span + value)


def _alone(problem: Problem, groups: Codes) -> Flags:
    """[m] signatures of groups that share nobody: their island is that group."""
    here = groups != ABSENT
    alone = (here.sum(axis=0) == 1) & ~problem.unsure
    spoiled = _spoiled(problem, ~alone)
    return np.asarray(alone & ~spoiled[groups.max(axis=0)])


def _flat(problem: Problem, groups: Codes, size: Ints, total: Reals) -> Flags:
    """[m] signatures of flat islands: all counts of a group are the largest, all groups have the same values."""
    many = np.zeros(size.size, dtype=np.int64)
    np.maximum.at(many, problem.row_group, problem.count)
    values = np.where(many * size == total, size, -1)  # −1: the group is uneven
    values = np.append(values, -1)
    choices = np.diff(problem.start)
    flat = ~problem.unsure
    for own in groups:
        flat &= (own == ABSENT) | (values[own] == choices)
    return _everywhere(problem, groups, flat)


def _everywhere(problem: Problem, groups: Codes, flags: Flags) -> Flags:
    """True on islands where all signatures are flagged: what is not spreads over the groups it is in."""
    if not flags.any():
        return flags
    good = np.flatnonzero(flags)  # sure of their groups
    groups = groups[:, good]
    spoiled = _spoiled(problem, ~flags)
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


def _spoiled(problem: Problem, signatures: Flags) -> Flags:
    """[groups + 1] the groups that some signatures fit; the last entry, which ABSENT meets, is not one."""
    places = problem.places
    spoiled = np.zeros(places.known + 1, dtype=bool)
    own = np.flatnonzero(signatures)
    for r in range(places.releases):
        spoiled[places.codes[r, own] if places.plain else places.fits(r, own)[1]] = True
    spoiled[ABSENT] = False
    return spoiled
