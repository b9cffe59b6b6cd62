"""A patch: some rows of a reduced problem with everybody on them, cut into clusters that share nobody."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.reduce import Reduced
from showthrough.inference.rows import Rows
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.ragged import items_of, owners, starts


@dataclass(frozen=True)
class Patch:
    """Some rows of a reduced problem with all signatures they touch, cut into clusters.

    ``row_cluster`` and ``signature_cluster`` number the clusters from 0.
    """

    rows: Ints
    row_cluster: Ints
    signature_cluster: Ints
    weight: Reals  # of each signature
    start: Ints  # where the variables of each signature begin
    clusters: int
    inside: Rows  # the rows, numbered from 0, over the variables of the signatures; other rows count as absence
    terms: Ints  # [terms of inside] in the reduced problem

    @cached_property
    def signature(self) -> Ints:
        """[v] the signature of each variable."""
        return owners(self.start)

    @cached_property
    def cluster(self) -> Ints:
        """[terms] the cluster of each term."""
        return np.asarray(self.signature_cluster[self.signature][self.inside.owner])

    @cached_property
    def everything(self) -> Flags:
        """[terms] all of them."""
        return np.ones(self.inside.terms, dtype=bool)

    def surplus(self, weights: Ints) -> Ints | None:
        """[clusters] what persons score at best beyond what the counts reach; None: no whole number might hold it."""
        inside = self.inside
        layers = inside.sure.shape[0] + len(inside.seats) + float(np.abs(inside.stated.coefficient).sum())
        heaviest = float(np.abs(weights).max(initial=0)) * layers
        crowd = float(self.weight.sum() + np.abs(inside.lower).sum() + np.abs(inside.upper).sum())
        if heaviest * crowd >= 2.0**62:
            return None
        best = np.maximum.reduceat(inside.scores(weights, self.everything), self.start[:-1])
        found = np.zeros(self.clusters, dtype=np.int64)
        np.add.at(found, self.signature_cluster, self.weight.astype(np.int64) * best)
        reached = inside.lower * np.maximum(weights, 0) - inside.upper * np.maximum(-weights, 0)
        np.subtract.at(found, self.row_cluster, reached)
        return found


def cut_out(problem: Reduced, rows: Ints) -> Patch:
    """The rows with every signature that has a variable on them."""
    chosen = np.zeros(problem.rows.size, dtype=bool)
    chosen[rows] = True
    touching = np.flatnonzero(problem.rows.touching(chosen))
    signatures = np.unique(np.searchsorted(problem.start, touching, side="right") - 1)
    variables, length = items_of(problem.start, signatures)
    start = starts(length)
    inside, candidates = problem.rows.over(variables)
    inside = inside.renumbered(rows)
    owner = owners(start)
    tail, head = inside.links()
    on = head >= 0
    count, label = graphs.components(signatures.size + rows.size, owner[tail[on]], signatures.size + head[on])
    terms = np.concatenate([variables, problem.rows.variables + candidates])
    weight = problem.weight[signatures]
    return Patch(rows, label[signatures.size :], label[: signatures.size], weight, start, count, inside, terms)
