"""What is tied together where no worker holds all groups: the components of one worker, and the same answer."""

import numpy as np
import polars as pl

from showthrough.inference.cluster.forest import stars
from showthrough.inference.cluster.star_steps import EDGES, star_edges


def graph(seed):
    """Edges of long paths, of a star, of many small components, of a giant one and of nodes alone, in any order."""
    rng = np.random.default_rng(seed)
    sizes = _, _, star, small, giant, _ = 100, 100, 200, 400, 500, 20
    number = rng.choice(2**62, sum(sizes), replace=False) - 2**61
    nodes = np.split(number, np.cumsum(sizes)[:-1])
    straight = np.sort(nodes[0])
    edges = [
        np.stack([straight[:-1], straight[1:]]),  # each node is the least of those behind it
        np.stack([nodes[1][:-1], nodes[1][1:]]),
        np.stack([np.full(star, nodes[2][star // 2]), nodes[2]]),
        np.stack([nodes[3], rng.permutation(nodes[3])])[:, : small // 3],
        rng.choice(nodes[4], (2, 3 * giant)),
        np.stack([nodes[5], nodes[5]]),
    ]
    found = rng.permutation(np.concatenate(edges, axis=1), axis=1)
    return np.where(rng.random(found.shape[1]) < 0.5, found, found[::-1])


def test_components_are_those_that_one_worker_finds(engine, cluster):
    home = cluster.folder / "stars"
    home.mkdir()
    edges = graph(1)
    tail, head = edges.min(axis=0), edges.max(axis=0)
    pl.DataFrame({"tail": tail, "head": head}).write_parquet(home / "edges.parquet")
    given = engine.session.read.schema(EDGES).parquet(str(home / "edges.parquet"))
    found = engine.run(lambda: star_edges(engine.session, given, home / "steps").toArrow())
    tail, head = (found.column(name).to_numpy() for name in ("tail", "head"))
    node, least = stars(*edges)
    tied, order = node != least, np.argsort(head)
    assert np.array_equal(head[order], node[tied])
    assert np.array_equal(tail[order], least[tied])
    (last,) = (home / "steps").iterdir()  # nobody reads those before it
    assert 3 <= int(last.name) <= 8  # rounds; O(log² n) by the paper
