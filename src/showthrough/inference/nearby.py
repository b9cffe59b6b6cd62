"""How near everybody is to some groups of the newest release.

Nearest are those who fit such a group, then those who fit a group, of whatever release, beside one of them. What a
change of a group does to probabilities fades with every group in between; so where many changes are made at once, who
is near which tells which of them did what.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from showthrough.inference.posterior import Posterior
from showthrough.inference.problem import Problem
from showthrough.table.arrays import Codes, Ints

_FADING = 0.3  # what a group in between leaves of a nearness
_FAR = 1e-4


def nearby(post: Posterior, group: Ints, change: Ints, changes: int) -> sparse.csr_matrix:
    """[persons, changes] everybody's nearness to each change, as shares of one; nothing of who is near none.

    The change ``change[k]`` concerns the group at place ``group[k]`` among the labels of the newest release.
    """
    solved = post._solved
    problem, first = solved.problem, solved.history.first_group
    groups = int(first[-1])
    fits = [_fits(problem, own.owner, own.row, groups) for own in problem.rows.seats]
    fits += [_fits(problem, np.arange(row.size), row, groups) for row in problem.rows.sure]
    everywhere = sparse.csr_matrix(sum(fits[1:], fits[0]))
    newest = everywhere[:, int(first[-2]) :]
    shape = int(first[-1] - first[-2]), changes
    chosen = sparse.csr_matrix((np.ones(group.size), (group, change)), shape=shape)
    direct = _even(newest) @ chosen
    members = _even(sparse.csr_matrix((sparse.diags(problem.weight.astype(np.float64)) @ everywhere).T))
    beside = _FADING * (sparse.csr_matrix(sum(_even(one) for one in fits)) @ (members @ direct))
    beside.data[beside.data < _FAR] = 0.0
    near = sparse.csr_matrix(direct + beside)
    near.eliminate_zeros()
    return sparse.csr_matrix(_even(near)[solved.of_person[: solved.history.named]])


def _fits(problem: Problem, variable: Ints, row: Codes, groups: int) -> sparse.csr_matrix:
    """[signatures, groups] 1 where a person fits."""
    inside = np.flatnonzero(row < problem.rows.size)
    at = problem.signature[variable[inside]], problem.row_group[row[inside]]
    found = sparse.csr_matrix((np.ones(inside.size), at), shape=(problem.signatures, groups))
    found.data[:] = 1.0
    return found


def _even(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """The same with rows that add up to one."""
    total = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_matrix(sparse.diags(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)) @ matrix)
