"""What is said of a component does not depend on what was worked out beside it."""

import numpy as np
import polars as pl
import pytest

import showthrough as st

COMPONENTS = 40


def component(rng, number):
    """Two or three releases of the same persons, each in groups of its own; values of very different frequency."""
    persons, kinds = int(rng.integers(8, 60)), int(rng.integers(2, 7))
    value = rng.choice(kinds, persons, p=rng.dirichlet(np.full(kinds, 0.5)))
    frames = []
    for _ in range(int(rng.integers(2, 4))):
        there = np.flatnonzero(rng.random(persons) < rng.choice([1, 0.9, 0.6]))
        group = rng.permutation(there.size) // int(rng.integers(2, 9))
        frames.append(
            pl.DataFrame(
                {
                    "id": [f"{number}.{person}" for person in there],
                    "group": [f"{number}.{own}" for own in group],
                    "value": [f"v{own}" for own in value[there]],
                }
            )
        )
    return frames


def answer(releases):
    """Who has which value with which probability, from the frames of each release."""
    made = [
        st.Release.bucketized(pl.concat(own), id="id", group="group", sensitive="value", quasi=[], name=f"D{r}")
        for r, own in enumerate(releases)
        if own
    ]
    return st.infer(made).to_frame()


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_alone_and_beside_others_the_answer_is_the_same(seed):
    rng = np.random.default_rng(seed)
    several = [component(rng, number) for number in range(COMPONENTS)]
    together = answer([[own[r] for own in several if len(own) > r] for r in range(3)])
    alone = pl.concat([answer([[frame] for frame in own]) for own in several])
    both = together.join(alone, on=["id", "value"], how="full", suffix="_alone")
    assert both.height == together.height == alone.height
    assert (both["p"] - both["p_alone"]).abs().max() < 1e-12
