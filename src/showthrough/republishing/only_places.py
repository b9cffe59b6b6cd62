"""Who has to be in which group because all places are taken: where persons fit several groups, but not all at will.

A row that was suppressed fits everybody, and cells overlap. But where as many persons fit as there are rows, everybody
has a place, and all places are somebody's. An assignment of persons to places is a flow; whoever has the same group in
every assignment is in no circle along which places could be exchanged (Dulmage and Mendelsohn 1958, for places of
groups): its two ends lie in different strong components of what the flow leaves.
"""

from __future__ import annotations

import numpy as np

from showthrough.inference import graphs
from showthrough.table.arrays import Ints


def only_places(person: Ints, group: Ints, persons: int, members: Ints) -> Ints:
    """[persons] the group of whoever is there in every assignment, or −1; all are −1 where not everybody has a place.

    ``person`` and ``group`` are who fits where, ``members`` the places of each group.
    """
    nobody = np.full(persons, -1, dtype=np.int64)
    if not person.size or np.unique(person).size != int(members.sum()):
        return nobody
    source, sink = persons + members.size, persons + members.size + 1
    fitting, groups = np.unique(person), np.arange(members.size)
    tail = np.concatenate([np.full(fitting.size, source), person, persons + groups])
    head = np.concatenate([fitting, persons + group, np.full(members.size, sink)])
    room = np.concatenate([np.ones(fitting.size + person.size, dtype=np.int64), members.astype(np.int64)])
    value, flow = graphs.maximum_flow(sink + 1, tail, head, room, source, sink)
    if value != fitting.size:
        return nobody
    taken = flow[fitting.size : fitting.size + person.size] > 0
    # a place may be exchanged along: from the person to another group that it fits, from a group to who is in it
    ends = np.where(taken, persons + group, person), np.where(taken, person, persons + group)
    circle = graphs.strong_components(source, *ends)
    certain = taken & (circle[person] != circle[persons + group])
    nobody[person[certain]] = group[certain]
    return nobody
