"""What is tied together, partition by partition: edges become a forest of stars, and forests become one."""

from __future__ import annotations

import numpy as np

from showthrough.table.arrays import Ints


def stars(tail: Ints, head: Ints) -> tuple[Ints, Ints]:
    """Every node once, ascending, and the smallest node that edges tie it to.

    The stars of several lists of edges, taken together as edges, tie what all the lists tie: so lists are reduced one
    by one, wherever they are, and only stars travel.

    >>> stars(np.array([5, 9, 2]), np.array([9, 7, 2]))
    (array([2, 5, 7, 9]), array([2, 5, 5, 5]))
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    node, place = np.unique(np.concatenate([tail, head]), return_inverse=True)
    ones = np.ones(tail.size, dtype=np.int8)
    edges = coo_array((ones, (place[: tail.size], place[tail.size :])), shape=(node.size, node.size))
    count, label = connected_components(edges, directed=False)
    least = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(least, label, node)
    return node, least[label]
